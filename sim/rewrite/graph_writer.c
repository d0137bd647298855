#include "sim/rewrite/graph_writer.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/hash.h"
#include "sim/base/sort.h"
#include "sim/rewrite/graph_nodes.h"
#include "sim/rewrite/rebuild.h"

/* Operations that what comes next must come after. */
struct frontier {
    gt_op_index *ops;
    uint32_t count, room;
    uint32_t capture; /* that they are of */
};

struct writing {
    const struct gt_workload *w;
    const struct gt_captures *captures;
    struct gt_graph_counts *counts;
    struct gt_rebuild rebuild;
    struct frontier *streams, *events; /* of the graph at hand */
    gt_stream_index last_stream;       /* that something was launched into */
    enum gt_unnamed_waits unnamed;
    struct frontier unknown;   /* behind the last event record of which stream or event are not known */
    struct frontier pending;   /* what waits of unknown streams hold back, */
    uint32_t pending_count;    /* as many as that */
    struct frontier barrier;   /* what every stream waits for from the last unnamed wait on, */
    uint32_t barrier_count;    /* and how many such waits there were, */
    uint32_t *passed_barriers; /* by stream: so many of them by its latest node */
    gt_stream_index *joined;   /* by stream: where the graph with its latest work was launched; GT_NONE: in itself */
    bool *worked;              /* by stream: has it had work of its own since? */
    gt_event_index *forks;     /* by stream: the event that orders it before or behind graphs; GT_NONE: none yet */
    gt_time_ps *spare_ps;      /* by thread: of its work behind its last graph so much was there to launch */
    uint64_t *hashes;          /* of graphs */
};

static void add_to(struct frontier *frontier, gt_op_index op)
{
    for (uint32_t i = 0; i < frontier->count; i++)
        if (frontier->ops[i] == op)
            return;
    gt_array_grow(frontier->ops, frontier->count, frontier->room);
    frontier->ops[frontier->count++] = op;
}

/* The frontier, empty at first in each graph. */
static struct frontier *within(struct frontier *frontier, uint32_t capture)
{
    if (frontier->capture != capture)
        frontier->count = 0;
    frontier->capture = capture;
    return frontier;
}

static void add_all(struct frontier *to, const struct frontier *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        add_to(to, from->ops[i]);
}

/* What the stream's next node comes after, by waits of which the recording does not say all. */
static void take_unnamed(struct writing *writing, uint32_t capture, gt_stream_index stream)
{
    struct frontier *frontier = within(&writing->streams[stream], capture);

    if (writing->pending_count > 0 && writing->pending.capture == capture) {
        add_all(frontier, &writing->pending);
        writing->pending_count--;
    }
    if (writing->barrier.capture == capture && writing->passed_barriers[stream] != writing->barrier_count)
        add_all(frontier, &writing->barrier);
    writing->passed_barriers[stream] = writing->barrier_count;
}

static void add_node(struct writing *writing, uint32_t capture, gt_op_index old, uint64_t *hash)
{
    struct frontier *frontier = &writing->streams[writing->w->ops[old].stream];
    gt_op_index op = gt_rebuild_move_op(&writing->rebuild, old);

    take_unnamed(writing, capture, writing->w->ops[old].stream);
    writing->rebuild.to->ops[op].visible_ps = writing->rebuild.to->ops[op].gap_ps = GT_TIME_NONE;
    writing->rebuild.to->ops[op].own_gap = GT_LAUNCH_GAP_NONE;
    gt_hash_node(hash, &writing->w->ops[old]);
    for (uint32_t i = 0; i < frontier->count; i++) {
        gt_rebuild_edge(&writing->rebuild, op, frontier->ops[i]);
        *hash = gt_hash_number(*hash, op - frontier->ops[i]);
    }
    frontier->count = 0;
    add_to(frontier, op);
    writing->counts->nodes++;
    writing->last_stream = writing->w->ops[old].stream;
}

/* A record of which the trace does not say the stream is taken to be behind what was launched last, and to be what the
 * next wait for an unknown event waits for. */
