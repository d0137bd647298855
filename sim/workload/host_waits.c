/* The table of which call waits for what.  Its sources:
 *
 *   [API]    CUDA Runtime API, "API synchronization behavior" (numbers are those of its lists), and the functions' own descriptions
 *   [guide]  CUDA C++ Programming Guide
 *   [H200]   validate/recordings/host-waits.txt: 63 calls behind 2 ms of work, one H200, driver 580
 *   [trace]  traces/FORMAT.md: what the field `synchronous` says where CUDA has no such form
 */
#include "sim/workload/host_waits.h"

/* What a call is to the GPU, whatever it waits for. */
enum role { IDLE, QUERIES, SUBMITS, SYNCHRONISES };

struct row {
    uint8_t role, promised, observed;
};

/* Columns of calls without operations: do they name their stream, or event? */
enum target { NO_TARGET, TARGET, LEGACY_DEFAULT_STREAM, TARGETS };

/* Columns of operations: how they are asked for. */
enum form {
    ASYNCHRONOUS,       /* cudaMemcpyAsync */
    SYNCHRONOUS,        /* cudaMemcpy, which belongs to a default stream */
    FOLLOWED_BY_A_WAIT, /* the trace says so of another stream: the asynchronous form, then a wait for that */
    FORMS
};

/* clang-format off */
#define NOTHING      { IDLE, GT_HOST_WAIT_NONE, GT_HOST_WAIT_NONE }
#define QUERY        { QUERIES, GT_HOST_WAIT_NONE, GT_HOST_WAIT_NONE }
#define SUBMIT(wait) { SUBMITS, GT_HOST_WAIT_##wait, GT_HOST_WAIT_##wait }
#define SYNC(wait)   { SYNCHRONISES, GT_HOST_WAIT_##wait, GT_HOST_WAIT_##wait }
#define ALL(row)     { row, row, row }
#define MOVE(asynchronous, synchronous) { SUBMIT(asynchronous), SUBMIT(synchronous), SUBMIT(OPERATION) }
/* clang-format on */

/* Calls without operations. */
static const struct row kinds[GT_CALL_KINDS][TARGETS] = {
    [GT_CALL_HOST_WORK] = ALL(NOTHING),
    [GT_CALL_LAUNCH] = ALL(SUBMIT(NONE)),
    [GT_CALL_GRAPH_LAUNCH] = ALL(SUBMIT(NONE)), /* with operations, too: [API] asynchronous; no other form [trace] */
    [GT_CALL_COPY] = ALL(SUBMIT(NONE)),
    [GT_CALL_MEMSET] = ALL(SUBMIT(NONE)),
    [GT_CALL_HOST_FUNCTION] = ALL(SUBMIT(NONE)),
    [GT_CALL_STREAM_CREATE] = ALL(NOTHING),
    /* [API] "Blocks until stream has completed all operations"; of the legacy default stream: [H200] waits for a busy blocking
     * stream, not for a non-blocking one, nor does a thread's default stream, which is an ordinary stream to it */
    [GT_CALL_STREAM_SYNC] = { SYNC(UNKNOWN), SYNC(STREAM), SYNC(BLOCKING_STREAMS) },
    [GT_CALL_STREAM_QUERY] = ALL(QUERY),
    [GT_CALL_EVENT_CREATE] = ALL(NOTHING),
    [GT_CALL_EVENT_RECORD] = ALL(SUBMIT(NONE)),
    [GT_CALL_EVENT_WAIT] = ALL(SUBMIT(NONE)), /* [API] the stream waits, not the host */
    [GT_CALL_EVENT_QUERY] = ALL(QUERY),
    /* [API] "Waits until the completion of all work currently captured in event"; one never recorded captures none */
    [GT_CALL_EVENT_SYNC] = { SYNC(UNKNOWN), SYNC(EVENT), SYNC(EVENT) },
    /* [API] "Blocks until the device has completed all preceding requested tasks"; a process has a context a device */
    [GT_CALL_DEVICE_SYNC] = { SYNC(PROCESS), SYNC(CONTEXT), SYNC(CONTEXT) },
    /* Seen on an H200: cudaMalloc does not wait; in a stream's order [API] it is one of its commands */
    [GT_CALL_ALLOC] = { NOTHING, SUBMIT(NONE), SUBMIT(NONE) },
    /* [guide] "Stream Ordered Memory Allocator": cudaFree synchronises all streams, cudaFreeAsync none; both seen on an H200 */
    [GT_CALL_FREE] = { SYNC(GPU), SUBMIT(NONE), SUBMIT(NONE) },
    /* Queries until one says done, of an event (no target) or a stream: [API] cudaStreamQuery tells of that stream alone */
    [GT_CALL_POLL] = { SYNC(EVENT), SYNC(STREAM), SYNC(STREAM) },
    [GT_CALL_RECORD_STREAM] = ALL(NOTHING),
    [GT_CALL_OTHER] = ALL(NOTHING),
};

