/* widths.h - which sizes of operators' inputs follow a model's width, the length of the vectors that its layers hand on.
 *
 * Sides of parameters that are the width or a multiple of it follow it; so do numbers of heads, whose size stays, and inner sizes: of
 * matrices that take the width to them, and others that take them back.  What comes out alone, such as a vocabulary, and what goes in
 * alone, such as pixels, stays.
 */
#ifndef GRIDTIDE_SIM_SHAPES_WIDTHS_H
#define GRIDTIDE_SIM_SHAPES_WIDTHS_H

#include "sim/shapes/sizes.h"

struct gt_width_side {
    uint64_t from, to;
    bool is_exact; /* in proportion to the width; false: rounded */
};

struct gt_width_sides {
    struct gt_width_side *sides; /* each `from` once */
    uint32_t count, room;
};

struct gt_weight;

struct gt_widths {
    const struct gt_all_inputs *all;
    struct gt_sizes sizes; /* which tensors are parameters, which sides are rows */
    uint64_t width, new_width;
    uint64_t head_size;             /* 0: no heads were seen */
    struct gt_width_sides features; /* sides of parameters */
    struct gt_width_sides heads;    /* numbers of heads */
    struct gt_weight *weights;
    uint32_t weight_count, weight_room;
};

/* The width by the parameters of embeddings, normalizations and linear layers: the side that most of them have; 0: not known. */
uint64_t gt_recorded_width(const struct gt_all_inputs *all);

/* From `width` to `new_width`, neither 0, where the operators have `now` as their batch and length.  gt_widths_free() ends it; `all` is
 * lent until then. */
void gt_widths_find(struct gt_widths *widths, const struct gt_all_inputs *all, const struct gt_size_change *now,
                    uint64_t width, uint64_t new_width);
void gt_widths_free(struct gt_widths *widths);

/* What the operator is given after the change, into *to.  Its inputs are known. */
void gt_widths_apply(const struct gt_widths *widths, gt_range_index range, struct gt_inputs *to);

#endif
