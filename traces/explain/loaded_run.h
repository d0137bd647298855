/* loaded_run.h - a run as arrays: operations, calls, streams, kernels, with what each waited for.
 *
 * Everything that explains a timeline looks at the same rows in several orders, so they are kept: some 150 bytes an
 * operation and 50 a call.  Times are picoseconds since the run's origin.
 */
#ifndef GRIDTIDE_TRACES_EXPLAIN_LOADED_RUN_H
#define GRIDTIDE_TRACES_EXPLAIN_LOADED_RUN_H

#include <stdbool.h>

#include "sim/devices/device.h"
#include "sim/shapes/work.h"
#include "sim/workload/probe.h"
#include "traces/store/selection.h"

struct gt_loaded_op {
    gt_time_ps submit_ps, start_ps, end_ps;
    gt_time_ps wait_ps[GT_WAITS]; /* add up to the time from the end of the operation before it in its stream */
    uint64_t bytes;
    uint32_t call, cause_call, cause_op; /* GT_NONE: none */
    gt_stream_index stream;
    gt_kernel_index kernel;
    gt_op_index before; /* in its stream, by start; GT_NONE: the first */
    uint8_t kind, direction, memory;
    bool there; /* the run has it */
};

struct gt_loaded_call {
    gt_time_ps start_ps, end_ps, blocked_ps;
    uint32_t cause_op;
    gt_thread_index thread;
    gt_stream_index stream;
    uint32_t name;  /* in names */
    uint32_t range; /* the innermost one that it was made in; GT_NONE: none, or not known */
    uint8_t kind;   /* gt_call_kind; GT_CALL_KINDS: not known to this version */
    bool there;
};

struct gt_loaded_range { /* a step, an operator, an annotation of a thread */
    char *name;
    char *inputs; /* as sim/workload/tensor.h reads them; NULL: not recorded */
    uint8_t kind; /* gt_range_kind; GT_RANGE_KINDS: not known to this version */
    bool step;
    bool nested;                 /* can hold other ranges, and be the innermost one */
    bool loader;                 /* loads data, or is inside a range that does (sim/workload/ranges.h) */
    gt_time_ps start_ps, end_ps; /* in this run; start GT_TIME_NONE: the run does not say */
    uint32_t parent;             /* GT_NONE: none */
    gt_thread_index thread;
    gt_call_index first_call, end_call; /* its thread's calls, a step: all threads', lie between */
};

/* From this time on, until the next mark of its thread, a range is the innermost one open. */
struct gt_host_mark {
    gt_time_ps from_ps;
    uint32_t range; /* GT_NONE: none is open */
};

struct gt_loaded_stream {
    gt_gpu_index gpu;
    uint32_t flags;
    int32_t priority;
    char *name; /* "stream 7" or its name */
};

struct gt_loaded_kernel {
    char *name; /* as traced */
    struct gt_kernel shape;
};

struct gt_loaded_run {
    int64_t run_id, trace_id;
    bool simulated; /* a measured run has no waits and no causes: they are all 0 and none */
    char *trace, *options;
    char *
        asked; /* the file that the trace came from; where the store does not know it, its name, or of a trace that an
                    option made, of the one that it was made from */
    bool gpu_unmodelled; /* nobody knows how the recorded GPU would do other work than it did */
    struct gt_device device;
    struct gt_loaded_op *ops;
    struct gt_loaded_call *calls;
    struct gt_loaded_stream *streams;
    struct gt_loaded_kernel *kernels;
    struct gt_work *profiled; /* by operation: what a profiler counted, bytes 0 and flops 0: nothing; NULL: of none */
    struct gt_loaded_range *ranges; /* 0 of them where the store has none */
    char **threads;                 /* what they are called */
    uint64_t *processes;            /* of the threads */
    char **names;                   /* of calls */
    uint32_t op_count, call_count, stream_count, kernel_count, thread_count, name_count, range_count;
    uint32_t gpu_count;
    gt_op_index *by_start; /* the operations that are there, host functions apart: `started` of them */
    uint32_t started;
    uint32_t *thread_calls, *thread_first; /* calls by thread, then by start: thread i's are from [i] to [i + 1] */
    struct gt_host_mark *marks;            /* by thread, then by time: see host_time.h */
    uint32_t *first_mark;                  /* thread i's are from [i] to [i + 1] */
    gt_time_ps first_ps, last_ps;          /* of the makespan: first operation's start to last one's end */
    struct gt_selection part;              /* what is explained of it: all, unless gt_part_take() (part.h) says so */
    bool *part_calls;                      /* by call: it asked for an operation of the part; NULL: of all */
};

/* The whole run `run_id`, all of which is explained; NULL with the reason.  gt_loaded_run_free() ends it. */
struct gt_loaded_run *gt_loaded_run_load(struct gt_database *database, int64_t run_id, struct gt_error *error);
void gt_loaded_run_free(struct gt_loaded_run *run);

/* What people call an operation: a kernel's name as traced, "copy h2d pinned", "memset"; for `text` of `bytes`. */
void gt_loaded_op_name(const struct gt_loaded_run *run, gt_op_index op, char *text, size_t bytes);
/* An operation and its stream for a text: "scale in stream a". */
void gt_loaded_op_place(const struct gt_loaded_run *run, gt_op_index op, char *text, size_t bytes);

#endif
