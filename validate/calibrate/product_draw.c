#include "validate/calibrate/product_draw.h"

#include <math.h>

/* Multiply-adds of the largest: some milliseconds. */
static const double most_work = 6e11;

static const uint32_t batches[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64 };
static const uint32_t lengths[] = { 1, 1, 32, 48, 64, 100, 128, 196, 256, 384, 512, 1000, 1024, 2048 };
static const uint32_t heads[] = { 1, 2, 4, 8, 12, 16, 32 }, head_sizes[] = { 32, 64, 64, 80, 96, 128 };
static const uint32_t head_lengths[] = { 16, 32, 48, 64, 128, 192, 256, 384, 512, 1000, 1024, 2048 };
static const uint32_t precisions[] = { GT_PRECISION_HALF, GT_PRECISION_HALF, GT_PRECISION_HALF, GT_PRECISION_TF32,
                                       GT_PRECISION_FP32 };
enum { FEATURES_LEAST = 64, FEATURES_MOST = 16383, ROWS_MOST = 46341 /* 2^15.5 */ };

#define PICK(chance, values) gt_chance_pick(chance, values, sizeof(values) / sizeof((values)[0]))

/* Of a layer: multiples of 64, or now and then of 8. */
static double features(struct gt_chance *chance, bool odd)
{
    uint32_t number = gt_chance_scale(chance, FEATURES_LEAST, FEATURES_MOST);

    return odd ? number : gt_chance_in(chance, 1, 4) ? number / 8 * 8 : number / 64 * 64;
}

/* Of data: sequences times their length, or any number. */
static double rows(struct gt_chance *chance)
{
    uint32_t several = PICK(chance, batches);

    return gt_chance_in(chance, 1, 2) ? (double)several * PICK(chance, lengths)
                                      : (double)gt_chance_scale(chance, 1, ROWS_MOST);
}

/* Attention's: queries by keys, or what is made of values. */
static void draw_batched(struct gt_chance *chance, bool odd, struct gt_product *p)
{
    double size, length;

    p->batch = (double)PICK(chance, batches) * PICK(chance, heads);
    size = PICK(chance, head_sizes);
    length = odd ? gt_chance_scale(chance, 16, 2047) : PICK(chance, head_lengths);
    p->m = gt_chance_in(chance, 15, 100) ? 1 : length;
    p->n = p->form == GT_PRODUCT_TN_BATCHED ? length : size;
    p->k = p->form == GT_PRODUCT_TN_BATCHED ? size : length;
}

static struct gt_product draw(struct gt_chance *chance)
{
    struct gt_product p = { .batch = 1 };
    bool odd = gt_chance_in(chance, 1, 5);

    p.precision = (enum gt_precision)PICK(chance, precisions);
    p.form = (enum gt_product_form)gt_chance_between(chance, 0, GT_PRODUCT_FORMS - 1);
    if (p.form == GT_PRODUCT_TN_BATCHED || p.form == GT_PRODUCT_NN_BATCHED) {
        draw_batched(chance, odd, &p);
        return p;
    }
    p.m = p.form == GT_PRODUCT_NT ? features(chance, odd) : rows(chance);
    p.n = features(chance, odd);
    p.k = p.form == GT_PRODUCT_NT ? rows(chance) : features(chance, odd);
    return p;
}

struct gt_product gt_product_draw(struct gt_chance *chance, double most_elements)
{
    struct gt_product p;

    do
        p = draw(chance);
    while (p.batch * p.m * p.n * p.k >= most_work ||
           p.batch * fmax(fmax(p.m * p.n, p.m * p.k), p.n * p.k) > most_elements);
    return p;
}

static uint32_t most_of(bool aligned, uint32_t most)
{
    return aligned ? most : most / 2;
}

bool gt_product_count(struct gt_product_counts *counts, const struct gt_product *product, uint32_t most)
{
    bool aligned = gt_product_is_aligned(product);
    uint32_t *count = &counts->of[product->precision][product->form][aligned];

    if (*count >= most_of(aligned, most))
        return false;
    ++*count;
    return true;
}

bool gt_product_counts_full(const struct gt_product_counts *counts, uint32_t most)
{
    for (int precision = 0; precision < GT_PRECISIONS_SWEPT; precision++)
        for (int form = 0; form < GT_PRODUCT_FORMS; form++)
            for (int aligned = 0; aligned < 2; aligned++)
                if (counts->of[precision][form][aligned] < most_of(aligned, most))
                    return false;
    return true;
}
