#include "config.h"

#include "sim/rewrite/assign_targets.h"

#include <stdlib.h>

#include "sim/base/array.h"

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