/* A poll that gives up after so many pieces: nobody knows what it has seen. */
static const struct row limited_poll[TARGETS] = {
    { SYNCHRONISES, GT_HOST_WAIT_NONE, GT_HOST_WAIT_EVENT },
    { SYNCHRONISES, GT_HOST_WAIT_NONE, GT_HOST_WAIT_STREAM },
    { SYNCHRONISES, GT_HOST_WAIT_NONE, GT_HOST_WAIT_STREAM },
};

/* [API] launches are asynchronous; [trace] CUDA_LAUNCH_BLOCKING, or a wait behind it */
static const struct row launches[FORMS] = { SUBMIT(NONE), SUBMIT(OPERATION), SUBMIT(OPERATION) };

/* By direction and the host's side of the memory. */
static const struct row copies[GT_DIRECTIONS][GT_MEMORIES][FORMS] = {
    [GT_H2D] = {
        /* [API] synchronous 1: "a stream sync is performed before the copy is initiated", it returns once the buffer has been copied
         * to staging memory; asynchronous: [H200] staged at once.  [H200] cudaMemcpy waits behind a busy stream, cudaMemcpyAsync
         * does not.  In the legacy default stream: random-77031/copies-15, behind a copy of a blocking stream */
        [GT_MEMORY_PAGEABLE] = MOVE(STAGED, STREAM_THEN_STAGED),
        /* [API] synchronous 2, asynchronous 4; [H200].  Not measured: managed memory */
        [GT_MEMORY_PINNED] = MOVE(NONE, OPERATION),
        [GT_MEMORY_DEVICE ... GT_MEMORY_UNKNOWN] = MOVE(NONE, OPERATION),
    },
    [GT_D2H] = {
        /* [API] synchronous 3; asynchronous: "will return only once the copy has completed" up to CUDA 11, "might be synchronous"
         * since; [H200] waits */
        [GT_MEMORY_PAGEABLE] = MOVE(OPERATION, OPERATION),
        /* [API] synchronous 3, asynchronous 4; [H200].  Not measured: managed memory */
        [GT_MEMORY_PINNED] = MOVE(NONE, OPERATION),
        [GT_MEMORY_DEVICE ... GT_MEMORY_UNKNOWN] = MOVE(NONE, OPERATION),
    },
    /* [API] synchronous 4: "no host-side synchronization is performed"; [H200] both forms return */
    [GT_D2D] = { [0 ... GT_MEMORIES - 1] = MOVE(NONE, NONE) },
    /* [API] the same rule, and cudaMemcpyPeer "is asynchronous with respect to the host".  Not measured */
    [GT_P2P] = { [0 ... GT_MEMORIES - 1] = MOVE(NONE, NONE) },
    /* [API] synchronous 5, asynchronous 2: "fully synchronous with respect to the host"; [H200] pinned and pageable */
    [GT_H2H] = { [0 ... GT_MEMORIES - 1] = MOVE(OPERATION, OPERATION) },
};

/* [API] Memset: "asynchronous with respect to the host except when the target is pinned host memory or a Unified Memory region,
 * in which case they are fully synchronous.  The Async versions are always asynchronous"; [H200] device, pinned, managed */
static const struct row memsets[GT_MEMORIES][FORMS] = {
    [GT_MEMORY_PINNED] = MOVE(NONE, OPERATION), [GT_MEMORY_PAGEABLE] = MOVE(NONE, NONE),
    [GT_MEMORY_DEVICE] = MOVE(NONE, NONE),      [GT_MEMORY_MANAGED] = MOVE(NONE, OPERATION),
    [GT_MEMORY_UNKNOWN] = MOVE(NONE, NONE),
};

static enum target target_of(const struct gt_workload *w, gt_stream_index stream)
{
    if (stream == GT_NONE)
        return NO_TARGET;
    return (w->streams[stream].flags & GT_STREAM_LEGACY_DEFAULT) != 0 ? LEGACY_DEFAULT_STREAM : TARGET;
}

static const struct row *row_of_call(const struct gt_workload *w, const struct gt_call *call)
{
    enum target target = target_of(w, call->stream);

    if (call->kind == GT_CALL_EVENT_SYNC)
        target = call->event == GT_NONE ? NO_TARGET : TARGET;
    else if (call->kind == GT_CALL_POLL && call->event != GT_NONE)
        target = NO_TARGET;
    return call->kind == GT_CALL_POLL && call->most_pieces > 0 ? &limited_poll[target] : &kinds[call->kind][target];
}

static const struct row *row_of_op(const struct gt_workload *w, const struct gt_call *call, const struct gt_op *op)
{
    const unsigned defaults = GT_STREAM_LEGACY_DEFAULT | GT_STREAM_PER_THREAD_DEFAULT;
    enum form form = ASYNCHRONOUS;

    if (call->flags & GT_CALL_SYNCHRONOUS)
        form = (w->streams[op->stream].flags & defaults) != 0 ? SYNCHRONOUS : FOLLOWED_BY_A_WAIT;
    if (call->kind == GT_CALL_GRAPH_LAUNCH)
        return &kinds[GT_CALL_GRAPH_LAUNCH][NO_TARGET];
    if (op->kind == GT_OP_COPY)
        return &copies[op->direction][op->memory][form];
    return op->kind == GT_OP_MEMSET ? &memsets[op->memory][form] : &launches[form];
}

