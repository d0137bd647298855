/* tasks.c - what workers did: a track each, for kernels whose blocks hand out tasks among themselves. */
#include <inttypes.h>
#include <stdio.h>

#include "traces/export/internal.h"

enum { NAME_BYTES = 64 };

static const char tasks_sql[] =
    "SELECT x.op_no, x.worker_no, x.start_ps, x.end_ps, x.task_no, coalesce(t.name, k.name, 'task'), k.name,"
    " x.taken_ps - x.asked_ps, x.start_ps - x.taken_ps, x.stolen"
    " FROM run_task x JOIN op o ON o.trace_id = ?2 AND o.op_no = x.op_no"
    " JOIN kernel_tasks n ON n.trace_id = ?2 AND n.kernel_no = o.kernel_no"
    " LEFT JOIN task t ON t.trace_id = ?2 AND t.graph_no = n.graph_no AND t.task_no = x.task_no"
    " LEFT JOIN task_kind k ON k.trace_id = ?2 AND k.graph_no = n.graph_no AND k.kind_no = t.kind_no"
    " WHERE x.run_id = ?1 ORDER BY x.start_ps, x.op_no, x.task_no";

static int write_task(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_query *query,
                      struct gt_error *error)
{
    struct gt_perfetto_note notes[5];
    struct gt_perfetto_slice slice = { .notes = notes, .note_count = 5, .category = "task" };
    struct gt_perfetto_track track;
    uint64_t op, worker, task, queue_ps, counter_ps;
    char name[NAME_BYTES];

    if (gt_export_number(query, 0, "op_no", &op, error) != 0 ||
        gt_query_number(query, 1, UINT32_MAX - 1, "worker_no", &worker, error) != 0 ||
        gt_query_span(query, 2, "task of operation", (int64_t)op, &slice.start_ps, &slice.end_ps, error) != 0 ||
        gt_export_number(query, 4, "task_no", &task, error) != 0 ||
        gt_query_number(query, 7, GT_TIME_LIMIT_PS, "taken_ps", &queue_ps, error) != 0 ||
        gt_query_number(query, 8, GT_TIME_LIMIT_PS, "start_ps", &counter_ps, error) != 0)
        return -1;
    snprintf(name, sizeof(name), "worker %" PRIu64, worker);
    track = gt_export_track(export, GT_GROUP_WORKERS, worker, name);
    slice.name = gt_export_text(query, 5);
    notes[0] = (struct gt_perfetto_note){ "operation", NULL, op };
    notes[1] = (struct gt_perfetto_note){ "task", NULL, task };
    notes[2] = (struct gt_perfetto_note){ "wait_queue_ns", NULL, queue_ps / 1000 };
    notes[3] = (struct gt_perfetto_note){ "wait_counter_ns", NULL, counter_ps / 1000 };
    notes[4] = (struct gt_perfetto_note){ "stolen", NULL, gt_query_integer(query, 9) != 0 };
    return gt_perfetto_slice(sequence, &track, &slice, error);
}

int gt_export_tasks(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error)
{
    struct gt_query *query;
    int row;

    if (!export->run.has_tasks)
        return 0;
    query = gt_export_query(export->database, tasks_sql, export->run.run_id, export->run.trace_id, error);
    row = query != NULL ? 1 : -1;
    while (row > 0 && (row = gt_query_next(query, error)) > 0) {
        if (!gt_selection_has_op(&export->selection, gt_query_integer(query, 0)))
            continue;
        if (gt_export_group(export, GT_GROUP_WORKERS, "workers", error) != 0 ||
            write_task(export, sequence, query, error) != 0)
            row = -1;
    }
    gt_query_end(query);
    return row;
}
