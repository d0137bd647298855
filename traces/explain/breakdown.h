/* breakdown.h - where the time of each step went, process by process and GPU by GPU.
 *
 * Every moment of a step counts once, for the first of these that holds of a process and one GPU that it uses:
 *   computation      a kernel of it runs that is no collective
 *   communication    a collective (NCCL) runs, and no other kernel: what computation does not hide
 *   copies           a copy or a memset runs, and no kernel
 * else the GPU is idle until its next operation starts.  Where the call that asks for that operation
 *   idle             had returned before the GPU became idle: dependencies and gaps between operations
 * or else, from the start of that call on, the time is
 *   launch           asking for work: calls that launch, copy, record or wait for events, until the operation starts;
 *                    where that is a copy of pageable memory, which the host stages, it counts as copies
 * and before that call it is what the thread that makes it was doing (host_time.h):
 *   data_loading     it was in a range that loads data (sim/workload/ranges.h)
 *   synchronisation  it was in a call that waits for the GPU, which had ended: the way back
 *   launch           it was in another call that asks for work
 *   host             anything else: code inside operators, and outside of them
 * Behind the last operation of all it is what the thread of the last call was doing.
 *
 * A step is a range that says so (ProfilerStep#3), from its start on the host to the next one's or its own end; the last
 * one lasts until its operations have ended.  A process without steps has one, all of the run, unless more is known of
 * another process on the same GPU (steps, ranges): then its operations fall into that one's.
 */
#ifndef GRIDTIDE_TRACES_EXPLAIN_BREAKDOWN_H
#define GRIDTIDE_TRACES_EXPLAIN_BREAKDOWN_H

#include "traces/explain/loaded_run.h"

enum gt_time_kind {
    GT_TIME_COMPUTATION,
    GT_TIME_COMMUNICATION,
    GT_TIME_COPIES,
    GT_TIME_LAUNCH,
    GT_TIME_DATA_LOADING,
    GT_TIME_HOST,
    GT_TIME_SYNCHRONISATION,
    GT_TIME_IDLE,
    GT_TIME_KINDS
};
extern const char *const gt_time_kind_names[GT_TIME_KINDS];  /* "computation", ...: keys */
extern const char *const gt_time_kind_labels[GT_TIME_KINDS]; /* "data loading": for people */
extern const char *const gt_time_kind_bounds[GT_TIME_KINDS]; /* "GPU computation": what a step is bound by */

/* One step of a process on a GPU; the kinds add up to its time. */
struct gt_breakdown_step {
    const char *name; /* the run's; "" where all of the run is one */
    uint64_t process;
    gt_gpu_index gpu;
    gt_time_ps from_ps, to_ps;
    size_t behind; /* the first step behind all of this process and GPU */
    gt_time_ps ps[GT_TIME_KINDS];
    bool
        counted; /* in the sums of all steps: not the first of several that begins with the run, of which the part before
                   * the first call was not kept */
};

/* What the host did in one range while the GPU had nothing to do, over all steps. */
struct gt_breakdown_host {
    const char *name; /* the range's, or gt_host_outside */
    enum gt_time_kind kind;
    gt_time_ps ps;
};

/* Idle gaps that began while the thread that asks for the next operation was in a call that waits for the GPU: until it
 * has asked, but for what it spends on loading data. */
struct gt_breakdown_waits {
    uint64_t count;
    gt_time_ps ps;
    const char *call, *range; /* of the longest of them: the function, and the range it was called in */
    gt_time_ps longest_ps;
};

struct gt_breakdown {
    struct gt_breakdown_step *steps; /* by process, GPU and time */
    size_t step_count, counted;      /* counted: the following are of these */
    size_t lane_count;               /* pairs of a process and a GPU */
    bool marked;                     /* the trace marks steps */
    gt_time_ps ps[GT_TIME_KINDS];    /* of all steps */
    gt_time_ps total_ps;             /* of all steps: the sum of the kinds */
    struct gt_breakdown_host *hosts;
    size_t host_count; /* most time first */
    struct gt_breakdown_waits waits;
};

/* Of the run, or of its part as far as that is one of time or steps.  gt_breakdown_free() ends it. */
void gt_breakdown_find(const struct gt_loaded_run *run, struct gt_breakdown *breakdown);
void gt_breakdown_free(struct gt_breakdown *breakdown);

/* Does a kernel communicate with other GPUs (NCCL)? */
bool gt_is_collective_kernel(const struct gt_loaded_kernel *kernel);

/* Is the run's time in a step of the process that is counted? */
bool gt_breakdown_counts(const struct gt_breakdown *breakdown, uint64_t process, gt_time_ps time_ps);

/* Does the operation start in one, and belong to the part of the run that was asked for? */
bool gt_breakdown_counts_op(const struct gt_breakdown *breakdown, const struct gt_loaded_run *run, gt_op_index op);

/* The kind with the most time. */
enum gt_time_kind gt_breakdown_most(const struct gt_breakdown *breakdown);

#endif
