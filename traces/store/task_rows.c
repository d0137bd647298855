/* Task graphs as rows: those of a trace, which kernels do them, and what became of each task in a run. */
#include <stdlib.h>

#include "sim/workload/task_graph.h"
#include "traces/store/row_source.h"

enum { TASKS_OF_GRAPH_MAX = 1000000 };

/* What rows of one graph are made from. */
struct graph_rows {
    const struct gt_workload *workload;
    uint32_t graph_no;
    const struct gt_task_graph *graph;
};

static void kind_value(sqlite3_context *result, const void *user, uint64_t row, int column)
{
    const struct graph_rows *rows = user;

    switch (column) {
    case 1: sqlite3_result_int64(result, rows->graph_no); return;
    case 2: sqlite3_result_int64(result, (int64_t)row); return;
    case 3: sqlite3_result_text(result, gt_name_text(rows->workload, rows->graph->name), -1, SQLITE_STATIC); return;
    default:
        sqlite3_result_text(result, gt_name_text(rows->workload, rows->graph->kinds[row].name), -1, SQLITE_STATIC);
    }
}

static void task_value(sqlite3_context *result, const void *user, uint64_t row, int column)
{
    const struct graph_rows *rows = user;
    const struct gt_task *task = &rows->graph->tasks[row];

    switch (column) {
    case 1: sqlite3_result_int64(result, rows->graph_no); return;
    case 2: sqlite3_result_int64(result, (int64_t)row); return;
    case 3: sqlite3_result_int64(result, task->kind); return;
    case 4: gt_result_text(result, gt_name_text(rows->workload, task->name)); return;
    default: gt_result_index(result, task->worker);
    }
}

static bool has_tasks(const void *user, uint64_t row)
{
    return ((const struct gt_workload *)user)->kernels[row].tasks != NULL;
}

static void kernel_value(sqlite3_context *result, const void *user, uint64_t row, int column)
{
    const struct gt_workload *w = user;
    uint32_t graph_no = 0;

    if (column == 1) {
        sqlite3_result_int64(result, (int64_t)row);
    } else if (column == 3) {
        sqlite3_result_text(result, gt_name_text(w, w->kernels[row].task_policy), -1, SQLITE_STATIC);
    } else {
        while (graph_no < w->task_graph_count && w->task_graphs[graph_no] != w->kernels[row].tasks)
            graph_no++;
        sqlite3_result_int64(result, graph_no);
    }
}

static int insert_graph(struct gt_store *store, int64_t trace_id, const struct graph_rows *rows,
                        struct gt_error *error)
{
    const struct gt_task_graph *graph = rows->graph;
    uint64_t tasks = graph->task_count < TASKS_OF_GRAPH_MAX ? graph->task_count : TASKS_OF_GRAPH_MAX;
    /* clang-format off */
    const struct gt_row_source kind_rows = {
        .table = "task_kind", .columns = 5, .id = trace_id, .count = graph->kind_count,
        .value = kind_value, .user = rows,
    };
    const struct gt_row_source task_rows = {
        .table = "task", .columns = 6, .id = trace_id, .count = tasks, .value = task_value, .user = rows,
    };
    /* clang-format on */
    uint64_t done = 0, total = graph->kind_count + tasks;

    if (gt_store_insert(store, &kind_rows, &done, total, error) != 0)
        return -1;
    return gt_store_insert(store, &task_rows, &done, total, error);
}

int gt_store_tasks(struct gt_store *store, int64_t trace_id, const struct gt_workload *workload,
                   struct gt_error *error)
{
    /* clang-format off */
    const struct gt_row_source kernels = {
        .table = "kernel_tasks", .columns = 4, .id = trace_id, .count = workload->kernel_count,
        .holds = has_tasks, .value = kernel_value, .user = workload,
    };
    /* clang-format on */
    uint64_t done = 0;

    if (workload->task_graph_count == 0)
        return 0;
    for (uint32_t i = 0; i < workload->task_graph_count; i++) {
        const struct graph_rows rows = { workload, i, workload->task_graphs[i] };

        if (insert_graph(store, trace_id, &rows, error) != 0)
            return -1;
    }
    return gt_store_insert(store, &kernels, &done, workload->kernel_count, error);
}

static int compare_tasks(const void *left, const void *right)
{
    const struct gt_task_record *a = left, *b = right;

    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return (a->task > b->task) - (a->task < b->task);
}

static void run_task_value(sqlite3_context *result, const void *user, uint64_t row, int column)
{
    const struct gt_task_record *record = &((const struct gt_task_record *)user)[row];

    switch (column) {
    case 1: sqlite3_result_int64(result, record->op); return;
    case 2: sqlite3_result_int64(result, record->task); return;
    case 3: sqlite3_result_int64(result, record->worker); return;
    case 4: gt_result_time(result, record->asked_ps); return;
    case 5: gt_result_time(result, record->taken_ps); return;
    case 6: gt_result_time(result, record->start_ps); return;
    case 7: gt_result_time(result, record->end_ps); return;
    case 8: gt_result_index(result, record->cause_task); return;
    default: sqlite3_result_int(result, record->stolen);
    }
}

int gt_store_run_tasks(struct gt_store *store, int64_t run_id, struct gt_task_record *records, uint64_t count,
                       struct gt_error *error)
{
    /* clang-format off */
    const struct gt_row_source source = {
        .table = "run_task", .columns = 10, .id = run_id, .count = count, .value = run_task_value, .user = records,
    };
    /* clang-format on */
    uint64_t done = 0;

    if (count == 0)
        return 0;
    qsort(records, count, sizeof *records, compare_tasks);
    return gt_store_insert(store, &source, &done, count, error);
}

/* What threads did while they polled, as rows of a run. */

struct polls {
    const struct gt_workload *workload;
    const struct gt_call_record *records; /* by call */
};

static bool holds_poll(const void *user, uint64_t row)
{
    const struct polls *polls = user;

    return polls->records[row].call != GT_NONE && polls->workload->calls[row].kind == GT_CALL_POLL;
}

static void poll_value(sqlite3_context *result, const void *user, uint64_t row, int column)
{
    sqlite3_result_int64(result, (int64_t)(column == 1 ? row : ((const struct polls *)user)->records[row].pieces));
}

int gt_store_run_polls(struct gt_store *store, int64_t run_id, const struct gt_workload *workload,
                       const struct gt_call_record *records, struct gt_error *error)
{
    const struct polls polls = { workload, records };
    /* clang-format off */
    const struct gt_row_source source = {
        .table = "run_poll", .columns = 3, .id = run_id, .count = workload->call_count,
        .holds = holds_poll, .value = poll_value, .user = &polls,
    };
    /* clang-format on */
    uint64_t done = 0;

    return gt_store_insert(store, &source, &done, workload->call_count, error);
}
