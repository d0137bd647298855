/* records.h - what the recorder writes into a file of its own, one a process, while a program runs.
 *
 * A file is a header of GT_RECORDED_HEADER_BYTES, then chunks of GT_RECORDED_CHUNK_BYTES.  A chunk is written by one
 * thread at a time: records one behind the other, each with its size and kind in front; a size of 0 ends the chunk.
 * The size is stored last, so that a process that is killed leaves whole records only.  Records stand in no order.
 * Numbers are the machine's own (little-endian); times are nanoseconds of CLOCK_MONOTONIC, the same for all processes.
 * Handles are the program's own, used again after they were destroyed; numbers of contexts, streams, graphs and nodes
 * are CUPTI's, never used again within a process.
 *
 * `gridtide record` makes one trace of a folder of such files (traces/recorded); nobody keeps them, so that a version
 * is read by the build that wrote it only.
 */
#ifndef GRIDTIDE_TRACES_RECORDED_RECORDS_H
#define GRIDTIDE_TRACES_RECORDED_RECORDS_H

#include <stdint.h>

#define GT_RECORDED_MAGIC  "GTRECORD"
#define GT_RECORDED_ENDING ".gtrecord"
/* Beside these files: what calls take without and with recording, lines "plain SORT NS" and "recorded SORT NS" (gt_recording_sort_names);
 * the least of several counts. */
#define GT_RECORDED_COSTS "costs.txt"

enum {
    GT_RECORDED_VERSION = 4,
    GT_RECORDED_HEADER_BYTES = 4096, /* a page, so that chunks can be mapped */
    GT_RECORDED_CHUNK_BYTES = 64 * 1024,
    GT_RECORDED_TEXT_BYTES = 4000 /* longer texts are cut */
};

struct gt_recorded_header {
    char magic[8];
    uint32_t version, pid, parent_pid;
    uint32_t connections;   /* what its environment's CUDA_DEVICE_MAX_CONNECTIONS says; 0: nothing */
    uint64_t start_ns;      /* when recording of this process began */
    uint64_t start_unix_ns; /* start_ns as time since 1970 */
    char program[256];      /* name of the program, ended by a 0 */
};

enum gt_recorded_kind {
    GT_RECORDED_NAME = 1,
    GT_RECORDED_THREAD,
    GT_RECORDED_GPU,
    GT_RECORDED_CONTEXT,
    GT_RECORDED_STREAM,
    GT_RECORDED_CALL,
    GT_RECORDED_FUNCTION,
    GT_RECORDED_LAUNCH,
    GT_RECORDED_OP,
    GT_RECORDED_GRAPH,
    GT_RECORDED_NODE,
    GT_RECORDED_EDGE,
    GT_RECORDED_CLONE,
    GT_RECORDED_RANGE,
    GT_RECORDED_SWITCH,
    GT_RECORDED_DROPPED,
    GT_RECORDED_COST,
    GT_RECORDED_PROBLEM,
    GT_RECORDED_END,
    GT_RECORDED_OVERHEAD,
    GT_RECORDED_PIECE,
    GT_RECORDED_KINDS
};

/* In front of each record. */
struct gt_record_head {
    uint32_t bytes; /* with this head, a multiple of 8; 0: no more in this chunk */
    uint16_t kind;  /* gt_recorded_kind */
    uint16_t flags;
};

/* A text that others name by its number. */
struct gt_record_name {
    struct gt_record_head head;
    uint32_t id, length;
    char text[];
};

enum gt_recorded_thread_flag { GT_RECORDED_NAMED = 1 /* by the program: goes before the system's name */ };
struct gt_record_thread {
    struct gt_record_head head; /* flags: gt_recorded_thread_flag */
    uint64_t thread;
    uint32_t length, reserved;
    char text[];
};

/* Numbers of a GPU, in this order; 0: not known. */
enum gt_recorded_gpu_number {
    GT_RECORDED_SMS,
    GT_RECORDED_MAJOR,
    GT_RECORDED_MINOR,
    GT_RECORDED_CLOCK_KHZ,
    GT_RECORDED_WARP_THREADS,
    GT_RECORDED_SM_THREADS,
    GT_RECORDED_SM_BLOCKS,
    GT_RECORDED_SM_REGISTERS,
    GT_RECORDED_SM_SHARED,
    GT_RECORDED_BLOCK_SHARED,
    GT_RECORDED_BLOCK_THREADS,
    GT_RECORDED_ENGINES,
    GT_RECORDED_GPU_NUMBERS
};
struct gt_record_gpu {
    struct gt_record_head head;
    uint32_t id, length; /* as the process counts its GPUs; of the name */
    int64_t number[GT_RECORDED_GPU_NUMBERS];
    unsigned char uuid[16];
    char text[];
};

