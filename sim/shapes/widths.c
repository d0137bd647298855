#include "sim/shapes/widths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/shapes/roles.h"
#include "sim/shapes/votes.h"
#include "sim/workload/ranges.h"

enum { MOST_MULTIPLE = 16, INNER_UNIT = 8, LEAST_INNER = 32, MOST_FUSED = 4 };

/* Sides that follow. */

static const struct gt_width_side *find_side(const struct gt_width_sides *sides, uint64_t from)
{
    for (uint32_t i = 0; i < sides->count; i++)
        if (sides->sides[i].from == from)
            return &sides->sides[i];
    return NULL;
}

static void add_side(struct gt_width_sides *sides, uint64_t from, uint64_t to, bool is_exact)
{
    if (find_side(sides, from) != NULL)
        return;
    gt_array_grow(sides->sides, sides->count, sides->room);
    sides->sides[sides->count++] = (struct gt_width_side){ from, to, is_exact };
}

static uint64_t after(const struct gt_width_sides *sides, uint64_t size)
{
    const struct gt_width_side *side = find_side(sides, size);

    return side != NULL ? side->to : size;
}

static bool is_feature(const struct gt_widths *w, uint64_t size)
{
    return find_side(&w->features, size) != NULL;
}

static double growth(const struct gt_widths *w)
{
    return (double)w->new_width / (double)w->width;
}

static bool divides(const struct gt_widths *w, uint64_t size)
{
    return size * w->new_width % w->width == 0;
}

static uint64_t rounded(double size, uint64_t unit)
{
    return (uint64_t)fmin(fmax(1, round(size / (double)unit)), 1e18) * unit;
}

static void add_heads(struct gt_widths *w, uint64_t heads)
{
    add_side(&w->heads, heads, rounded((double)heads * growth(w), 1), divides(w, heads));
}

/* Of whole heads, of the width, or of anything in proportion. */
static void add_feature(struct gt_widths *w, uint64_t size)
{
    bool of_heads = w->head_size > 0 && size % w->head_size == 0 && find_side(&w->heads, size / w->head_size) != NULL;

    if (size % w->width == 0)
        add_side(&w->features, size, size / w->width * w->new_width, true);
    else if (of_heads)
        add_side(&w->features, size, after(&w->heads, size / w->head_size) * w->head_size,
                 divides(w, size / w->head_size));
    else if (divides(w, size))
        add_side(&w->features, size, size * w->new_width / w->width, true);
    else
        add_side(&w->features, size, rounded((double)size * growth(w), INNER_UNIT), false);
}

/* Weights of linear layers. */

struct gt_weight {
    uint64_t out, in;
};

static bool is_of_backward(const struct gt_workload *w, gt_range_index range)
{
    for (; range != GT_NONE; range = w->ranges[range].parent)
        if (gt_range_is_backward_node(w, &w->ranges[range]))
            return true;
    return false;
}

/* linear() has [out, in]; products of the forward pass have it turned. */
static bool weight_of(const struct gt_all_inputs *all, gt_range_index range, struct gt_weight *weight)
{
    const struct gt_inputs *inputs = gt_inputs_of(all, range);
    const char *name = gt_operator_name(all->workload, range);
    bool is_linear = strcmp(name, "linear") == 0;
    int place = is_linear ? 1 : gt_product_first(name) + 1;

    if (place == 0 || place >= inputs->count || inputs->tensors[place].sides != 2 ||
        (!is_linear && is_of_backward(all->workload, range)))
        return false;
    weight->out = inputs->tensors[place].size[is_linear ? 0 : 1];
    weight->in = inputs->tensors[place].size[is_linear ? 1 : 0];
    return true;
}

static void find_weights(struct gt_widths *w)
{
    for (gt_range_index i = 0; i < w->all->workload->range_count; i++) {
        struct gt_weight weight;
        bool known = false;

        if (gt_inputs_of(w->all, i) == NULL || !weight_of(w->all, i, &weight))
            continue;
        for (uint32_t j = 0; j < w->weight_count; j++)
            known |= w->weights[j].out == weight.out && w->weights[j].in == weight.in;
        if (known)
            continue;
        gt_array_grow(w->weights, w->weight_count, w->weight_room);
        w->weights[w->weight_count++] = weight;
    }
}

