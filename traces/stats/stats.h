/* stats.h - what a run in a store comes to: time busy and idle and why, overlap, kernels,
 * copies, SMs, occupancy over time, the critical path.
 *
 * Rows are streamed sorted from SQLite, so memory grows with the number of streams, distinct
 * kernels, SMs and operations running at once, and by 4 bytes a call for the critical path;
 * not with the number of operations.
 *
 * Times are picoseconds.  The makespan is from the first GPU operation's start to the last one's
 * end (host functions are no GPU operations, but they keep their stream busy); shares are
 * fractions (0.25, not 25), of it unless said otherwise.  What a run cannot tell (a measured one
 * has no reasons and no causes) is absent: `..._known` is false, a number is NAN, a list is
 * empty, and a note says why.
 */
#ifndef GRIDTIDE_TRACES_STATS_STATS_H
#define GRIDTIDE_TRACES_STATS_STATS_H

#include <stdbool.h>

#include "sim/devices/device.h"
#include "sim/workload/probe.h"
#include "traces/store/database.h"
#include "traces/store/selection.h"

/* The run that the numbers are of. */
struct gt_stats_run {
    int64_t run_id, trace_id, device_id;
    bool simulated;
    char *trace, *options;   /* the trace's name; the run's options */
    struct gt_device device; /* as the run used it */
};

struct gt_stats_summary {
    uint64_t operations, kernels, copies, memsets, host_functions;
    gt_time_ps start_ps, end_ps;              /* of the makespan; without GPU operations, of all operations */
    gt_time_ps makespan_ps, busy_ps, idle_ps; /* busy: any GPU operation running */
    gt_time_ps kernel_ps, copy_ps;            /* any kernel, any copy running */
    gt_time_ps overlap_ps;                    /* kernels and copies at once */
    double mean_running;                      /* GPU operations at once, over the makespan */
    uint64_t peak_running;
    uint32_t threads; /* host threads that called */
    bool blocked_known;
    gt_time_ps blocked_ps; /* sum over the host threads */
    bool waits_known;
    gt_time_ps idle_wait_ps[GT_WAITS]; /* idle between operations by reason, summed over the streams */
};

/* busy + idle_before + idle_after + all of idle_wait + idle_unknown = makespan. */
struct gt_stats_stream {
    uint32_t stream; /* stream_no in the trace */
    uint32_t gpu;    /* its GPU's own number */
    uint64_t id;     /* the stream's own number */
    char *name;      /* "" where it has none */
    uint64_t operations;
    gt_time_ps busy_ps;
    gt_time_ps idle_before_ps, idle_after_ps; /* its first operation, its last */
    gt_time_ps idle_wait_ps[GT_WAITS];        /* between its operations, by reason */
    gt_time_ps idle_unknown_ps;               /* between its operations, without a reason in the store */
};

/* All launches of one kernel name.  The launch shape is the one that took most time. */
struct gt_stats_kernel {
    char *name;
    uint64_t count;
    gt_time_ps total_ps, min_ps, max_ps;
    double mean_ps, share;        /* of all kernels' time */
    double mean_wait_resource_ps; /* NAN: not known */
    uint32_t shapes;              /* distinct launch shapes of this name */
    uint32_t grid[3], block[3];
    uint64_t blocks;         /* in one grid */
    uint32_t blocks_per_sm;  /* that fit an SM at once; 0: the shape does not fit the device */
    double waves, occupancy; /* device-fulls of the grid; share of the warps; NAN: does not fit */
    const char *limiter;     /* what bounds blocks_per_sm; NULL: does not fit */
    const char *family;      /* what it does, by its name (sim/devices/kernel_bound.h) */
    const char *bound;       /* what bounds a launch of the mean time */
    double
        recorded_occupancy; /* as the profiler estimated it, of the grid's blocks spread over all SMs; NAN: it did not */
};