static enum gt_host_wait wait_in(const struct row *row, enum gt_host_waits_by by)
{
    return by == GT_HOST_WAITS_PROMISED ? row->promised : row->observed;
}

enum gt_host_wait gt_op_host_wait(const struct gt_workload *w, const struct gt_call *call, const struct gt_op *op,
                                  enum gt_host_waits_by by)
{
    if (by == GT_HOST_WAITS_OBSERVED && call->flags & GT_CALL_STATED && call->kind != GT_CALL_GRAPH_LAUNCH)
        return (call->flags & GT_CALL_WAITS) != 0 ? GT_HOST_WAIT_OPERATION : GT_HOST_WAIT_NONE;
    return wait_in(row_of_op(w, call, op), by);
}

/* cudaFree waits for the device: where the memory is the host's, it is not known for which. */
static enum gt_host_wait free_wait(const struct gt_workload *w, const struct gt_call *call)
{
    return w->buffers[call->buffer].memory == GT_MEMORY_DEVICE ? GT_HOST_WAIT_GPU : GT_HOST_WAIT_PROCESS;
}

enum gt_host_wait gt_call_host_wait(const struct gt_workload *w, const struct gt_call *call, enum gt_host_waits_by by)
{
    enum gt_host_wait longest = GT_HOST_WAIT_NONE, wait;

    if (call->ops == 0 || call->kind == GT_CALL_GRAPH_LAUNCH) {
        wait = wait_in(row_of_call(w, call), by);
        return wait == GT_HOST_WAIT_GPU ? free_wait(w, call) : wait;
    }
    for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++) {
        wait = gt_op_host_wait(w, call, &w->ops[op], by);
        longest = wait > longest ? wait : longest;
    }
    return longest;
}

enum gt_host_wait gt_stream_host_wait(const struct gt_workload *w, gt_stream_index stream)
{
    return kinds[GT_CALL_STREAM_SYNC][target_of(w, stream)].observed;
}

bool gt_call_may_wait(const struct gt_workload *w, const struct gt_call *call)
{
    struct gt_call unstated = *call;

    unstated.flags &= (uint8_t)~GT_CALL_STATED;
    if (call->ops == 0 || call->kind == GT_CALL_GRAPH_LAUNCH)
        return gt_call_host_wait(w, &unstated, GT_HOST_WAITS_OBSERVED) != GT_HOST_WAIT_NONE;
    for (gt_op_index i = call->first_op; i < call->first_op + call->ops; i++) {
        struct gt_op op = w->ops[i];

        if (op.kind == GT_OP_COPY && op.memory == GT_MEMORY_UNKNOWN)
            op.memory = GT_MEMORY_PAGEABLE;
        if (gt_op_host_wait(w, &unstated, &op, GT_HOST_WAITS_OBSERVED) != GT_HOST_WAIT_NONE)
            return true;
    }
    return false;
}

static bool one_context(const struct gt_stream *one, const struct gt_stream *other)
{
    return one->gpu == other->gpu && one->context == other->context;
}

bool gt_host_wait_covers(const struct gt_workload *w, const struct gt_call *call, enum gt_host_wait wait,
                         gt_stream_index stream)
{
    const struct gt_stream *asked = &w->streams[stream];

    switch (wait) {
    case GT_HOST_WAIT_STREAM: return stream == call->stream;
    case GT_HOST_WAIT_BLOCKING_STREAMS:
        return one_context(asked, &w->streams[call->stream]) && !(asked->flags & GT_STREAM_NON_BLOCKING);
    case GT_HOST_WAIT_GPU: return asked->gpu == w->buffers[call->buffer].gpu;
    case GT_HOST_WAIT_CONTEXT: return one_context(asked, &w->streams[call->stream]);
    case GT_HOST_WAIT_PROCESS: return true;
    default: return false;
    }
}

bool gt_call_synchronises(const struct gt_call *call)
{
    return kinds[call->kind][call->stream == GT_NONE ? NO_TARGET : TARGET].role == SYNCHRONISES;
}

bool gt_call_holds_host(const struct gt_workload *w, const struct gt_call *call)
{
    return call->ops > 0 && gt_call_host_wait(w, call, GT_HOST_WAITS_OBSERVED) >= GT_HOST_WAIT_STREAM_THEN_STAGED;
}

bool gt_call_queries(const struct gt_call *call)
{
    return kinds[call->kind][NO_TARGET].role == QUERIES;
}

bool gt_call_is_idle(const struct gt_call *call)
{
    return kinds[call->kind][call->stream == GT_NONE ? NO_TARGET : TARGET].role == IDLE;
}
