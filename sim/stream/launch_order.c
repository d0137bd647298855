#include "sim/stream/launch_order.h"

#include <stdlib.h>
#include <string.h>

#include "sim/replay/equivalent.h"
#include "sim/replay/held_calls.h"
#include "sim/workload/collective.h"

struct gt_launch_order {
    gt_call_index *behind;    /* by call: what another thread has to do first; GT_NONE: nothing */
    bool *made;               /* by call */
    gt_thread_index *waiting; /* threads whose next call must wait */
    uint32_t waiting_count;
};

static bool recorded(const struct gt_call *call)
{
    return call->start_ps != GT_TIME_NONE || call->handover_ps != GT_TIME_NONE;
}

/* Are there threads whose calls were recorded? */
static bool has_order(const struct gt_machine *m)
{
    const struct gt_workload *w = m->workload;

    if (w->thread_count < 2)
        return false;
    for (gt_call_index i = 0; i < w->call_count; i++)
        if (recorded(&w->calls[i]))
            return true;
    return false;
}

/* The stream that the call puts something into; GT_NONE: none. */
static gt_stream_index stream_of(const struct gt_workload *w, const struct gt_call *call)
{
    if (call->ops > 0)
        return gt_call_stream(w, call);
    return call->kind == GT_CALL_EVENT_RECORD || call->kind == GT_CALL_EVENT_WAIT ? call->stream : GT_NONE;
}

/* `call` comes behind `before`, where that is another thread's. */
static void follow(const struct gt_workload *w, struct gt_launch_order *order, gt_call_index call,
                   gt_call_index before)
{
    if (before != GT_NONE && w->calls[before].thread != w->calls[call].thread &&
        (order->behind[call] == GT_NONE || order->behind[call] < before))
        order->behind[call] = before;
}

static gt_call_index *nones(uint64_t count)
{
    gt_call_index *indexes = gt_calloc(count + 1, sizeof *indexes);

    memset(indexes, 0xff, (count + 1) * sizeof *indexes); /* GT_NONE */
    return indexes;
}

/* Of each group, where the last calls of its ranks begin in one row of all; malloced. */
static uint64_t *find_first_ranks(const struct gt_workload *w)
{
    uint64_t *first = gt_calloc(w->group_count + 1ull, sizeof *first);

    for (uint32_t i = 0; i < w->group_count; i++)
        first[i + 1] = first[i] + w->groups[i].size;
    return first;
}

/* The last calls so far that put something in. */
struct last {
    gt_call_index *of_stream;
    gt_call_index *of_default, *of_rest; /* by context: its legacy default stream; its other blocking streams */
    gt_call_index *of_rank;              /* of each group's ranks in a row */
    uint64_t *first_rank;
    uint32_t *context; /* by stream: its number */
};

static void follow_stream(const struct gt_workload *w, struct gt_launch_order *order, gt_call_index call,
                          gt_stream_index stream, struct last *last)
{
    uint32_t flags = w->streams[stream].flags, context = last->context[stream];
    gt_call_index *own = flags & GT_STREAM_LEGACY_DEFAULT ? &last->of_default[context] : &last->of_rest[context];
    gt_call_index *other = flags & GT_STREAM_LEGACY_DEFAULT ? &last->of_rest[context] : &last->of_default[context];

    follow(w, order, call, last->of_stream[stream]);
    last->of_stream[stream] = call;
    if (flags & GT_STREAM_NON_BLOCKING)
        return;
    follow(w, order, call, *other);
    *own = call;
}

static void follow_part(const struct gt_workload *w, struct gt_launch_order *order, gt_call_index call,
                        struct last *last)
{
    gt_op_index op = w->calls[call].first_op;
    const struct gt_kernel *kernel = w->calls[call].ops > 0 ? gt_collective_kernel(w, op) : NULL;
    gt_call_index *before;
    uint32_t group;

