/* blocking_streams.c - which streams keep the rules of the legacy default stream.
 *
 * In the order of their calls, an operation of a blocking stream starts after the end of all
 * operations put into the default stream before it, and the other way round.  One that starts
 * earlier shows its stream to be non-blocking.  One that could have started earlier, but did so only
 * and just when the other stream became free, shows it to be blocking - unless an event, a full GPU
 * or a busy copy engine can have been the reason.  Streams of collectives are non-blocking: PyTorch takes them from its pool
 * (c10/cuda/CUDAStream.cpp, cudaStreamNonBlocking), and orders them by events.
 */
#include "traces/import/blocking_streams.h"

#include <stdlib.h>
#include <string.h>

#include "traces/import/warnings.h"

enum { STREAMS_MAX = 64 }; /* of a workload; with more the cost of pairs would show */

#define MICROSECOND_PS ((gt_time_ps)1000000)
static const gt_time_ps clock_noise_ps = 3 * MICROSECOND_PS; /* operations in order overlap by 2.6 us */
static const gt_time_ps latency_ps = 12 * MICROSECOND_PS;    /* a launch needs so long without a wait */
static const gt_time_ps prompt_ps = 20 * MICROSECOND_PS;     /* what waited starts so soon after */

/* What is known of a stream on the way through the calls. */
struct seen {
    gt_time_ps free_ps;      /* the latest end of its operations so far */
    uint32_t last_op;        /* the one that ends then; GT_NONE: none yet */
    uint32_t last_call;      /* that asked it for an operation, */
    uint32_t last_wait;      /* and that made it wait for an event; GT_NONE */
    bool waited, overlapped; /* as a blocking stream does; as only a non-blocking one can */
};

struct search {
    const struct gt_workload *workload;
    uint32_t sms;
    uint32_t wait_anywhere; /* last call that made an unknown stream wait */
    struct seen seen[STREAMS_MAX];
};

static bool is_default(const struct gt_stream *stream)
{
    return stream->flags & GT_STREAM_LEGACY_DEFAULT;
}

/* Do the rules of the default stream bind these two, if the other one is blocking? */
static bool is_pair(const struct gt_stream *a, const struct gt_stream *b)
{
    return a->gpu == b->gpu && a->context == b->context && is_default(a) != is_default(b);
}

/* Could `first` have kept `op` from starting by what it used rather than by its stream? */
static bool share_resource(const struct search *search, const struct gt_op *first, const struct gt_op *op)
{
    if (first->kind != op->kind)
        return false;
    if (op->kind != GT_OP_KERNEL)
        return true;
    return gt_kernel_blocks(&search->workload->kernels[first->kernel]) > search->sms / 2;
}

static bool is_after(uint32_t wait, uint32_t call)
{
    return wait != GT_NONE && (call == GT_NONE || wait > call);
}

/* Can a wait for an event have kept the stream's operation from starting: one that was asked for behind what the other stream
 * did last, or one behind the stream's own last operation, which may have held the stream since before? */
static bool may_have_waited(const struct search *search, const struct seen *mine, const struct gt_op *last)
{
    return is_after(mine->last_wait, last->call) || is_after(mine->last_wait, mine->last_call) ||
           is_after(search->wait_anywhere, last->call) || is_after(search->wait_anywhere, mine->last_call);
}

/* `op`, of stream `own`, against what stream `other` has done: whether it waited for that stream. */
static void look_at_pair(struct search *search, const struct gt_op *op, uint32_t own, uint32_t other)
{
    const struct gt_workload *workload = search->workload;
    struct seen *mine = &search->seen[own], *theirs = &search->seen[other];
    struct seen *judged = is_default(&workload->streams[own]) ? theirs : mine;
    gt_time_ps ready_ps = workload->calls[op->call].start_ps;
    const struct gt_op *last;

    if (theirs->last_op == GT_NONE)
        return;
    if (op->start_ps + clock_noise_ps < theirs->free_ps) {
        judged->overlapped = true;
        return;
    }
    last = &workload->ops[theirs->last_op];
    if (mine->last_op != GT_NONE && mine->free_ps > ready_ps)
        ready_ps = mine->free_ps;
    if (ready_ps + latency_ps < theirs->free_ps && op->start_ps < theirs->free_ps + prompt_ps &&
        !may_have_waited(search, mine, last) && !share_resource(search, last, op))
        judged->waited = true;
}

/* NCCL's kernels, messages too, bear its name. */
static bool is_collective(const struct gt_workload *workload, const struct gt_op *op)
{
    return op->kind == GT_OP_KERNEL &&
           strncmp(gt_name_text(workload, workload->kernels[op->kernel].name), "nccl", 4) == 0;
}

static void take_op(struct search *search, uint32_t number)
{
    const struct gt_workload *workload = search->workload;
    const struct gt_op *op = &workload->ops[number];
    struct seen *mine = &search->seen[op->stream];
    bool inferred = workload->calls[op->call].flags & GT_CALL_INFERRED;

    mine->overlapped |= is_collective(workload, op);

    /* Made-up calls have no order among the others. */
    for (uint32_t other = 0; other < workload->stream_count && !inferred; other++) {
        if (is_pair(&workload->streams[op->stream], &workload->streams[other]))
            look_at_pair(search, op, op->stream, other);
    }
    if (!inferred)
        mine->last_call = op->call;
    if (!inferred && (mine->last_op == GT_NONE || op->start_ps + op->duration_ps >= mine->free_ps)) {
        mine->free_ps = op->start_ps + op->duration_ps;
        mine->last_op = number;
    }
}

static void take_wait(struct search *search, uint32_t number)
{
    uint32_t stream = search->workload->calls[number].stream;

    if (stream == GT_NONE)
        search->wait_anywhere = number;
    else
        search->seen[stream].last_wait = number;
}

void gt_import_find_blocking(struct gt_workload *workload, uint32_t sms)
{
    struct search *search;
    uint32_t found = 0;

    if (workload->stream_count > STREAMS_MAX)
        return;
    search = gt_calloc(1, sizeof *search);
    search->workload = workload;
    search->sms = sms;
    search->wait_anywhere = GT_NONE;
    for (uint32_t i = 0; i < workload->stream_count; i++)
        search->seen[i].last_op = search->seen[i].last_call = search->seen[i].last_wait = GT_NONE;
    for (uint32_t i = 0; i < workload->call_count; i++) {
        const struct gt_call *call = &workload->calls[i];

        if (call->kind == GT_CALL_EVENT_WAIT)
            take_wait(search, i);
        for (uint32_t n = 0; n < call->ops; n++)
            take_op(search, call->first_op + n);
    }
    for (uint32_t i = 0; i < workload->stream_count; i++) {
        if (search->seen[i].waited && !search->seen[i].overlapped && !is_default(&workload->streams[i])) {
            workload->streams[i].flags &= ~GT_STREAM_NON_BLOCKING;
            found++;
        }
    }
    free(search);
    gt_import_warn(workload, "streams-taken-for-blocking", found);
}