static void record_unknown(struct writing *writing, uint32_t capture, const struct gt_call *call)
{
    struct frontier *unknown = within(&writing->unknown, capture);
    gt_stream_index stream = call->stream != GT_NONE ? call->stream : writing->last_stream;

    unknown->count = 0;
    add_all(unknown, within(&writing->streams[stream], capture));
}

/* Every stream waits for the latest node of each. */
static void wait_for_all(struct writing *writing, uint32_t capture)
{
    struct frontier *barrier = &writing->barrier;

    barrier->capture = capture;
    barrier->count = 0;
    for (gt_stream_index stream = 0; stream < writing->w->stream_count; stream++)
        if (writing->streams[stream].capture == capture)
            add_all(barrier, &writing->streams[stream]);
    writing->barrier_count++;
}

/* Of a wait whose stream is not known, that of the next launch is taken; of several in a row those of the next launches. */
static void wait_for_last(struct writing *writing, uint32_t capture, gt_stream_index stream)
{
    struct frontier *unknown = within(&writing->unknown, capture);

    if (stream != GT_NONE) {
        add_all(within(&writing->streams[stream], capture), unknown);
        return;
    }
    if (writing->pending.capture != capture || writing->pending_count == 0)
        writing->pending.count = writing->pending_count = 0;
    writing->pending.capture = capture;
    add_all(&writing->pending, unknown);
    writing->pending_count++;
}

static void follow_unknown(struct writing *writing, uint32_t capture, const struct gt_call *call)
{
    if (call->kind == GT_CALL_EVENT_RECORD) {
        record_unknown(writing, capture, call);
    } else if (call->kind == GT_CALL_EVENT_WAIT) {
        if (writing->unnamed == GT_UNNAMED_ALL)
            wait_for_all(writing, capture);
        else if (writing->unnamed == GT_UNNAMED_LAST)
            wait_for_last(writing, capture, call->stream);
        writing->counts->unknown_waits++;
    }
}

/* One of the captured calls. */
static void add_call(struct writing *writing, uint32_t capture, gt_call_index index, uint64_t *hash)
{
    const struct gt_call *call = &writing->w->calls[index];

    for (uint32_t i = 0; i < call->ops; i++)
        add_node(writing, capture, call->first_op + i, hash);
    writing->counts->launches += call->ops > 0;
    if (index != writing->captures->list[capture].first)
        writing->counts->own_work_ps += call->before_ps - call->kept_ps;
    if (call->kind == GT_CALL_HOST_WORK)
        writing->counts->own_work_ps += call->duration_ps;
    if (call->stream == GT_NONE || call->event == GT_NONE) {
        follow_unknown(writing, capture, call);
        return;
    }
    if (call->kind == GT_CALL_EVENT_RECORD) {
        struct frontier *event = &writing->events[call->event];

        event->capture = capture;
        event->count = 0;
        add_all(event, within(&writing->streams[call->stream], capture));
    } else if (call->kind == GT_CALL_EVENT_WAIT && writing->events[call->event].capture == capture) {
        add_all(within(&writing->streams[call->stream], capture), &writing->events[call->event]);
    }
}

/* From now on `to` waits for what `from` has been asked for. */
static void order(struct writing *writing, gt_thread_index thread, gt_stream_index from, gt_stream_index to)
{
    gt_event_index *event = &writing->forks[from];

    if (*event == GT_NONE)
        *event = gt_rebuild_new_event(&writing->rebuild);
    gt_rebuild_record(&writing->rebuild, thread, *event, from);
    gt_rebuild_wait(&writing->rebuild, thread, *event, to);
}

/* Work of the stream itself, behind graphs that had some of it. */
static void use_stream(struct writing *writing, gt_thread_index thread, gt_stream_index stream)
{
    if (writing->joined[stream] != GT_NONE)
        order(writing, thread, writing->joined[stream], stream);
    writing->joined[stream] = GT_NONE;
    writing->worked[stream] = true;
}

/* The graph is launched into one stream, and so comes before and after work of the others that it has nodes of. */
static void join_stream(struct writing *writing, const struct gt_capture *capture, gt_stream_index stream)
{
    if (stream == capture->stream || writing->joined[stream] == capture->stream)
        return;
    if (writing->joined[stream] != GT_NONE)
        order(writing, capture->thread, writing->joined[stream], capture->stream);
    else if (writing->worked[stream])
        order(writing, capture->thread, stream, capture->stream);
    writing->joined[stream] = capture->stream;
    writing->worked[stream] = false;
}

