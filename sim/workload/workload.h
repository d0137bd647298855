/* workload.h - what a program asked of the GPU: all that enters the simulator.
 *
 * A workload is a set of host threads, each a sequence of calls; a call may put
 * operations (kernels, copies, memsets, host functions) into a stream.  Where
 * the trace was recorded, calls and operations carry what was measured.
 *
 * Everything is plain arrays indexed by number; GT_NONE is "no such thing".
 * Times are unsigned picoseconds since the workload's origin; GT_TIME_NONE is
 * "not known".  A workload owns all it points to; gt_workload_free() ends it.
 * Nothing here knows a file format.
 */
#ifndef GRIDTIDE_SIM_WORKLOAD_WORKLOAD_H
#define GRIDTIDE_SIM_WORKLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"
#include "sim/workload/group.h"
#include "sim/workload/plain_fields.h"
#include "sim/workload/recording.h"
#include "sim/workload/sharing.h"

struct gt_program;     /* sim/workload/program.h */
struct gt_task_graph;  /* sim/workload/task_graph.h */
struct gt_launch_rule; /* sim/workload/child_launches.h */
struct gt_child_launch;
struct gt_profile;
struct gt_allocation; /* sim/workload/allocations.h */

typedef uint64_t gt_time_ps;

/* What a number is the index of: these arrays of the workload, see below. */
typedef uint32_t gt_gpu_index;
typedef uint32_t gt_stream_index;
typedef uint32_t gt_thread_index;
typedef uint32_t gt_event_index;
typedef uint32_t gt_buffer_index;
typedef uint32_t gt_kernel_index;
typedef uint32_t gt_call_index;
typedef uint32_t gt_op_index;
typedef uint32_t gt_range_index;

#define GT_TIME_NONE UINT64_MAX
#define GT_NONE      UINT32_MAX

/* Times beyond this (about 53 days) are refused on the way in, so that sums of
 * them cannot overflow inside. */
#define GT_TIME_LIMIT_PS (UINT64_C(1) << 62)

enum { GT_MOST_GPUS = 256 }; /* of one workload */

/* Of one thread block cluster, where the kernel allows sizes that not every GPU has; else 8 (CUDA C++ Programming
 * Guide, thread block clusters). */
enum { GT_MOST_CLUSTER_BLOCKS = 16 };

enum { GT_MOST_GRID_BARRIERS = 1 << 20 }; /* of one kernel */

enum gt_call_kind {
    GT_CALL_HOST_WORK,    /* the thread computes for duration_ps */
    GT_CALL_LAUNCH,       /* one kernel */
    GT_CALL_GRAPH_LAUNCH, /* any number of operations, joined by edges */
    GT_CALL_COPY,
    GT_CALL_MEMSET,
    GT_CALL_HOST_FUNCTION, /* cudaLaunchHostFunc: blocks its stream */
    GT_CALL_STREAM_CREATE,
    GT_CALL_STREAM_SYNC,
    GT_CALL_STREAM_QUERY,
    GT_CALL_EVENT_CREATE,
    GT_CALL_EVENT_RECORD,
    GT_CALL_EVENT_WAIT, /* cudaStreamWaitEvent */
    GT_CALL_EVENT_QUERY,
    GT_CALL_EVENT_SYNC,
    GT_CALL_DEVICE_SYNC,
    GT_CALL_ALLOC, /* a buffer's memory is had from here on: cudaMalloc; with a stream cudaMallocAsync */
    GT_CALL_FREE,  /* until here: cudaFree, which waits for the device; with a stream cudaFreeAsync */
    GT_CALL_POLL,  /* the thread works piece by piece until an event, or a stream, is done, and asks in between */
    GT_CALL_RECORD_STREAM, /* once freed, the buffer's memory is not given out again before what the stream was asked for
                            * until then is done: record_stream() of PyTorch's caching allocator */
    GT_CALL_OTHER,         /* takes host time and nothing else */
    GT_CALL_KINDS
};

