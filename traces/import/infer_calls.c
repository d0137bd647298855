/* infer_calls.c - calls of operations that the recording has none of. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "traces/import/internal.h"

static int compare_within_streams(const void *left, const void *right, void *user)
{
    const struct gt_import_finish *finish = user;
    const struct gt_import_op *a = &finish->import->ops[*(const uint32_t *)left];
    const struct gt_import_op *b = &finish->import->ops[*(const uint32_t *)right];

    GT_ORDER(a->stream, b->stream);
    return gt_import_compare_ops(left, right, user);
}

static bool is_mark(const struct gt_import_call *call)
{
    return call->kind == GT_CALL_EVENT_WAIT || call->kind == GT_CALL_EVENT_RECORD;
}

/* By stream: when a recorded call first made it wait for an event, or recorded one in it; INT64_MAX: none did. */
static int64_t *first_marks(const struct gt_import_finish *finish)
{
    const struct gt_import *import = finish->import;
    uint32_t streams = import->workload->stream_count;
    int64_t *marks = gt_realloc(NULL, streams + 1ull, sizeof *marks);

    for (uint32_t i = 0; i < streams; i++)
        marks[i] = INT64_MAX;
    for (uint32_t i = 0; i < import->call_count; i++) {
        const struct gt_import_call *call = &import->calls[i];

        if (is_mark(call) && call->stream != GT_NONE && finish->into[i] == GT_NONE &&
            call->start_ns < marks[call->stream])
            marks[call->stream] = call->start_ns;
    }
    return marks;
}

/* Where profiles do not say which stream was meant, it may be that of the thread's next operation. */
static void add_unknown_marks(struct gt_import_finish *finish, const uint32_t *called, const uint32_t *order,
                              int64_t *marks)
{
    const struct gt_import *import = finish->import;
    uint32_t *by_thread = gt_import_sorted(finish, import->call_count, gt_import_compare_within_threads);
    gt_stream_index *asks = gt_realloc(NULL, import->call_count + 1ull, sizeof *asks);
    int64_t unknown_ns = INT64_MAX;

    memset(asks, 0xff, (import->call_count + 1ull) * sizeof *asks); /* GT_NONE */
    for (uint32_t i = 0; i < import->op_count; i++)
        if (import->ops[i].call != GT_NONE)
            asks[import->ops[i].call] = import->ops[i].stream;
    for (uint32_t i = 0; i < import->call_count; i++) {
        const struct gt_import_call *call = &import->calls[by_thread[i]];
        gt_stream_index stream = asks[by_thread[i]];

        if (i > 0 && import->calls[by_thread[i - 1]].thread != call->thread)
            unknown_ns = INT64_MAX;
        if (is_mark(call) && call->stream == GT_NONE && finish->into[by_thread[i]] == GT_NONE &&
            call->start_ns < unknown_ns)
            unknown_ns = call->start_ns;
        if (stream == GT_NONE)
            continue;
        if (import->ops[order[called[stream]]].call == by_thread[i] && unknown_ns < marks[stream])
            marks[stream] = unknown_ns;
        unknown_ns = INT64_MAX;
    }
    free(by_thread);
    free(asks);
}

/* By stream: the first of its operations, as they start, that has a call, by its place in `order`; GT_NONE: none has. */
static uint32_t *first_called(const struct gt_import_finish *finish, const uint32_t *order)
{
    const struct gt_import *import = finish->import;
    uint32_t streams = import->workload->stream_count;
    uint32_t *called = gt_realloc(NULL, streams + 1ull, sizeof *called);

    memset(called, 0xff, (streams + 1ull) * sizeof *called); /* GT_NONE */
    for (uint32_t i = import->op_count; i-- > 0;)
        if (import->ops[order[i]].call != GT_NONE)
            called[import->ops[order[i]].stream] = i;
    return called;
}

/* Was the operation asked for before all calls of its process that were recorded?  CUPTI's numbers rise. */
static bool is_before_recording(const struct gt_import_finish *finish, const struct gt_import_op *op)
{
    uint32_t low =
        GT_LOWER_BOUND(middle, 0, finish->keyed, finish->import->calls[finish->by_key[middle]].process < op->process);
    return op->correlation != GT_NO_CORRELATION && low < finish->keyed &&
           finish->import->calls[finish->by_key[low]].process == op->process &&
           finish->import->calls[finish->by_key[low]].correlation != GT_NO_CORRELATION &&
           op->correlation < finish->import->calls[finish->by_key[low]].correlation;
}

/* Make up the calls of operations without: at the operation's start, but before the calls of all
 * that its stream ran later.  (A recording begun while the host was far ahead holds launches whose
 * kernels had to wait for those of launches that it does not hold.)  What was asked for before the recording began comes
 * before all that the recording has of the stream: waits and records, too. */
void gt_import_infer_calls(struct gt_import_finish *finish, uint32_t *threads)
{
    struct gt_import *import = finish->import;
    uint32_t *order = gt_import_sorted(finish, import->op_count, compare_within_streams);
    uint32_t first = import->call_count, last, *called = first_called(finish, order);
    int64_t before_ns = INT64_MAX, *marks = first_marks(finish);

    add_unknown_marks(finish, called, order, marks);
    for (uint32_t i = import->op_count; i-- > 0;) {
        struct gt_import_op *op = &import->ops[order[i]];
        struct gt_import_call *added;

        if (i + 1 == import->op_count || import->ops[order[i + 1]].stream != op->stream)
            before_ns = INT64_MAX;
        if (op->call != GT_NONE) {
            if (import->calls[op->call].start_ns - 1 < before_ns)
                before_ns = import->calls[op->call].start_ns - 1;
            continue;
        }
        if (marks[op->stream] - 1 < before_ns && is_before_recording(finish, op))
            before_ns = marks[op->stream] - 1;
        if (op->start_ns < before_ns)
            before_ns = op->start_ns;
        added = gt_import_add_call(import);
        added->start_ns = added->end_ns = before_ns;
        added->thread = threads[op->stream];
        added->kind = gt_call_kind_of_op[op->kind];
        added->flags = GT_CALL_INFERRED;
        op->call = import->call_count - 1;
    }
    /* They were added from the last to the first; calls at the same time stay as they stand. */
    last = import->call_count - 1;
    for (uint32_t i = 0; i < import->op_count; i++) {
        if (import->ops[i].call >= first)
            import->ops[i].call = first + (last - import->ops[i].call);
    }
    for (uint32_t i = first, j = last; i < j; i++, j--) {
        struct gt_import_call swapped = import->calls[i];

        import->calls[i] = import->calls[j];
        import->calls[j] = swapped;
    }
    free(marks);
    free(called);
    free(order);
}
