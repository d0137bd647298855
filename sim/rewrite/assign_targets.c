#include "sim/rewrite/assign_targets.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "sim/base/array.h"
#include "sim/rewrite/assign_graph.h"
#include "sim/rewrite/assign_streams.h"
#include "sim/rewrite/rebuild.h"

static struct gt_assign_context *context_of(struct gt_assign_targets *targets, const struct gt_stream *stream)
{
    for (uint32_t i = 0; i < targets->count; i++)
        if (targets->contexts[i].gpu == stream->gpu && targets->contexts[i].context == stream->context)
            return &targets->contexts[i];
    gt_array_grow(targets->contexts, targets->count, targets->room);
    targets->contexts[targets->count] = (struct gt_assign_context){
        .gpu = stream->gpu,
        .context = stream->context,
        .legacy = GT_NONE,
    };
    return &targets->contexts[targets->count++];
}

/* The legacy default stream, those that wait for it, those that do not. */
static int rank_of(const struct gt_stream *stream)
{
    if (stream->flags & GT_STREAM_LEGACY_DEFAULT)
        return 0;
    return stream->flags & GT_STREAM_NON_BLOCKING ? 2 : 1;
}

static int by_rank(const void *a, const void *b, void *user)
{
    const struct gt_stream *streams = user;
    gt_stream_index left = *(const gt_stream_index *)a, right = *(const gt_stream_index *)b;
    int difference = rank_of(&streams[left]) - rank_of(&streams[right]);

    return difference != 0 ? difference : (left > right) - (left < right);
}

static void find_contexts(struct gt_assign_targets *targets, const struct gt_workload *w)
{
    bool *used = gt_calloc(w->stream_count + 1ull, sizeof *used);

    for (uint32_t i = 0; i < w->op_count; i++)
        used[w->ops[i].stream] = true;
    for (uint32_t i = 0; i < w->stream_count; i++) {
        struct gt_assign_context *context = context_of(targets, &w->streams[i]);

        targets->of[i] = (uint32_t)(context - targets->contexts);
        if (!used[i])
            continue;
        gt_array_grow(context->used, context->used_count, context->used_room);
        context->used[context->used_count++] = i;
        if (w->streams[i].flags & GT_STREAM_LEGACY_DEFAULT)
            context->legacy = i;
    }
    free(used);
    for (uint32_t i = 0; i < targets->count; i++)
        if (targets->contexts[i].legacy != GT_NONE)
            qsort_r(targets->contexts[i].used, targets->contexts[i].used_count, sizeof *targets->contexts[i].used,
                    by_rank, w->streams);
}

static gt_stream_index add_stream(struct gt_stream_assignment *assignment, const struct gt_workload *w,
                                  gt_stream_index like)
{
    gt_array_grow(assignment->like, assignment->stream_count, assignment->stream_room);
    assignment->like[assignment->stream_count] = like;
    return w->stream_count + assignment->stream_count++;
}

/* With other blocking streams beside it the legacy default stream waits for them and they for it. */
static bool is_target(const struct gt_assign_context *context, const struct gt_workload *w, gt_stream_index stream)
{
    if (stream != context->legacy)
        return true;
    for (uint32_t i = 0; i < context->used_count; i++)
        if (context->used[i] != stream && !(w->streams[context->used[i]].flags & GT_STREAM_NON_BLOCKING))
            return false;
    return true;
}

static void choose_targets(struct gt_assign_context *context, const struct gt_workload *w, uint32_t streams,
                           struct gt_stream_assignment *assignment)
{
    if (context->used_count == 0 || context->used_count >= streams)
        return;
    assignment->more = true;
    context->list = gt_calloc(streams, sizeof *context->list);
    for (uint32_t i = 0; i < context->used_count; i++)
        if (is_target(context, w, context->used[i]))
            context->list[context->count++] = context->used[i];
    while (context->count < streams)
        context->list[context->count++] = add_stream(assignment, w, context->used[0]);
}

void gt_assign_targets_find(struct gt_assign_targets *targets, const struct gt_workload *w, uint32_t streams,
                            struct gt_stream_assignment *assignment)
{
    *targets = (struct gt_assign_targets){ .of = gt_calloc(w->stream_count + 1ull, sizeof *targets->of) };
    find_contexts(targets, w);
    for (uint32_t i = 0; i < targets->count; i++)
        choose_targets(&targets->contexts[i], w, streams, assignment);
}

void gt_assign_targets_free(struct gt_assign_targets *targets)
{
    for (uint32_t i = 0; i < targets->count; i++) {
        free(targets->contexts[i].used);
        free(targets->contexts[i].list);
    }
    free(targets->contexts);
    free(targets->of);
}

bool gt_assign_has_targets(const struct gt_assign_targets *targets, gt_stream_index stream)
{
    return targets->contexts[targets->of[stream]].count > 0;
}

gt_stream_index gt_assign_next_target(struct gt_assign_targets *targets, gt_stream_index stream)
{
    struct gt_assign_context *context = &targets->contexts[targets->of[stream]];

    return context->list[context->turn++ % context->count];
}

gt_stream_index gt_assign_legacy_stream(const struct gt_assign_targets *targets, gt_stream_index stream)
{
    return targets->contexts[targets->of[stream]].legacy;
}

/* A assignment's streams, and events for what they wait for, in a workload. */

