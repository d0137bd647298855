/* simulate.h - play a workload against a device. */
#ifndef GRIDTIDE_SIM_SIMULATE_H
#define GRIDTIDE_SIM_SIMULATE_H

#include "sim/devices/device.h"
#include "sim/warp/kernel_model.h"
#include "sim/workload/probe.h"
#include "sim/workload/workload.h"

struct gt_options {
    bool blocks;             /* kernels as blocks on SMs (true) or as bars (false) */
    bool serialize;          /* every operation waits for the one before and the host for it */
    uint64_t seed;           /* of ranged block costs */
    /* The device that the workload's measured times were taken on; NULL: the one simulated.  What
     * differs between the two is the what-if: durations are inverted on this one and played on the
     * other, recorded calls and gaps are changed by the difference. */
    const struct gt_device *recorded_on;
    /* What to play instead of the workload: the same operations in the same order on other streams
     * (see sim/workload/restream.h).  NULL: the workload itself. */
    const struct gt_workload *played;
    /* What the warp tier says of kernels on the device simulated: how long operations last of which
     * neither a duration nor block costs are known; with `program_cost`, of all that it could run.
     * NULL: none. */
    const struct gt_kernel_model *modelled;
    bool program_cost;
};
#define GT_OPTIONS_DEFAULT { .blocks = true, .seed = 1 }

/* What a run was, beyond its records. */
struct gt_summary {
    gt_time_ps end_ps;                  /* the last call's or operation's end */
    uint64_t operations, blocks, events;/* simulated: operations, blocks, engine events */
};

/* Simulate `workload` on `device` (every GPU of the workload is one such device).
 * Records go to `probe`.  Deterministic: the same arguments give the same records.
 * Returns 0; or -1 with the reason: a kernel that fits no SM, a deadlock (naming the
 * streams and events), a callback that refused. */
int gt_simulate(const struct gt_workload *workload, const struct gt_device *device,
                const struct gt_options *options, const struct gt_probe *probe,
                struct gt_summary *summary, struct gt_error *error);

#endif
