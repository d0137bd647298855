/* calls.c - the calls of a run: slices on the tracks of host threads, arrows to operations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/export/internal.h"

enum { NAME_BYTES = 256 };

/* A row for each call, and behind it one for each of its operations that ran: the arrows.  Before what it holds, a row
 * for each range. */
#define CALLS                                                                                                       \
    "SELECT c.call_no, c.start_ps, c.end_ps, k.thread_no, coalesce(k.name, k.kind), k.kind, t.name, t.id,"          \
    " c.blocked_ps, NULL AS op_no, c.cause_op, NULL AS first_call, NULL, 1, c.call_no "                             \
    "FROM run_call c JOIN call k ON k.trace_id = ?2 AND k.call_no = c.call_no "                                     \
    "JOIN thread t ON t.trace_id = ?2 AND t.thread_no = k.thread_no WHERE c.run_id = ?1 "                           \
    "UNION ALL SELECT c.call_no, c.start_ps, NULL, NULL, NULL, NULL, NULL, NULL, NULL, r.op_no, NULL, NULL, NULL, " \
    "1,"                                                                                                            \
    " c.call_no "                                                                                                   \
    "FROM run_op r JOIN op o ON o.trace_id = ?2 AND o.op_no = r.op_no "                                             \
    "JOIN run_call c ON c.run_id = ?1 AND c.call_no = o.call_no WHERE r.run_id = ?1 "
#define RANGES                                                                                               \
    "UNION ALL SELECT g.range_no, w.start_ps, w.end_ps, g.thread_no, g.name, g.kind, t.name, t.id, 0, NULL," \
    " NULL, g.first_call, g.behind_call, 0, -w.end_ps "                                                      \
    "FROM run_range w JOIN range g ON g.trace_id = ?2 AND g.range_no = w.range_no "                          \
    "JOIN thread t ON t.trace_id = ?2 AND t.thread_no = g.thread_no WHERE w.run_id = ?1 "
static const char calls_sql[] = CALLS "ORDER BY 2, 14, 15, 10";
static const char calls_and_ranges_sql[] = CALLS RANGES "ORDER BY 2, 14, 15, 1, 10";

/* The call whose rows are being gathered. */
struct gathered {
    int64_t call; /* -1: none */
    struct gt_perfetto_slice slice;
    struct gt_perfetto_track track;
    struct gt_perfetto_note notes[3];
    char track_name[NAME_BYTES], *name, *kind, *executable;
    size_t flow_room;
};

/* Of some streams or kernels, the calls that asked for them. */
static int write_gathered(const struct gt_export *export, struct gathered *gathered,
                          struct gt_perfetto_sequence *sequence, struct gt_error *error)
{
    bool wanted = gathered->call >= 0 && (export->selection.by_time || gathered->slice.flow_count > 0);
    gathered->call = -1;
    gathered->slice.name = gathered->name;
    gathered->slice.category = gathered->kind;
    int status = wanted ? gt_perfetto_slice(sequence, &gathered->track, &gathered->slice, error) : 0;
    free(gathered->name);
    free(gathered->kind);
    free(gathered->executable);
    gathered->name = gathered->kind = gathered->executable = NULL;
    return status;
}

/* The track of a row's thread; its name lasts as long as `name`. */
static int find_track(struct gt_export *export, struct gt_query *query, char name[NAME_BYTES],
                      struct gt_perfetto_track *track, struct gt_error *error)
{
    uint64_t thread;
    if (gt_export_number(query, GT_CALL_ROW_THREAD, "thread_no", &thread, error) != 0)
        return -1;
    snprintf(name, NAME_BYTES, "thread %s%s%s", gt_export_text(query, GT_CALL_ROW_THREAD_ID),
             gt_query_absent(query, GT_CALL_ROW_THREAD_NAME) ? "" : " ",
             gt_export_text(query, GT_CALL_ROW_THREAD_NAME));
    *track = gt_export_track(export, GT_GROUP_THREADS, thread, name);
    return gt_export_group(export, GT_GROUP_THREADS, "host threads", error);
}

/* The arrow from the operation that a blocked call waited for, where that is shown. */
static uint64_t cause_of(const struct gt_export *export, struct gt_query *query, uint64_t call)
{
    if (gt_query_absent(query, GT_CALL_ROW_CAUSE) ||
        !gt_selection_has_op(&export->selection, gt_query_integer(query, GT_CALL_ROW_CAUSE)))
        return 0;
    return gt_export_cause_of_call(&export->run, call);
}

