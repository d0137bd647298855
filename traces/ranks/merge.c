/* merge.c - workloads of several processes as one: things side by side, calls by their starts. */
#include <stdlib.h>
#include <string.h>

#include "sim/workload/ranges.h"
#include "traces/ranks/internal.h"

/* Numbers of processes of further hosts with the same ones are this far apart. */
#define PROCESS_STEP (UINT64_C(1) << 32)

/* What numbers of one rank's workload are in the merged one. */
struct maps {
    const struct gt_workload *from;
    const struct gt_rank_clock *clock;
    uint32_t *names, *streams, *threads, *events, *buffers, *kernels;
    gt_call_index next; /* call to come */
};
struct merging {
    struct gt_workload *to;
    struct maps *maps;
    struct gt_rank_places *places;
    uint32_t count;
    bool same_gpus;
};

static uint32_t *indexes(uint32_t count)
{
    return gt_calloc(count + 1ull, sizeof(uint32_t));
}

static void map_names(struct merging *m, struct maps *maps)
{
    uint32_t count = gt_name_count(maps->from);

    maps->names = indexes(count);
    for (uint32_t i = 0; i < count; i++) {
        const char *text = gt_name_text(maps->from, i);

        maps->names[i] = gt_name(m->to, text, strlen(text));
    }
}

static uint32_t name_of(const struct maps *maps, uint32_t name)
{
    return name == GT_NONE ? GT_NONE : maps->names[name];
}

/* The GPU keeps its number unless another rank's has it: each process may call its own 0. */
static uint32_t free_gpu_id(const struct gt_workload *w, uint32_t id)
{
    for (uint32_t lowest = 0;; id = lowest++) {
        bool taken = false;

        for (uint32_t i = 0; i < w->gpu_count; i++)
            taken |= w->gpus[i].id == id;
        if (!taken)
            return id;
    }
}

static void add_gpus(struct merging *m, const struct maps *maps, struct gt_rank_places *places)
{
    uint32_t shared = m->same_gpus ? m->to->gpu_count : 0;

    places->gpus = indexes(maps->from->gpu_count);
    for (uint32_t i = 0; i < maps->from->gpu_count; i++) {
        uint32_t id, gpu;

        places->gpus[i] = i;
        if (i < shared)
            continue;
        id = free_gpu_id(m->to, maps->from->gpus[i].id);
        gpu = gt_workload_add_gpu(m->to);
        m->to->gpus[gpu] = maps->from->gpus[i];
        m->to->gpus[gpu].id = id;
        m->to->gpus[gpu].name = name_of(maps, maps->from->gpus[i].name);
        places->gpus[i] = gpu;
    }
}

static void add_streams(struct merging *m, struct maps *maps, const struct gt_rank_places *places)
{
    maps->streams = indexes(maps->from->stream_count);
    for (uint32_t i = 0; i < maps->from->stream_count; i++) {
        gt_stream_index added = gt_workload_add_stream(m->to);
        struct gt_stream *stream = &m->to->streams[added];

        *stream = maps->from->streams[i];
        stream->gpu = places->gpus[stream->gpu];
        stream->name = name_of(maps, stream->name);
        maps->streams[i] = added;
    }
}

static bool has_process(const struct gt_workload *w, uint32_t threads, uint64_t process)
{
    for (uint32_t i = 0; i < threads; i++)
        if (w->threads[i].process == process)
            return true;
    return false;
}

/* Threads that stand for callers nobody saw are of no process: they go with the others of their file. */
static uint64_t process_of(const struct gt_workload *from)
{
    for (uint32_t i = 0; i < from->thread_count; i++)
        if (from->threads[i].process != 0)
            return from->threads[i].process;
    return 1;
}

static void add_threads(struct merging *m, struct maps *maps)
{
    uint64_t step = 0, own = process_of(maps->from);
    uint32_t before = m->to->thread_count;

    maps->threads = indexes(maps->from->thread_count);
    for (uint32_t i = 0; i < maps->from->thread_count; i++)
        while (has_process(m->to, before,
                           step + (maps->from->threads[i].process != 0 ? maps->from->threads[i].process : own)))
            step += PROCESS_STEP;
    for (uint32_t i = 0; i < maps->from->thread_count; i++) {
        gt_thread_index added = gt_workload_add_thread(m->to);
        struct gt_thread *thread = &m->to->threads[added];

        *thread = maps->from->threads[i];
        thread->process = step + (thread->process != 0 ? thread->process : own);
        thread->name = name_of(maps, thread->name);
        thread->lock = name_of(maps, thread->lock);
        maps->threads[i] = added;
    }
}

