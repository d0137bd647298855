#include "sim/shapes/product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "sim/base/error.h"
#include "sim/shapes/roles.h"

const char *const gt_product_form_names[GT_PRODUCT_FORMS] = {
    "TN", "TN+bias", "NN", "NT", "TN-batched", "NN-batched"
};

struct gt_product_known {
    struct gt_product product;
    double us;
    UT_hash_handle hh;
};
_Static_assert(sizeof(struct gt_product) == 2 * sizeof(int) + 4 * sizeof(double), "compared byte by byte");

struct gt_product_sweep *gt_product_sweep_new(const struct gt_device *device)
{
    struct gt_product_sweep *sweep = gt_calloc(1, sizeof *sweep);

    sweep->device = *device;
    return sweep;
}

void gt_product_sweep_free(struct gt_product_sweep *sweep)
{
    struct gt_product_known *known, *next;

    if (sweep == NULL)
        return;
    HASH_ITER(hh, sweep->known, known, next)
    {
        HASH_DEL(sweep->known, known);
        free(known);
    }
    free(sweep->points);
    free(sweep);
}

/* What the operator multiplies. */

/* cuBLAS's kernels say how their matrices lie: nvjet_..._TNT (the third letter is the result's), cutlass_..._tn_align8. */
static bool says(const char *kernel, const char *nvjet, const char *others)
{
    size_t length = strlen(kernel);

    return (strncmp(kernel, "nvjet", 5) == 0 && length > 4 && memcmp(kernel + length - 3, nvjet, 2) == 0) ||
           strstr(kernel, others) != NULL;
}

static enum gt_product_form form_of(const struct gt_tensor *left, const char *kernel)
{
    bool batched = left->sides == 3;

    if (says(kernel, "NN", "_nn_") || (batched && says(kernel, "NT", "_nt_")))
        return batched ? GT_PRODUCT_NN_BATCHED : GT_PRODUCT_NN;
    if (says(kernel, "NT", "_nt_"))
        return GT_PRODUCT_NT;
    return batched ? GT_PRODUCT_TN_BATCHED : strstr(kernel, "bias") != NULL ? GT_PRODUCT_TN_BIAS : GT_PRODUCT_TN;
}

bool gt_product_of(const char *operator_name, const struct gt_inputs *inputs, const char *kernel,
                   struct gt_product *product)
{
    int first = gt_product_first(operator_name);
    const struct gt_tensor *left = &inputs->tensors[first < 0 ? 0 : first], *right = left + 1;
    int side = left->sides - 2;

    if (first < 0 || first + 1 >= inputs->count || left->sides != right->sides || (side != 0 && side != 1))
        return false;
    *product = (struct gt_product){
        .precision = gt_precision_of(left, kernel),
        .form = form_of(left, kernel),
        .batch = side == 1 ? (double)left->size[0] : 1,
        .m = (double)left->size[side],
        .k = (double)left->size[side + 1],
        .n = (double)right->size[side + 1],
    };
    return product->batch * product->m * product->k * product->n > 0;
}

/* The model. */

struct tile {
    double m, n;
};

struct rates { /* of one SM, a microsecond; of all for DRAM */
    double macs, bytes, dram_bytes, element_bytes;
};

static struct rates rates_of(enum gt_precision precision, const struct gt_device *device)
{
    const struct gt_product_costs *costs = &device->product;
    const double element_bytes[GT_PRECISIONS] = { 2, 4, 4, 1 };
    double part = precision == GT_PRECISION_FP32 ? costs->plain_bytes_part : costs->bytes_part;

    return (struct rates){
        .macs = gt_precision_macs(precision, device) * costs->macs_part * device->clock_mhz,
        .bytes = device->warp.sm_bytes_per_cycle * part * device->clock_mhz,
        .dram_bytes = device->warp.dram_gbps * device->warp.dram_efficiency * costs->dram_part * 1e3,
        .element_bytes = element_bytes[precision],
    };
}

/* With that tile, K split or not: the work of the waves alone. */
static double tiled_us(const struct gt_product *p, struct tile tile, const struct rates *rates,
                       const struct gt_device *device)
{
    const struct gt_product_costs *costs = &device->product;
    double tiles = p->batch * ceil(p->m / tile.m) * ceil(p->n / tile.n), best = INFINITY;
    double per_k = fmax(tile.m * tile.n / rates->macs, (tile.m + tile.n) * rates->element_bytes / rates->bytes);

    for (uint32_t i = 0; i < costs->split_count; i++) {
        double split = costs->splits[i], waves = ceil(tiles * split / device->sms), us;

        if (split > 1 &&
            (tiles * split > (double)device->sms * costs->split_waves || p->k / split < costs->split_least_k))
            break;
        us = waves *
             (ceil(p->k / split / costs->tile_depth) * costs->tile_depth * per_k + (double)costs->wave_ps / 1e6);
        if (split > 1)
            us += (double)costs->split_ps / 1e6 + split * p->batch * p->m * p->n * 4 / rates->dram_bytes;
        best = fmin(best, us);
    }
    return best;
}

/* Without tensor cores. */
static double plain_us(const struct gt_product *p, const struct rates *rates, const struct gt_device *device)
{
    const struct gt_product_costs *costs = &device->product;
    double best = INFINITY;

    for (uint32_t i = 0; i < costs->plain_row_count; i++) {
        struct tile tile = { costs->plain_rows[i], costs->plain_columns[i] };

        best = fmin(best, tiled_us(p, tile, rates, device));
    }
    return best;
}

