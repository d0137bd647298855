/* precision.h - the kinds of arithmetic that products of matrices are done in, and how much of each an SM does. */
#ifndef GRIDTIDE_SIM_SHAPES_PRECISION_H
#define GRIDTIDE_SIM_SHAPES_PRECISION_H

#include "sim/devices/device.h"
#include "sim/workload/tensor.h"

enum gt_precision { GT_PRECISION_HALF, GT_PRECISION_TF32, GT_PRECISION_FP32, GT_PRECISION_FP8, GT_PRECISIONS };
#define GT_PRECISIONS_SWEPT GT_PRECISION_FP8                /* the first ones, whose products are measured */
extern const char *const gt_precision_names[GT_PRECISIONS]; /* "half" (16 bits), "tf32", "fp32", "fp8" */

/* Of a kernel that multiplies such matrices.  Types "tf32" and "fp32" are float32 whose products a change asked for with TF32, or without. */
enum gt_precision gt_precision_of(const struct gt_tensor *matrix, const char *kernel);

/* Multiply-adds of an SM in a cycle at most, by tensor cores or, of fp32, by its FMA pipes. */
double gt_precision_macs(enum gt_precision precision, const struct gt_device *device);

#endif