static void add_events(struct merging *m, struct maps *maps)
{
    maps->events = indexes(maps->from->event_count);
    for (uint32_t i = 0; i < maps->from->event_count; i++) {
        maps->events[i] = gt_workload_add_event(m->to);
        m->to->events[maps->events[i]] = maps->from->events[i];
        m->to->events[maps->events[i]].name = name_of(maps, maps->from->events[i].name);
    }
}

/* Buffers of several ranks may have the same name; all but the first rank's say whose they are. */
static void add_buffers(struct merging *m, struct maps *maps, const struct gt_rank_places *places, uint32_t rank)
{
    maps->buffers = indexes(maps->from->buffer_count);
    for (uint32_t i = 0; i < maps->from->buffer_count; i++) {
        char *name = gt_format(rank == 0 ? "%s" : "%s of rank %u",
                               gt_name_text(maps->from, maps->from->buffers[i].name), rank);
        gt_buffer_index added = gt_workload_add_buffer(m->to);
        struct gt_buffer *buffer = &m->to->buffers[added];

        *buffer = maps->from->buffers[i];
        buffer->name = gt_name(m->to, name, strlen(name));
        buffer->gpu = places->gpus[buffer->gpu];
        maps->buffers[i] = added;
        free(name);
    }
}

static void add_kernels(struct merging *m, struct maps *maps)
{
    maps->kernels = indexes(maps->from->kernel_count);
    for (uint32_t i = 0; i < maps->from->kernel_count; i++) {
        struct gt_kernel kernel = maps->from->kernels[i];

        kernel.name = name_of(maps, kernel.name);
        kernel.runs = name_of(maps, kernel.runs);
        kernel.arguments = name_of(maps, kernel.arguments);
        kernel.task_policy = name_of(maps, kernel.task_policy);
        maps->kernels[i] = gt_workload_kernel(m->to, &kernel);
    }
}

/* Both ends on the common clock, so that what was behind another thing, or in it, still is. */
static void move(const struct gt_rank_clock *clock, gt_time_ps *start_ps, gt_time_ps *duration_ps)
{
    gt_time_ps start = *start_ps;

    if (start == GT_TIME_NONE)
        return;
    *start_ps = gt_rank_clock_time(clock, start);
    if (clock->rate != 0 && *duration_ps != GT_TIME_NONE)
        *duration_ps = gt_rank_clock_time(clock, start + *duration_ps) - *start_ps;
}

static uint32_t mapped(const uint32_t *map, uint32_t index)
{
    return index == GT_NONE ? GT_NONE : map[index];
}

static void add_op(struct merging *m, const struct maps *maps, struct gt_rank_places *places, gt_op_index old)
{
    const struct gt_op *from = &maps->from->ops[old];
    gt_op_index added = gt_workload_add_op(m->to), first_old = maps->from->calls[from->call].first_op;
    struct gt_op *op = &m->to->ops[added];
    uint32_t first_after = op->first_after, first_access = op->first_access;

    *op = *from;
    move(maps->clock, &op->start_ps, &op->duration_ps);
    op->call = m->to->call_count - 1;
    op->stream = maps->streams[op->stream];
    op->kernel = mapped(maps->kernels, op->kernel);
    op->peer_gpu = mapped(places->gpus, op->peer_gpu);
    op->first_after = first_after;
    op->first_access = first_access;
    op->afters = op->accesses = 0;
    places->ops[old] = added;
    for (uint32_t i = 0; i < from->afters; i++) {
        gt_op_index after = maps->from->afters[from->first_after + i];

        /* of the same call, which may be behind it; or of one before, which stands already */
        gt_workload_add_after(
            m->to, added, after >= first_old ? added - (old - first_old) + (after - first_old) : places->ops[after]);
    }
    for (uint32_t i = 0; i < from->accesses; i++) {
        struct gt_buffer_access access = maps->from->accesses[from->first_access + i];

        access.buffer = mapped(maps->buffers, access.buffer);
        gt_workload_add_access(m->to, added, &access);
    }
}

static void add_call(struct merging *m, struct maps *maps, struct gt_rank_places *places)
{
    const struct gt_call *from = &maps->from->calls[maps->next++];
    gt_call_index added = gt_workload_add_call(m->to);
    struct gt_call *call = &m->to->calls[added];

    *call = *from;
    move(maps->clock, &call->start_ps, &call->duration_ps);
    call->thread = maps->threads[call->thread];
    call->name = name_of(maps, call->name);
    call->executable = name_of(maps, call->executable);
    call->stream = mapped(maps->streams, call->stream);
    call->event = mapped(maps->events, call->event);
    call->buffer = mapped(maps->buffers, call->buffer);
    call->first_op = m->to->op_count;
    call->line = 0;
    for (uint32_t i = 0; i < from->ops; i++)
        add_op(m, maps, places, from->first_op + i);
}