enum gt_call_flag {
    GT_CALL_SYNCHRONOUS = 1,    /* cudaMemcpy rather than cudaMemcpyAsync */
    GT_CALL_INFERRED = 2,       /* not in the source: made up by an importer */
    GT_CALL_TARGET_UNKNOWN = 4, /* which stream or event it meant was not recorded */
    /* Of a workload in stated form (sim/baseline/stated.h): from a recorded run, so that it waits for its operation's end
     * if GT_CALL_WAITS says so, and else does not, whatever CUDA's rules are. */
    GT_CALL_STATED = 8,
    GT_CALL_WAITS = 16,
    GT_CALL_LOADS =
        32 /* it loads its kernel's code, for which the GPU finishes what it has (sim/stream/stream_order.c) */
};

enum gt_op_kind { GT_OP_KERNEL, GT_OP_COPY, GT_OP_MEMSET, GT_OP_HOST_FUNCTION, GT_OP_KINDS };

enum gt_direction { GT_H2D, GT_D2H, GT_D2D, GT_P2P, GT_H2H, GT_DIRECTIONS };

/* The host side of a copy (or the memory of a memset). */
enum gt_memory {
    GT_MEMORY_PINNED,
    GT_MEMORY_PAGEABLE,
    GT_MEMORY_DEVICE,
    GT_MEMORY_MANAGED,
    GT_MEMORY_UNKNOWN,
    GT_MEMORIES
};

enum gt_stream_flag {
    GT_STREAM_LEGACY_DEFAULT = 1,     /* the NULL stream: waits for all blocking streams, they for it */
    GT_STREAM_PER_THREAD_DEFAULT = 2, /* a default stream that behaves as an ordinary blocking stream */
    GT_STREAM_NON_BLOCKING = 4        /* cudaStreamNonBlocking: takes no part in NULL-stream rules */
};

/* How a kernel's blocks cost time.  GT_COST_NONE: only the operation's measured
 * (or stated) duration is known and is inverted through the block scheduler. */
enum gt_cost { GT_COST_NONE, GT_COST_FIXED, GT_COST_RANGE, GT_COST_LIST };

struct gt_kernel { /* one distinct (name, launch shape, resources, cost) */
    uint32_t name; /* in names */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* blocks of a thread block cluster; 1 a side: none; added as 0, it is 1 */
    GT_KERNEL_PLAIN(GT_PLAIN_MEMBER)
    enum gt_cost cost;
    gt_time_ps block_min_ps, block_max_ps; /* FIXED: both the same; RANGE: uniform, seeded */
    gt_time_ps *block_list_ps;             /* LIST: block i costs [i % block_list_length] */
    uint32_t block_list_length;
    gt_time_ps duration_ps; /* duration alone on the device where an operation states none; or NONE */
    uint32_t runs;          /* in names: the library kernel that a player runs for it; or GT_NONE */
    uint32_t arguments;     /* in names: that kernel's arguments, JSON without spaces; or GT_NONE */
    uint32_t line;          /* of the definition in its trace, for messages; 0 unknown */
    double early_part;      /* its last wave's first block ends by so much of its duration before its last one */
    const struct gt_program *program;  /* its machine code, one of the workload's; NULL: not known */
    const struct gt_task_graph *tasks; /* what its blocks do as workers, one of the workload's; NULL: they are none */
    uint32_t task_policy;            /* in names: how workers get tasks (sim/tasks/policy.h); of no meaning without */
    struct gt_launch_rule *launches; /* what its blocks launch: child_launches.h */
    uint32_t launch_count;
    uint32_t grid_barriers; /* its blocks meet so often, all of them */
    gt_time_ps
        *phase_end_ps;  /* rising, grid_barriers + 1 of them: a block's time is in such parts between; NULL: equal */
    uint32_t early_pct; /* of a block's time that is left when it lets the next kernel come: griddepcontrol's
                             * launch_dependents; 0: at its end */
    struct gt_collective collective; /* a rank's part of it; kind GT_COLLECTIVE_NONE: it is none */
};