/* Does it take rows of a table? */
static bool is_embedding(const char *name)
{
    return strncmp(name, "embedding", 9) == 0 || strcmp(name, "index_select") == 0;
}

/* Rows of an embedding's table: a vocabulary, or places. */
static bool is_vocabulary(const struct gt_widths *w, uint64_t size)
{
    const struct gt_workload *workload = w->all->workload;

    for (gt_range_index i = 0; i < workload->range_count; i++) {
        const struct gt_inputs *inputs = gt_inputs_of(w->all, i);

        if (inputs != NULL && gt_roles_of(gt_operator_name(workload, i))[0] == GT_ROLE_PARAMETER &&
            is_embedding(gt_operator_name(workload, i)) && inputs->tensors[0].size[0] == size)
            return true;
    }
    return false;
}

static bool is_multiple(const struct gt_widths *w, uint64_t size)
{
    return size % w->width == 0 && size / w->width <= MOST_MULTIPLE;
}

/* Does a matrix take features to `size`, perhaps together with others of the same size? */
static bool is_made(const struct gt_widths *w, uint64_t size)
{
    for (uint32_t i = 0; i < w->weight_count; i++)
        if (is_feature(w, w->weights[i].in) && w->weights[i].out % size == 0 && w->weights[i].out / size <= 3)
            return true;
    return false;
}

/* Keys and values of fewer heads, queries with them, and several inner sizes at once. */
static void add_outer(struct gt_widths *w, uint64_t out)
{
    if (w->head_size > 0 && out % w->head_size == 0 && out <= MOST_FUSED * w->width) {
        add_heads(w, out / w->head_size);
        add_feature(w, out);
        return;
    }
    for (uint64_t several = 2; several <= 3; several++)
        if (out % several == 0 && is_feature(w, out / several))
            add_side(&w->features, out, several * after(&w->features, out / several), true);
}

static void find_features(struct gt_widths *w)
{
    add_feature(w, w->width);
    for (uint32_t i = 0; i < w->weight_count; i++) {
        const struct gt_weight *weight = &w->weights[i];

        if (is_multiple(w, weight->in))
            add_feature(w, weight->in);
        if (is_multiple(w, weight->out) && !is_vocabulary(w, weight->out))
            add_feature(w, weight->out);
    }
    for (uint32_t i = 0; i < w->weight_count; i++) {
        const struct gt_weight *weight = &w->weights[i];

        if (is_feature(w, weight->out) && weight->in >= LEAST_INNER && is_made(w, weight->in))
            add_feature(w, weight->in);
    }
    for (uint32_t i = 0; i < w->weight_count; i++) {
        const struct gt_weight *weight = &w->weights[i];

        if (is_feature(w, weight->in) && !is_feature(w, weight->out) && !is_vocabulary(w, weight->out))
            add_outer(w, weight->out);
    }
}

/* Heads of attention: where a fused operator has them, or by the scores that softmax gets. */
static void find_heads(struct gt_widths *w)
{
    const struct gt_workload *workload = w->all->workload;
    uint64_t of_scores = 0;

    for (gt_range_index i = 0; i < workload->range_count; i++) {
        const struct gt_inputs *inputs = gt_inputs_of(w->all, i);
        const char *name = gt_operator_name(workload, i), *roles = gt_roles_of(name);

        if (inputs == NULL || inputs->count == 0 || inputs->tensors[0].sides != 4)
            continue;
        if (strstr(name, "softmax") != NULL)
            of_scores = inputs->tensors[0].size[1];
        for (int j = 0; j < inputs->count && roles[j] != '\0'; j++)
            if ((roles[j] == GT_ROLE_HEADS || roles[j] == GT_ROLE_HEADS_LAST) && inputs->tensors[j].sides == 4)
                add_heads(w, inputs->tensors[j].size[roles[j] == GT_ROLE_HEADS ? 1 : 2]);
    }
    w->head_size = w->sizes.head_size;
    if (w->heads.count == 0 && of_scores > 1 && w->width % of_scores == 0) {
        add_heads(w, of_scores);
        w->head_size = w->width / of_scores;
    }
}