/* When the next call of a rank began; of one without a time, at once. */
static gt_time_ps next_ps(const struct maps *maps)
{
    gt_time_ps start_ps = maps->from->calls[maps->next].start_ps;

    return start_ps == GT_TIME_NONE ? 0 : gt_rank_clock_time(maps->clock, start_ps);
}

/* Each rank's calls in their own order, the earliest of all ranks first. */
static void add_calls(struct merging *m)
{
    for (;;) {
        uint32_t first = GT_NONE;

        for (uint32_t i = 0; i < m->count; i++)
            if (m->maps[i].next < m->maps[i].from->call_count &&
                (first == GT_NONE || next_ps(&m->maps[i]) < next_ps(&m->maps[first])))
                first = i;
        if (first == GT_NONE)
            return;
        add_call(m, &m->maps[first], &m->places[first]);
    }
}

static void add_ranges(struct merging *m, const struct maps *maps)
{
    for (uint32_t i = 0; i < maps->from->range_count; i++) {
        struct gt_range *range;
        gt_range_index added;

        if (!gt_range_is_measured(&maps->from->ranges[i]))
            continue;
        added = gt_workload_add_range(m->to);
        range = &m->to->ranges[added];
        *range = maps->from->ranges[i];
        move(maps->clock, &range->start_ps, &range->duration_ps);
        range->thread = maps->threads[range->thread];
        range->name = name_of(maps, range->name);
        range->inputs = name_of(maps, range->inputs);
    }
}

static void describe(struct gt_workload *to, const struct gt_workload *first)
{
    to->name = gt_strdup(first->name);
    to->path = gt_strdup(first->path);
    to->source = gt_strdup(first->source);
    to->device = gt_strdup(first->device);
    for (uint32_t i = 0; i < first->setting_count; i++)
        gt_workload_add_setting(to, first->settings[i].key, first->settings[i].value);
}

static void add_rank(struct merging *m, uint32_t rank)
{
    struct maps *maps = &m->maps[rank];

    map_names(m, maps);
    add_gpus(m, maps, &m->places[rank]);
    add_streams(m, maps, &m->places[rank]);
    add_threads(m, maps);
    add_events(m, maps);
    add_buffers(m, maps, &m->places[rank], rank);
    add_kernels(m, maps);
    m->places[rank].ops = indexes(maps->from->op_count);
    for (uint32_t i = 0; i < maps->from->warning_count; i++)
        gt_workload_warn(m->to, maps->from->warnings[i].kind, maps->from->warnings[i].count,
                         maps->from->warnings[i].text);
}

static void free_maps(struct merging *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        free(m->maps[i].names);
        free(m->maps[i].streams);
        free(m->maps[i].threads);
        free(m->maps[i].events);
        free(m->maps[i].buffers);
        free(m->maps[i].kernels);
    }
    free(m->maps);
}

static int check(const struct gt_rank *ranks, uint32_t count, const struct gt_rank_clock *clocks,
                 struct gt_error *error)
{
    uint64_t gpus = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct gt_workload *w = ranks[i].workload;

        gpus += w->gpu_count;
        if (w->task_graph_count + w->program_count + w->child_launch_count + w->group_count > 0)
            return gt_error_set(error,
                                "%s: task graphs, programs, kernels' own launches and groups cannot be merged with "
                                "other files; use recordings of Kineto or Nsight Systems",
                                w->path != NULL ? w->path : "standard input");
        if (clocks[i].behind_ps > (double)(GT_TIME_LIMIT_PS / 2))
            return gt_error_set(
                error, "%s: was recorded more than 26 days before another file; they do not belong to one job",
                w->path != NULL ? w->path : "standard input");
    }
    if (gpus > GT_MOST_GPUS)
        return gt_error_set(error, "the recordings have %llu GPUs in total; the limit is %d",
                            (unsigned long long)gpus, GT_MOST_GPUS);
    return 0;
}

struct gt_workload *gt_ranks_merge(const struct gt_rank *ranks, uint32_t count, const struct gt_rank_clock *clocks,
                                   bool same_gpus, struct gt_rank_places *places, struct gt_error *error)
{
    struct merging m = { .places = places, .count = count, .same_gpus = same_gpus };

    if (check(ranks, count, clocks, error) != 0)
        return NULL;
    m.to = gt_workload_new();
    m.maps = gt_calloc(count, sizeof *m.maps);
    describe(m.to, ranks[0].workload);
    for (uint32_t i = 0; i < count; i++) {
        m.maps[i] = (struct maps){ .from = ranks[i].workload, .clock = &clocks[i] };
        add_rank(&m, i);
    }
    add_calls(&m);
    for (uint32_t i = 0; i < count; i++)
        add_ranges(&m, &m.maps[i]);
    gt_ranges_finish(m.to, NULL);
    free_maps(&m);
    return m.to;
}
