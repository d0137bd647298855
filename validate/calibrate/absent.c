/* absent.c - what stands in for calibration where there is no CUDA toolkit to build it with. */
#include "validate/calibrate/calibrate.h"

const struct gt_calibration_group gt_calibration_groups[1];
const size_t gt_calibration_group_count = 0;

int gt_calibrate(struct gt_calibration *calibration, const struct gt_calibration_options *options,
                 struct gt_error *error)
{
    (void)options;
    gt_calibration_init(calibration);
    return gt_error_set(error, "calibration was not built; install the CUDA toolkit and configure --with-cuda=DIR");
}