static void join_streams(struct writing *writing, uint32_t index)
{
    const struct gt_capture *capture = &writing->captures->list[index];
    const struct gt_workload *w = writing->w;

    use_stream(writing, capture->thread, capture->stream);
    for (gt_call_index i = capture->first; i <= capture->last; i++)
        for (uint32_t j = 0; writing->captures->of[i] == index && j < w->calls[i].ops; j++)
            join_stream(writing, capture, w->ops[w->calls[i].first_op + j].stream);
}

static void write_graph(struct writing *writing, uint32_t index)
{
    static const char name[] = "cudaGraphLaunch";
    const struct gt_capture *capture = &writing->captures->list[index];
    uint64_t hash = GT_HASH_START;
    struct gt_call *call;
    gt_call_index graph;

    join_streams(writing, index);
    graph = gt_rebuild_insert(&writing->rebuild, GT_CALL_GRAPH_LAUNCH, capture->thread);
    call = &writing->rebuild.to->calls[graph];
    call->stream = capture->stream;
    call->line = writing->w->calls[capture->first].line;
    call->name = gt_name(writing->rebuild.to, name, sizeof name - 1);
    for (gt_call_index i = capture->first; i <= capture->last; i++) {
        if (writing->captures->of[i] != index)
            continue;
        gt_rebuild_merged(&writing->rebuild, i, graph);
        add_call(writing, index, i, &hash);
    }
    writing->hashes[writing->counts->graphs++] = hash;
}

/* The most that a thread did between two captured calls, neither of them another thread's, for which it may have waited. */
static gt_time_ps most_between_ps(const struct writing *writing, uint32_t index)
{
    const struct gt_capture *capture = &writing->captures->list[index];
    gt_thread_index thread = capture->thread;
    gt_time_ps most_ps = 0;

    for (gt_call_index i = capture->first + 1; i <= capture->last; i++) {
        const struct gt_call *call = &writing->w->calls[i];

        if (writing->captures->of[i] != index)
            continue;
        if (call->thread == thread && call->before_ps - call->kept_ps > most_ps)
            most_ps = call->before_ps - call->kept_ps;
        thread = call->thread;
    }
    return most_ps;
}

/* Of what the host does before this call, next to a graph, as much as between two of its launches is taken to be of the
 * same kind, the way to a launch or back from one; the rest is done. */
static gt_time_ps launching_ps(struct writing *writing, const struct gt_call *call, gt_time_ps most_ps)
{
    gt_time_ps *spare_ps = &writing->spare_ps[call->thread], part_ps = most_ps > *spare_ps ? most_ps : *spare_ps;

    *spare_ps = 0;
    if (part_ps > call->before_ps - call->kept_ps)
        part_ps = call->before_ps - call->kept_ps;
    writing->counts->own_work_ps += part_ps;
    return part_ps;
}

/* A call that is not captured. */
static void write_plain(struct writing *writing, gt_call_index index)
{
    const struct gt_call *call = &writing->w->calls[index];
    gt_call_index copied;

    if (call->stream != GT_NONE && call->kind != GT_CALL_STREAM_CREATE && call->kind != GT_CALL_DEVICE_SYNC)
        use_stream(writing, call->thread, call->stream);
    copied = gt_rebuild_copy(&writing->rebuild, index);
    writing->rebuild.to->calls[copied].before_ps -= launching_ps(writing, call, 0);
}

/* Is it a stream's wait for an event that was not recorded in the same graph?  Waits stand behind records. */
static bool waits_for_outside(const struct writing *writing, const uint32_t *recorded, gt_call_index index)
{
    const struct gt_call *call = &writing->w->calls[index];

    return call->kind == GT_CALL_EVENT_WAIT && call->event != GT_NONE &&
           recorded[call->event] != writing->captures->of[index];
}

