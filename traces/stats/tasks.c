/* Tasks that kernels' blocks handed out among themselves: where the workers' time went, the path through the tasks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/stats/internal.h"
#include "traces/store/store.h"

/* One task of the kernel being looked at. */
struct task_row {
    uint64_t task, worker, kind;
    gt_time_ps asked_ps, taken_ps, start_ps, end_ps;
    uint32_t cause;     /* place in the rows; GT_NONE */
    uint32_t before;    /* its worker's task before: place in the rows; GT_NONE */
    int64_t cause_task; /* as stored; -1: none */
    bool stolen;
};

/* One kernel's tasks, in the order of their workers and starts. */
struct kernel_tasks {
    struct task_row *rows;
    uint32_t count, room;
    uint32_t op;
    gt_time_ps start_ps, end_ps; /* the kernel's */
    size_t closed_room;          /* of the stats' array of kernels */
};

static int by_worker(const void *left, const void *right)
{
    const struct task_row *a = left, *b = right;

    if (a->worker != b->worker)
        return a->worker < b->worker ? -1 : 1;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    return (a->task > b->task) - (a->task < b->task);
}

/* Which row each task's cause and predecessor on its worker are. */
static void join_rows(struct kernel_tasks *kernel)
{
    uint64_t tasks = 0;
    uint32_t *row_of;

    for (uint32_t i = 0; i < kernel->count; i++)
        tasks = kernel->rows[i].task >= tasks ? kernel->rows[i].task + 1 : tasks;
    row_of = gt_realloc(NULL, tasks + 1, sizeof *row_of);
    for (uint64_t i = 0; i < tasks; i++)
        row_of[i] = GT_NONE;
    for (uint32_t i = 0; i < kernel->count; i++)
        row_of[kernel->rows[i].task] = i;
    for (uint32_t i = 0; i < kernel->count; i++) {
        struct task_row *row = &kernel->rows[i];

        row->cause = row->cause_task >= 0 && (uint64_t)row->cause_task < tasks ? row_of[row->cause_task] : GT_NONE;
        row->before = i > 0 && kernel->rows[i - 1].worker == row->worker ? i - 1 : GT_NONE;
    }
    free(row_of);
}

/* What a task waited for last: whose signal let it start, or its worker's task before, whichever ended later. */
static uint32_t waited_for(const struct kernel_tasks *kernel, const struct task_row *row)
{
    uint32_t best = row->before;

    if (row->cause != GT_NONE && (best == GT_NONE || kernel->rows[row->cause].end_ps >= kernel->rows[best].end_ps))
        best = row->cause;
    return best != GT_NONE && kernel->rows[best].end_ps <= row->end_ps && kernel->rows[best].start_ps < row->end_ps
               ? best
               : GT_NONE;
}

/* The task that ended last. */
static uint32_t last_row(const struct kernel_tasks *kernel)
{
    uint32_t row = 0;

    for (uint32_t i = 1; i < kernel->count; i++)
        if (kernel->rows[i].end_ps > kernel->rows[row].end_ps)
            row = i;
    return row;
}

/* The work on the path that ends with the task that ended last, and the kind that has most of it. */
static void walk_path(const struct gt_stats *stats, const struct kernel_tasks *kernel,
                      struct gt_stats_task_kernel *closed)
{
    gt_time_ps *by_kind_ps = gt_calloc(stats->task_kind_count, sizeof *by_kind_ps);
    uint32_t row = last_row(kernel), steps = 0;
    size_t most = 0;

    for (; row != GT_NONE && steps < kernel->count; steps++) {
        gt_time_ps work_ps = kernel->rows[row].end_ps - kernel->rows[row].start_ps;

        closed->path_ps = gt_time_add(closed->path_ps, work_ps);
        by_kind_ps[kernel->rows[row].kind] = gt_time_add(by_kind_ps[kernel->rows[row].kind], work_ps);
        row = waited_for(kernel, &kernel->rows[row]);
    }
    for (size_t i = 1; i < stats->task_kind_count; i++)
        most = by_kind_ps[i] > by_kind_ps[most] ? i : most;
    closed->kind_ps = by_kind_ps[most];
    snprintf(closed->kind, sizeof closed->kind, "%s", stats->task_kinds[most].name);
    free(by_kind_ps);
}

/* How long a worker looked for a task while none was ready: until that one's cause ended, where it had it only then. */
static gt_time_ps empty_ps(const struct kernel_tasks *kernel, const struct task_row *row)
{
    gt_time_ps ready_ps = row->cause != GT_NONE ? kernel->rows[row->cause].end_ps : 0;

    return ready_ps > row->asked_ps && ready_ps <= row->taken_ps ? ready_ps - row->asked_ps : 0;
}