/* What a thread did while it polled. */
static int note_pieces(const struct gt_export *export, uint64_t call, struct gathered *gathered,
                       struct gt_error *error)
{
    int64_t pieces = 0;

    if (!export->run.has_polls || strcmp(gathered->kind, "poll") != 0)
        return 0;
    if (gt_query_one(export->database, "SELECT pieces FROM run_poll WHERE run_id = ?1 AND call_no = ?2",
                     export->run.run_id, (int64_t)call, &pieces, error) < 0)
        return -1;
    if (pieces >= 0)
        gathered->notes[gathered->slice.note_count++] = (struct gt_perfetto_note){ "pieces", NULL, (uint64_t)pieces };
    return 0;
}

/* Which executable graph a launch is of. */
static int note_executable(const struct gt_export *export, uint64_t call, struct gathered *gathered,
                           struct gt_error *error)
{
    static const char sql[] = "SELECT executable FROM call_executable WHERE trace_id = ?1 AND call_no = ?2";
    struct gt_query *query;
    int row;

    if (!export->run.has_executables || strcmp(gathered->kind, "graph_launch") != 0)
        return 0;
    query = gt_export_query(export->database, sql, export->run.trace_id, (int64_t)call, error);
    row = query != NULL ? gt_query_next(query, error) : -1;
    if (row > 0) {
        gathered->executable = gt_query_text(query, 0);
        gathered->notes[gathered->slice.note_count++] =
            (struct gt_perfetto_note){ "executable", gathered->executable, 0 };
    }
    gt_query_end(query);
    return row < 0 ? -1 : 0;
}

static int begin_call(struct gt_export *export, struct gt_query *query, struct gathered *gathered,
                      struct gt_error *error)
{
    struct gt_perfetto_slice *slice = &gathered->slice;
    uint64_t call, blocked_ps;
    if (gt_export_number(query, GT_CALL_ROW_NUMBER, "call_no", &call, error) != 0 ||
        gt_query_span(query, GT_CALL_ROW_START, "call", (int64_t)call, &slice->start_ps, &slice->end_ps, error) !=
            0 ||
        gt_query_number(query, GT_CALL_ROW_BLOCKED, GT_TIME_LIMIT_PS, "blocked_ps", &blocked_ps, error) != 0)
        return -1;
    if (!gt_selection_has_call(&export->selection, (int64_t)call, slice->start_ps))
        return 0;
    gathered->call = (int64_t)call;
    gathered->name = gt_query_text(query, GT_CALL_ROW_NAME);
    gathered->kind = gt_query_text(query, GT_CALL_ROW_KIND);
    gathered->notes[0] = (struct gt_perfetto_note){ "call", NULL, call };
    gathered->notes[1] = (struct gt_perfetto_note){ "blocked_ns", NULL, blocked_ps / 1000 };
    slice->notes = gathered->notes;
    slice->note_count = blocked_ps > 0 ? 2 : 1;
    slice->flow_count = 0;
    slice->flows_in[0] = cause_of(export, query, call);
    slice->nests = true;
    if (note_pieces(export, call, gathered, error) != 0 || note_executable(export, call, gathered, error) != 0)
        return -1;
    return find_track(export, query, gathered->track_name, &gathered->track, error);
}

static int add_flow(struct gt_export *export, struct gt_query *query, struct gathered *gathered,
                    struct gt_error *error)
{
    struct gt_perfetto_slice *slice = &gathered->slice;
    uint64_t op;
    if (gathered->call != gt_query_integer(query, GT_CALL_ROW_NUMBER))
        return 0; /* a damaged store: its call has no thread */
    if (gt_export_number(query, GT_CALL_ROW_OP, "op_no", &op, error) != 0)
        return -1;
    if (!gt_selection_has_op(&export->selection, (int64_t)op))
        return 0;
    gt_array_grow(slice->flows, slice->flow_count, gathered->flow_room);
    slice->flows[slice->flow_count++] = gt_export_flow(&export->run, op);
    return 0;
}

static int take_row(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_query *query,
                    struct gathered *gathered, struct gt_error *error)
{
    char name[NAME_BYTES];
    struct gt_perfetto_track track;
    if (!gt_query_absent(query, GT_CALL_ROW_OP))
        return add_flow(export, query, gathered, error);
    if (write_gathered(export, gathered, sequence, error) != 0)
        return -1;
    if (gt_query_absent(query, GT_CALL_ROW_FIRST))
        return begin_call(export, query, gathered, error);
    if (find_track(export, query, name, &track, error) != 0)
        return -1;
    return gt_export_write_range(export, sequence, &track, query, error);
}

