/* options.h - what is asked of a run beside the workload and the device, and what it was in the end. */
#ifndef GRIDTIDE_SIM_MACHINE_OPTIONS_H
#define GRIDTIDE_SIM_MACHINE_OPTIONS_H

#include "sim/machine/rules.h"
#include "sim/workload/workload.h"

struct gt_arbitration_policy;
struct gt_device;
struct gt_kernel_model;
struct gt_learned;
struct gt_placement_policy;
struct gt_requests;

struct gt_options {
    bool blocks;    /* kernels as blocks on SMs (true) or as bars (false) */
    bool serialize; /* every operation waits for the one before and the host for it */
    uint64_t seed;  /* of ranged block costs, and of the host's noise */
    /* One of so many draws of the host's noise, from 1 (sim/stream/host_noise.h): calls without a measured time
     * take more or less than is usual.  0: all take what is usual. */
    uint32_t noise_draw, noise_draws;
    /* The device that the workload's measured times were taken on; NULL: the one simulated.  What
     * differs between the two is the what-if: durations are inverted on this one and played on the
     * other, recorded calls and gaps are changed by the difference. */
    const struct gt_device *recorded_on;
    /* The GPU's gaps and latencies are the device file's, whatever measured times show. */
    bool calibrated_gaps;
    /* Nothing is inferred from recorded times: no dependencies between streams, and for what-ifs neither connections nor
     * priorities. */
    bool no_inference;
    /* This workload's calls and operations with the times of one measured run: what the host did by itself then it does
     * again (work between calls, calls' own time, the return of a wait after what it waited for), and only the
     * GPU's part is simulated.  NULL: calls take what the workload or the device says. */
    const struct gt_workload *host;
    /* Constants that measured times of the same program showed, for a workload without such times (sim/replay/learned.h):
     * they hold in place of recorded_on's.  NULL: the workload's own. */
    const struct gt_learned *learned;
    /* What the warp tier says of kernels on the device simulated: how long operations last of which
     * neither a duration nor block costs are known; with `program_cost`, of all that it could run.
     * NULL: none. */
    const struct gt_kernel_model *modelled;
    bool program_cost;
    /* Policies that the calling program brings, beside those that sim/gpu/placement.h and arbitration.h know; the
     * device chooses by name.  NULL: none. */
    const struct gt_placement_policy *placement;
    const struct gt_arbitration_policy *arbitration;
    /* Requests that arrive (sim/serve/requests.h), for each of which threads make their calls, in a workload of which nothing was
     * measured.  NULL: threads make them once, from the start. */
    struct gt_requests *requests;
};
#define GT_OPTIONS_DEFAULT        \
    {                             \
        .blocks = true, .seed = 1 \
    }

/* Why CUDA refuses a launch by a block: errors 69 and 65. */
enum gt_refusal { GT_REFUSED_PENDING, GT_REFUSED_DEPTH, GT_REFUSALS };

/* What a run was, beyond its records. */
struct gt_summary {
    gt_time_ps end_ps;                   /* the last call's or operation's end */
    uint64_t operations, blocks, events; /* simulated: operations, blocks, engine events */
    uint64_t tasks;                      /* simulated tasks of task graphs */
    uint64_t waits;                      /* conditions that threads and streams were made to wait for */
    uint64_t too_short;                  /* kernels whose recorded duration contention does not explain */
    uint64_t dropped;      /* inferred dependencies that contradict what is stated, so that they were given up */
    uint64_t extrapolated; /* collectives whose time is for more GPUs than the device file has measured */
    uint64_t refused[GT_REFUSALS]; /* launches by blocks that failed: of these operations there are no records */
    uint64_t fired[GT_RULES];      /* how often each rule of the scheduler acted */
};

#endif