struct gt_record_context {
    struct gt_record_head head;
    uint32_t context, gpu;
    uint32_t null_stream; /* number of its legacy default stream; UINT32_MAX: not known */
    uint32_t reserved;
};

/* Handles that mean a context's own streams. */
#define GT_RECORDED_LEGACY_STREAM     UINT64_C(1)
#define GT_RECORDED_PER_THREAD_STREAM UINT64_C(2)
enum gt_recorded_stream_flag { GT_RECORDED_NON_BLOCKING = 1 };

/* The handle means this stream from `time_ns` on. */
struct gt_record_stream {
    struct gt_record_head head;
    uint64_t time_ns, handle;
    uint64_t thread; /* of a per-thread default stream: whose */
    uint32_t context, id, flags;
    int32_t priority;
    uint64_t green;         /* handle of the green context that it is in; 0: none */
    uint32_t sms, reserved; /* that context's */
};

enum gt_recorded_what {
    GT_DID_OTHER,
    GT_DID_LAUNCH,
    GT_DID_COPY,          /* a: destination, b: source, c: bytes; 0, 0: not known */
    GT_DID_MEMSET,        /* a: address, c: bytes */
    GT_DID_HOST_FUNCTION, /* a: the function */
    GT_DID_GRAPH_LAUNCH,  /* a: number of the executable graph */
    GT_DID_STREAM_CREATE, /* a: handle */
    GT_DID_STREAM_DESTROY,
    GT_DID_STREAM_SYNC,
    GT_DID_STREAM_QUERY,
    GT_DID_EVENT_CREATE, /* a: handle; and so for all of events */
    GT_DID_EVENT_DESTROY,
    GT_DID_EVENT_RECORD,
    GT_DID_EVENT_WAIT,
    GT_DID_EVENT_QUERY,
    GT_DID_EVENT_SYNC,
    GT_DID_DEVICE_SYNC,
    GT_DID_ALLOC,        /* a: address, b: bytes, c: gt_memory */
    GT_DID_FREE,         /* a: address */
    GT_DID_REGISTER,     /* as an allocation: host memory becomes pinned */
    GT_DID_UNREGISTER,   /* a: address */
    GT_DID_GRAPH_CHANGE, /* a: number of the executable graph, b: 1: what changed is not told */
    GT_DID_EVENT_SHARE,  /* a: handle, b: a mark of what other processes know it by */
    GT_DID_EVENT_OPEN,   /* a: handle of another process's event, b: the mark */
    GT_DID_UNPLAYED,     /* it makes streams wait in a way that no trace has */
    GT_DID_KINDS
};
enum gt_recorded_call_flag {
    GT_RECORDED_IN_STREAM =
        1, /* `stream` means something: its memory comes from, or goes back to, a pool in stream order */
    GT_RECORDED_CAPTURED = 2,   /* into a graph: nothing was done now */
    GT_RECORDED_SYNCHRONOUS = 4 /* the call waits for its copy */
};

struct gt_record_call {
    struct gt_record_head head; /* flags: gt_recorded_call_flag */
    uint64_t start_ns, end_ns;
    uint64_t thread;
    uint64_t stream; /* handle */
    uint64_t a, b, c;
    uint32_t correlation, name, context;
    int32_t result; /* CUDA's error; 0: done */
    uint32_t what, reserved;
};

/* An array's handle in place of an address: what lies where in it is not told. */
#define GT_RECORDED_ARRAY (UINT64_C(1) << 63)

/* Whose parameters a record has: a call's, or those of a node in an executable graph from a call on. */
struct gt_recorded_giver {
    uint64_t node;        /* of the graph that was instantiated, or that the executable one was updated to; 0: none */
    uint32_t executable;  /* number of the executable graph; 0: none */
    uint32_t correlation; /* of the call, which instantiated or changed the graph */
};

/* What a copy or memset moved, where its call says more than one address and length: `depth` slices of `height` rows of
 * `width` bytes.  A call may have several. */
struct gt_record_piece {
    struct gt_record_head head;
    struct gt_recorded_giver giver;
    uint64_t to, from;             /* the first byte, or an array; 0: not known, of a memset `from` */
    uint64_t to_row, from_row;     /* bytes from one row to the next */
    uint64_t to_slice, from_slice; /* bytes from one slice to the next */
    uint64_t width, height, depth;
};

struct gt_recorded_parameter {
    uint32_t offset, bytes;
};
struct gt_record_function {
    struct gt_record_head head;
    uint64_t function;
    uint32_t name, count;
    struct gt_recorded_parameter parameters[];
};