static void add_kind(struct gt_stats *stats, const struct task_row *row)
{
    struct gt_stats_task_kind *kind = &stats->task_kinds[row->kind];

    kind->count++;
    kind->total_ps = gt_time_add(kind->total_ps, row->end_ps - row->start_ps);
    kind->wait_ps = gt_time_add(kind->wait_ps, row->start_ps - row->taken_ps);
}

static gt_time_ps counter_ps(const struct kernel_tasks *kernel, const struct task_row *row)
{
    gt_time_ps ready_ps = row->cause != GT_NONE ? kernel->rows[row->cause].end_ps : 0;

    if (ready_ps <= row->taken_ps)
        return 0;
    return (ready_ps < row->start_ps ? ready_ps : row->start_ps) - row->taken_ps;
}

static void add_row(const struct kernel_tasks *kernel, const struct task_row *row, struct gt_stats_task_kernel *sums)
{
    gt_time_ps free_ps = row->before == GT_NONE ? row->asked_ps : kernel->rows[row->before].end_ps;
    gt_time_ps waited_ps = empty_ps(kernel, row), held_ps = counter_ps(kernel, row);

    sums->work_ps = gt_time_add(sums->work_ps, row->end_ps - row->start_ps);
    sums->counter_ps = gt_time_add(sums->counter_ps, held_ps);
    sums->overhead_ps = gt_time_add(sums->overhead_ps, row->start_ps - row->taken_ps - held_ps);
    sums->empty_ps = gt_time_add(sums->empty_ps, waited_ps);
    sums->contention_ps = gt_time_add(sums->contention_ps, row->taken_ps - row->asked_ps - waited_ps);
    sums->between_ps = gt_time_add(sums->between_ps, row->asked_ps > free_ps ? row->asked_ps - free_ps : 0);
    sums->workers += row->before == GT_NONE;
    sums->steals |= row->stolen;
}

static gt_time_ps work_of(const struct kernel_tasks *kernel, uint64_t worker)
{
    gt_time_ps work_ps = 0;

    for (uint32_t i = 0; i < kernel->count; i++)
        if (kernel->rows[i].worker == worker)
            work_ps = gt_time_add(work_ps, kernel->rows[i].end_ps - kernel->rows[i].start_ps);
    return work_ps;
}

static void add_to_all(struct gt_stats_tasks *all, const struct gt_stats_task_kernel *one, gt_time_ps had_ps)
{
    all->count += one->count;
    all->workers += one->workers;
    all->worker_ps = gt_time_add(all->worker_ps, had_ps);
    all->work_ps = gt_time_add(all->work_ps, one->work_ps);
    all->queue_ps = gt_time_add(all->queue_ps, gt_time_add(one->empty_ps, one->contention_ps));
    all->counter_ps = gt_time_add(all->counter_ps, gt_time_add(one->counter_ps, one->overhead_ps));
    all->other_ps = gt_time_add(all->other_ps, one->between_ps);
    all->path_ps = gt_time_add(all->path_ps, one->path_ps);
}

/* A kernel is complete: its workers' time goes into the sums. */
static void close_kernel(struct gt_stats *stats, struct kernel_tasks *kernel)
{
    struct gt_stats_task_kernel closed = { .op = kernel->op, .count = kernel->count };
    gt_time_ps had_ps = 0, used_ps;

    if (kernel->count == 0)
        return;
    qsort(kernel->rows, kernel->count, sizeof *kernel->rows, by_worker);
    join_rows(kernel);
    for (uint32_t i = 0; i < kernel->count; i++) {
        add_row(kernel, &kernel->rows[i], &closed);
        add_kind(stats, &kernel->rows[i]);
    }
    closed.span_ps = kernel->end_ps - kernel->start_ps;
    if (__builtin_mul_overflow(closed.span_ps, closed.workers, &had_ps))
        had_ps = UINT64_MAX;
    used_ps = gt_time_add(closed.work_ps, gt_time_add(closed.counter_ps, closed.between_ps));
    used_ps = gt_time_add(used_ps, closed.overhead_ps);
    used_ps = gt_time_add(used_ps, gt_time_add(closed.empty_ps, closed.contention_ps));
    closed.around_ps = had_ps > used_ps ? had_ps - used_ps : 0;
    walk_path(stats, kernel, &closed);
    closed.last_worker = kernel->rows[last_row(kernel)].worker;
    closed.last_work_ps = work_of(kernel, closed.last_worker);
    add_to_all(&stats->tasks, &closed, had_ps);
    gt_array_grow(stats->task_kernels, stats->task_kernel_count, kernel->closed_room);
    stats->task_kernels[stats->task_kernel_count++] = closed;
    kernel->count = 0;
}

static int read_row(struct gt_query *query, struct gt_stats *stats, struct kernel_tasks *kernel,
                    struct gt_error *error)
{
    struct task_row row = { .cause_task = gt_query_absent(query, 8) ? -1 : gt_query_integer(query, 8),
                            .stolen = gt_query_integer(query, 11) != 0 };

