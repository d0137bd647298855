/* The operations of a run, once, in order of start: summary, streams, kernels, copies. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/stats/internal.h"
#include "traces/stats/sweep.h"

/* A LEFT JOIN: an operation that the trace does not have must not vanish from the sums. */
static const char ops_sql[] =
    "SELECT r.op_no, r.start_ps, r.end_ps, o.kind, o.stream_no, o.kernel_no, o.direction, o.memory,"
    " o.bytes, r.wait_host_ps, r.wait_stream_ps, r.wait_event_ps, r.wait_queue_ps, r.wait_engine_ps,"
    " r.wait_resource_ps FROM run_op r LEFT JOIN op o ON o.trace_id = ?2 AND o.op_no = r.op_no"
    " WHERE r.run_id = ?1 ORDER BY r.start_ps, r.op_no";
enum { OP_NO, START, END, KIND, STREAM, KERNEL, DIRECTION, MEMORY, BYTES, WAITS };

struct op_row {
    int64_t op;
    gt_time_ps start_ps, end_ps, wait_ps[GT_WAITS];
    bool waits; /* the row has reasons */
    uint32_t kind, direction, memory, class;
    uint64_t stream, kernel, bytes;
};

struct ops {
    struct gt_stats_work *work;
    struct gt_sweep sweep;
    struct gt_launches *launches; /* by kernel_no */
    struct {
        gt_time_ps first_ps, last_ps;
    } * ends; /* by stream: its first start, latest end so far */
    struct {
        uint64_t count, bytes;
    } classes[GT_CLASSES];
    gt_time_ps running_ps; /* sum of the durations */
    bool waits_seen;
};

/* The number of a name in a table; a missing one is `absent` where that is not GT_NONE. */
static int find_name(struct gt_query *query, int column, const char *const *names, uint32_t count, uint32_t absent,
                     uint32_t *found, struct gt_error *error)
{
    const char *text = gt_query_string(query, column);

    if (text == NULL && absent != GT_NONE) {
        *found = absent;
        return 0;
    }
    for (*found = 0; text != NULL && *found < count; ++*found)
        if (strcmp(text, names[*found]) == 0)
            return 0;
    return gt_error_set(error, "unknown %s '%.40s'; the store is damaged or of a newer version",
                        gt_query_column(query, column), text != NULL ? text : "");
}

static int read_waits(struct gt_query *query, struct op_row *row, struct gt_error *error)
{
    for (int i = 0; i < GT_WAITS; i++) {
        row->wait_ps[i] = 0;
        if (gt_query_absent(query, WAITS + i))
            continue;
        if (gt_query_number(query, WAITS + i, GT_TIME_LIMIT_PS, gt_query_column(query, WAITS + i), &row->wait_ps[i],
                            error) != 0)
            return -1;
        row->waits = true;
    }
    return 0;
}

static int read_copy(struct gt_query *query, struct op_row *row, struct gt_error *error)
{
    uint32_t none = row->kind == GT_OP_COPY ? GT_NONE : GT_H2D; /* a memset has no direction */

    if (find_name(query, DIRECTION, gt_direction_names, GT_DIRECTIONS, none, &row->direction, error) != 0 ||
        find_name(query, MEMORY, gt_memory_names, GT_MEMORIES, GT_MEMORY_UNKNOWN, &row->memory, error) != 0)
        return -1;
    return gt_query_absent(query, BYTES) ? 0 : gt_query_number(query, BYTES, INT64_MAX, "bytes", &row->bytes, error);
}

static int read_row(struct ops *ops, struct gt_query *query, struct op_row *row, struct gt_error *error)
{
    const struct gt_stats_work *work = ops->work;

    *row = (struct op_row){ .op = gt_query_integer(query, OP_NO) };
    if (gt_query_absent(query, KIND))
        return gt_error_set(error, "operation %lld is not in the trace; the store is damaged", (long long)row->op);
    if (gt_query_span(query, START, "operation", row->op, &row->start_ps, &row->end_ps, error) != 0)
        return -1;
    if (find_name(query, KIND, gt_op_kind_names, GT_OP_KINDS, GT_NONE, &row->kind, error) != 0 ||
        gt_query_number(query, STREAM, UINT32_MAX, "stream_no", &row->stream, error) != 0 ||
        read_waits(query, row, error) != 0)
        return gt_error_prefix(error, "operation %lld: ", (long long)row->op);
    if (row->stream >= work->stats->stream_count)
        return gt_error_set(error, "operation %lld: no stream %llu; the store is damaged", (long long)row->op,
                            (unsigned long long)row->stream);
    if (row->kind == GT_OP_KERNEL &&
        (gt_query_number(query, KERNEL, UINT32_MAX, "kernel_no", &row->kernel, error) != 0 ||
         row->kernel >= work->kernels))
        return gt_error_set(error, "operation %lld: no such kernel; the store is damaged", (long long)row->op);
    if ((row->kind == GT_OP_COPY || row->kind == GT_OP_MEMSET) && read_copy(query, row, error) != 0)
        return gt_error_prefix(error, "operation %lld: ", (long long)row->op);
    row->class = gt_class_of(row->kind, row->direction, row->memory);
    return 0;
}

