#include "sim/shapes/sizes.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "sim/base/array.h"
#include "sim/shapes/roles.h"
#include "sim/shapes/votes.h"

/* Parameters. */

struct gt_parameter {
    uint64_t shape[GT_TENSOR_SIDES + 1]; /* number of sides, sides */
    UT_hash_handle hh;
};

static struct gt_parameter shape_of(const struct gt_tensor *tensor)
{
    struct gt_parameter parameter = { .shape = { tensor->sides } };

    memcpy(&parameter.shape[1], tensor->size, sizeof tensor->size);
    return parameter;
}

bool gt_sizes_has_parameter(const struct gt_sizes *sizes, const struct gt_tensor *tensor)
{
    struct gt_parameter key = shape_of(tensor), *found;

    HASH_FIND(hh, sizes->parameters, key.shape, sizeof key.shape, found);
    return found != NULL && !gt_tensor_is_whole(tensor);
}

static void add_shape(struct gt_sizes *sizes, const struct gt_tensor *tensor)
{
    struct gt_parameter *added;

    if (gt_sizes_has_parameter(sizes, tensor))
        return;
    added = gt_calloc(1, sizeof *added);
    *added = shape_of(tensor);
    HASH_ADD(hh, sizes->parameters, shape, sizeof added->shape, added);
}

/* A matrix stands in products as it is, and turned. */
static void add_parameter(struct gt_sizes *sizes, const struct gt_tensor *tensor)
{
    struct gt_tensor turned = *tensor;

    if (tensor->sides == 0 || gt_tensor_is_whole(tensor))
        return;
    add_shape(sizes, tensor);
    turned.size[0] = tensor->size[1];
    turned.size[1] = tensor->size[0];
    if (tensor->sides == 2)
        add_shape(sizes, &turned);
}

static void find_parameters(struct gt_sizes *sizes)
{
    const struct gt_workload *w = sizes->all->workload;

    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_inputs *inputs = gt_inputs_of(sizes->all, i);
        const char *roles = inputs != NULL ? gt_roles_of(gt_operator_name(w, i)) : "";

        for (int j = 0; inputs != NULL && j < inputs->count && roles[j] != '\0'; j++) {
            if (roles[j] == GT_ROLE_PARAMETER)
                add_parameter(sizes, &inputs->tensors[j]);
            else if ((roles[j] == GT_ROLE_HEADS || roles[j] == GT_ROLE_HEADS_LAST) && inputs->tensors[j].sides == 4)
                sizes->head_size = inputs->tensors[j].size[3];
        }
    }
}

bool gt_sizes_has_parameter_of(const struct gt_sizes *sizes, double elements)
{
    const struct gt_parameter *parameter;

    for (parameter = sizes->parameters; parameter != NULL; parameter = parameter->hh.next) {
        double product = 1;

        for (uint64_t i = 1; i <= parameter->shape[0]; i++)
            product *= (double)parameter->shape[i];
        if (product == elements)
            return true;
    }
    return false;
}

/* Other tensors. */

static bool follows_seq(const struct gt_sizes *sizes, uint64_t size)
{
    return sizes->change.seq > 1 && size == sizes->change.seq;
}

static bool has_seq_side(const struct gt_sizes *sizes, const struct gt_tensor *tensor)
{
    for (int i = 1; i < tensor->sides; i++)
        if (follows_seq(sizes, tensor->size[i]))
            return true;
    return false;
}

/* Is the sequence as long as a side of the model, whatever the batch? */
static bool seq_is_of_model(const struct gt_sizes *sizes)
{
    const struct gt_parameter *parameter;

    for (parameter = sizes->parameters; parameter != NULL; parameter = parameter->hh.next)
        for (uint64_t i = 1; i <= parameter->shape[0]; i++)
            if (parameter->shape[i] == sizes->change.seq)
                return true;
    return sizes->change.seq == sizes->head_size;
}

bool gt_sizes_seq_is_unclear(const struct gt_sizes *sizes)
{
    return sizes->change.seq != sizes->change.new_seq && sizes->seq_is_of_model;
}

/* A first side: the batch, the batch times heads or channels, or times the sequence. */
static uint64_t first_side(const struct gt_sizes *sizes, uint64_t size, bool seq_elsewhere)
{
    const struct gt_size_change *c = &sizes->change;
    uint64_t words = c->batch * (c->seq > 1 ? c->seq : 1);

    if (c->seq > 1 && !seq_elsewhere && size % words == 0)
        return size / words * c->new_batch * c->new_seq;
    if (size % c->batch == 0 && !(c->batch == 1 && follows_seq(sizes, size)))
        return size / c->batch * c->new_batch;
    return follows_seq(sizes, size) ? c->new_seq : size;
}

