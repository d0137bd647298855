/* host_measure.h - the host of a measured run: its calls' costs, its gaps, its first call. */
#ifndef GRIDTIDE_VALIDATE_HOST_MEASURE_H
#define GRIDTIDE_VALIDATE_HOST_MEASURE_H

#include "sim/workload/probe.h"
#include "sim/workload/workload.h"
#include "validate/host_costs.h"
#include "validate/validate.h"

/* So many traces, random ones of all families in turn but for one of staged copies, are played for it, in five seconds: fewer have too few memsets and
 * host functions. */
enum { GT_HOST_TRACES = 70 };

/* Play them, once after a warm-up, into `costs`. `told` is told done of GT_HOST_TRACES after each; `stop` asked
 * before each: true ends it with what there is. Returns 0, or -1 with what failed on the GPU. */
int gt_host_measure(const struct gt_players *players, struct gt_host_costs *costs, bool (*stop)(void *user),
                    void (*told)(void *user, uint32_t done), void *user, struct gt_error *error);

/* When the first call of a recorded trace starts: what every thread's first gap begins at.  GT_TIME_NONE: no
 * call has a time. */
gt_time_ps gt_host_first_ps(const struct gt_workload *workload);

/* The thread's own work before `call`, its next one; *at_ps is where its calls had come to, the latest end so
 * far, and is moved on.  0 where the trace does not say. */
gt_time_ps gt_host_gap_ps(const struct gt_call *call, gt_time_ps *at_ps);

/* The workload's calls and operations with measured times in place of stated ones; everything else is the
 * workload's own, which must outlast it. */
struct gt_measured_host {
    struct gt_workload workload; /* for gt_options.host */
};

/* Without any time yet. gt_measured_host_free() ends it. */
void gt_measured_host_make(struct gt_measured_host *host, const struct gt_workload *workload);
void gt_measured_host_free(struct gt_measured_host *host);

/* Takes in a run's calls and operations; its other callbacks are NULL. Good as long as `host`. */
struct gt_probe gt_measured_host_probe(struct gt_measured_host *host);

#endif
