/* witness.h - a race shown: a schedule of the simulator in which the second operation does not wait for the first.
 *
 * The first operation gets to the GPU late, by more than the whole run takes: nothing that CUDA promises is broken by
 * that.  What has to come after it waits; the second one, which has not, starts before the first has ended.  Times that
 * the workload does not tell are made up, and there are as many connections as streams can have, since which streams share
 * one is nothing to rely on.
 */
#ifndef GRIDTIDE_SIM_CHECK_WITNESS_H
#define GRIDTIDE_SIM_CHECK_WITNESS_H

#include "sim/check/check.h"
#include "sim/devices/device.h"

struct gt_witness; /* a workload that races are shown in */

struct gt_schedule {    /* from the first call on */
    gt_time_ps late_ps; /* how much later than by its call the first operation comes */
    gt_time_ps first_start_ps, first_end_ps, second_start_ps, second_end_ps;
};

/* `device` as it plays the workload.  NULL with the reason where the workload cannot be simulated. */
struct gt_witness *gt_witness_new(const struct gt_workload *workload, const struct gt_device *device,
                                  struct gt_error *error);
void gt_witness_free(struct gt_witness *witness);

/* Returns 1 with the schedule; 0 where the simulator shows none; -1 with the reason. */
int gt_witness_show(struct gt_witness *witness, const struct gt_race *race, struct gt_schedule *schedule,
                    struct gt_error *error);

#endif
