/* calls.c - the calls of a run: slices on the tracks of host threads, arrows to operations. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/array.h"
#include "traces/export/internal.h"

enum { NAME_BYTES = 256 };

/* A row for each call, and behind it one for each of its operations that ran: the arrows. */
static const char calls_sql[] =
    "SELECT c.call_no, c.start_ps, c.end_ps, k.thread_no, coalesce(k.name, k.kind), k.kind, t.name, t.id,"
    " c.blocked_ps, NULL AS op_no "
    "FROM run_call c JOIN call k ON k.trace_id = ?2 AND k.call_no = c.call_no "
    "JOIN thread t ON t.trace_id = ?2 AND t.thread_no = k.thread_no WHERE c.run_id = ?1 "
    "UNION ALL SELECT c.call_no, c.start_ps, NULL, NULL, NULL, NULL, NULL, NULL, NULL, r.op_no "
    "FROM run_op r JOIN op o ON o.trace_id = ?2 AND o.op_no = r.op_no "
    "JOIN run_call c ON c.run_id = ?1 AND c.call_no = o.call_no WHERE r.run_id = ?1 "
    "ORDER BY 2, 1, 10";
enum column { CALL, START, END, THREAD, NAME, KIND, THREAD_NAME, THREAD_ID, BLOCKED, OP };

/* The call whose rows are being gathered. */
struct gathered {
    int64_t call; /* -1: none */
    struct gt_perfetto_slice slice;
    struct gt_perfetto_track track;
    struct gt_perfetto_note notes[2];
    char track_name[NAME_BYTES], *name, *kind;
    size_t flow_room;
};

static int write_gathered(struct gathered *gathered, struct gt_perfetto_sequence *sequence, struct gt_error *error)
{
    if (gathered->call < 0)
        return 0;
    gathered->call = -1;
    gathered->slice.name = gathered->name;
    gathered->slice.category = gathered->kind;
    int status = gt_perfetto_slice(sequence, &gathered->track, &gathered->slice, error);
    free(gathered->name);
    free(gathered->kind);
    gathered->name = gathered->kind = NULL;
    return status;
}

static int begin_call(struct gt_export *export, struct gt_query *query, struct gathered *gathered,
                      struct gt_error *error)
{
    struct gt_perfetto_slice *slice = &gathered->slice;
    uint64_t call, thread, blocked_ps;
    if (gt_export_number(query, CALL, "call_no", &call, error) != 0 ||
        gt_query_span(query, START, "call", (int64_t)call, &slice->start_ps, &slice->end_ps, error) != 0 ||
        gt_export_number(query, THREAD, "thread_no", &thread, error) != 0 ||
        gt_query_number(query, BLOCKED, GT_TIME_LIMIT_PS, "blocked_ps", &blocked_ps, error) != 0)
        return -1;
    gathered->call = (int64_t)call;
    gathered->name = gt_query_text(query, NAME);
    gathered->kind = gt_query_text(query, KIND);
    snprintf(gathered->track_name, sizeof(gathered->track_name), "thread %s%s%s", gt_export_text(query, THREAD_ID),
             gt_query_absent(query, THREAD_NAME) ? "" : " ", gt_export_text(query, THREAD_NAME));
    gathered->track = gt_export_track(export, GT_GROUP_THREADS, thread, gathered->track_name);
    gathered->notes[0] = (struct gt_perfetto_note){ "call", NULL, call };
    gathered->notes[1] = (struct gt_perfetto_note){ "blocked_ns", NULL, blocked_ps / 1000 };
    slice->notes = gathered->notes;
    slice->note_count = blocked_ps > 0 ? 2 : 1;
    slice->flow_count = 0;
    return gt_export_group(export, GT_GROUP_THREADS, "host threads", error);
}

static int add_flow(struct gt_export *export, struct gt_query *query, struct gathered *gathered,
                    struct gt_error *error)
{
    struct gt_perfetto_slice *slice = &gathered->slice;
    uint64_t op;
    if (gathered->call != gt_query_integer(query, CALL))
        return 0; /* a damaged store: its call has no thread */
    if (gt_export_number(query, OP, "op_no", &op, error) != 0)
        return -1;
    gt_array_grow(slice->flows, slice->flow_count, gathered->flow_room);
    slice->flows[slice->flow_count++] = gt_export_flow(&export->run, op);
    return 0;
}

int gt_export_calls(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error)
{
    struct gt_query *query =
        gt_export_query(export->database, calls_sql, export->run.run_id, export->run.trace_id, error);
    struct gathered gathered = { .call = -1 };
    int row = query != NULL ? 1 : -1;
    while (row > 0 && (row = gt_query_next(query, error)) > 0) {
        bool arrow = !gt_query_absent(query, OP);
        if (arrow
                ? add_flow(export, query, &gathered, error) != 0
                : write_gathered(&gathered, sequence, error) != 0 || begin_call(export, query, &gathered, error) != 0)
            row = -1;
    }
    if (row == 0)
        row = write_gathered(&gathered, sequence, error);
    free(gathered.name);
    free(gathered.kind);
    free(gathered.slice.flows);
    gt_query_end(query);
    return row;
}
