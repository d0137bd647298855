#include "sim/shapes/precision.h"

#include <math.h>
#include <string.h>

const char *const gt_precision_names[GT_PRECISIONS] = { "half", "tf32", "fp32", "fp8" };

enum gt_precision gt_precision_of(const struct gt_tensor *matrix, const char *kernel)
{
    if (matrix->element_bytes == 1)
        return GT_PRECISION_FP8;
    if (strcmp(matrix->type, "tf32") == 0)
        return GT_PRECISION_TF32;
    if (strcmp(matrix->type, "fp32") == 0)
        return GT_PRECISION_FP32;
    if (matrix->element_bytes <= 2)
        return GT_PRECISION_HALF;
    return strstr(kernel, "tf32") != NULL || strstr(kernel, "tensorop_s") != NULL ? GT_PRECISION_TF32
                                                                                  : GT_PRECISION_FP32;
}

double gt_precision_macs(enum gt_precision precision, const struct gt_device *device)
{
    double tensor = fmax(device->warp.mma_per_cycle, device->warp.gmma_per_cycle) * device->register_partitions;

    switch (precision) {
    case GT_PRECISION_HALF: return tensor;
    case GT_PRECISION_TF32: return tensor / 2;
    case GT_PRECISION_FP8: return 2 * tensor;
    default: return (double)device->warp_threads * device->register_partitions / device->warp.interval[GT_PIPE_FMA];
    }
}
