/* Calls that kept their thread waiting. */
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/explain/explain.h"
#include "traces/explain/loaded_run.h"
#include "traces/explain/part.h"

/* Calls that a full queue kept waiting while they were recorded. */

/* A queue is full from so much of its depth on: what else of the driver's stands in it is not known. */
static const double full_part = 0.95;
/* A call waited that took so many times as long as calls of its name do. */
static const gt_time_ps times_longer = 4;

struct queue_view {
    const struct gt_loaded_run *t;
    uint32_t *by_start; /* calls that ask for work, by when they began */
    uint32_t count;
    uint32_t *asked, *begun; /* by stream: operations */
    gt_op_index *next;   /* by stream: of its operations by start, from t->by_start, the first that has not begun */
    gt_op_index *behind; /* by operation: the next of its stream */
};

static int by_call_start(const void *left, const void *right, void *run)
{
    const struct gt_loaded_call *calls = ((const struct gt_loaded_run *)run)->calls;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    GT_ORDER(calls[a].start_ps, calls[b].start_ps);
    GT_ORDER(a, b);
    return 0;
}

static uint32_t *nones(uint32_t count)
{
    uint32_t *list = gt_calloc(count + 1ull, sizeof *list);

    for (uint32_t i = 0; i < count; i++)
        list[i] = GT_NONE;
    return list;
}

/* A stream's operations, each behind the one that began before it. */
static void chain_streams(struct queue_view *view)
{
    const struct gt_loaded_run *t = view->t;
    gt_op_index *last = nones(t->stream_count);

    for (uint32_t i = 0; i < t->started; i++) {
        gt_op_index op = t->by_start[i];
        gt_stream_index stream = t->ops[op].stream;

        *(last[stream] == GT_NONE ? &view->next[stream] : &view->behind[last[stream]]) = op;
        last[stream] = op;
    }
    free(last);
}

static bool asks(const struct gt_loaded_call *call)
{
    return call->there && call->stream != GT_NONE &&
           (call->kind == GT_CALL_LAUNCH || call->kind == GT_CALL_COPY || call->kind == GT_CALL_MEMSET);
}

static void begin(struct queue_view *view, const struct gt_loaded_run *t)
{
    *view = (struct queue_view){
        .t = t,
        .by_start = gt_calloc(t->call_count + 1ull, sizeof *view->by_start),
        .asked = gt_calloc(t->stream_count + 1ull, sizeof *view->asked),
        .begun = gt_calloc(t->stream_count + 1ull, sizeof *view->begun),
        .next = nones(t->stream_count),
        .behind = nones(t->op_count),
    };
    for (uint32_t i = 0; i < t->call_count; i++)
        if (asks(&t->calls[i]))
            view->by_start[view->count++] = i;
    qsort_r(view->by_start, view->count, sizeof *view->by_start, by_call_start, (void *)t);
    chain_streams(view);
}

static void end(struct queue_view *view)
{
    free(view->by_start);
    free(view->asked);
    free(view->begun);
    free(view->next);
    free(view->behind);
}

/* How much of the stream has been asked for and has not begun when the call ends: it is let go when one has. */
static uint32_t waiting(struct queue_view *view, const struct gt_loaded_call *call)
{
    gt_op_index *next = &view->next[call->stream];

    while (*next != GT_NONE && view->t->ops[*next].start_ps < call->end_ps) {
        view->begun[call->stream]++;
        *next = view->behind[*next];
    }
    return ++view->asked[call->stream] > view->begun[call->stream]
               ? view->asked[call->stream] - view->begun[call->stream]
               : 0;
}

/* How long calls of a name take, by name: the median of those that nothing kept. */
static gt_time_ps *usual_lengths(const struct gt_loaded_run *t, const bool *full)
{
    gt_time_ps *usual = gt_calloc(t->name_count + 1ull, sizeof *usual);
    double *lengths = gt_calloc(t->call_count + 1ull, sizeof *lengths);

    for (uint32_t name = 0; name < t->name_count; name++) {
        uint64_t count = 0;

        for (uint32_t i = 0; i < t->call_count; i++)
            if (t->calls[i].name == name && !full[i] && asks(&t->calls[i]))
                lengths[count++] = (double)(t->calls[i].end_ps - t->calls[i].start_ps);
        usual[name] = count > 0 ? (gt_time_ps)gt_median(lengths, count) : 0;
    }
    free(lengths);
    return usual;
}

/* By call: how much longer than its like one took that asked for work of a stream of which as much had not begun as a
 * queue holds.  A profile says how long a call took, not that it waited, so the replay takes it for the call's own time.
 * The caller frees it. */
static gt_time_ps *full_queue_waits(const struct gt_loaded_run *t)
{
    gt_time_ps *waits = gt_calloc(t->call_count + 1ull, sizeof *waits), *usual;
    bool *full = gt_calloc(t->call_count + 1ull, sizeof *full), any = false;
    struct queue_view view;

    begin(&view, t);
    for (uint32_t i = 0; i < view.count && t->device.launch_queue_depth > 0; i++) {
        uint32_t call = view.by_start[i];

        full[call] = waiting(&view, &t->calls[call]) >= full_part * t->device.launch_queue_depth;
        any |= full[call];
    }
    end(&view);
    usual = any ? usual_lengths(t, full) : NULL;
    for (uint32_t i = 0; i < t->call_count && any; i++) {
        gt_time_ps usual_ps = usual[t->calls[i].name], length_ps = t->calls[i].end_ps - t->calls[i].start_ps;

        if (full[i] && usual_ps > 0 && length_ps > times_longer * usual_ps)
            waits[i] = length_ps - usual_ps;
    }
    free(usual);
    free(full);
    return waits;
}

