#include "sim/training/replicate.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/workload/child_launches.h"
#include "sim/workload/collective.h"

static gt_gpu_index used_gpu(const struct gt_workload *w)
{
    return w->op_count > 0 ? w->streams[w->ops[0].stream].gpu : 0;
}

static uint32_t unused_id(const struct gt_workload *w)
{
    uint32_t id = 0;

    for (uint32_t i = 0; i < w->gpu_count; i++)
        if (w->gpus[i].id == id) {
            id++;
            i = UINT32_MAX; /* from the beginning */
        }
    return id;
}

uint32_t gt_replicate_begin(struct gt_workload *w, uint32_t more)
{
    static const char name[] = "all ranks";
    gt_gpu_index *gpus = gt_calloc(more + 1ull, sizeof *gpus);
    uint32_t group;

    gpus[0] = used_gpu(w);
    for (uint32_t i = 1; i <= more; i++) {
        uint32_t id = unused_id(w);

        gpus[i] = gt_workload_add_gpu(w);
        w->gpus[gpus[i]].id = id;
        w->gpus[gpus[i]].name = w->gpus[gpus[0]].name;
    }
    group = gt_workload_add_group(w, gt_name(w, name, sizeof name - 1), gpus, more + 1);
    free(gpus);
    return group;
}

/* How many of each there were before the first copy. */
struct counts {
    uint32_t streams, threads, events, calls, child_launches;
};

static void copy_things(struct gt_workload *w, const struct counts *n, gt_gpu_index gpu, uint32_t rank)
{
    for (uint32_t i = 0; i < n->streams; i++) {
        gt_stream_index added = gt_workload_add_stream(w);

        w->streams[added] = w->streams[i];
        w->streams[added].gpu = gpu;
    }
    for (uint32_t i = 0; i < n->threads; i++) {
        gt_thread_index added = gt_workload_add_thread(w);

        w->threads[added] = w->threads[i];
        w->threads[added].process = w->threads[i].process + ((uint64_t)rank << 32);
    }
    for (uint32_t i = 0; i < n->events; i++) {
        gt_event_index added = gt_workload_add_event(w);

        w->events[added] = w->events[i];
    }
}

/* All copies of operations stand as far behind them, so that their edges lead as far back. */
static void copy_op(struct gt_workload *w, gt_op_index from, uint32_t streams)
{
    gt_op_index added = gt_workload_add_op(w);
    struct gt_op *op = &w->ops[added];
    uint32_t first_after = op->first_after, first_access = op->first_access;

    *op = w->ops[from];
    op->call = w->call_count - 1;
    op->stream += streams;
    op->first_after = first_after;
    op->first_access = first_access;
    op->afters = op->accesses = 0;
    for (uint32_t i = 0; i < w->ops[from].afters; i++)
        gt_workload_add_after(w, added, w->afters[w->ops[from].first_after + i] + (added - from));
}

static void copy_calls(struct gt_workload *w, const struct counts *n, uint32_t streams, uint32_t threads,
                       uint32_t events)
{
    gt_op_index ops = w->op_count;

    for (uint32_t i = 0; i < n->calls; i++) {
        gt_call_index added = gt_workload_add_call(w);
        struct gt_call *call = &w->calls[added];

        *call = w->calls[i];
        call->thread += threads;
        call->stream += call->stream != GT_NONE ? streams : 0;
        call->event += call->event != GT_NONE ? events : 0;
        call->awaited += call->awaited != GT_NONE ? ops : 0;
        call->first_op = w->op_count;
        for (uint32_t op = 0; op < w->calls[i].ops; op++)
            copy_op(w, w->calls[i].first_op + op, streams);
    }
    for (uint32_t i = 0; i < n->child_launches; i++) {
        struct gt_child_launch copy = w->child_launches[i];

        copy.op += ops;
        copy.parent += ops;
        gt_array_grow(w->child_launches, w->child_launch_count, w->child_launch_room);
        w->child_launches[w->child_launch_count++] = copy;
    }
}

/* Ranges of a rank's threads: where their calls are, the recorded times are of the first rank's. */
static void copy_ranges(struct gt_workload *w, uint32_t ranges, uint32_t threads, gt_call_index calls)
{
    for (uint32_t i = 0; i < ranges; i++) {
        gt_range_index added = gt_workload_add_range(w);
        struct gt_range *range = &w->ranges[added];

        *range = w->ranges[i];
        range->start_ps = range->duration_ps = GT_TIME_NONE;
        range->thread += threads;
        range->parent += range->parent != GT_NONE ? added - i : 0;
        range->first_call += calls;
        range->end_call += calls;
    }
}

void gt_replicate_end(struct gt_workload *w, uint32_t group)
{
    const struct counts n = { w->stream_count, w->thread_count, w->event_count, w->call_count,
                              w->child_launch_count };
    uint32_t ranges = w->range_count;

    for (uint32_t rank = 1; rank < w->groups[group].size; rank++) {
        uint32_t streams = w->stream_count, threads = w->thread_count, events = w->event_count;
        gt_call_index calls = w->call_count;

        copy_things(w, &n, w->groups[group].members[rank], rank);
        copy_calls(w, &n, streams, threads, events);
        copy_ranges(w, ranges, threads, calls);
    }
}