struct gt_stats_copy {
    const char *kind;               /* "copy" or "memset" */
    char direction[16], memory[16]; /* as in the store; "" where absent */
    uint64_t count, bytes;
    gt_time_ps busy_ps;                    /* any of these running */
    double gbps;                           /* bytes over busy time; NAN when that is 0 */
    gt_time_ps kernel_overlap_ps;          /* with any kernel */
    gt_time_ps other_direction_overlap_ps; /* with copies of any other direction */
};

struct gt_stats_sm {
    uint32_t gpu, sm;
    gt_time_ps busy_ps;           /* any block resident; at most that when sms_estimated */
    double mean_warps, occupancy; /* resident over the makespan; share of the SM's warps */
    bool blocks_known;
    uint64_t blocks;
};

struct gt_stats_interval { /* of the occupancy over time */
    gt_time_ps from_ps, to_ps;
    double mean_warps, occupancy; /* resident on all SMs; share of the device's warps */
};

enum gt_path_kind {
    GT_PATH_KERNEL,
    GT_PATH_COPY,
    GT_PATH_MEMSET,
    GT_PATH_HOST_FUNCTION, /* an operation runs */
    GT_PATH_LAUNCH,        /* from a call to the operation it let start */
    GT_PATH_GAP,           /* from an operation to the one it let start */
    GT_PATH_API,           /* a host call */
    GT_PATH_HOST_WORK,     /* a host thread's own work, between calls or as one */
    GT_PATH_UNKNOWN,       /* before something whose cause is not in the store */
    GT_PATH_KINDS
};
extern const char *const gt_path_kind_names[GT_PATH_KINDS];

/* One stretch of the critical path: `name` is the kernel's, the call's or the direction's. */
struct gt_stats_segment {
    enum gt_path_kind kind;
    const char *name;
    size_t part;      /* in stats->path */
    int64_t op, call; /* which one; -1: none */
    gt_time_ps from_ps, to_ps;
};
struct gt_stats_path_part { /* all segments of a kind and name, most time first */
    enum gt_path_kind kind;
    char *name;
    uint64_t segments;
    gt_time_ps total_ps;
    double share; /* of the path */
};

/* A step of the trace (range.kind 'step'), in the order in which they begin. */
struct gt_stats_step {
    char *name;
    gt_time_ps start_ps, end_ps; /* on its thread */
    gt_time_ps blocked_ps;       /* its calls, of all threads; see summary.blocked_known */
    uint64_t operations;         /* that its calls asked for; the following are of these, 0 where there are none */
    gt_time_ps gpu_start_ps, gpu_end_ps;
    gt_time_ps gpu_ps;  /* sum of their times */
    gt_time_ps busy_ps; /* any of them running */
};

/* All ranges of a kind and name but steps: operators, annotations, modules, NVTX ranges. */
struct gt_stats_operator {
    char *kind, *name;
    uint64_t count;
    gt_time_ps total_ps, self_ps; /* of its thread; self: but for ranges within.  One within another of the same kind
                                       and name counts in the total once */
    gt_time_ps gpu_ps, gpu_self_ps; /* of operations asked for within; self: but for those within a range within */
    uint64_t operations;            /* asked for within */
};

/* All tasks of the run's task graphs.  A worker is a block of one launch; its time is the kernel's: work, the queue,
 * counters, other (telling counters, between tasks); the rest came before its first task and after its last. */
struct gt_stats_tasks {
    uint64_t count, workers; /* tasks done; 0: none */
    gt_time_ps worker_ps;    /* the time that the workers had, summed; of that: */
    gt_time_ps work_ps, queue_ps, counter_ps, other_ps;
    gt_time_ps
        path_ps; /* the work along the tasks that led to the last one's end, summed over the kernels: back from it
                         * to whichever ended later, the task whose signal let it start or its worker's before */
};

/* Tasks of one kind of a graph. */
struct gt_stats_task_kind {
    char *graph, *name;
    uint64_t count;
    gt_time_ps total_ps, wait_ps; /* work; workers waiting for its counters */
};

/* Calls of poll: how many, the work that their threads did in pieces meanwhile, and how long they took. */
struct gt_stats_polls {
    uint64_t count, pieces;
    gt_time_ps total_ps;
};

