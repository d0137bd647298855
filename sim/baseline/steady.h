/* steady.h - the steady state of a recorded run: its regular steps alone, one behind the other.
 *
 * A recording begins with what a program does once: libraries are loaded, memory is allocated, caches are cold.  Its steps
 * are compared; those that do more than the others are set aside, and a workload of the regular ones says how long a step
 * takes in the long run.
 */
#ifndef GRIDTIDE_SIM_BASELINE_STEADY_H
#define GRIDTIDE_SIM_BASELINE_STEADY_H

#include "sim/devices/device.h"
#include "sim/frameworks/framework.h"
#include "sim/workload/workload.h"

/* A step of a workload in stated form. */
struct gt_steady_step {
    gt_call_index first, behind; /* its calls, of all threads */
    gt_time_ps host_ps;          /* the host's own work and calls in it, without waits for the GPU or for data */
    gt_time_ps gpu_ps;           /* how long its operations last, all together, as far as that is stated */
    gt_time_ps kept_ps;          /* waiting for data, and the like: gt_call.kept_ps */
    uint32_t submits;            /* calls that submit work */
    uint32_t waits;              /* calls that wait for the GPU */
    uint32_t allocations;        /* calls that allocate or free memory, but not in stream order */
    bool regular;
    bool single; /* all of a recorded run, whatever its ranges say */
};

struct gt_steady {
    struct gt_workload
        *workload;  /* regular steps, with ranges and steps as recorded; NULL: the run has no steady state */
    uint32_t steps; /* of it: a regular step may be there several times */
    struct gt_steady_step *recorded; /* the recorded steps: regular + irregular of them */
    uint32_t regular, irregular;
    bool single;         /* one step was recorded; the program is taken to repeat it */
    bool cold;           /* that step held start-up work, which an estimate replaces */
    double irregular_us; /* the host's time in irregular ones beyond that of as many regular ones */
};

/* Find the steady state of a workload in stated form, whose steps are marked (gt_steps_find()).  Where fewer than two are, all of
 * a `recorded` run is one, without its start-up where that is told by what `framework` says of a warm host.  There is none where several processes have work: those wait for each other in ways that a step's
 * copy would not keep.  gt_steady_free() ends it. */
void gt_steady_find(struct gt_steady *steady, const struct gt_workload *workload, const struct gt_device *device,
                    const struct gt_framework *framework, bool recorded);
void gt_steady_free(struct gt_steady *steady);

#endif
