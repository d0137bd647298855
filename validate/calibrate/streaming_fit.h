/* streaming_fit.h - what kernels cost that move bytes (device keys kernel.*), fitted to their times. No CUDA here. */
#ifndef GRIDTIDE_VALIDATE_CALIBRATE_STREAMING_FIT_H
#define GRIDTIDE_VALIDATE_CALIBRATE_STREAMING_FIT_H

#include "sim/devices/device.h"

struct gt_streaming { /* a kernel that reads and writes so many bytes in all */
    double bytes, us;
};

/* Choose the five of device->kernel that kernel.least_us and gt_kernel_bytes_us() (sim/shapes/kernel_time.h) stand on, such that the mean
 * square of log(predicted / measured) is least; each stays within its key's bounds.  `count` is 1 or more.  Returns the
 * median of |predicted / measured - 1|. */
double gt_streaming_fit(struct gt_device *device, const struct gt_streaming *kernels, size_t count);

#endif