    if (gt_query_number(query, 1, UINT32_MAX - 1, "run_task.task_no", &row.task, error) != 0 ||
        gt_query_number(query, 2, UINT32_MAX, "run_task.worker_no", &row.worker, error) != 0 ||
        gt_query_number(query, 3, stats->task_kind_count - 1, "task.kind_no", &row.kind, error) != 0 ||
        gt_query_span(query, 4, "task", (int64_t)row.task, &row.asked_ps, &row.taken_ps, error) != 0 ||
        gt_query_span(query, 6, "task", (int64_t)row.task, &row.start_ps, &row.end_ps, error) != 0)
        return -1;
    if (row.start_ps < row.taken_ps)
        return gt_error_set(error, "task %" PRIu64 " starts before its worker has taken it; the store is damaged",
                            row.task);
    gt_array_grow(kernel->rows, kernel->count, kernel->room);
    kernel->rows[kernel->count++] = row;
    return 0;
}

/* All kinds of all graphs, and where those of each graph begin. */
static int load_kinds(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_query *query = gt_stats_query(
        work, "SELECT graph, name FROM task_kind WHERE trace_id = ?2 ORDER BY graph_no, kind_no", error);
    struct gt_stats *stats = work->stats;
    size_t room = 0;
    int result = -1;

    while (query != NULL && (result = gt_query_next(query, error)) == 1) {
        gt_array_grow(stats->task_kinds, stats->task_kind_count, room);
        stats->task_kinds[stats->task_kind_count++] =
            (struct gt_stats_task_kind){ .graph = gt_query_text(query, 0), .name = gt_query_text(query, 1) };
    }
    gt_query_end(query);
    return result;
}

static int load_tasks(struct gt_stats_work *work, struct kernel_tasks *kernel, struct gt_error *error)
{
    /* A kind's number among those of all graphs: the ones of earlier graphs come before. */
    struct gt_query *query = gt_stats_query(
        work,
        "SELECT x.op_no, x.task_no, x.worker_no,"
        " t.kind_no + (SELECT count(*) FROM task_kind k WHERE k.trace_id = ?2 AND k.graph_no < n.graph_no),"
        " x.asked_ps, x.taken_ps, x.start_ps, x.end_ps, x.cause_task, p.start_ps, p.end_ps, x.stolen"
        " FROM run_task x JOIN run_op p ON p.run_id = ?1 AND p.op_no = x.op_no"
        " JOIN op o ON o.trace_id = ?2 AND o.op_no = x.op_no"
        " JOIN kernel_tasks n ON n.trace_id = ?2 AND n.kernel_no = o.kernel_no"
        " JOIN task t ON t.trace_id = ?2 AND t.graph_no = n.graph_no AND t.task_no = x.task_no"
        " WHERE x.run_id = ?1 ORDER BY x.op_no, x.task_no",
        error);
    int64_t op = -1;
    int result = -1;

    while (query != NULL && (result = gt_query_next(query, error)) == 1) {
        if (!gt_selection_has_op(&work->selection, gt_query_integer(query, 0)))
            continue;
        if (gt_query_integer(query, 0) != op) {
            close_kernel(work->stats, kernel);
            op = gt_query_integer(query, 0);
            kernel->op = (uint32_t)op;
            result = gt_query_span(query, 9, "operation", op, &kernel->start_ps, &kernel->end_ps, error);
        }
        if (result < 0 || read_row(query, work->stats, kernel, error) != 0) {
            result = -1;
            break;
        }
    }
    gt_query_end(query);
    return result;
}

static int by_time(const void *left, const void *right)
{
    const struct gt_stats_task_kind *a = left, *b = right;

    if (a->total_ps != b->total_ps)
        return a->total_ps > b->total_ps ? -1 : 1;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return strcmp(a->name, b->name);
}

int gt_stats_tasks(struct gt_stats_work *work, struct gt_error *error)
{
    struct gt_stats *stats = work->stats;
    struct kernel_tasks kernel = { .rows = NULL };
    int64_t dropped = 0;
    int result = load_kinds(work, error);

    if (result != 0 || stats->task_kind_count == 0)
        return result;
    result = load_tasks(work, &kernel, error);
    if (result == 0)
        close_kernel(stats, &kernel);
    free(kernel.rows);
    qsort(stats->task_kinds, stats->task_kind_count, sizeof *stats->task_kinds, by_time);
    if (result == 0)
        result =
            gt_query_one(work->database,
                         "SELECT CAST(value AS INTEGER) FROM counter WHERE run_id = ?1 AND name = 'tasks_dropped'",
                         work->stats->run.run_id, 0, &dropped, error) < 0
                ? -1
                : 0;
    if (dropped > 0)
        gt_stats_note(stats, "tasks", "covers the first million finished tasks only: the store keeps no more");
    return result;
}
