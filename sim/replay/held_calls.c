#include "config.h"

#include "sim/replay/held_calls.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/replay/equivalent.h"
#include "sim/workload/host_waits.h"

/* The call that asked last, of those looked at so far. */
struct turn {
    gt_call_index call;
    gt_time_ps time_ps;
};

struct walk {
    const struct gt_workload *w;
    struct turn *stream;               /* by stream */
    struct turn *by_default, *of_rest; /* by context: of its legacy default stream; of its other blocking streams */
    uint32_t *context;                 /* by stream: its number */
    gt_time_ps *held_ps;
    bool any;
};

/* What a call put first into a stream, as it ran. */
static bool asked(const struct gt_workload *w, const struct gt_call *call)
{
    return call->ops > 0 && gt_call_measured_end(call) != GT_TIME_NONE && !(call->flags & GT_CALL_INFERRED) &&
           w->ops[call->first_op].start_ps != GT_TIME_NONE;
}

static int by_first_start(const void *left, const void *right, void *user)
{
    const struct gt_workload *w = user;
    gt_call_index a = *(const gt_call_index *)left, b = *(const gt_call_index *)right;

    GT_ORDER(w->ops[w->calls[a].first_op].start_ps, w->ops[w->calls[b].first_op].start_ps);
    GT_ORDER(a, b);
    return 0;
}

/* `now` asks behind `before`, where that is another thread's, which began later. */
static void hold(struct walk *walk, struct turn *now, const struct turn *before)
{
    const struct gt_call *call = &walk->w->calls[now->call];

    if (before->call == GT_NONE || walk->w->calls[before->call].thread == call->thread ||
        before->time_ps < now->time_ps || before->time_ps >= gt_call_measured_end(call))
        return;
    now->time_ps = before->time_ps + 1;
    walk->held_ps[now->call] = now->time_ps - call->start_ps;
    walk->any = true;
}

static void note(struct turn *last, const struct turn *now)
{
    if (last->call == GT_NONE || last->time_ps < now->time_ps)
        *last = *now;
}

static void walk_call(struct walk *walk, gt_call_index index)
{
    const struct gt_call *call = &walk->w->calls[index];
    gt_stream_index stream = gt_call_stream(walk->w, call);
    uint32_t flags = walk->w->streams[stream].flags, context = walk->context[stream];
    struct turn now = { index, call->start_ps + walk->held_ps[index] };

    hold(walk, &now, &walk->stream[stream]);
    if (!(flags & GT_STREAM_NON_BLOCKING)) {
        hold(walk, &now, flags & GT_STREAM_LEGACY_DEFAULT ? &walk->of_rest[context] : &walk->by_default[context]);
        note(flags & GT_STREAM_LEGACY_DEFAULT ? &walk->by_default[context] : &walk->of_rest[context], &now);
    }
    note(&walk->stream[stream], &now);
}

/* Does the synchronisation wait for what the other call asks for, if that was asked for before? */
static bool covers(const struct walk *walk, const struct gt_call *sync, const struct gt_call *call)
{
    const struct gt_workload *w = walk->w;
    enum gt_host_wait wait = gt_call_host_wait(w, sync, GT_HOST_WAITS_PROMISED);
    gt_stream_index stream = gt_call_stream(w, call);

    if (w->threads[sync->thread].process != w->threads[call->thread].process)
        return false;
    if (wait == GT_HOST_WAIT_PROCESS && w->gpu_count > 1) /* or for another GPU's */
        return false;
    return gt_host_wait_covers(w, sync, wait, stream);
}

/* A trace's lines need not be in the order of times.  Returned while operations of calls that had begun before had not ended: these were asked for later than it was. */
static void hold_behind_sync(struct walk *walk, gt_call_index index, const gt_call_index *open)
{
    const struct gt_workload *w = walk->w;
    const struct gt_call *sync = &w->calls[index];

    for (gt_thread_index thread = 0; thread < w->thread_count; thread++) {
        const struct gt_call *call = open[thread] == GT_NONE ? NULL : &w->calls[open[thread]];

        if (call == NULL || thread == sync->thread || call->start_ps > sync->start_ps ||
            gt_call_measured_end(call) <= sync->start_ps + 1 || !covers(walk, sync, call) ||
            gt_op_measured_end(&w->ops[call->first_op + call->ops - 1]) <= gt_call_measured_end(sync))
            continue;
        walk->held_ps[open[thread]] = sync->start_ps + 1 - call->start_ps;
        walk->any = true;
    }
}

