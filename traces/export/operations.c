/* operations.c - the operations of a run on the tracks of their streams; its copies once more by
 * direction, with the bandwidth they had. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/export/internal.h"

enum { NAME_BYTES = 256, SHAPE_BYTES = 64, NOTES = 16, COPY_ROOM = 8, COPY_TRACKS = 256 * COPY_ROOM };

/* What an operation's row holds, by column. */
enum column {
    OP,
    START,
    END,
    KIND,
    STREAM,
    STREAM_NAME,
    STREAM_ID,
    GPU,
    GPU_ID,
    DIRECTION,
    MEMORY,
    BYTES,
    KERNEL,
    GRID,
    BLOCK,
    REGISTERS,
    SHARED,
    SUBMIT,
    WAITS,
    CAUSE = WAITS + GT_WAITS,
    CALL,
    CALL_START
};
#define COLUMNS                                                                                              \
    "SELECT r.op_no, r.start_ps, r.end_ps, o.kind, o.stream_no, s.name, s.id, s.gpu_no, g.id, o.direction,"  \
    " o.memory, o.bytes, k.name, printf('%d x %d x %d', grid_x, grid_y, grid_z),"                            \
    " printf('%d x %d x %d', block_x, block_y, block_z), k.registers,"                                       \
    " static_shared_bytes + dynamic_shared_bytes, r.submit_ps, wait_host_ps, wait_stream_ps, wait_event_ps," \
    " wait_queue_ps, wait_engine_ps, wait_resource_ps, r.cause_op,"                                          \
    " o.call_no, (SELECT start_ps FROM run_call a WHERE a.run_id = ?1 AND a.call_no = o.call_no) "
#define TABLES                                                          \
    "FROM run_op r JOIN op o ON o.trace_id = ?2 AND o.op_no = r.op_no " \
    "JOIN stream s ON s.trace_id = ?2 AND s.stream_no = o.stream_no "   \
    "JOIN gpu g ON g.trace_id = ?2 AND g.gpu_no = s.gpu_no "            \
    "LEFT JOIN kernel k ON k.trace_id = ?2 AND k.kernel_no = o.kernel_no WHERE r.run_id = ?1 "
static const char ops_sql[] = COLUMNS TABLES "ORDER BY r.start_ps, r.op_no";
static const char copies_sql[] = COLUMNS TABLES "AND o.kind = 'copy' ORDER BY r.start_ps, r.op_no";

/* A slice and what it points to. */
struct op {
    struct gt_perfetto_slice slice;
    struct gt_perfetto_note notes[NOTES];
    char name[NAME_BYTES], track_name[NAME_BYTES];
    uint64_t number, stream, gpu;
};

static void note_number(struct op *op, const char *name, uint64_t number)
{
    op->notes[op->slice.note_count++] = (struct gt_perfetto_note){ name, NULL, number };
}

static void note_text(struct op *op, struct gt_query *query, const char *name, int column)
{
    op->notes[op->slice.note_count++] = (struct gt_perfetto_note){ name, gt_export_text(query, column), 0 };
}

static void note_kernel(struct op *op, struct gt_query *query)
{
    note_text(op, query, "grid", GRID);
    note_text(op, query, "block", BLOCK);
    note_number(op, "registers_per_thread", (uint64_t)gt_query_integer(query, REGISTERS));
    note_number(op, "shared_bytes", (uint64_t)gt_query_integer(query, SHARED));
}

/* When it was asked for and what it waited for; measured runs do not know. */
static void note_waits(struct op *op, struct gt_query *query)
{
    static const char *const names[] = { "wait_host_ns",  "wait_stream_ns", "wait_event_ns",
                                         "wait_queue_ns", "wait_engine_ns", "wait_resource_ns" };
    if (!gt_query_absent(query, SUBMIT))
        note_number(op, "submit_ns", (uint64_t)gt_query_integer(query, SUBMIT) / 1000);
    for (int wait = 0; wait < GT_WAITS; wait++)
        if (gt_query_integer(query, WAITS + wait) > 0)
            note_number(op, names[wait], (uint64_t)gt_query_integer(query, WAITS + wait) / 1000);
}

