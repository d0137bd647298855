/* builder.h - what importers of profiles have in common.
 *
 * A profile holds calls (of host threads), operations (of streams) and targets (which stream or
 * event a call meant), in any order, joined by (process, correlation).  An importer adds them
 * here as it meets them, in nanoseconds of the profile's own clock; gt_import_finish() makes a
 * workload of them: joins, drops nested calls, orders each thread, invents calls for operations
 * that have none, and counts what could not be known.
 *
 * Names, kernels, events, gpus' names and settings go straight into `workload`, what the profile lacks through
 * gt_import_warn() (warnings.h).
 */
#ifndef GRIDTIDE_TRACES_IMPORT_BUILDER_H
#define GRIDTIDE_TRACES_IMPORT_BUILDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "sim/base/error.h"
#include "sim/workload/workload.h"
#include "traces/import/collectives.h"
#include "traces/import/warnings.h"

/* No call has this correlation: such an operation gets an inferred call.  (CUPTI's are of 32 bits.) */
#define GT_NO_CORRELATION UINT32_MAX

struct gt_import_call {
    int64_t start_ns, end_ns;
    uint64_t process;              /* any number that tells processes apart, as in ops and targets */
    GT_CALL_PLAIN(GT_PLAIN_MEMBER) /* correlation: GT_NO_CORRELATION where there is none */
    uint32_t thread;               /* gt_import_thread() */
    uint32_t name;                 /* gt_name() */
    uint32_t stream, event;        /* GT_NONE until known */
    uint32_t buffer;               /* of alloc and free: gt_workload_add_buffer(); GT_NONE */
    uint32_t executable;           /* of a graph's launch: gt_import_executable(); GT_NONE until known */
    uint8_t kind, flags;           /* gt_cuda_api_find() */
    bool edges_known;              /* of a graph's launch: they are among the edges added, if there are any */
};

struct gt_import_op {
    int64_t start_ns, end_ns;
    uint64_t process;
    uint64_t bytes;
    uint32_t correlation;
    uint32_t stream;     /* gt_import_stream() */
    uint32_t kernel;     /* gt_workload_kernel(); GT_NONE for copies and memsets */
    uint32_t peer_gpu;   /* gt_import_gpu(); GT_NONE unless P2P, or a kernel that works in another GPU's memory */
    uint32_t call;       /* set by gt_import_finish() */
    uint32_t executable; /* of the graph whose node it is, as in calls; GT_NONE: not known */
    uint8_t kind, direction, memory;
    GT_OP_PLAIN(GT_PLAIN_MEMBER)
    bool has_priority; /* of its own: `priority` */
    int32_t priority;
};

/* Operations, by their numbers as they were added: of the same call, the second one comes after the first. */
struct gt_import_edge {
    uint32_t before, after;
};
/* What an operation, by that number, reads or writes. */
struct gt_import_access {
    uint32_t op;
    struct gt_buffer_access access;
};

/* The stream and event of the call with this correlation; GT_NONE what is not known of them. */
struct gt_import_target {
    uint64_t process;
    uint32_t correlation;
    uint32_t stream, event;
};

/* A range of a thread's time. */
struct gt_import_range {
    int64_t start_ns, end_ns;
    uint32_t thread; /* gt_import_range_thread() */
    uint32_t name;   /* gt_name() */
    uint32_t inputs; /* gt_name(), or GT_NONE: as in struct gt_range */
    GT_RANGE_PLAIN(GT_PLAIN_MEMBER)
    uint8_t kind, flags; /* gt_range_kind, gt_range_flag */
};
/* What the allocator gave out, or got back. */
struct gt_import_allocation {
    int64_t time_ns, bytes;  /* below 0: freed */
    int64_t allocated_bytes; /* of the GPU, with this one */
    uint64_t address;
    uint32_t gpu;    /* the profile's number */
    uint32_t thread; /* gt_import_range_thread() */
    uint32_t number; /* the builder's */
};
/* Whose time that is: as for gt_import_thread(). */
struct gt_import_range_thread {
    uint64_t process, shown_process, id;
    uint32_t name; /* gt_name(); GT_NONE: not known, or known from its calls */
};

struct gt_import_maps; /* how streams and threads are found by their numbers */

struct gt_import {
    struct gt_workload *workload;
    struct gt_import_call *calls;
    uint32_t call_count, call_room;
    struct gt_import_op *ops;
    uint32_t op_count, op_room;
    struct gt_import_target *targets;
    uint32_t target_count, target_room;
    struct gt_import_range *ranges;
    uint32_t range_count, range_room;
    struct gt_import_allocation *allocations;
    uint32_t allocation_count, allocation_room;
    struct gt_import_range_thread *range_threads;
    uint32_t range_thread_count, range_thread_room;
    struct gt_collective_notes collectives; /* of kernels of collectives; gt_import_free() ends them */
    struct gt_import_edge *edges;
    uint32_t edge_count, edge_room;
    struct gt_import_access *accesses;
    uint32_t access_count, access_room;
    struct gt_import_maps *maps;
};

/* An empty import of a new workload; `source` is the workload's source ("kineto"). */
void gt_import_begin(struct gt_import *import, const char *source);
/* The end of it and, unless gt_import_finish() has handed it over, of the workload. */
void gt_import_free(struct gt_import *import);