/* One side alone is of a batch only if it is no more than that: biases have one side, too. */
static uint64_t only_side(const struct gt_sizes *sizes, uint64_t size)
{
    const struct gt_size_change *c = &sizes->change;

    return size == c->batch || follows_seq(sizes, size) || (c->seq > 0 && size == c->batch * c->seq)
               ? first_side(sizes, size, false)
               : size;
}

/* Of two sides that are that long the last one is the model's where that has such a size; the first of four may be a number of heads or
 * channels. */
static void scale_seq_sides(const struct gt_sizes *sizes, const struct gt_tensor *from, struct gt_tensor *to)
{
    bool unclear = sizes->seq_is_of_model;
    int first = from->sides == 4 && (unclear || follows_seq(sizes, from->size[2])) ? 2 : 1;

    for (int i = first; i < from->sides; i++) {
        if (!follows_seq(sizes, from->size[i]))
            continue;
        to->size[i] = sizes->change.new_seq;
        if (unclear)
            return;
    }
}

/* What stands at a place with a role: its first side is of the batch. */
static void scale_at(const struct gt_sizes *sizes, const struct gt_tensor *from, char role, struct gt_tensor *to)
{
    int seq_side = role == GT_ROLE_HEADS ? 2 : 1;

    *to = *from;
    if (from->sides > 0 && from->size[0] % sizes->change.batch == 0)
        to->size[0] = from->size[0] / sizes->change.batch * sizes->change.new_batch;
    if (role != GT_ROLE_IMAGES && seq_side < from->sides && follows_seq(sizes, from->size[seq_side]))
        to->size[seq_side] = sizes->change.new_seq;
}

/* Queries, keys and values in one tensor: the batch is behind their number. */
enum { STACKED_SIDES = 5 };

static void scale(const struct gt_sizes *sizes, const struct gt_tensor *from, char role, struct gt_tensor *to)
{
    *to = *from;
    if (role == GT_ROLE_IMAGES || role == GT_ROLE_HEADS || role == GT_ROLE_HEADS_LAST) {
        scale_at(sizes, from, role, to);
        return;
    }
    if (from->sides == 0 || role == GT_ROLE_NONE || role == GT_ROLE_PARAMETER || gt_sizes_has_parameter(sizes, from))
        return;
    if (from->sides == 1) {
        to->size[0] = only_side(sizes, from->size[0]);
        return;
    }
    to->size[0] = first_side(sizes, from->size[0], has_seq_side(sizes, from));
    if (from->sides >= STACKED_SIDES && to->size[0] == from->size[0] && from->size[1] == sizes->change.batch)
        to->size[1] = sizes->change.new_batch;
    scale_seq_sides(sizes, from, to);
}

/* Rows of matrices. */

static const struct gt_row_count *find_rows(const struct gt_sizes *sizes, uint64_t rows)
{
    for (uint32_t i = 0; i < sizes->row_count; i++)
        if (sizes->rows[i].rows == rows)
            return &sizes->rows[i];
    return NULL;
}

static void add_rows(struct gt_sizes *sizes, uint64_t rows, uint64_t new_rows)
{
    if (find_rows(sizes, rows) != NULL)
        return;
    gt_array_grow(sizes->rows, sizes->row_count, sizes->row_room);
    sizes->rows[sizes->row_count++] = (struct gt_row_count){ rows, new_rows };
}

/* All sides but the last, which are rows where a product is made of the tensor. */
static void add_rows_of(struct gt_sizes *sizes, const struct gt_tensor *tensor)
{
    struct gt_tensor scaled;
    uint64_t rows = 1, new_rows = 1;

    if (tensor->sides < 2 || gt_sizes_has_parameter(sizes, tensor))
        return;
    scale(sizes, tensor, GT_ROLE_ANY, &scaled);
    for (int i = 0; i + 1 < tensor->sides; i++) {
        rows *= tensor->size[i];
        new_rows *= scaled.size[i];
    }
    add_rows(sizes, rows, new_rows);
}

static void find_rows_of_products(struct gt_sizes *sizes)
{
    static const char *const operators[] = { "linear", "matmul", "view", "reshape", "_unsafe_view", "flatten" };
    const struct gt_workload *w = sizes->all->workload;
    const struct gt_size_change *c = &sizes->change;

    add_rows(sizes, c->batch, c->new_batch);
    if (c->seq > 1)
        add_rows(sizes, c->batch * c->seq, c->new_batch * c->new_seq);
    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_inputs *inputs = gt_inputs_of(sizes->all, i);

        for (size_t j = 0; inputs != NULL && j < sizeof operators / sizeof operators[0]; j++)
            if (strcmp(gt_operator_name(w, i), operators[j]) == 0)
                add_rows_of(sizes, &inputs->tensors[0]);
    }
}