struct gt_gpu { /* a device that the trace names */
    uint32_t id;
    uint32_t name;
    bool peers_known; /* the program said which of the GPUs before this one it has peer access with, */
    uint64_t peers[GT_MOST_GPUS / 64]; /* both ways: a bit each; else with all */
    uint64_t allocated_bytes;          /* before the first of the workload's allocations; 0 where there are none */
};
struct gt_stream {
    gt_gpu_index gpu;
    uint32_t context; /* the source's context number; 0 where it has none */
    uint64_t id;      /* the source's stream number */
    uint32_t name;    /* in names, GT_NONE when it has none but its number */
    uint32_t flags;   /* gt_stream_flag */
    int32_t priority; /* as CUDA: lower is more urgent, 0 the default */
    uint16_t green;   /* number of its green context, of its process's; 0: it is in none */
    uint16_t sms;     /* that context's; its kernels' recorded times are on so many */
};
struct gt_thread {
    uint64_t process, id;
    uint32_t name;
    uint32_t lock; /* in names: of its process, that it holds while it calls (gt_call_needs_lock()); GT_NONE: none */
    struct gt_sharing sharing; /* of its process; all its threads say the same */
};
struct gt_event {
    uint64_t id;
    uint32_t name;
};

/* A range of memory that operations read and write.  One that is never allocated is there from the start. */
#define GT_ADDRESS_NONE UINT64_MAX
struct gt_buffer {
    uint64_t bytes;   /* 0: not known */
    uint64_t address; /* GT_ADDRESS_NONE: not known */
    uint32_t name;    /* in names: no two buffers have the same */
    gt_gpu_index gpu; /* where the memory is device memory */
    uint8_t memory;   /* gt_memory */
};
/* What an operation reads or writes. */
struct gt_buffer_access {
    uint64_t offset, bytes; /* within the buffer; bytes 0: all of it */
    gt_buffer_index buffer; /* GT_NONE: memory that no buffer is known of, `offset` is its address */
    bool writes;
    bool possible; /* it was given a pointer to there; whether it uses it, and how far, is not known */
};

struct gt_call {
    gt_time_ps start_ps;    /* measured; GT_TIME_NONE when not */
    gt_time_ps duration_ps; /* measured, or stated (host work); GT_TIME_NONE: the device file's cost */
    gt_thread_index thread;
    uint32_t name;          /* the API's own name, in names; GT_NONE: the kind says it all */
    gt_stream_index stream; /* GT_NONE where the kind has none or it is unknown */
    gt_event_index event;   /* for the event calls */
    gt_buffer_index buffer; /* for alloc, free and record_stream */
    uint32_t
        executable; /* of a graph launch, in names: which of its process's executable graphs; GT_NONE: not known */
    gt_op_index first_op;
    uint32_t ops;        /* its operations are ops[first_op .. first_op + ops - 1] */
    gt_time_ps piece_ps; /* of a poll: the work between two queries */
    gt_time_ps
        until_ps; /* of host work: behind it the thread waits until then, from the run's beginning; 0: it does not */
    GT_CALL_PLAIN(GT_PLAIN_MEMBER)
    uint32_t line; /* in the trace file, for messages; 0 unknown */
    uint8_t kind;  /* gt_call_kind */
    uint8_t flags; /* gt_call_flag */
    /* What measured times show, said outright (sim/baseline/stated.h); of no meaning where start_ps is known. */
    gt_op_index awaited;  /* of a synchronisation without a target: the operation that it waits for; or GT_NONE */
    gt_time_ps before_ps; /* the thread's own work since the call before; of its first call, since the origin */
    gt_time_ps
        kept_ps; /* of that, so much in ranges that launch nothing, such as a data loader's: no change removes it */
    gt_time_ps
        handover_ps; /* where another thread of its process made the call before it: since that one's end; or NONE */
    gt_time_ps return_ps; /* from the end of what it waited for to its return; GT_TIME_NONE: the device file's */
};

/* What an operation's own gap is behind. */
enum gt_own_gap {
    GT_LAUNCH_GAP_NONE,
    GT_LAUNCH_GAP_MOST,   /* nothing in particular: no gap of it is longer */
    GT_LAUNCH_GAP_STREAM, /* what is before it in its stream */
    GT_LAUNCH_GAP_WAIT    /* what it waits for in others: an event, an edge, the legacy default stream */
};