enum gt_recorded_attribute {
    GT_RECORDED_COOPERATIVE = 1,     /* all blocks must be resident at once */
    GT_RECORDED_PROGRAMMATIC = 2,    /* programmaticStreamSerialization */
    GT_RECORDED_HAS_PRIORITY = 4,    /* of this launch, not its stream's */
    GT_RECORDED_PARAMETERS_KNOWN = 8 /* else none could be looked at */
};
/* A value that may be a pointer: within which parameter, at which byte of it. */
struct gt_recorded_word {
    uint32_t parameter, offset;
    uint64_t value;
};
/* What a launch, or a graph's node of a kernel, gave its kernel. */
struct gt_record_launch {
    struct gt_record_head head;
    struct gt_recorded_giver giver;
    uint64_t function;
    uint32_t attributes;
    int32_t priority;
    uint32_t count, reserved;
    struct gt_recorded_word words[];
};

/* A kernel, copy or memset as CUPTI timed it. */
struct gt_record_op {
    struct gt_record_head head;
    uint64_t start_ns, end_ns, node, bytes;
    uint32_t kind; /* gt_op_kind */
    uint32_t gpu, context, stream, correlation, graph;
    uint32_t name; /* of a kernel, mangled */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t registers, static_shared_bytes, dynamic_shared_bytes;
    uint32_t direction;           /* gt_direction */
    uint32_t source, destination; /* gt_memory */
    uint32_t peer_gpu;            /* UINT32_MAX: none */
    uint32_t launch_type;         /* CUPTI's: 1 cooperative */
    uint32_t source_gpu;          /* of a copy between GPUs */
};

/* An executable graph and the one that it was made from, or updated to by that call. */
struct gt_record_graph {
    struct gt_record_head head;
    uint32_t executable, graph;
    uint32_t correlation, flags; /* gt_recorded_graph_flag */
};
enum gt_recorded_graph_flag {
    GT_RECORDED_NODE_PRIORITIES = 8 /* its nodes have theirs; else its launch's stream has it */
};
/* kind: CUgraphNodeType. */
struct gt_record_node {
    struct gt_record_head head;
    uint64_t node;
    uint32_t graph, kind, child, reserved; /* child: number of the graph in it */
};
struct gt_record_edge {
    struct gt_record_head head;
    uint64_t from, to;
    uint32_t graph, type; /* CUgraphDependencyType: 1 programmatic */
};
/* An executable graph has copies of its nodes. */
struct gt_record_clone {
    struct gt_record_head head;
    uint64_t copy, original;
};

enum gt_recorded_range_what { GT_NVTX_PUSH, GT_NVTX_POP, GT_NVTX_START, GT_NVTX_END };
struct gt_record_range {
    struct gt_record_head head;
    uint64_t time_ns, thread, id; /* id: of start and end; of push and pop the domain's */
    uint32_t name, domain;        /* GT_RECORDED_NAME's; 0: none */
    uint32_t what, reserved;
};

/* Recording began or ended. */
struct gt_record_switch {
    struct gt_record_head head;
    uint64_t time_ns;
    uint32_t on, reserved;
};

enum gt_recorded_dropper { GT_DROPPED_BY_CUPTI, GT_DROPPED_FOR_SPACE, GT_DROPPERS };
struct gt_record_dropped {
    struct gt_record_head head;
    uint64_t count;
    uint32_t by, reserved;
};

/* What recording cost, so far: the last of a file counts. */
struct gt_record_cost {
    struct gt_record_head head;
    uint64_t calls, calls_ns;     /* time in the recorder's own code at calls */
    uint64_t buffers, buffers_ns; /* handing over CUPTI's records, on a thread of its own */
    uint64_t overhead_ns;         /* what CUPTI says that it cost itself (CUPTI_ACTIVITY_KIND_OVERHEAD) */
};

/* A time that CUPTI itself held a thread of the program up. */
struct gt_record_overhead {
    struct gt_record_head head;
    uint64_t start_ns, end_ns;
    uint32_t kind;        /* CUpti_ActivityOverheadKind */
    uint32_t correlation; /* of the call during which; 0: none, or not known */
};

struct gt_record_problem {
    struct gt_record_head head;
    uint32_t length, reserved;
    char text[];
};

enum gt_recorded_end { GT_ENDED, GT_ENDED_BY_SIGNAL, GT_ENDED_BY_EXEC };
struct gt_record_end {
    struct gt_record_head head;
    uint64_t time_ns;
    uint32_t how, signal;
};

#endif
