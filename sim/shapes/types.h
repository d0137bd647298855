/* types.h - operators' inputs with elements of another type: a model in another precision. */
#ifndef GRIDTIDE_SIM_SHAPES_TYPES_H
#define GRIDTIDE_SIM_SHAPES_TYPES_H

#include "sim/shapes/inputs.h"

/* GT_TYPE_FP32: products without TF32, as PyTorch does them by itself; GT_TYPE_TF32: float32, and products with it. */
enum gt_type { GT_TYPE_BF16, GT_TYPE_FP16, GT_TYPE_FP32, GT_TYPE_TF32, GT_TYPE_FP8, GT_TYPES };
extern const char *const gt_type_names[GT_TYPES]; /* "bf16", "fp16", "fp32", "tf32", "fp8" */

/* Types that are exchanged for one another. */
enum gt_type_class { GT_CLASS_HALF, GT_CLASS_SINGLE, GT_CLASSES }; /* 16 bits; float32 */

struct gt_type_change {
    enum gt_type_class from; /* tensors of the other class stay as they are */
    enum gt_type to;
};

/* Most products, convolutions and fused attentions that launch kernels are of that class; of all operators where there are none.
 * False: no operator has inputs of either. */
bool gt_recorded_class(const struct gt_all_inputs *all, enum gt_type_class *class);

/* Has any input the class? */
bool gt_class_is_there(const struct gt_all_inputs *all, enum gt_type_class class);

/* What the operator is given after the change, into *to.  Its inputs are known.  FP8 are the two matrices of products alone. */
void gt_types_apply(const struct gt_all_inputs *all, const struct gt_type_change *change, gt_range_index range,
                    struct gt_inputs *to);

/* Does the operator copy one floating type to another? */
bool gt_is_cast(const char *operator_name, const struct gt_inputs *inputs);

#endif