/* One launch whose blocks did tasks: where the time of its workers went, and what bounds it. */
enum { GT_STATS_KIND_BYTES = 80 };
struct gt_stats_task_kernel {
    uint32_t op;
    uint64_t count, workers;
    gt_time_ps span_ps; /* the launch's; the workers together had `workers` times that: */
    gt_time_ps work_ps;
    gt_time_ps counter_ps;    /* of having a task and waiting, until the last of those that it waits for had ended */
    gt_time_ps overhead_ps;   /* the rest: until the worker has seen that, and what there is to do */
    gt_time_ps empty_ps;      /* of asking for a task, while none was ready */
    gt_time_ps contention_ps; /* the rest of asking: what the queue costs, the more the more ask */
    gt_time_ps between_ps;    /* telling counters, from one task to the next */
    gt_time_ps around_ps;     /* before the first task and after the last */
    gt_time_ps path_ps;       /* as in struct gt_stats_tasks */
    gt_time_ps kind_ps;       /* of it, the kind with most */
    char kind[GT_STATS_KIND_BYTES];
    bool steals;          /* its workers took tasks from each other's queues */
    uint64_t last_worker; /* that ended the last task; how long its work took */
    gt_time_ps last_work_ps;
};

/* Why something is absent or estimated; `section` as on the command's output. */
struct gt_stats_note {
    const char *section;
    const char *text;
};

enum { GT_STATS_INTERVALS_MAX = 64, GT_STATS_NOTES_MAX = 8 };

struct gt_stats {
    struct gt_stats_run run;
    struct gt_stats_summary summary;
    struct gt_stats_stream *streams;
    size_t stream_count; /* by stream number; of a part of a run, those without operations too */
    struct gt_stats_kernel *kernels;
    size_t kernel_count; /* most total time first */
    struct gt_stats_copy *copies;
    size_t copy_count;
    struct gt_stats_sm *sms;
    size_t sm_count;    /* by GPU and SM */
    bool sms_estimated; /* busy times from bins: upper bounds */
    struct gt_stats_interval *intervals;
    size_t interval_count;
    struct gt_stats_path_part *path;
    size_t path_count;
    uint64_t path_segments;
    gt_time_ps path_start_ps, path_end_ps; /* the first call; the makespan's end (or the last call) */
    struct gt_stats_step *steps;
    size_t step_count;
    struct gt_stats_operator *operators;
    size_t operator_count; /* most GPU time of their own first, then most host time */
    struct gt_stats_tasks tasks;
    struct gt_stats_task_kind *task_kinds;
    size_t task_kind_count; /* most time first */
    struct gt_stats_polls polls;
    struct gt_stats_task_kernel *task_kernels;
    size_t task_kernel_count; /* by operation */
    struct gt_stats_note notes[GT_STATS_NOTES_MAX];
    size_t note_count;
    struct gt_path_file *path_file; /* the segments, in a temporary file */
};

/* The newest whole run of that kind ("simulated", "measured"). Returns its id, or -1 with an
 * error saying which kinds there are. */
int64_t gt_stats_find_run(struct gt_database *database, const char *kind, struct gt_error *error);

/* Compute everything about a run, or (`filter` not NULL) about a part of it: of that, the makespan too is from its first
 * GPU operation to its last, and there is no critical path. NULL with a reason: there is no such part, the database fails, or holds what cannot
 * be (an operation that ends before it starts, an SM that the device has not). */
struct gt_stats *gt_stats_compute(struct gt_database *database, int64_t run_id, const struct gt_filter *filter,
                                  struct gt_error *error);
void gt_stats_free(struct gt_stats *stats);

/* The critical path's segments in order of time, each beginning where the one before ended.
 * The segment is valid during the call; `each` returns 0, or -1 to stop (it filled `error`). */
typedef int gt_stats_segment_fn(void *user, const struct gt_stats_segment *segment, struct gt_error *error);
int gt_stats_path(struct gt_stats *stats, gt_stats_segment_fn *each, void *user, struct gt_error *error);

#endif