void gt_widths_find(struct gt_widths *widths, const struct gt_all_inputs *all, const struct gt_size_change *now,
                    uint64_t width, uint64_t new_width)
{
    *widths = (struct gt_widths){ .all = all, .width = width, .new_width = new_width };
    gt_sizes_find(&widths->sizes, all, now);
    find_weights(widths);
    find_heads(widths);
    find_features(widths);
}

void gt_widths_free(struct gt_widths *widths)
{
    gt_sizes_free(&widths->sizes);
    free(widths->features.sides);
    free(widths->heads.sides);
    free(widths->weights);
}

/* Inputs. */

static bool is_seq(const struct gt_widths *w, uint64_t size)
{
    return w->sizes.change.seq > 1 && size == w->sizes.change.seq;
}

/* The side that is a number of heads; -1: none.  Queries have [batch, heads, sequence, size] or [batch, sequence, .., heads, size], scores
 * [batch, heads, queries, keys]. */
static int heads_side(const struct gt_widths *w, const struct gt_tensor *tensor, char role)
{
    int side = role == GT_ROLE_HEADS_LAST ? 2 : 1;

    if (w->heads.count == 0 || role == GT_ROLE_IMAGES)
        return -1;
    if (role == GT_ROLE_HEADS || role == GT_ROLE_HEADS_LAST)
        return side < tensor->sides ? side : -1;
    if (tensor->sides < 4)
        return -1;
    for (side = 1; side + 1 < tensor->sides; side++)
        if (!is_seq(w, tensor->size[side]) && find_side(&w->heads, tensor->size[side]) != NULL)
            return side;
    return -1;
}

/* batch times heads */
static uint64_t first_after(const struct gt_widths *w, uint64_t size)
{
    uint64_t batch = w->sizes.change.batch;

    return size % batch == 0 && size != batch ? after(&w->heads, size / batch) * batch : size;
}

/* Of a tensor with one side: a parameter that no operator's place gave away, or one number for each sequence or word. */
static bool is_of_batch(const struct gt_widths *w, uint64_t size)
{
    const struct gt_size_change *now = &w->sizes.change;

    return size == now->batch || is_seq(w, size) || size == now->batch * now->seq;
}

/* The last side that is of features; the first of several is of the batch. */
static void scale_features(const struct gt_widths *w, struct gt_tensor *tensor)
{
    if (tensor->sides == 1 && !is_of_batch(w, tensor->size[0]))
        tensor->size[0] = after(&w->features, tensor->size[0]);
    for (int i = tensor->sides - 1; i > 0; i--) {
        if (!is_feature(w, tensor->size[i]) || (i + 1 < tensor->sides && is_seq(w, tensor->size[i])))
            continue;
        tensor->size[i] = after(&w->features, tensor->size[i]);
        return;
    }
}

static void scale_parameter(const struct gt_widths *w, struct gt_tensor *tensor, bool is_table)
{
    bool of_heads =
        is_table && find_side(&w->heads, tensor->size[tensor->sides - 1]) != NULL; /* a bias of positions */

    if (of_heads && !is_feature(w, tensor->size[tensor->sides - 1]))
        tensor->size[tensor->sides - 1] = after(&w->heads, tensor->size[tensor->sides - 1]);
    for (int i = is_table; i < tensor->sides; i++)
        tensor->size[i] = after(&w->features, tensor->size[i]);
}