static gt_time_ps into_makespan(const struct gt_stats_summary *summary, gt_time_ps time_ps)
{
    return time_ps < summary->start_ps ? summary->start_ps : time_ps > summary->end_ps ? summary->end_ps : time_ps;
}

/* Deal a stream's idle time before an operation out to the operation's reasons; what they
 * do not cover has none. */
static void add_idle(struct gt_stats_stream *stream, gt_time_ps idle_ps, const struct op_row *row)
{
    for (int i = 0; i < GT_WAITS; i++) {
        gt_time_ps part_ps = row->wait_ps[i] < idle_ps ? row->wait_ps[i] : idle_ps;

        stream->idle_wait_ps[i] += part_ps;
        idle_ps -= part_ps;
    }
    stream->idle_unknown_ps += idle_ps;
}

/* Host functions may stand outside the makespan: of a stream's times only what is inside counts. */
static void add_to_stream(struct ops *ops, const struct op_row *row)
{
    struct gt_stats *stats = ops->work->stats;
    struct gt_stats_stream *stream = &stats->streams[row->stream];
    gt_time_ps start_ps = into_makespan(&stats->summary, row->start_ps);
    gt_time_ps end_ps = into_makespan(&stats->summary, row->end_ps);
    gt_time_ps *first_ps = &ops->ends[row->stream].first_ps, *last_ps = &ops->ends[row->stream].last_ps;

    if (stream->operations++ == 0)
        *first_ps = *last_ps = start_ps;
    else if (start_ps > *last_ps)
        add_idle(stream, start_ps - *last_ps, row);
    /* Operations of a stream may overlap a little (programmatic launches): only what is new is busy. */
    if (end_ps > *last_ps) {
        stream->busy_ps += end_ps - (start_ps > *last_ps ? start_ps : *last_ps);
        *last_ps = end_ps;
    }
}

static void add_launch(struct gt_launches *launches, const struct op_row *row)
{
    gt_time_ps time_ps = row->end_ps - row->start_ps;

    if (launches->count == 0 || time_ps < launches->min_ps)
        launches->min_ps = time_ps;
    if (time_ps > launches->max_ps)
        launches->max_ps = time_ps;
    launches->count++;
    launches->total_ps = gt_time_add(launches->total_ps, time_ps);
    launches->wait_resource_ps = gt_time_add(launches->wait_resource_ps, row->wait_ps[GT_WAIT_RESOURCE]);
}

static void add_row(struct ops *ops, const struct op_row *row)
{
    struct gt_stats_summary *summary = &ops->work->stats->summary;
    uint64_t *const counts[GT_OP_KINDS] = {
        [GT_OP_KERNEL] = &summary->kernels,
        [GT_OP_COPY] = &summary->copies,
        [GT_OP_MEMSET] = &summary->memsets,
        [GT_OP_HOST_FUNCTION] = &summary->host_functions,
    };

    summary->operations++;
    ++*counts[row->kind];
    if (row->end_ps == summary->end_ps)
        ops->work->last_op = (uint32_t)row->op;
    ops->classes[row->class].count++;
    ops->classes[row->class].bytes = gt_time_add(ops->classes[row->class].bytes, row->bytes);
    for (int i = 0; i < GT_WAITS; i++)
        ops->waits_seen |= row->wait_ps[i] > 0;
    ops->waits_seen |= row->waits && ops->work->stats->run.simulated;
    add_to_stream(ops, row);
    if (row->kind == GT_OP_HOST_FUNCTION)
        return;
    gt_sweep_add(&ops->sweep, row->class, row->start_ps, row->end_ps);
    ops->running_ps = gt_time_add(ops->running_ps, row->end_ps - row->start_ps);
    if (row->kind == GT_OP_KERNEL)
        add_launch(&ops->launches[row->kernel], row);
}

/* Streams without operations are left out, but not of a part of a run, so that the parts of two runs have the same; the
 * others get their idle ends. */
