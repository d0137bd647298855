/* kernel_time.h - how long a recorded kernel takes, and with what grid, when its operator gets other sizes. */
#ifndef GRIDTIDE_SIM_SHAPES_KERNEL_TIME_H
#define GRIDTIDE_SIM_SHAPES_KERNEL_TIME_H

#include "sim/devices/kernel_bound.h"
#include "sim/shapes/inputs.h"
#include "sim/shapes/product.h"

struct gt_kernel_case { /* a kernel as it was recorded */
    const char *name, *operator_name;
    const struct gt_kernel *kernel;
    const struct gt_device *device;
    enum gt_kernel_family family;
    const struct gt_inputs *from, *to; /* of its operator: as recorded, as asked */
    double took_us;
    double product_us; /* of all kernels of its operator's product */
};

/* How many times as long it takes. */
double gt_kernel_time_factor(const struct gt_kernel_case *c, struct gt_product_sweep *sweep);

/* How many times as many blocks it has, where its grid follows its work. */
double gt_kernel_grid_factor(const struct gt_kernel_case *c);

#endif