/* Where what comes out is of a parameter's shape it is its gradient, and the rows are K. */
enum gt_product_side gt_sizes_rows_of(const struct gt_sizes *sizes, const struct gt_tensor *left,
                                      const struct gt_tensor *right)
{
    struct gt_tensor result = { .size = { left->size[0], right->size[1] }, .sides = 2, .is_tensor = true };
    bool m = find_rows(sizes, left->size[0]) != NULL, k = find_rows(sizes, left->size[1]) != NULL;

    if (k && (!m || (gt_sizes_has_parameter(sizes, &result) && !gt_sizes_has_parameter(sizes, right))))
        return GT_SIDE_K;
    return m ? GT_SIDE_M : find_rows(sizes, right->size[1]) != NULL ? GT_SIDE_N : GT_SIDE_NONE;
}

static void scale_product(const struct gt_sizes *sizes, struct gt_tensor *left, struct gt_tensor *right)
{
    switch (gt_sizes_rows_of(sizes, left, right)) {
    case GT_SIDE_M: left->size[0] = find_rows(sizes, left->size[0])->new_rows; break;
    case GT_SIDE_K: left->size[1] = right->size[0] = find_rows(sizes, left->size[1])->new_rows; break;
    case GT_SIDE_N: right->size[1] = find_rows(sizes, right->size[1])->new_rows; break;
    case GT_SIDE_NONE: break;
    }
}

/* Of a batch of products; the two may share a side that is as long as the sequence. */
static void scale_batched(const struct gt_sizes *sizes, struct gt_tensor *left, struct gt_tensor *right)
{
    const struct gt_size_change *c = &sizes->change;

    if (left->size[0] % c->batch == 0)
        left->size[0] = right->size[0] = left->size[0] / c->batch * c->new_batch;
    for (int i = 1; i < 3; i++) {
        left->size[i] = follows_seq(sizes, left->size[i]) ? c->new_seq : left->size[i];
        right->size[i] = follows_seq(sizes, right->size[i]) ? c->new_seq : right->size[i];
    }
}

void gt_sizes_apply(const struct gt_sizes *sizes, gt_range_index range, struct gt_inputs *to)
{
    const struct gt_inputs *from = gt_inputs_of(sizes->all, range);
    const char *name = gt_operator_name(sizes->all->workload, range), *roles = gt_roles_of(name);
    int first = gt_product_first(name);

    *to = *from;
    if (first > 0) /* what is added */
        scale(sizes, &from->tensors[0], GT_ROLE_ANY, &to->tensors[0]);
    if (gt_inputs_are_matrices(from, first, 2)) {
        scale_product(sizes, &to->tensors[first], &to->tensors[first + 1]);
        return;
    }
    if (gt_inputs_are_matrices(from, first, 3)) {
        scale_batched(sizes, &to->tensors[first], &to->tensors[first + 1]);
        return;
    }
    for (int i = 0; i < from->count; i++) {
        scale(sizes, &from->tensors[i], i < (int)strlen(roles) ? roles[i] : GT_ROLE_ANY, &to->tensors[i]);
    }
}

void gt_sizes_find(struct gt_sizes *sizes, const struct gt_all_inputs *all, const struct gt_size_change *change)
{
    *sizes = (struct gt_sizes){ .all = all, .change = *change };
    find_parameters(sizes);
    sizes->seq_is_of_model = seq_is_of_model(sizes);
    find_rows_of_products(sizes);
}

void gt_sizes_free(struct gt_sizes *sizes)
{
    struct gt_parameter *parameter, *next;

    HASH_ITER(hh, sizes->parameters, parameter, next)
    {
        HASH_DEL(sizes->parameters, parameter);
        free(parameter);
    }
    free(sizes->rows);
}

/* What was recorded: each operator that takes data at a known place has a vote. */

/* `side`: which of them is asked of those that are [batch, ...]. */
static uint64_t elect(const struct gt_all_inputs *all, bool seq)
{
    const struct gt_workload *w = all->workload;
    struct gt_votes votes = { .count = 0 };

    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_inputs *inputs = gt_inputs_of(all, i);
        const struct gt_voter *voter = inputs != NULL ? gt_voter_of(gt_operator_name(w, i)) : NULL;
        int side = voter == NULL ? -1 : seq ? voter->seq_side : 0;

        if (side < 0 || voter->input >= inputs->count || inputs->tensors[voter->input].sides < voter->least_sides ||
            side >= inputs->tensors[voter->input].sides)
            continue;
        if (!seq || inputs->tensors[voter->input].size[side] > 1)
            gt_vote(&votes, inputs->tensors[voter->input].size[side]);
    }
    return gt_votes_end(&votes);
}

uint64_t gt_recorded_batch(const struct gt_all_inputs *all)
{
    return elect(all, false);
}

uint64_t gt_recorded_seq(const struct gt_all_inputs *all)
{
    return elect(all, true);
}