/* A row as a slice; its texts are good until the next row. */
static int read_op(struct gt_query *query, struct op *op, struct gt_error *error)
{
    *op = (struct op){ .slice = { .notes = op->notes, .name = op->name } };
    if (gt_export_number(query, OP, "op_no", &op->number, error) != 0 ||
        gt_query_span(query, START, "operation", (int64_t)op->number, &op->slice.start_ps, &op->slice.end_ps,
                      error) != 0 ||
        gt_export_number(query, STREAM, "stream_no", &op->stream, error) != 0 ||
        gt_query_number(query, GPU, COPY_TRACKS / COPY_ROOM - 1, "gpu_no", &op->gpu, error) != 0)
        return -1;
    bool kernel = !gt_query_absent(query, KERNEL), moved = !gt_query_absent(query, BYTES);
    if (kernel)
        op->slice.name = gt_export_text(query, KERNEL);
    else
        snprintf(op->name, sizeof(op->name), "%s%s%s%s%s", gt_export_text(query, KIND),
                 gt_query_absent(query, DIRECTION) ? "" : " ", gt_export_text(query, DIRECTION),
                 gt_query_absent(query, MEMORY) ? "" : " ", gt_export_text(query, MEMORY));
    op->slice.category = gt_export_text(query, KIND);
    note_number(op, "operation", op->number);
    if (kernel)
        note_kernel(op, query);
    if (moved)
        note_number(op, "bytes", (uint64_t)gt_query_integer(query, BYTES));
    note_waits(op, query);
    return 0;
}

/* From its call and from the operation that let it start; to what it lets start itself. */
static void add_arrows(const struct gt_export *export, struct gt_query *query, struct op *op)
{
    if (export->selection.all || (!gt_query_absent(query, CALL_START) &&
                                  gt_selection_has_call(&export->selection, gt_query_integer(query, CALL),
                                                        (gt_time_ps)gt_query_integer(query, CALL_START))))
        op->slice.flows_in[0] = gt_export_flow(&export->run, op->number);
    if (!gt_query_absent(query, CAUSE) && gt_selection_has_op(&export->selection, gt_query_integer(query, CAUSE)))
        op->slice.flows_in[1] = gt_export_cause_of_op(&export->run, op->number);
    op->slice.flow_count = gt_export_causes_from(export, op->number, &op->slice.flows);
}

static int write_op(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_query *query,
                    struct gt_error *error)
{
    struct op op;
    char gpu[SHAPE_BYTES];
    if (read_op(query, &op, error) != 0 || gt_export_group(export, GT_GROUP_STREAMS, "streams", error) != 0)
        return -1;
    gt_export_gpu(export, gt_query_integer(query, GPU_ID), gpu, sizeof(gpu));
    snprintf(op.track_name, sizeof(op.track_name), "%sstream %s%s%s", gpu, gt_export_text(query, STREAM_ID),
             gt_query_absent(query, STREAM_NAME) ? "" : " ", gt_export_text(query, STREAM_NAME));
    add_arrows(export, query, &op);
    struct gt_perfetto_track track = gt_export_track(export, GT_GROUP_STREAMS, op.stream, op.track_name);
    return gt_perfetto_slice(sequence, &track, &op.slice, error);
}

/* The place of a direction in the table of directions; unknown ones share the last. */
static uint64_t direction_number(const char *direction)
{
    for (uint64_t i = 0; i < GT_DIRECTIONS; i++)
        if (strcmp(gt_direction_names[i], direction) == 0)
            return i;
    return COPY_ROOM - 1;
}

static int write_copy(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_query *query,
                      struct gt_error *error)
{
    struct op op;
    char gpu[SHAPE_BYTES];
    if (read_op(query, &op, error) != 0 || gt_export_group(export, GT_GROUP_COPIES, "copy engines", error) != 0)
        return -1;
    gt_export_gpu(export, gt_query_integer(query, GPU_ID), gpu, sizeof(gpu));
    snprintf(op.track_name, sizeof(op.track_name), "%scopies %s", gpu, gt_export_text(query, DIRECTION));
    uint64_t index = op.gpu * COPY_ROOM + direction_number(gt_export_text(query, DIRECTION));
    struct gt_perfetto_track track = gt_export_track(export, GT_GROUP_COPIES, index, op.track_name);
    return gt_perfetto_slice(sequence, &track, &op.slice, error);
}

typedef int write_row(struct gt_export *, struct gt_perfetto_sequence *, struct gt_query *, struct gt_error *);