struct gt_op {
    gt_time_ps start_ps;    /* measured; GT_TIME_NONE when not */
    gt_time_ps duration_ps; /* measured or stated; GT_TIME_NONE: kernel's cost / copy model */
    uint64_t bytes;         /* copies and memsets */
    gt_call_index call;
    gt_stream_index stream;
    gt_kernel_index kernel; /* GT_NONE for the other kinds */
    uint32_t first_after;   /* in afters: operations that must have ended before this one starts */
    uint32_t first_access;  /* in accesses: what it reads and writes, as far as that is known */
    uint16_t afters;        /* (graph edges); within a call and stream order holds anyway */
    uint16_t accesses;
    uint8_t kind;      /* gt_op_kind */
    uint8_t direction; /* gt_direction */
    uint8_t memory;    /* gt_memory */
    GT_OP_PLAIN(GT_PLAIN_MEMBER)
    bool has_priority; /* a kernel with a priority of its own (the attribute priority), whatever its stream's is */
    uint8_t own_gap;   /* gt_own_gap: which gap own_gap_ps is */
    uint8_t
        inferred_afters; /* so many of its last afters were concluded from measured times, and nobody stated them */
    int32_t priority;
    gt_gpu_index peer_gpu; /* P2P: the other device; of a kernel: whose memory it reads or writes; else GT_NONE */
    /* As visible_ps, of what waits in its stream, a graph's first node for its graph: from the end of the last that it
     * comes after to its own start. */
    uint32_t own_gap_ps;
    /* As in struct gt_call.  GT_TIME_NONE: as its call's cost, the learned constants and the device file have it. */
    gt_time_ps visible_ps; /* from its call's begin until the GPU may start it */
    gt_time_ps gap_ps;     /* of a graph's node: from the end of the last that it comes after, else from the graph's
                            * start, to its own start */
};

enum gt_range_kind {
    GT_RANGE_OPERATOR,   /* of a framework: aten::mm */
    GT_RANGE_ANNOTATION, /* the user's own: record_function() */
    GT_RANGE_STEP,       /* one iteration: ProfilerStep#3 */
    GT_RANGE_MODULE,     /* nn.Module: Linear_0 */
    GT_RANGE_NVTX,
    GT_RANGE_KINDS
};

enum gt_range_flag { GT_RANGE_UNNESTED = 1 /* begun and ended anywhere (nvtxRangeStartA): holds no other range */ };

/* A stretch of a thread's time with a name: which of its calls were made on whose behalf.  See
 * gt_range_has_call() for which calls it holds; a step holds those of all threads. */
struct gt_range {
    gt_time_ps start_ps;    /* measured; GT_TIME_NONE when not */
    gt_time_ps duration_ps; /* measured; GT_TIME_NONE when not */
    uint32_t name;          /* in names */
    gt_thread_index thread;
    gt_range_index parent;    /* the innermost range of its thread that holds it; GT_NONE */
    gt_call_index first_call; /* no call before this one is in it ... */
    gt_call_index end_call;   /* ... nor this one or any behind; both the same: no call, made before that one */
    GT_RANGE_PLAIN(GT_PLAIN_MEMBER)
    uint32_t inputs; /* in names: an operator's inputs as tensor.h reads them; GT_NONE: not recorded */
    uint8_t kind;    /* gt_range_kind */
    uint8_t flags;   /* gt_range_flag */
};

/* Something the source could not tell, or that was left out; counted by kind. */
struct gt_warning {
    char *kind;
    char *text;
    uint64_t count;
};

/* Fields of a trace this version does not know, kept so that rewriting loses nothing. */
enum gt_extra_of {
    GT_EXTRA_HEADER,
    GT_EXTRA_KERNEL,
    GT_EXTRA_STREAM,
    GT_EXTRA_THREAD,
    GT_EXTRA_EVENT,
    GT_EXTRA_GPU,
    GT_EXTRA_CALL,
    GT_EXTRA_OP,
    GT_EXTRA_PROGRAM,
    GT_EXTRA_BUFFER,
    GT_EXTRA_PROFILE, /* by op */
    GT_EXTRA_RANGE,
    GT_EXTRA_TASK_GRAPH,
    GT_EXTRA_TASK_KIND, /* this and the next three count on from graph to graph */
    GT_EXTRA_TASK_BUFFER,
    GT_EXTRA_TASK_COUNTER,
    GT_EXTRA_TASK,
    GT_EXTRA_GROUP
};
struct gt_extra {
    enum gt_extra_of of;
    uint32_t index;
    char *json; /* "\"k\":v,..." */
};

