/* shrink_trace.h - the smallest trace of whose makespan the simulator and a GPU disagree as they do of a larger one. */
#ifndef GRIDTIDE_VALIDATE_SHRINK_TRACE_H
#define GRIDTIDE_VALIDATE_SHRINK_TRACE_H

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

/* A trace shows it where the simulated makespan lies outside the range of the real ones by more than so many % of their
 * median, and by more than what clocks and the host's calls are known to.  Where the larger trace shows it with the
 * host's calls as measured too, so must the smaller one, or a fault of the GPU's part would shrink to the host's noise. */
enum { GT_SHRINK_BEYOND_PCT = 2, GT_SHRINK_BEYOND_US = 1 };
/* How often each candidate is played, after once that does not count. */
enum { GT_SHRINK_REPETITIONS = 3 };

struct gt_shrunk {
    struct gt_trial before, after; /* as played for this; the same where nothing could go */
    uint32_t calls_before, calls_after;
    uint32_t operations_before, operations_after;
    uint32_t tries; /* candidates that were asked about */
    bool gpu;       /* the GPU's part is beyond by itself: the host's calls are not to blame */
    bool shows;     /* the trace, played anew; else nothing was shrunk */
    bool lost;      /* the GPU, after a fault */
};

struct gt_shrink_trace {
    const struct gt_validation *validation; /* whose players, seed and recorded_on are used */
    const struct gt_device *device;
    bool (*stop)(void *user); /* true: no more candidates */
    /* A smaller trace shows it: the first time the trace itself.  Called again, that one counts no more. -1 (with
     * `error`) ends it. */
    int (*keep)(void *user, const struct gt_workload *smallest, struct gt_error *error);
    void *user;
};

/* Shrink `workload`, which can be played.  Returns 0, or -1 with what failed; what was kept stays then. */
int gt_shrink_trace(const struct gt_shrink_trace *shrink, const struct gt_workload *workload,
                    struct gt_shrunk *shrunk, struct gt_error *error);

#endif