int gt_export_calls(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error)
{
    const char *sql = export->run.has_ranges ? calls_and_ranges_sql : calls_sql;
    struct gt_query *query = gt_export_query(export->database, sql, export->run.run_id, export->run.trace_id, error);
    struct gathered gathered = { .call = -1 };
    int row = query != NULL ? 1 : -1;
    while (row > 0 && (row = gt_query_next(query, error)) > 0)
        if (take_row(export, sequence, query, &gathered, error) != 0)
            row = -1;
    if (row == 0)
        row = write_gathered(export, &gathered, sequence, error);
    free(gathered.name);
    free(gathered.kind);
    free(gathered.executable);
    free(gathered.slice.flows);
    gt_query_end(query);
    return row;
}

/* What let operations start and blocked calls return, as arrows. */

/* Arrows by the operation that they begin at. */
struct gt_export_causes {
    uint32_t *from;  /* op_no, rising */
    uint64_t *flows; /* each arrow's number */
    size_t count, room, flow_room;
};

uint64_t gt_export_cause_of_op(const struct gt_export_run *run, uint64_t op)
{
    return run->number << 52 | UINT64_C(1) << 40 | (op + 1);
}

uint64_t gt_export_cause_of_call(const struct gt_export_run *run, uint64_t call)
{
    return run->number << 52 | UINT64_C(2) << 40 | (call + 1);
}

/* Operations that another let start, and calls that one let return; of an operation that its own call let start the
 * arrow from that call tells. */
static const char causes_sql[] =
    "SELECT cause_op, op_no, NULL, 0 FROM run_op WHERE run_id = ?1 AND cause_op IS NOT NULL"
    " UNION ALL SELECT cause_op, call_no, 1, start_ps FROM run_call WHERE run_id = ?1 AND cause_op IS NOT NULL"
    " ORDER BY 1, 3, 2";

static int add_arrow(struct gt_export *export, struct gt_query *query, struct gt_error *error)
{
    struct gt_export_causes *causes = export->causes;
    bool call = !gt_query_absent(query, 2);
    uint64_t from, to, start_ps;

    if (gt_export_number(query, 0, "cause_op", &from, error) != 0 ||
        gt_export_number(query, 1, call ? "call_no" : "op_no", &to, error) != 0 ||
        gt_query_number(query, 3, GT_TIME_LIMIT_PS, "start_ps", &start_ps, error) != 0)
        return -1;
    if (!gt_selection_has_op(&export->selection, (int64_t)from) ||
        !(call ? gt_selection_has_call(&export->selection, (int64_t)to, start_ps)
               : gt_selection_has_op(&export->selection, (int64_t)to)))
        return 0;
    gt_array_grow(causes->from, causes->count, causes->room);
    gt_array_grow(causes->flows, causes->count, causes->flow_room);
    causes->from[causes->count] = (uint32_t)from;
    causes->flows[causes->count++] =
        call ? gt_export_cause_of_call(&export->run, to) : gt_export_cause_of_op(&export->run, to);
    return 0;
}

int gt_export_causes_load(struct gt_export *export, struct gt_error *error)
{
    struct gt_query *query =
        gt_export_query(export->database, causes_sql, export->run.run_id, export->run.trace_id, error);
    int row = query != NULL ? 1 : -1;

    export->causes = gt_calloc(1, sizeof *export->causes);
    while (row > 0 && (row = gt_query_next(query, error)) > 0)
        if (add_arrow(export, query, error) != 0)
            row = -1;
    gt_query_end(query);
    return row;
}

void gt_export_causes_free(struct gt_export *export)
{
    if (export->causes == NULL)
        return;
    free(export->causes->from);
    free(export->causes->flows);
    free(export->causes);
    export->causes = NULL;
}

size_t gt_export_causes_from(const struct gt_export *export, uint64_t op, uint64_t **flows)
{
    const struct gt_export_causes *causes = export->causes;
    size_t low = 0, high = causes->count, count = 0;

    low = GT_LOWER_BOUND(middle, low, high, causes->from[middle] < op);
    while (low + count < causes->count && causes->from[low + count] == op)
        count++;
    *flows = causes->flows + low;
    return count;
}
