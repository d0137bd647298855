/* product.h - how long a library takes for a product of matrices of any size.
 *
 * A library has hundreds of kernels for it, each with its tile, and picks one by the sizes.  The model tries all tiles and
 * takes the fastest: waves of tiles over the SMs, each tile bound by the tensor cores or by what it loads, all of it by
 * DRAM.  Sizes that were measured (a sweep: `gridtide calibrate`, `traces/record/products.py`) say how far that is off nearby.
 */
#ifndef GRIDTIDE_SIM_SHAPES_PRODUCT_H
#define GRIDTIDE_SIM_SHAPES_PRODUCT_H

#include "sim/shapes/inputs.h"
#include "sim/shapes/precision.h"

/* How the two matrices lie, as BLAS says it, and what is special. */
enum gt_product_form {
    GT_PRODUCT_TN,
    GT_PRODUCT_TN_BIAS,
    GT_PRODUCT_NN,
    GT_PRODUCT_NT,
    GT_PRODUCT_TN_BATCHED,
    GT_PRODUCT_NN_BATCHED,
    GT_PRODUCT_FORMS
};
extern const char *const gt_product_form_names[GT_PRODUCT_FORMS]; /* "TN", "TN+bias", ..., "NN-batched" */

struct gt_product { /* batch times M x K by K x N */
    enum gt_precision precision;
    enum gt_product_form form;
    double batch, m, n, k;
};

struct gt_product_known; /* what was asked before */

struct gt_product_sweep { /* measured on a device */
    struct gt_product_point {
        struct gt_product product;
        double us;
    } * points;
    uint32_t count, room;
    struct gt_device device;
    struct gt_product_known *known;
};

/* An empty one, of which the model alone holds; NULL may be freed. */
struct gt_product_sweep *gt_product_sweep_new(const struct gt_device *device);
void gt_product_sweep_free(struct gt_product_sweep *sweep);

/* The product of an operator that multiplies matrices; `kernel` is the name of the kernel that did it.  False: it multiplies
 * none, or its inputs do not say what. */
bool gt_product_of(const char *operator_name, const struct gt_inputs *inputs, const char *kernel,
                   struct gt_product *product);

/* Do both matrices have rows of a multiple of 16 bytes, which can be loaded as such? */
bool gt_product_is_aligned(const struct gt_product *product);

/* How long all of its kernels take on the sweep's device.  The sweep remembers it. */
double gt_product_us(const struct gt_product *product, struct gt_product_sweep *sweep);

/* How long product `to` takes where `from` took `took_us`.  The nearer the two are, the more that measurement says of `to`; it says
 * less the faster it fades: by GT_PRODUCT_FADING where a library has as many kernels to choose from as for matrices. */
#define GT_PRODUCT_FADING 1.0
double gt_product_from_us(const struct gt_product *from, double took_us, const struct gt_product *to, double fading,
                          struct gt_product_sweep *sweep);

#endif
