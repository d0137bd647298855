/* timeline.h - one simulated run, kept in memory: what happened to every call and operation. */
#ifndef GRIDTIDE_SIM_BASELINE_TIMELINE_H
#define GRIDTIDE_SIM_BASELINE_TIMELINE_H

#include "sim/simulate.h"

struct gt_timeline {
    struct gt_call_record *calls; /* by call, */
    struct gt_op_record *ops;     /* by operation of the workload played */
    gt_time_ps first_ps, end_ps;  /* the first call's (or operation's) start, the last one's end; both 0 of none */
    struct gt_summary summary;
};

/* Simulate and keep the records; what is told to `beside` (NULL: nobody) goes on to it.  Returns 0; -1 with the reason
 * (see gt_simulate()), `timeline` is empty then.  gt_timeline_free() ends it. */
int gt_timeline_play(struct gt_timeline *timeline, const struct gt_workload *workload, const struct gt_device *device,
                     const struct gt_options *options, const struct gt_probe *beside, struct gt_error *error);
void gt_timeline_free(struct gt_timeline *timeline);

/* The stream whose kernels waited more for room on SMs behind kernels of other streams than those of all other streams
 * together; GT_NONE: there is none. */
gt_stream_index gt_timeline_crowded(const struct gt_timeline *timeline, const struct gt_workload *workload);

/* From the first call to the last end. */
double gt_timeline_us(const struct gt_timeline *timeline);
/* From the first recorded call to the last recorded end; NAN where nothing was recorded. */
double gt_recorded_us(const struct gt_workload *workload);

#endif