const char *const gt_block_why_names[GT_BLOCK_WHYS] = {
    [GT_BLOCK_SYNC] = "synchronises",
    [GT_BLOCK_PAGEABLE] = "pageable-copy",
    [GT_BLOCK_SYNCHRONOUS] = "synchronous-copy",
    [GT_BLOCK_QUEUE] = "queue-full",
};

static enum gt_block_why why_blocked(const struct gt_loaded_run *t, const struct gt_loaded_call *call)
{
    const struct gt_loaded_op *op = call->cause_op != GT_NONE ? &t->ops[call->cause_op] : NULL;
    bool own = op != NULL && &t->calls[op->call] == call;

    if (call->kind == GT_CALL_COPY && own)
        return op->memory == GT_MEMORY_PINNED ? GT_BLOCK_SYNCHRONOUS : GT_BLOCK_PAGEABLE;
    if (call->kind == GT_CALL_LAUNCH || call->kind == GT_CALL_GRAPH_LAUNCH || call->kind == GT_CALL_MEMSET ||
        call->kind == GT_CALL_COPY || call->kind == GT_CALL_HOST_FUNCTION)
        return GT_BLOCK_QUEUE;
    return GT_BLOCK_SYNC;
}

static int by_time(const void *a, const void *b)
{
    const struct gt_blocked_calls *left = a, *right = b;

    if (left->blocked_ps != right->blocked_ps)
        return left->blocked_ps > right->blocked_ps ? -1 : 1;
    return (left->example > right->example) - (left->example < right->example);
}

struct gt_blocked_calls *gt_blocked_calls(const struct gt_loaded_run *t, size_t *count)
{
    size_t rows = (size_t)t->name_count * GT_BLOCK_WHYS;
    gt_time_ps *queue_waits = full_queue_waits(t);
    struct gt_blocked_calls *calls = gt_calloc(rows + 1, sizeof *calls);
    gt_time_ps *most_ps = gt_calloc(rows + 1, sizeof *most_ps);

    for (uint32_t i = 0; i < t->call_count; i++) {
        const struct gt_loaded_call *call = &t->calls[i];
        gt_time_ps blocked_ps = call->blocked_ps > 0 ? call->blocked_ps : queue_waits[i];
        enum gt_block_why why;
        size_t row;

        if (!call->there || blocked_ps == 0 || !gt_part_has_call(t, i))
            continue;
        why = call->blocked_ps > 0 ? why_blocked(t, call) : GT_BLOCK_QUEUE;
        row = (size_t)call->name * GT_BLOCK_WHYS + why;
        calls[row].name = call->name;
        calls[row].why = why;
        calls[row].times++;
        calls[row].blocked_ps += blocked_ps;
        if (blocked_ps > most_ps[row])
            calls[row].example = i;
        most_ps[row] = blocked_ps > most_ps[row] ? blocked_ps : most_ps[row];
    }
    *count = 0;
    for (size_t i = 0; i < rows; i++)
        if (calls[i].times > 0)
            calls[(*count)++] = calls[i];
    qsort(calls, *count, sizeof *calls, by_time);
    free(most_ps);
    free(queue_waits);
    return calls;
}

/* Idle gaps of each GPU. */

static int by_length(const void *a, const void *b)
{
    const struct gt_gap *left = a, *right = b;
    gt_time_ps left_ps = left->to_ps - left->from_ps, right_ps = right->to_ps - right->from_ps;

    if (left_ps != right_ps)
        return left_ps > right_ps ? -1 : 1;
    return (left->from_ps > right->from_ps) - (left->from_ps < right->from_ps);
}

struct gt_gap *gt_gaps(const struct gt_loaded_run *t, gt_time_ps least_ps, size_t *count)
{
    gt_op_index *last = gt_calloc(t->gpu_count + 1ull, sizeof *last); /* the one of each GPU that ends last, plus 1 */
    struct gt_gap *gaps = NULL;
    size_t room = 0;

    *count = 0;
    for (uint32_t i = 0; i < t->started; i++) {
        gt_op_index index = t->by_start[i];
        const struct gt_loaded_op *op = &t->ops[index];
        gt_gpu_index gpu = t->streams[op->stream].gpu;
        gt_time_ps idle_ps = last[gpu] == 0 ? op->start_ps : t->ops[last[gpu] - 1].end_ps;

        if (last[gpu] != 0 && op->start_ps > idle_ps && op->start_ps - idle_ps >= least_ps &&
            gt_part_has_op(t, index)) {
            gt_array_grow(gaps, *count, room);
            gaps[(*count)++] = (struct gt_gap){ gpu, idle_ps, op->start_ps, last[gpu] - 1, index, { .op = GT_NONE } };
        }
        if (last[gpu] == 0 || op->end_ps > idle_ps)
            last[gpu] = index + 1;
    }
    free(last);
    if (*count > 0)
        qsort(gaps, *count, sizeof *gaps, by_length);
    for (size_t i = 0; i < *count; i++)
        gt_why(t, gaps[i].after, gaps[i].from_ps, gaps[i].to_ps, &gaps[i].hold);
    return gaps;
}