static void finish_streams(struct ops *ops)
{
    struct gt_stats *stats = ops->work->stats;
    struct gt_stats_summary *summary = &stats->summary;
    size_t kept = 0;

    for (size_t i = 0; i < stats->stream_count; i++) {
        struct gt_stats_stream *stream = &stats->streams[i];

        if (stream->operations == 0 && ops->work->selection.all) {
            free(stream->name);
            continue;
        }
        if (stream->operations == 0)
            ops->ends[i].first_ps = ops->ends[i].last_ps = summary->end_ps;
        stream->idle_before_ps = ops->ends[i].first_ps - summary->start_ps;
        stream->idle_after_ps = summary->end_ps - ops->ends[i].last_ps;
        for (int wait = 0; wait < GT_WAITS; wait++)
            summary->idle_wait_ps[wait] = gt_time_add(summary->idle_wait_ps[wait], stream->idle_wait_ps[wait]);
        stats->streams[kept++] = *stream;
    }
    stats->stream_count = kept;
}

static void finish_summary(struct ops *ops)
{
    struct gt_stats *stats = ops->work->stats;
    struct gt_stats_summary *summary = &stats->summary;

    summary->busy_ps = ops->sweep.busy_ps;
    summary->idle_ps = summary->makespan_ps - summary->busy_ps;
    summary->kernel_ps = ops->sweep.classes[GT_CLASS_KERNEL].busy_ps;
    summary->copy_ps = ops->sweep.copy_ps;
    summary->overlap_ps = ops->sweep.overlap_ps;
    summary->peak_running = ops->sweep.peak;
    summary->mean_running = summary->makespan_ps == 0 ? NAN : (double)ops->running_ps / (double)summary->makespan_ps;
    summary->waits_known = ops->waits_seen;
    if (!summary->waits_known && summary->operations > 0)
        gt_stats_note(stats, "streams", "the causes of idle time are unknown: the run has no wait reasons");
    if (summary->operations == 0)
        gt_stats_note(stats, "summary",
                      ops->work->selection.all ? "the run has no operations" : "this part has no operations");
}

static void finish_copies(struct ops *ops)
{
    struct gt_stats *stats = ops->work->stats;

    stats->copies = gt_calloc(GT_CLASS_KERNEL, sizeof *stats->copies);
    for (uint32_t class = 0; class < GT_CLASS_KERNEL; class ++) {
        const struct gt_sweep_class *sums = &ops->sweep.classes[class];
        bool copy = class < GT_CLASS_MEMSET;
        struct gt_stats_copy *out = &stats->copies[stats->copy_count];

        if (ops->classes[class].count == 0)
            continue;
        stats->copy_count++;
        *out = (struct gt_stats_copy){
            .kind = gt_op_kind_names[copy ? GT_OP_COPY : GT_OP_MEMSET],
            .count = ops->classes[class].count,
            .bytes = ops->classes[class].bytes,
            .busy_ps = sums->busy_ps,
            .gbps = sums->busy_ps == 0 ? NAN : (double)ops->classes[class].bytes / (double)sums->busy_ps * 1e3,
            .kernel_overlap_ps = sums->kernel_overlap_ps,
            .other_direction_overlap_ps = sums->other_overlap_ps,
        };
        if (copy)
            snprintf(out->direction, sizeof out->direction, "%s", gt_direction_names[class / GT_MEMORIES]);
        snprintf(out->memory, sizeof out->memory, "%s", gt_memory_names[class % GT_MEMORIES]);
    }
}