static int write_rows(struct gt_export *export, struct gt_perfetto_sequence *sequence, const char *sql,
                      write_row *write, struct gt_error *error)
{
    struct gt_query *query = gt_export_query(export->database, sql, export->run.run_id, export->run.trace_id, error);
    int row = query != NULL ? 1 : -1;
    while (row > 0 && (row = gt_query_next(query, error)) > 0)
        if (gt_selection_has_op(&export->selection, gt_query_integer(query, OP)) &&
            write(export, sequence, query, error) != 0)
            row = -1;
    gt_query_end(query);
    return row;
}

int gt_export_ops(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error)
{
    return write_rows(export, sequence, ops_sql, write_op, error);
}

int gt_export_copies(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error)
{
    return write_rows(export, sequence, copies_sql, write_copy, error);
}

/* Where the rate of a direction changes: bytes a nanosecond (GB/s) that begin, and that end. */
static const char bandwidth_sql[] =
    "WITH c AS (SELECT start_ps, end_ps, s.gpu_no, g.id, direction,"
    " bytes * 1000.0 / (end_ps - start_ps) AS rate " TABLES
    "AND o.kind = 'copy' AND end_ps > start_ps AND bytes > 0) "
    "SELECT at, gpu_no, id, direction, sum(rate), sum(copies) FROM ("
    "SELECT start_ps AS at, gpu_no, id, direction, rate, 1 AS copies FROM c UNION ALL "
    "SELECT end_ps, gpu_no, id, direction, -rate, -1 FROM c) "
    "GROUP BY at, gpu_no, direction ORDER BY at, gpu_no, direction";

/* What goes on in one direction of one GPU. */
struct flow {
    double gbps;
    int64_t copies;
    bool written;
};

static int write_rate(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_query *query,
                      struct flow *flows, struct gt_error *error)
{
    char gpu[SHAPE_BYTES], name[NAME_BYTES];
    uint64_t at_ps, gpu_number;
    if (gt_query_number(query, 0, GT_TIME_LIMIT_PS, "time", &at_ps, error) != 0 ||
        gt_query_number(query, 1, COPY_TRACKS / COPY_ROOM - 1, "gpu_no", &gpu_number, error) != 0)
        return -1;
    uint64_t index = gpu_number * COPY_ROOM + direction_number(gt_export_text(query, 3));
    struct flow *flow = &flows[index];
    if (!export->selection.by_time || at_ps < export->selection.from_ps || at_ps >= export->selection.to_ps) {
        flow->copies += gt_query_integer(query, 5); /* what goes on when the part begins counts in it */
        flow->gbps = flow->copies > 0 ? flow->gbps + gt_query_real(query, 4) : 0;
        return 0;
    }
    gt_export_gpu(export, gt_query_integer(query, 2), gpu, sizeof(gpu));
    snprintf(name, sizeof(name), "%sbandwidth %s", gpu, gt_export_text(query, 3));
    struct gt_perfetto_track track = gt_export_track(export, GT_GROUP_BANDWIDTH, index, name);
    track.parent = gt_export_uuid(&export->run, GT_GROUP_COPIES, UINT32_MAX);
    track.rank = (int)(COPY_TRACKS + index);
    if (!flow->written && gt_perfetto_counter(export->output, &track, "GB/s", error) != 0)
        return -1;
    flow->written = true;
    flow->copies += gt_query_integer(query, 5);
    flow->gbps = flow->copies > 0 ? flow->gbps + gt_query_real(query, 4) : 0;
    return gt_perfetto_value(sequence, track.uuid, at_ps, flow->gbps, error);
}

int gt_export_bandwidth(struct gt_export *export, struct gt_perfetto_sequence *sequence, struct gt_error *error)
{
    struct flow *flows = gt_calloc(COPY_TRACKS, sizeof(*flows));
    struct gt_query *query =
        gt_export_query(export->database, bandwidth_sql, export->run.run_id, export->run.trace_id, error);
    int row = query != NULL ? 1 : -1;
    while (row > 0 && (row = gt_query_next(query, error)) > 0)
        if (write_rate(export, sequence, query, flows, error) != 0)
            row = -1;
    gt_query_end(query);
    free(flows);
    return row;
}

/* What workers did: a track each, for kernels whose blocks hand out tasks among themselves. */

enum { TASK_NAME_BYTES = 64 };

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
    char name[TASK_NAME_BYTES];

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