static void scale(const struct gt_widths *w, struct gt_tensor *tensor, char role, bool is_table)
{
    int heads = heads_side(w, tensor, role);

    if (tensor->sides == 0 || role == GT_ROLE_NONE || gt_tensor_is_whole(tensor))
        return;
    if (role == GT_ROLE_PARAMETER || gt_sizes_has_parameter(&w->sizes, tensor)) {
        scale_parameter(w, tensor, is_table);
    } else if (heads >= 0) {
        tensor->size[heads] = after(&w->heads, tensor->size[heads]);
    } else if (tensor->sides == 3 && first_after(w, tensor->size[0]) != tensor->size[0] &&
               !is_feature(w, tensor->size[2])) {
        tensor->size[0] = first_after(w, tensor->size[0]);
    } else {
        scale_features(w, tensor);
    }
}

static void scale_product(const struct gt_widths *w, struct gt_tensor *left, struct gt_tensor *right)
{
    enum gt_product_side rows = gt_sizes_rows_of(&w->sizes, left, right);

    if (rows != GT_SIDE_M)
        left->size[0] = after(&w->features, left->size[0]);
    if (rows != GT_SIDE_K)
        left->size[1] = right->size[0] = after(&w->features, left->size[1]);
    if (rows != GT_SIDE_N)
        right->size[1] = after(&w->features, right->size[1]);
}

static void scale_batched(const struct gt_widths *w, struct gt_tensor *left, struct gt_tensor *right)
{
    bool of_heads = first_after(w, left->size[0]) != left->size[0];

    left->size[0] = right->size[0] = first_after(w, left->size[0]);
    for (int i = 1; i < 3 && !of_heads; i++) {
        left->size[i] = is_seq(w, left->size[i]) ? left->size[i] : after(&w->features, left->size[i]);
        right->size[i] = is_seq(w, right->size[i]) ? right->size[i] : after(&w->features, right->size[i]);
    }
}

void gt_widths_apply(const struct gt_widths *widths, gt_range_index range, struct gt_inputs *to)
{
    const char *name = gt_operator_name(widths->all->workload, range), *roles = gt_roles_of(name);
    int first = gt_product_first(name), length = (int)strlen(roles);

    *to = *gt_inputs_of(widths->all, range);
    for (int i = 0; i < to->count; i++) {
        char role = i < length ? roles[i] : GT_ROLE_ANY;

        if (first < 0 || i < first || i > first + 1)
            scale(widths, &to->tensors[i], role, i == 0 && role == GT_ROLE_PARAMETER && is_embedding(name));
    }
    if (gt_inputs_are_matrices(to, first, 2))
        scale_product(widths, &to->tensors[first], &to->tensors[first + 1]);
    else if (gt_inputs_are_matrices(to, first, 3))
        scale_batched(widths, &to->tensors[first], &to->tensors[first + 1]);
}

/* What was recorded. */

/* Sides of the operator's parameters that may be the width: the last of an embedding's table, those of a linear layer's weight, the one
 * of a normalization. */
static int candidates(const struct gt_all_inputs *all, gt_range_index range, uint64_t sides[2])
{
    const struct gt_inputs *inputs = gt_inputs_of(all, range);
    const char *name = gt_operator_name(all->workload, range), *roles = gt_roles_of(name);
    const struct gt_tensor *last = NULL;
    struct gt_weight weight;

    if (weight_of(all, range, &weight)) {
        sides[0] = weight.in; /* of several the first is elected */
        sides[1] = weight.out;
        return 2;
    }
    for (int i = 0; i < inputs->count && roles[i] != '\0'; i++)
        if (roles[i] == GT_ROLE_PARAMETER && inputs->tensors[i].sides > 0)
            last = &inputs->tensors[i];
    if (last == NULL ||
        (!is_embedding(name) && strstr(name, "layer_norm") == NULL && strstr(name, "rms_norm") == NULL))
        return 0;
    sides[0] = last->size[last->sides - 1];
    return 1;
}

uint64_t gt_recorded_width(const struct gt_all_inputs *all)
{
    struct gt_votes votes = { .count = 0 };

    for (gt_range_index i = 0; i < all->workload->range_count; i++) {
        uint64_t sides[2];
        int count = gt_inputs_of(all, i) != NULL ? candidates(all, i, sides) : 0;

        for (int j = 0; j < count; j++)
            gt_vote(&votes, sides[j]);
    }
    return gt_votes_end(&votes);
}