    if (kernel == NULL)
        return;
    group = kernel->collective.group;
    before =
        &last->of_rank[last->first_rank[group] + gt_group_rank(&w->groups[group], w->streams[w->ops[op].stream].gpu)];
    follow(w, order, call, *before);
    *before = call;
}

static void find_order(const struct gt_machine *m, struct gt_launch_order *order)
{
    const struct gt_workload *w = m->workload;
    gt_call_index *turns = gt_calls_in_turn(w, m->replay.held_ps);
    struct last last = {
        .of_stream = nones(w->stream_count),
        .of_default = nones(w->stream_count),
        .of_rest = nones(w->stream_count),
        .first_rank = find_first_ranks(w),
        .context = gt_number_contexts(w),
    };

    last.of_rank = nones(last.first_rank[w->group_count]);
    for (gt_call_index i = 0; i < w->call_count; i++) {
        gt_stream_index stream = stream_of(w, &w->calls[turns[i]]);

        if (stream != GT_NONE)
            follow_stream(w, order, turns[i], stream, &last);
        follow_part(w, order, turns[i], &last);
    }
    free(turns);
    free(last.of_stream);
    free(last.of_default);
    free(last.of_rest);
    free(last.of_rank);
    free(last.first_rank);
    free(last.context);
}

void gt_launch_order_build(struct gt_machine *m)
{
    const struct gt_workload *w = m->workload;
    struct gt_launch_order *order;

    if (m->collectives == NULL || !has_order(m))
        return;
    order = gt_calloc(1, sizeof *order);
    order->behind = nones(w->call_count);
    order->made = gt_calloc(w->call_count + 1ull, sizeof *order->made);
    order->waiting = gt_calloc(w->thread_count + 1ull, sizeof *order->waiting);
    find_order(m, order);
    m->launch_order = order;
}

void gt_launch_order_free(struct gt_machine *m)
{
    if (m->launch_order == NULL)
        return;
    free(m->launch_order->behind);
    free(m->launch_order->made);
    free(m->launch_order->waiting);
    free(m->launch_order);
}

bool gt_launch_order_come(struct gt_machine *m, gt_thread_index thread)
{
    struct gt_launch_order *order = m->launch_order;
    const struct gt_thread_state *state = &m->threads[thread];
    gt_call_index behind = order == NULL ? GT_NONE : order->behind[state->calls[state->next]];

    if (behind == GT_NONE || order->made[behind])
        return true;
    order->waiting[order->waiting_count++] = thread;
    return false;
}

bool gt_launch_order_release(struct gt_machine *m)
{
    struct gt_launch_order *order = m->launch_order;
    uint32_t first = GT_NONE;
    gt_call_index least = GT_NONE;

    for (uint32_t i = 0; order != NULL && i < order->waiting_count; i++) {
        const struct gt_thread_state *state = &m->threads[order->waiting[i]];

        if (state->calls[state->next] < least) {
            least = state->calls[state->next];
            first = i;
        }
    }
    if (first == GT_NONE)
        return false;
    order->behind[least] = GT_NONE;
    gt_engine_schedule(&m->engine, m->engine.now_ps, GT_PHASE_HOST, GT_HANDLE_THREAD, order->waiting[first], 0);
    order->waiting[first] = order->waiting[--order->waiting_count];
    return true;
}

void gt_launch_order_made(struct gt_machine *m, gt_call_index call)
{
    struct gt_launch_order *order = m->launch_order;
    uint32_t still = 0;

    if (order == NULL)
        return;
    order->made[call] = true;
    for (uint32_t i = 0; i < order->waiting_count; i++) {
        const struct gt_thread_state *state = &m->threads[order->waiting[i]];

        if (order->behind[state->calls[state->next]] == call)
            gt_engine_schedule(&m->engine, m->engine.now_ps, GT_PHASE_HOST, GT_HANDLE_THREAD, order->waiting[i], 0);
        else
            order->waiting[still++] = order->waiting[i];
    }
    order->waiting_count = still;
}
