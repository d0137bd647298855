#include "sim/shapes/roofline.h"

double gt_roof_flops_per_us(enum gt_precision precision, const struct gt_device *device)
{
    return 2 * gt_precision_macs(precision, device) * device->sms * device->clock_mhz;
}

double gt_roof_dram_bytes_per_us(const struct gt_device *device)
{
    return device->warp.dram_gbps * 1e3;
}

bool gt_roofline_of(const struct gt_work *work, double took_us, const struct gt_device *device,
                    struct gt_roofline *roofline)
{
    double flops_us = work->flops / gt_roof_flops_per_us(work->precision, device);
    double bytes_us = work->bytes / gt_roof_dram_bytes_per_us(device);
    enum gt_kernel_bound memory = GT_BOUND_DRAM;

    if (bytes_us > took_us) {
        memory = GT_BOUND_L2;
        bytes_us = work->bytes / (device->warp.l2_read_bytes_per_cycle * device->clock_mhz);
    }
    if (bytes_us >= flops_us)
        *roofline = (struct gt_roofline){ memory, bytes_us };
    else
        *roofline =
            (struct gt_roofline){ work->precision == GT_PRECISION_FP32 ? GT_BOUND_FP32 : GT_BOUND_TENSOR, flops_us };
    return roofline->least_us <= took_us;
}