struct gt_names; /* interned strings, see gt_name() */

struct gt_workload {
    char *name;   /* of the trace, for people; may be NULL */
    char *path;   /* the file it was read from, for messages; may be NULL */
    char *source; /* "kineto", "nsys", "gridtide", ...; may be NULL */
    char *device; /* device file the trace asks for, e.g. "h200"; may be NULL */
    struct gt_recording_cost recording;
    /* A device block found in the trace: key/value pairs as in a device file. */
    struct gt_setting {
        char *key, *value;
    } * settings;
    uint32_t setting_count;

    struct gt_names *names;
    struct gt_gpu *gpus;
    uint32_t gpu_count, gpu_room;
    struct gt_stream *streams;
    uint32_t stream_count, stream_room;
    struct gt_thread *threads;
    uint32_t thread_count, thread_room;
    struct gt_event *events;
    uint32_t event_count, event_room;
    struct gt_buffer *buffers;
    uint32_t buffer_count, buffer_room;
    struct gt_kernel *kernels;
    uint32_t kernel_count, kernel_room;
    struct gt_call *calls;
    uint32_t call_count, call_room; /* each thread's in order */
    struct gt_op *ops;
    uint32_t op_count, op_room; /* grouped by call, calls in order */
    gt_op_index *afters;
    uint32_t after_count, after_room;
    struct gt_buffer_access *accesses;
    uint32_t access_count, access_room;
    struct gt_range *ranges;
    uint32_t range_count, range_room;  /* see ranges.h for their order */
    struct gt_allocation *allocations; /* of GPUs' memory, in the order of time: allocations.h */
    uint32_t allocation_count, allocation_room;
    struct gt_warning *warnings;
    uint32_t warning_count;
    struct gt_extra *extras;
    uint32_t extra_count, extra_room;
    struct gt_program **programs;
    uint32_t program_count, program_room;
    struct gt_profile *profiles;
    uint32_t profile_count, profile_room; /* by op, rising */
    struct gt_task_graph **task_graphs;
    uint32_t task_graph_count, task_graph_room;
    struct gt_child_launch *child_launches; /* by op, rising: child_launches.h */
    uint32_t child_launch_count, child_launch_room;
    struct gt_group *groups; /* whose GPUs do collectives together: collective.h */
    uint32_t group_count, group_room;
};

/* An empty workload / the end of one (and of all it owns). NULL is allowed. */
struct gt_workload *gt_workload_new(void);
void gt_workload_free(struct gt_workload *workload);
/* A workload of its own with everything that a simulation and a store need: only extras and settings stay behind.
 * Numbers of names, streams, kernels, calls and operations are the same in both. */
struct gt_workload *gt_workload_copy(const struct gt_workload *workload);

/* Intern `length` bytes of `text`: the same text gives the same number. */
uint32_t gt_name(struct gt_workload *workload, const char *text, size_t length);
/* The text of a number; "" for GT_NONE. Valid as long as the workload. */
const char *gt_name_text(const struct gt_workload *workload, uint32_t name);
uint32_t gt_name_count(const struct gt_workload *workload);

/* Append one element, zeroed but for "none" fields (GT_NONE, GT_TIME_NONE), and return its index.
 * Indexes stay good; pointers into the array do not outlive the next append. */
