/* product_draw.h - matrix products drawn at random, of the sizes that models have; as traces/record/products.py draws them. No CUDA here. */
#ifndef GRIDTIDE_VALIDATE_CALIBRATE_PRODUCT_DRAW_H
#define GRIDTIDE_VALIDATE_CALIBRATE_PRODUCT_DRAW_H

#include "sim/shapes/product.h"
#include "validate/random/chance.h"

/* How many products there are of each kind. */
struct gt_product_counts {
    uint32_t of[GT_PRECISIONS_SWEPT][GT_PRODUCT_FORMS][2]; /* rows that are no multiple of 16 bytes; those that are */
};

/* A product none of whose matrices has more than most_elements, all of them of a batch together. */
struct gt_product gt_product_draw(struct gt_chance *chance, double most_elements);

/* Count the product, unless there are `most` of its kind already; of those whose rows are no multiple of 16 bytes half of that. False: it
 * was not counted. */
bool gt_product_count(struct gt_product_counts *counts, const struct gt_product *product, uint32_t most);
/* Are there as many as that of every kind? */
bool gt_product_counts_full(const struct gt_product_counts *counts, uint32_t most);

#endif