static void write_captured(struct writing *writing, uint32_t *recorded, gt_call_index index, uint32_t capture)
{
    const struct gt_call *call = &writing->w->calls[index];

    if (index == writing->captures->list[capture].first) {
        gt_time_ps most_ps = most_between_ps(writing, capture);

        gt_rebuild_drop(&writing->rebuild, index);
        writing->rebuild.owed_ps[call->thread] -= launching_ps(writing, call, most_ps);
        /* If another thread made the last call, this one waited for it. */
        writing->spare_ps[call->thread] =
            writing->w->calls[writing->captures->list[capture].last].thread == call->thread ? most_ps : GT_TIME_NONE;
    } else {
        writing->rebuild.owed_ps[call->thread] += call->kept_ps;
        writing->rebuild.owed_kept_ps[call->thread] += call->kept_ps;
    }
    if (call->kind == GT_CALL_EVENT_RECORD && call->event != GT_NONE)
        recorded[call->event] = capture;
    if (waits_for_outside(writing, recorded, index)) {
        gt_stream_index stream = writing->captures->list[capture].stream;

        gt_rebuild_wait(&writing->rebuild, call->thread, call->event, stream);
    }
    if (index == writing->captures->list[capture].last)
        write_graph(writing, capture);
}

static uint32_t *nones(uint32_t count)
{
    uint32_t *indexes = gt_realloc(NULL, count + 1ull, sizeof *indexes);

    memset(indexes, 0xff, count * sizeof *indexes); /* GT_NONE */
    return indexes;
}

static struct frontier *frontiers(uint32_t count)
{
    struct frontier *list = gt_calloc(count + 1ull, sizeof *list);

    for (uint32_t i = 0; i < count; i++)
        list[i].capture = GT_NONE;
    return list;
}

static void free_frontiers(struct frontier *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(list[i].ops);
    free(list);
}

static int by_hash(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

static uint32_t count_different(uint64_t *hashes, uint32_t count)
{
    uint32_t different = count > 0;

    qsort(hashes, count, sizeof *hashes, by_hash);
    for (uint32_t i = 1; i < count; i++)
        different += hashes[i] != hashes[i - 1];
    return different;
}

struct gt_workload *gt_write_graphs(const struct gt_workload *w, const struct gt_captures *captures,
                                    enum gt_unnamed_waits unnamed, struct gt_graph_counts *counts)
{
    struct writing writing = {
        .w = w,
        .captures = captures,
        .counts = counts,
        .streams = frontiers(w->stream_count),
        .events = frontiers(w->event_count),
        .unnamed = unnamed,
        .unknown = { .capture = GT_NONE },
        .pending = { .capture = GT_NONE },
        .barrier = { .capture = GT_NONE },
        .passed_barriers = gt_calloc(w->stream_count + 1ull, sizeof *writing.passed_barriers),
        .joined = nones(w->stream_count),
        .worked = gt_calloc(w->stream_count + 1ull, sizeof *writing.worked),
        .forks = nones(w->stream_count),
        .spare_ps = gt_calloc(w->thread_count + 1ull, sizeof *writing.spare_ps),
        .hashes = gt_calloc(captures->count + 1ull, sizeof *writing.hashes),
    };
    uint32_t *recorded = nones(w->event_count);
    struct gt_workload *to;

    memset(counts, 0, sizeof *counts);
    gt_rebuild_begin(&writing.rebuild, w);
    for (gt_call_index i = 0; i < w->call_count; i++) {
        uint32_t capture = gt_capture_of(captures, i);

        if (capture == GT_NONE)
            write_plain(&writing, i);
        else
            write_captured(&writing, recorded, i, capture);
    }
    to = gt_rebuild_end(&writing.rebuild);
    counts->lost_edges = writing.rebuild.lost_edges;
    counts->different = count_different(writing.hashes, counts->graphs);
    free_frontiers(writing.streams, w->stream_count);
    free_frontiers(writing.events, w->event_count);
    free(writing.unknown.ops);
    free(writing.pending.ops);
    free(writing.barrier.ops);
    free(writing.passed_barriers);
    free(writing.joined);
    free(writing.worked);
    free(writing.forks);
    free(writing.spare_ps);
    free(writing.hashes);
    free(recorded);
    return to;
}
