/* profiler.h - a recorded run without what its profiler cost.
 *
 * A profiler takes time of the host at every call and range that it records, and of the GPU behind every operation.  The
 * means of these costs stand in the device file (keys profiler.*); they are taken off the run in stated form.
 */
#ifndef GRIDTIDE_SIM_BASELINE_PROFILER_H
#define GRIDTIDE_SIM_BASELINE_PROFILER_H

#include "sim/replay/learned.h"
#include "sim/rewrite/scenario.h"

struct gt_profiler_removed {
    double host_us;         /* of the calls' threads, in all, */
    double left_us;         /* and what was left of their time */
    uint64_t calls, ranges; /* that cost it */
    bool ranges_missing;    /* the file has none: what they cost is still there */
    bool measured;          /* it is of `gridtide record`, which measured what it cost on the machine itself */
};

/* Take it off `scenario`, the stated form of `recorded`, and off the constants; the scenario's devices are then as they
 * are when nobody records.  Returns false, with nothing changed, where no profiler recorded it. */
bool gt_profiler_remove(struct gt_scenario *scenario, const struct gt_workload *recorded, struct gt_learned *learned,
                        struct gt_profiler_removed *removed);

#endif
