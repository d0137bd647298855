/* range.h - the makespan that a prediction has, and the range that real runs of it are expected in. */
#ifndef GRIDTIDE_SIM_RANGE_H
#define GRIDTIDE_SIM_RANGE_H

#include "sim/simulate.h"

/* So often the workload is simulated anew, each time with another draw of the host's noise. */
enum { GT_RANGE_DRAWS = 20 };
/* Engine events of a simulation, at most: a longer one is not repeated. */
enum { GT_RANGE_EVENTS_MOST = 100000 };

/* Of makespans, first GPU operation's start to last one's end, in microseconds. */
struct gt_makespan_range {
    uint32_t draws; /* 0: there is no range, and nothing else holds */
    double low_us, high_us;
};

/* The range in which 9 of 10 real runs are expected, as far as the device file tells: what the host's calls take differs
 * from draw to draw (sim/stream/host_noise.h), and a makespan with the right calls still differs from the real one as
 * scheduling.error_pct says (log-Laplace: small errors are frequent, large ones not rare; whatever the draw).  The range goes from
 * the 5 % point of both together to the 95 % point, and has in it the makespan without noise.  `usual` is the run
 * without noise, with the same arguments.  There is none (range->draws is 0) where a call has a recorded time, which
 * replay keeps, where the run was longer than GT_RANGE_EVENTS_MOST, or where no operation ran on a GPU.  The same
 * arguments give the same range; options->seed draws another one.  Returns 0, or -1 as gt_simulate(). */
int gt_range_of(const struct gt_workload *workload, const struct gt_device *device, const struct gt_options *options,
                const struct gt_summary *usual, struct gt_makespan_range *range, struct gt_error *error);

#endif
