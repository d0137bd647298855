/* calibrate.h - finds by measurement what a device file says of the GPU at hand.
 *
 * Each key of sim/devices/device.h that can be measured gets a finding: value, median and quartiles, how it
 * was found.  The findings are written as a device file that gt_device_load reads back.
 */
#ifndef GRIDTIDE_VALIDATE_CALIBRATE_CALIBRATE_H
#define GRIDTIDE_VALIDATE_CALIBRATE_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/error.h"
#include "validate/calibrate/process.h"

/* What one group of measurements needs and finds; defined where CUDA is. */
struct gt_bench;
struct gt_calibration_group {
    const char *name, *help;
    int (*measure)(struct gt_bench *bench); /* -1 with an error: no calibration at all */
    bool before_cuda;                       /* makes processes of its own, so before its own uses the GPU */
};
extern const struct gt_calibration_group gt_calibration_groups[];
extern const size_t gt_calibration_group_count;

/* Measure on the first GPU that CUDA shows, in several processes one after the other; this one does not
 * use CUDA. Returns -1 where there is none, no driver, no such group, or
 * a CUDA call fails. gt_calibration_free ends it either way. */
int gt_calibrate(struct gt_calibration *calibration, const struct gt_calibration_options *options,
                 struct gt_error *error);

#endif