/* Append one, zeroed but for the fields that can be GT_NONE (and GT_NO_CORRELATION).
 * The pointer is good until the next append of the same sort. */
struct gt_import_call *gt_import_add_call(struct gt_import *import);
struct gt_import_op *gt_import_add_op(struct gt_import *import);
struct gt_import_target *gt_import_add_target(struct gt_import *import);
void gt_import_add_edge(struct gt_import *import, uint32_t before, uint32_t after);
void gt_import_add_access(struct gt_import *import, uint32_t op, const struct gt_buffer_access *access);
/* `thread`: gt_import_range_thread(). */
struct gt_import_range *gt_import_add_range(struct gt_import *import, uint32_t thread);

/* The text of a marker (NVTX, ROCTX) as a name of the workload, and the kind of its range: GT_RANGE_OPERATOR for PyTorch's
 * operators (emit_nvtx), whose numbers are left out ("aten::mm, seq = 12, op_id = 34"), else GT_RANGE_NVTX. */
uint32_t gt_import_marker_name(struct gt_import *import, const char *text, size_t length, uint8_t *kind);

/* In any order.  One of no bytes is left out, and so, counted, is one of more than any GPU has ("allocations-unreadable"). */
void gt_import_add_allocation(struct gt_import *import, const struct gt_import_allocation *allocation);

/* Found or added; all return indexes into the workload's arrays. */
uint32_t gt_import_gpu(struct gt_import *import, uint32_t id);
/* `gpu` is the profile's device number; processes have streams of their own. */
uint32_t gt_import_stream(struct gt_import *import, uint64_t process, uint32_t gpu, uint32_t context,
                          uint64_t stream);
/* An executable graph by the profile's number of it, which counts within a process. */
uint32_t gt_import_executable(struct gt_import *import, uint32_t id);
/* A stream's priority as the profile has it: within 32 bits, else the nearest of them ("priorities-clamped"). */
int32_t gt_import_priority(struct gt_import *import, int64_t priority);
/* The profile does not say priorities.  Counts ("priorities-unknown") the streams whose kernels a more urgent stream's might have
 * passed: those that are not the only one of their GPU with kernels.  After all operations. */
void gt_import_warn_priorities(struct gt_import *import);
/* Where a copy goes, by the memories at its two ends; a memory that is not known is taken for a GPU's. */
enum gt_direction gt_import_direction(enum gt_memory from, enum gt_memory to);
/* `shown_process` is what people know the process by (thread.process), `process` the join key. */
uint32_t gt_import_thread(struct gt_import *import, uint64_t process, uint64_t shown_process, uint64_t id);

/* The thread of a range, in import->range_threads: a thread that only ranges name comes behind those that call. */
uint32_t gt_import_range_thread(struct gt_import *import, uint64_t process, uint64_t shown_process, uint64_t id);

/* Make the workload, in this order:
 *  - targets are given to their calls (the first target of a correlation that knows wins);
 *  - calls of a thread that lie within another are dropped: the outer one keeps their operations
 *    and, where it knows no better (GT_CALL_OTHER, GT_NONE), their kind, stream, event and executable graph; one that
 *    begins within another and ends after it cuts the other's end ("overlapping-calls");
 *  - an operation whose call is not there gets one: GT_CALL_INFERRED, duration 0, at the
 *    operation's start (or before the calls of what its stream ran later; where it was asked for before the recording,
 *    before waits and records of its stream, too), on a pseudo-thread of its stream ("calls-missing");
 *  - a call's kind follows its operations: launches, copies and memsets without any become
 *    GT_CALL_OTHER, a call with several kernels GT_CALL_GRAPH_LAUNCH;
 *  - calls that must mean a stream or an event and do not get GT_CALL_TARGET_UNKNOWN, counted
 *    ("event-waits-unknown", "event-records-unknown", ...);
 *  - times become picoseconds since the earliest start of any call or operation;
 *  - notes of collectives are of the workload's operations, in their order, and know the origin on the profile's clock;
 *  - ranges are cut at that, those that ended before it are left out, and so are those that end after any time
 *    that can be told ("ranges-unreadable"); threads that only they name come behind all others;
 *  - allocations of GPUs that do work get the range that they are in, and frees the allocation that they end, by its address;
 *    one that would leave a GPU with less than no memory is left out ("allocations-unreadable").
 * The workload is named after the file, gt_path_stem(path).
 * Returns the checked workload, the caller's; NULL with "PATH: ..." in error. */
struct gt_workload *gt_import_finish(struct gt_import *import, const char *path, struct gt_error *error);

/* The notes of collectives become the caller's of read(), who asked for them, or go. */
void gt_import_give_notes(struct gt_import *import, struct gt_collective_notes *asked);

struct gt_tool_run {
    pid_t child;
    const char *name;
    char *path; /* where what it prints goes */
};

/* Start arguments[0], found by PATH, with its standard output (and, `errors_too`, standard error) going into a
 * new file `path`, malloced, which the run then owns.  Returns 0, or an errno: it did not start (ENOENT: there is
 * no such tool), and `path` is freed. */
int gt_tool_start(struct gt_tool_run *run, char *const arguments[], char *path, bool errors_too);
/* Wait for its end and free `run`'s path.  -1 where it failed, with the first line that it printed; the file is
 * then removed.  `error` may be NULL. */
int gt_tool_finish(struct gt_tool_run *run, struct gt_error *error);

#endif
