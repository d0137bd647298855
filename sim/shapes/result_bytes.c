#include "sim/shapes/result_bytes.h"

#include <math.h>

#include "sim/shapes/roles.h"

double gt_block_bytes(double bytes)
{
    return ceil(fmax(bytes, 1) / GT_BLOCK_BYTES) * GT_BLOCK_BYTES;
}

/* What the block is held against: the best so far. */
struct fitting {
    const struct gt_inputs *from, *to;
    double block;
    int rank; /* of the best: lower is better */
    struct gt_result_bytes *best;
};

/* Elements of so many bytes each, with which something may be stored: the tensor's own, or those of sums, masks, places. */
static const int element_bytes[] = { 4, 2, 1, 8 };
enum { ELEMENT_BYTES = sizeof element_bytes / sizeof element_bytes[0] };

/* Ranks of what fits, the best first: all sides, of the tensor's own elements or of others; what two make; some sides; what two
 * make with other elements.  What leaves a rest of the block is behind all that does not. */
enum {
    WHOLE = 0,
    WHOLE_OF_OTHERS = 5,
    MADE = 10,
    PART = 20,
    OTHERS = 30,
    STAYS = 20,
    WITH_REST = 1000,
    NOTHING = 1 << 20
};

static void try_bytes(struct fitting *f, double recorded, double bytes, int rank)
{
    double left = f->block - gt_block_bytes(recorded);

    if (recorded <= 0 || left < 0 || (left > 0 && (recorded <= GT_SMALL_BYTES || left > GT_SMALL_BYTES)))
        return;
    if (left > 0)
        rank += WITH_REST;
    if (rank > f->rank || (rank == f->rank && left >= f->best->left))
        return;
    f->rank = rank;
    *f->best = (struct gt_result_bytes){ recorded, bytes, left };
}

/* `other`: the rank with elements that are not the tensor's own.  What stays is the model's, and seldom stored with others. */
static void try_elements(struct fitting *f, const struct gt_tensor *tensor, double recorded, double elements,
                         int rank, int other)
{
    int own = tensor->element_bytes > 0 ? tensor->element_bytes : 4;

    try_bytes(f, recorded * own, elements * own, rank);
    for (int i = 0; i < ELEMENT_BYTES; i++)
        if (element_bytes[i] != own)
            try_bytes(f, recorded * element_bytes[i], elements * element_bytes[i],
                      other + (recorded == elements ? STAYS : 0));
}

/* Any of a tensor's sides: all of them, or without those that were summed up. */
static void try_sides(struct fitting *f, int i)
{
    const struct gt_tensor *from = &f->from->tensors[i], *to = &f->to->tensors[i];

    for (unsigned sides = 1; sides < 1u << from->sides; sides++) {
        double recorded = 1, elements = 1;
        int left_out = from->sides - __builtin_popcount(sides);

        for (int side = 0; side < from->sides; side++) {
            recorded *= sides >> side & 1 ? (double)from->size[side] : 1;
            elements *= sides >> side & 1 ? (double)to->size[side] : 1;
        }
        if (left_out == 0)
            try_elements(f, from, recorded, elements, WHOLE, WHOLE_OF_OTHERS);
        else
            try_elements(f, from, recorded, elements, PART + left_out, PART + left_out + WHOLE_OF_OTHERS);
    }
}

/* Elements of two tensors of which sides of 1, or that are not there, are as long as the other's; 0: they do not fit together. */
static double stretched(const struct gt_tensor *one, const struct gt_tensor *other)
{
    int sides = one->sides > other->sides ? one->sides : other->sides;
    double elements = 1;

    for (int i = 1; i <= sides; i++) {
        uint64_t a = i <= one->sides ? one->size[one->sides - i] : 1;
        uint64_t b = i <= other->sides ? other->size[other->sides - i] : 1;

        if (a != b && a != 1 && b != 1)
            return 0;
        elements *= (double)(a > b ? a : b);
    }
    return elements;
}

/* Rows of a tensor: all its sides, all but the last, the first. */
enum { ROWS = 3 };
static double rows_of(const struct gt_tensor *tensor, int which)
{
    double elements = gt_tensor_elements(tensor);

    if (which == 0 || tensor->sides == 0)
        return elements;
    if (which == 1)
        return tensor->size[tensor->sides - 1] > 0 ? elements / (double)tensor->size[tensor->sides - 1] : 0;
    return (double)tensor->size[0];
}

/* Is the first side of both a batch, which counts once in what they make? */
static bool same_batch(const struct gt_tensor *one, const struct gt_tensor *other)
{
    return one->sides > 2 && other->sides > 2 && one->size[0] == other->size[0];
}

static void try_pair(struct fitting *f, int i, int j)
{
    const struct gt_tensor *from = &f->from->tensors[i], *other = &f->from->tensors[j];
    const struct gt_tensor *to = &f->to->tensors[i], *other_to = &f->to->tensors[j];

    try_elements(f, from, stretched(from, other), stretched(to, other_to), MADE, MADE + WHOLE_OF_OTHERS);
    for (int which = 0; which < ROWS; which++)
        for (int side = same_batch(from, other); side < other->sides;
             side++) /* in the elements of what is not a place */
            try_elements(f, gt_tensor_is_whole(from) ? other : from, rows_of(from, which) * (double)other->size[side],
                         rows_of(to, which) * (double)other_to->size[side], MADE + 1 + which, OTHERS + which);
}

/* M x N of a product M x K by K x N: that large is its result, however large other tensors are. */
static bool try_product(struct fitting *f, const char *name)
{
    int first = gt_product_first(name);
    const struct gt_tensor *from = &f->from->tensors[first < 0 ? 0 : first];
    const struct gt_tensor *to = &f->to->tensors[first < 0 ? 0 : first];
    int side = from[0].sides - 1;

    if (first < 0 || first + 1 >= f->from->count || side < 1 || from[1].sides != from[0].sides)
        return false;
    try_bytes(f, gt_tensor_bytes(from) / fmax((double)from->size[side], 1) * (double)from[1].size[side],
              gt_tensor_bytes(to) / fmax((double)to->size[side], 1) * (double)to[1].size[side], WHOLE);
    return f->rank < NOTHING;
}

bool gt_result_bytes_of(const char *name, const struct gt_inputs *from, const struct gt_inputs *to, double block,
                        struct gt_result_bytes *result)
{
    struct fitting f = { .from = from, .to = to, .block = block, .rank = NOTHING, .best = result };

    if (try_product(&f, name))
        return true;
    for (int i = 0; i < from->count; i++)
        if (from->tensors[i].is_tensor)
            try_sides(&f, i);
    for (int i = 0; i < from->count && f.rank > WHOLE; i++)
        for (int j = 0; j < from->count; j++)
            if (i != j && from->tensors[i].is_tensor && from->tensors[j].is_tensor)
                try_pair(&f, i, j);
    return f.rank < NOTHING;
}
