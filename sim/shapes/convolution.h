/* convolution.h - what a convolution takes and what comes out of it.
 *
 * How large the result is depends on strides, paddings and dilations, which are numbers among the operator's inputs where they
 * were recorded (sim/workload/tensor.h).
 */
#ifndef GRIDTIDE_SIM_SHAPES_CONVOLUTION_H
#define GRIDTIDE_SIM_SHAPES_CONVOLUTION_H

#include "sim/shapes/product.h"

struct gt_convolution {
    struct gt_tensor images, weights,
        out;         /* of the forward pass: [batch, channels, sides ..]; backward, `out` is its gradient */
    bool has_out;    /* false: what comes out is not known, and `out` is no tensor */
    bool transposed; /* each place of the images makes several of the result */
    bool backward;
    bool wants_images, wants_weights; /* backward: these gradients are asked for; false where that was not recorded */
};

/* Is it one of PyTorch's operators that the table of convolutions has? */
bool gt_is_convolution(const char *operator_name);

/* The result has floor((in + 2 padding - dilation (k - 1) - 1) / stride) + 1 places a side, a transposed one's
 * (in - 1) stride - 2 padding + dilation (k - 1) + output padding + 1: torch.nn.Conv2d and ConvTranspose2d in PyTorch's documentation.
 * False: it is none, or its inputs are not images and weights of as many sides. */
bool gt_convolution_of(const char *operator_name, const struct gt_inputs *inputs, struct gt_convolution *convolution);

/* Operations of the forward pass, and of each of the two gradients: a multiply-add, two operations, of each place of the result
 * (transposed: of the images) with all weights of its group.  0: not known. */
double gt_convolution_flops(const struct gt_convolution *convolution);

/* The matrix product that a library makes of it (an implicit GEMM) to get `result`, which is `out`, `images` or `weights` of the
 * convolution: sides of the product and how many groups have one; precision and form are left to the caller.  False: the
 * result's size is not known, or filters have one channel, so that kernels sum over its few weights directly. */
bool gt_convolution_product(const struct gt_convolution *convolution, const struct gt_tensor *result,
                            struct gt_product *product);

#endif
