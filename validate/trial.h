/* trial.h - a workload simulated and played without a store: how far the makespan is beyond what real runs differ by. */
#ifndef GRIDTIDE_VALIDATE_TRIAL_H
#define GRIDTIDE_VALIDATE_TRIAL_H

#include "validate/validate.h"

/* Makespans, first operation's start to last one's end, in microseconds. */
struct gt_trial {
    double simulated_us;
    double gpu_us;                       /* simulated with the host's calls as in the median measured run */
    double least_us, median_us, most_us; /* of the times it was played */
};

/* Simulate `workload` on `device`, then play it `repetitions` (1 or more) times, after one that does not count, as
 * `validation` says; its store is not touched.  Returns 0, or -1 where either failed or an operation was not seen to
 * run; ask the players whether the GPU is lost then. */
int gt_trial_run(const struct gt_validation *validation, const struct gt_device *device, struct gt_workload *workload,
                 uint32_t repetitions, struct gt_trial *trial, struct gt_error *error);

/* How far a simulated makespan lies outside the range of the measured ones: below 0 where it is shorter than the
 * shortest, 0 within. */
double gt_trial_beyond_us(const struct gt_trial *trial, double simulated_us);
/* A simulated makespan against the median measured one, in %. */
double gt_trial_error_pct(const struct gt_trial *trial, double simulated_us);

#endif