gt_gpu_index gt_workload_add_gpu(struct gt_workload *workload);
gt_stream_index gt_workload_add_stream(struct gt_workload *workload);
gt_thread_index gt_workload_add_thread(struct gt_workload *workload);
gt_event_index gt_workload_add_event(struct gt_workload *workload);
gt_buffer_index gt_workload_add_buffer(struct gt_workload *workload);
gt_call_index gt_workload_add_call(struct gt_workload *workload);
gt_op_index gt_workload_add_op(struct gt_workload *workload);
gt_range_index gt_workload_add_range(struct gt_workload *workload); /* then gt_ranges_finish() of ranges.h */
/* `op`, which must be the last one added, comes after `before`. */
void gt_workload_add_after(struct gt_workload *workload, gt_op_index op, gt_op_index before);
/* `op`, which must be the last one added, reads or writes that. */
void gt_workload_add_access(struct gt_workload *workload, gt_op_index op, const struct gt_buffer_access *access);
void gt_workload_add_setting(struct gt_workload *workload, const char *key, const char *value);
void gt_workload_add_extra(struct gt_workload *workload, enum gt_extra_of of, uint32_t index, const char *json);
/* A kernel equal to *kernel: found or added (a cost list is copied when added). */
gt_kernel_index gt_workload_kernel(struct gt_workload *workload, const struct gt_kernel *kernel);
/* Hand over a program, which the workload then owns and frees. */
void gt_workload_add_program(struct gt_workload *workload, struct gt_program *program);
/* What the profiler said of operation `profile->op`, which comes after those of profiles added before. */
void gt_workload_add_profile(struct gt_workload *workload, const struct gt_profile *profile);
/* The profile of an operation, or NULL.  Good until the next gt_workload_add_profile(). */
const struct gt_profile *gt_workload_profile(const struct gt_workload *workload, gt_op_index op);
/* Count `count` more warnings of `kind` (a short hyphenated word); `text` says it once. */
void gt_workload_warn(struct gt_workload *workload, const char *kind, uint64_t count, const char *text);

/* Blocks of a kernel's grid, and threads of its block; saturate at UINT64_MAX. */
uint64_t gt_kernel_blocks(const struct gt_kernel *kernel);
uint64_t gt_kernel_threads(const struct gt_kernel *kernel);
/* Blocks of one of its clusters; 1 where it has none. */
uint64_t gt_kernel_cluster_blocks(const struct gt_kernel *kernel);
/* Can a grid be cut into such clusters, and are they no larger than any GPU takes (GT_MOST_CLUSTER_BLOCKS)? */
bool gt_kernel_cluster_fits(const uint32_t grid[3], const uint32_t cluster[3]);

/* The end of a measured call or operation; GT_TIME_NONE when it has no measured times. */
gt_time_ps gt_call_measured_end(const struct gt_call *call);
gt_time_ps gt_op_measured_end(const struct gt_op *op);

/* How long a kernel's launch takes by what is stated of it, or else of its kernel; GT_TIME_NONE: neither is. */
gt_time_ps gt_op_stated_ps(const struct gt_workload *workload, const struct gt_op *op);

/* What copies, and kernels that work in another GPU's memory, take from each GPU's to others, all together, into `bytes`, by
 * GPU. */
void gt_peer_sent_bytes(const struct gt_workload *workload, uint64_t *bytes);

/* Has the program peer access between the two GPUs? */
bool gt_gpus_are_peers(const struct gt_workload *workload, gt_gpu_index one, gt_gpu_index other);
/* From where to where a copy between GPUs goes; false: it is none, or which is not known. */
bool gt_copy_between(const struct gt_workload *workload, const struct gt_op *op, gt_gpu_index *from,
                     gt_gpu_index *to);

/* Does a thread hold its lock during this call?  While it asks for something, or computes, not while it waits for the
 * GPU: an interpreter that hands its lock to other threads does so around calls that block. */
bool gt_call_needs_lock(const struct gt_workload *workload, gt_call_index call);

/* Check every index, range and order that the simulator relies on.
 * Returns 0, or -1 with a text naming the trace line. */
int gt_workload_check(const struct gt_workload *workload, struct gt_error *error);

/* Names of enum values as they stand in traces and stores ("launch", "h2d", "pinned", ...). */
extern const char *const gt_call_kind_names[GT_CALL_KINDS];
extern const char *const gt_op_kind_names[GT_OP_KINDS];
extern const char *const gt_direction_names[GT_DIRECTIONS];
extern const char *const gt_memory_names[GT_MEMORIES];
extern const char *const gt_range_kind_names[GT_RANGE_KINDS];

#endif