/* Calls of other threads that were under way when one synchronised. */
static void walk_syncs(struct walk *walk)
{
    const struct gt_workload *w = walk->w;
    gt_call_index *open = gt_calloc(w->thread_count + 1ull, sizeof *open);

    for (gt_thread_index thread = 0; thread < w->thread_count; thread++)
        open[thread] = GT_NONE;
    for (gt_call_index i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];

        if (gt_call_measured_end(call) == GT_TIME_NONE)
            continue;
        if (gt_call_synchronises(call))
            hold_behind_sync(walk, i, open);
        open[call->thread] = asked(w, call) ? i : GT_NONE;
    }
    free(open);
}

static struct turn *turns(uint64_t count)
{
    struct turn *made = gt_calloc(count + 1, sizeof *made);

    for (uint64_t i = 0; i <= count; i++)
        made[i].call = GT_NONE;
    return made;
}

static void walk_calls(struct walk *walk, const gt_call_index *order, uint32_t count)
{
    const struct gt_workload *w = walk->w;

    walk->stream = turns(w->stream_count);
    walk->by_default = turns(w->stream_count);
    walk->of_rest = turns(w->stream_count);
    walk->context = gt_number_contexts(w);
    walk_syncs(walk);
    for (uint32_t i = 0; i < count; i++)
        walk_call(walk, order[i]);
    free(walk->stream);
    free(walk->by_default);
    free(walk->of_rest);
    free(walk->context);
}

gt_time_ps *gt_held_calls(const struct gt_workload *w)
{
    gt_call_index *order = gt_calloc(w->call_count + 1ull, sizeof *order);
    struct walk walk = { .w = w, .held_ps = gt_calloc(w->call_count + 1ull, sizeof *walk.held_ps) };
    uint32_t count = 0;

    for (gt_call_index i = 0; i < w->call_count; i++)
        if (asked(w, &w->calls[i]))
            order[count++] = i;
    if (count > 0 && w->thread_count > 1) {
        qsort_r(order, count, sizeof *order, by_first_start, (void *)(uintptr_t)w);
        walk_calls(&walk, order, count);
    }
    free(order);
    if (walk.any)
        return walk.held_ps;
    free(walk.held_ps);
    return NULL;
}

struct place {
    gt_time_ps time_ps;
    gt_call_index call;
};

static int by_place(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    GT_ORDER(a->time_ps, b->time_ps);
    GT_ORDER(a->call, b->call);
    return 0;
}

gt_call_index *gt_calls_in_turn(const struct gt_workload *w, const gt_time_ps *held_ps)
{
    gt_call_index *order = gt_calloc(w->call_count + 1ull, sizeof *order);
    struct place *places = gt_calloc(w->call_count + 1ull, sizeof *places);
    gt_time_ps before_ps = 0;

    for (gt_call_index i = 0; i < w->call_count; i++) {
        gt_time_ps turn_ps = gt_call_turn_ps(w, held_ps, i);

        if (w->calls[i].start_ps != GT_TIME_NONE)
            before_ps = w->calls[i].start_ps > before_ps ? w->calls[i].start_ps : before_ps;
        places[i] =
            (struct place){ turn_ps == GT_TIME_NONE || held_ps == NULL || held_ps[i] == 0 ? before_ps : turn_ps, i };
    }
    if (held_ps != NULL && w->call_count > 0)
        qsort(places, w->call_count, sizeof *places, by_place);
    for (gt_call_index i = 0; i < w->call_count; i++)
        order[i] = places[i].call;
    free(places);
    return order;
}