static double tensor_us(const struct gt_product *p, const struct rates *rates, const struct gt_device *device)
{
    const struct gt_product_costs *costs = &device->product;
    double best = INFINITY;

    for (uint32_t i = 0; i < costs->long_side_count; i++) {
        for (uint32_t j = 0; j < costs->short_side_count; j++) {
            struct tile tile = { costs->long_sides[i], costs->short_sides[j] }, turned = { tile.n, tile.m };

            if (tile.m * tile.n <= costs->tile_most)
                best = fmin(best, fmin(tiled_us(p, tile, rates, device), tiled_us(p, turned, rates, device)));
        }
    }
    return best;
}

static double model_us(const struct gt_product *p, const struct gt_device *device)
{
    struct rates rates = rates_of(p->precision, device);
    double best = (p->precision == GT_PRECISION_FP32 ? plain_us : tensor_us)(p, &rates, device);
    double dram = p->batch * (p->m * p->k + p->k * p->n + p->m * p->n) * rates.element_bytes / rates.dram_bytes;

    return (double)device->product.start_ps / 1e6 + fmax(best, dram) + device->product.hidden_part * fmin(best, dram);
}

bool gt_product_is_aligned(const struct gt_product *p)
{
    double elements = p->precision == GT_PRECISION_FP8 ? 16 : p->precision == GT_PRECISION_HALF ? 8 : 4;

    return fmod(p->n, elements) == 0 && fmod(p->form == GT_PRODUCT_NT ? p->m : p->k, elements) == 0;
}

/* Alike enough to learn from; `any_form` where none of the same form were measured. */
static bool is_like(const struct gt_product *one, const struct gt_product *other, bool any_form)
{
    return one->precision == other->precision && (any_form || one->form == other->form) &&
           gt_product_is_aligned(one) == gt_product_is_aligned(other);
}

/* In doublings of its sides. */
static double distance(const struct gt_product *one, const struct gt_product *other)
{
    double b = log2(one->batch / other->batch), m = log2(one->m / other->m), n = log2(one->n / other->n),
           k = log2(one->k / other->k);

    return sqrt(b * b + m * m + n * n + k * k);
}

/* Of the measured points those that are nearest, nearest first. */
struct neighbours {
    const struct gt_product_point *point[GT_DEVICE_MAX_NEIGHBOURS];
    double distance[GT_DEVICE_MAX_NEIGHBOURS];
    uint32_t count, room;
};

static void add_neighbour(struct neighbours *near, const struct gt_product_point *point, double at)
{
    uint32_t place = near->count < near->room ? near->count++ : near->room - 1;

    if (near->point[place] != NULL && at >= near->distance[place])
        return;
    for (; place > 0 && near->distance[place - 1] > at; place--) {
        near->point[place] = near->point[place - 1];
        near->distance[place] = near->distance[place - 1];
    }
    near->point[place] = point;
    near->distance[place] = at;
}

static void find_alike(struct neighbours *near, const struct gt_product *product,
                       const struct gt_product_sweep *sweep, bool any_form)
{
    *near = (struct neighbours){ .room = sweep->device.product.neighbours };
    for (uint32_t i = 0; i < sweep->count; i++)
        if (is_like(product, &sweep->points[i].product, any_form))
            add_neighbour(near, &sweep->points[i], distance(product, &sweep->points[i].product));
}

static void find_neighbours(struct neighbours *near, const struct gt_product *product,
                            const struct gt_product_sweep *sweep)
{
    find_alike(near, product, sweep, false);
    if (near->count < sweep->device.product.neighbours_least)
        find_alike(near, product, sweep, true);
}

/* FP8 was not measured: the model is taken to be off as it is for 16 bits. */
static double predicted_us(const struct gt_product *product, const struct gt_product_sweep *sweep)
{
    const struct gt_product_costs *costs = &sweep->device.product;
    struct gt_product like = *product;
    struct neighbours near;
    double sum = 0, weights = 0;

    if (product->precision == GT_PRECISION_FP8)
        like.precision = GT_PRECISION_HALF;
    find_neighbours(&near, &like, sweep);
    for (uint32_t i = 0; near.count >= costs->neighbours_least && i < near.count; i++) {
        double weight = pow(near.distance[i] + costs->neighbour_softening, -costs->neighbour_power);

        sum += weight * log(near.point[i]->us / model_us(&near.point[i]->product, &sweep->device));
        weights += weight;
    }
    return model_us(product, &sweep->device) * (weights > 0 ? exp(sum / weights) : 1);
}

double gt_product_us(const struct gt_product *product, struct gt_product_sweep *sweep)
{
    struct gt_product_known *known;

    HASH_FIND(hh, sweep->known, product, sizeof *product, known);
    if (known == NULL) {
        known = gt_calloc(1, sizeof *known);
        known->product = *product;
        known->us = predicted_us(product, sweep);
        HASH_ADD(hh, sweep->known, product, sizeof known->product, known);
    }
    return known->us;
}

/* The side that differs most, in doublings. */
static double largest_step(const struct gt_product *one, const struct gt_product *other)
{
    return fmax(fmax(fabs(log2(one->batch / other->batch)), fabs(log2(one->m / other->m))),
                fmax(fabs(log2(one->n / other->n)), fabs(log2(one->k / other->k))));
}

double gt_product_from_us(const struct gt_product *from, double took_us, const struct gt_product *to, double fading,
                          struct gt_product_sweep *sweep)
{
    /* Found on the sweep: errors of two products whose sides differ by that much are correlated so far.  Other precisions have
     * other kernels. */
    double kept = from->precision == to->precision ? 1 / (1 + fading * largest_step(from, to)) : 0;

    return gt_product_us(to, sweep) * pow(took_us / gt_product_us(from, sweep), kept);
}