static int64_t bound(uint64_t number)
{
    return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

/* The calls of a part of a run: when (?3, ?4) and by number (?5, ?6). */
static void bind_calls(struct gt_query *query, const struct gt_selection *selection)
{
    gt_query_bind(query, 3, bound(selection->from_ps));
    gt_query_bind(query, 4, bound(selection->to_ps == 0 ? 0 : selection->to_ps - 1));
    gt_query_bind(query, 5, bound(selection->first_call));
    gt_query_bind(query, 6, bound(selection->end_call) - 1);
}

/* Host threads: how many called, and how long they were blocked. */
static int add_threads(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_stats_summary *summary = &work->stats->summary;
    struct gt_query *query =
        gt_stats_query(work,
                       "SELECT count(DISTINCT c.thread_no), coalesce(sum(blocked_ps), 0)"
                       " FROM run_call r JOIN call c ON c.trace_id = ?2 AND c.call_no = r.call_no"
                       " WHERE r.run_id = ?1 AND r.start_ps BETWEEN ?3 AND ?4 AND r.call_no BETWEEN ?5 AND ?6",
                       error);
    uint64_t threads, blocked_ps;
    int result = -1;

    if (query != NULL)
        bind_calls(query, &work->selection);
    if (query != NULL && gt_query_next(query, error) == 1 &&
        gt_query_number(query, 0, UINT32_MAX, "thread count", &threads, error) == 0 &&
        gt_query_number(query, 1, INT64_MAX, "sum of blocked_ps", &blocked_ps, error) == 0) {
        summary->threads = (uint32_t)threads;
        summary->blocked_ps = blocked_ps;
        summary->blocked_known = work->stats->run.simulated || blocked_ps > 0;
        if (!summary->blocked_known)
            gt_stats_note(
                work->stats, "summary",
                "the blocked time of host threads is unknown: a recorded call does not show for how long it waited");
        result = 0;
    }
    gt_query_end(query);
    return result;
}

/* Which operations are in the part of the run that is looked at. */
static int find_part(struct gt_stats_work *work, bool every, struct gt_error *error)
{
    struct gt_stats_summary *summary = &work->stats->summary;
    struct gt_query *query = gt_stats_query(work,
                                            "SELECT p.op_no, p.start_ps, p.end_ps FROM run_op p JOIN op o"
                                            " ON o.trace_id = ?2 AND o.op_no = p.op_no WHERE p.run_id = ?1"
                                            " AND (?3 OR o.kind <> 'host_function')",
                                            error);
    bool found = false;
    int row = query == NULL ? -1 : 1;

    if (query != NULL)
        gt_query_bind(query, 3, every);
    while (row == 1 && (row = gt_query_next(query, error)) == 1) {
        gt_time_ps start_ps, end_ps;

        if (!gt_selection_has_op(&work->selection, gt_query_integer(query, 0)))
            continue;
        if (gt_query_span(query, 1, "operation", gt_query_integer(query, 0), &start_ps, &end_ps, error) != 0) {
            row = -1;
            break;
        }
        summary->start_ps = found && summary->start_ps < start_ps ? summary->start_ps : start_ps;
        summary->end_ps = found && summary->end_ps > end_ps ? summary->end_ps : end_ps;
        found = true;
    }
    gt_query_end(query);
    summary->makespan_ps = summary->end_ps - summary->start_ps;
    return row != 0 ? -1 : found || every ? 0 : find_part(work, true, error);
}

/* The makespan, known before the operations pass: of the GPU operations, or (`every`) of all. */
static int find_makespan(struct gt_stats_work *work, bool every, struct gt_error *error)
{
    struct gt_stats_summary *summary = &work->stats->summary;
    struct gt_query *query = gt_stats_query(work,
                                            "SELECT min(start_ps), max(end_ps) FROM run_op WHERE run_id = ?1"
                                            " AND (?3 OR op_no NOT IN (SELECT op_no FROM op WHERE trace_id = ?2"
                                            " AND kind = 'host_function'))",
                                            error);
    int result = -1;

    if (query != NULL) {
        gt_query_bind(query, 3, every);
        result = gt_query_next(query, error) == 1 ? 0 : -1;
    }
    if (result == 0 && gt_query_absent(query, 0))
        result = every ? 0 : find_makespan(work, true, error);
    else if (result == 0)
        result = gt_query_span(query, 0, "run", work->stats->run.run_id, &summary->start_ps, &summary->end_ps, error);
    gt_query_end(query);
    summary->makespan_ps = summary->end_ps - summary->start_ps;
    return result;
}

static int read_ops(struct ops *ops, struct gt_error *error)
{
    struct gt_query *query = gt_stats_query(ops->work, ops_sql, error);
    int result = -1;

    while (query != NULL && (result = gt_query_next(query, error)) == 1) {
        struct op_row row;

        if (!gt_selection_has_op(&ops->work->selection, gt_query_integer(query, OP_NO)))
            continue;
        if (read_row(ops, query, &row, error) != 0) {
            result = -1;
            break;
        }
        add_row(ops, &row);
    }
    gt_query_end(query);
    gt_sweep_finish(&ops->sweep);
    return result;
}

int gt_stats_ops(struct gt_stats_work *work, struct gt_error *error)
{
    struct ops ops = { .work = work };
    int result;

    ops.launches = gt_calloc(work->kernels + 1, sizeof *ops.launches);
    ops.ends = gt_calloc(work->stats->stream_count + 1, sizeof *ops.ends);
    result = work->selection.all ? find_makespan(work, false, error) : find_part(work, false, error);
    if (result == 0)
        result = read_ops(&ops, error);
    if (result == 0) {
        finish_summary(&ops);
        finish_streams(&ops);
        finish_copies(&ops);
        gt_stats_kernels(work, ops.launches, ops.waits_seen);
        result = add_threads(work, error);
    }
    free(ops.launches);
    free(ops.ends);
    return result;
}