struct writing {
    const struct gt_stream_assignment *assignment;
    gt_call_index *last;   /* by stream, new ones included: the call whose work is its last; GT_NONE */
    gt_call_index *before; /* `last` as it was */
    const struct gt_workload *w;
    struct gt_rebuild rebuild;
    struct gt_data_flow flow; /* of nodes of graphs */
    gt_event_index *events;   /* by call: recorded behind it; GT_NONE: nobody waits for it so */
};

/* An event of one's own thread can be recorded as soon as there is something to record; whether another thread's call
 * has been made by then only the waiting thread sees. */
static bool recorded_behind(const struct gt_workload *w, const struct gt_assigned_wait *wait)
{
    return w->calls[wait->before].thread == w->calls[wait->call].thread;
}

static uint32_t *nones(uint32_t count)
{
    uint32_t *indexes = gt_realloc(NULL, count + 1ull, sizeof *indexes);

    memset(indexes, 0xff, count * sizeof *indexes); /* GT_NONE */
    return indexes;
}

static void number_events(struct writing *writing)
{
    const struct gt_stream_assignment *assignment = writing->assignment;

    writing->events = gt_realloc(NULL, writing->w->call_count + 1ull, sizeof *writing->events);
    memset(writing->events, 0xff, writing->w->call_count * sizeof *writing->events); /* GT_NONE */
    for (uint32_t i = 0; i < assignment->wait_count; i++)
        if (recorded_behind(writing->w, &assignment->waits[i]) &&
            writing->events[assignment->waits[i].before] == GT_NONE)
            writing->events[assignment->waits[i].before] = gt_rebuild_new_event(&writing->rebuild);
}

static void write_wait(struct writing *writing, const struct gt_assigned_wait *wait)
{
    gt_thread_index thread = writing->w->calls[wait->call].thread;
    gt_event_index event = writing->events[wait->before];

    if (!recorded_behind(writing->w, wait)) {
        event = gt_rebuild_new_event(&writing->rebuild);
        gt_rebuild_record(&writing->rebuild, thread, event, writing->assignment->target[wait->before]);
    }
    if (wait->host)
        gt_rebuild_host_wait(&writing->rebuild, thread, event);
    else
        gt_rebuild_wait(&writing->rebuild, thread, event, writing->assignment->target[wait->call]);
}

static void assign_nodes(struct writing *writing, gt_call_index call, gt_stream_index stream)
{
    const struct gt_assign_targets *targets = writing->assignment->targets;
    const struct gt_assign_context *context = &targets->contexts[targets->of[stream]];

    gt_assign_nodes(&writing->rebuild, call, writing->assignment->independence, &writing->flow, context->list,
                    context->count);
}

/* A kernel may come before the one ahead of it is over only behind the one that it did so before. */
static void keep_behind(struct writing *writing, gt_call_index index, gt_stream_index before, gt_stream_index target)
{
    struct gt_workload *to = writing->rebuild.to;

    if (writing->w->calls[index].kind == GT_CALL_LAUNCH && writing->before[before] != writing->last[target])
        to->ops[to->op_count - 1].programmatic = false;
    writing->before[before] = writing->last[target] = index;
}

/* The nodes of a graph that were in the stream that it was launched into go with it. */
static void write_call(struct writing *writing, gt_call_index index)
{
    const struct gt_call *call = &writing->w->calls[index];
    gt_stream_index target = writing->assignment->target[index];
    struct gt_workload *to = writing->rebuild.to;
    gt_call_index added = gt_rebuild_copy(&writing->rebuild, index);
    gt_stream_index before;

    if (target == GT_NONE)
        return;
    before = writing->w->ops[call->first_op].stream;
    if (call->stream == before)
        to->calls[added].stream = target;
    for (gt_op_index op = to->calls[added].first_op; op < to->op_count; op++)
        if (to->ops[op].stream == before)
            to->ops[op].stream = target;
    keep_behind(writing, index, before, target);
    if (call->kind == GT_CALL_GRAPH_LAUNCH && gt_assign_has_targets(writing->assignment->targets, before))
        assign_nodes(writing, index, before);
    if (writing->events[index] != GT_NONE)
        gt_rebuild_record(&writing->rebuild, call->thread, writing->events[index], target);
}

struct gt_workload *gt_assignment_write(const struct gt_stream_assignment *assignment, const struct gt_workload *w)
{
    struct writing writing = { .assignment = assignment, .w = w };
    uint32_t wait = 0;

    gt_rebuild_begin(&writing.rebuild, w);
    gt_data_flow_begin(&writing.flow, w);
    for (uint32_t i = 0; i < assignment->stream_count; i++)
        gt_rebuild_new_stream(&writing.rebuild, assignment->like[i]);
    number_events(&writing);
    writing.last = nones(writing.rebuild.to->stream_count);
    writing.before = nones(w->stream_count);
    for (gt_call_index i = 0; i < w->call_count; i++) {
        for (; wait < assignment->wait_count && assignment->waits[wait].call == i; wait++)
            write_wait(&writing, &assignment->waits[wait]);
        write_call(&writing, i);
    }
    gt_data_flow_free(&writing.flow);
    free(writing.events);
    free(writing.last);
    free(writing.before);
    return gt_rebuild_end(&writing.rebuild);
}
