/* stats_workers.c - the table of workers.  Bubbles are the part of the time from the first task's start to the last one's end, of
 * all workers, in which a worker had no task. */
#include "sim/cmd/report/stats_workers.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/store/query.h"
#include "traces/tasks/slices.h"

/* A worker on one of the two sides; `tasks` 0: it is not there. */
struct side {
    uint64_t tasks;
    double busy_us;
};
struct worker {
    uint64_t number;
    struct side simulated, recorded;
};

struct workers {
    struct worker *list;
    uint32_t count, room;
    double simulated_us, recorded_us; /* from the first task's start to the last one's end */
};

static struct worker *add(struct workers *workers, uint64_t number)
{
    gt_array_grow(workers->list, workers->count, workers->room);
    workers->list[workers->count] = (struct worker){ .number = number };
    return &workers->list[workers->count++];
}

static int read_simulated(struct workers *workers, struct gt_database *database, int64_t run_id,
                          struct gt_error *error)
{
    static const char sql[] =
        "SELECT worker_no, count(*), total(end_ps - start_ps) / 1e6, min(start_ps) / 1e6, max(end_ps) / 1e6"
        " FROM run_task WHERE run_id = ?1 AND op_no = (SELECT min(op_no) FROM run_task WHERE run_id = ?1)"
        " GROUP BY worker_no ORDER BY worker_no";
    struct gt_query *query = gt_query_new(database, sql, error);
    double first_us = INFINITY, last_us = 0;
    int status = -1;

    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, run_id);
    while ((status = gt_query_next(query, error)) == 1) {
        struct worker *worker = add(workers, (uint64_t)gt_query_integer(query, 0));

        worker->simulated = (struct side){ (uint64_t)gt_query_integer(query, 1), gt_query_real(query, 2) };
        first_us = fmin(first_us, gt_query_real(query, 3));
        last_us = fmax(last_us, gt_query_real(query, 4));
    }
    gt_query_end(query);
    workers->simulated_us = last_us - first_us;
    if (status == 0 && workers->count == 0)
        return gt_error_set(error, "--recorded-tasks: the run has no kernel with tasks");
    return status;
}

/* Both lists are in the order of workers. */
static void join_recorded(struct workers *workers, const struct gt_task_slices *slices)
{
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    uint32_t simulated = workers->count, at = 0;

    for (uint32_t next = 0; next < slices->count;) {
        const struct gt_worker_time time = gt_task_slices_worker(slices, &next);
        struct worker *worker;

        while (at < simulated && workers->list[at].number < time.worker)
            at++;
        worker = at < simulated && workers->list[at].number == time.worker ? &workers->list[at]
                                                                           : add(workers, time.worker);
        worker->recorded = (struct side){ time.tasks, (double)time.busy_ns / 1000 };
        first_ns = time.start_ns < first_ns ? time.start_ns : first_ns;
        last_ns = time.end_ns > last_ns ? time.end_ns : last_ns;
    }
    workers->recorded_us = (double)(last_ns - first_ns) / 1000;
}

static int by_number(const void *left, const void *right)
{
    const struct worker *a = left, *b = right;

    return (a->number > b->number) - (a->number < b->number);
}

/* Kinds of the run's tasks: by their names, or by the first word of these, behind which an imported kind has its sizes. */
static int keep_kinds(struct gt_task_slices *slices, struct gt_database *database, int64_t run_id,
                      struct gt_error *error)
{
    static const char sql[] =
        "SELECT name FROM task_kind WHERE trace_id = (SELECT trace_id FROM run WHERE run_id = ?1)";
    struct gt_query *query = gt_query_new(database, sql, error);
    bool *kept = gt_calloc(slices->kind_count + 1ull, sizeof *kept);
    int status = -1;

    if (query != NULL)
        gt_query_bind(query, 1, run_id);
    while (query != NULL && (status = gt_query_next(query, error)) == 1) {
        const char *name = gt_query_is_text(query, 0) ? gt_query_string(query, 0) : "";
        size_t word = strcspn(name, " ");

        for (uint32_t k = 0; k < slices->kind_count; k++)
            kept[k] |= strcmp(slices->kinds[k], name) == 0 ||
                       (strlen(slices->kinds[k]) == word && memcmp(slices->kinds[k], name, word) == 0);
    }
    gt_query_end(query);
    if (status == 0)
        gt_task_slices_keep(slices, kept);
    free(kept);
    return status;
}

static int find_clock(struct gt_database *database, int64_t run_id, uint32_t *clock_mhz, struct gt_error *error)
{
    static const char sql[] =
        "SELECT CAST(value AS INTEGER) FROM device_key WHERE key = 'chip.clock_mhz' AND device_id ="
        " (SELECT device_id FROM run WHERE run_id = ?1)";
    struct gt_query *query = gt_query_new(database, sql, error);
    int status = -1;

    if (query != NULL)
        gt_query_bind(query, 1, run_id);
    if (query != NULL && (status = gt_query_next(query, error)) == 1) {
        int64_t value = gt_query_integer(query, 0);

        *clock_mhz = value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;
    }
    gt_query_end(query);
    if (status >= 0 && *clock_mhz == 0)
        return gt_error_set(error, "--recorded-tasks: the run's device has no chip.clock_mhz");
    return status < 0 ? -1 : 0;
}

static int read_recorded(struct workers *workers, struct gt_database *database, int64_t run_id, const char *path,
                         struct gt_error *error)
{
    struct gt_input *input = gt_input_open(path, error);
    struct gt_task_slices slices;
    uint32_t clock_mhz = 0;
    int status;

    if (input == NULL)
        return -1;
    if (find_clock(database, run_id, &clock_mhz, error) != 0) {
        gt_input_close(input);
        return -1;
    }
    status = gt_task_slices_read(&slices, input, path, clock_mhz, error);
    gt_input_close(input);
    if (status == 0)
        status = keep_kinds(&slices, database, run_id, error);
    if (status == 0 && slices.count == 0)
        status = gt_error_set(error, "%s: no recorded task has a kind of the run's tasks", path);
    if (status == 0) {
        join_recorded(workers, &slices);
        qsort(workers->list, workers->count, sizeof *workers->list, by_number);
    }
    gt_task_slices_free(&slices);
    return status;
}

static void add_side(struct gt_table *table, const struct side *side, double span_us)
{
    gt_table_integer(table, (int64_t)side->tasks);
    gt_table_real(table, side->busy_us, 3);
    gt_table_real(table, span_us > 0 ? 100 * (1 - side->busy_us / span_us) : NAN, 2);
}

static struct gt_table *make_table(const struct workers *workers)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        {"worker", GT_COLUMN_TEXT}, {"tasks", GT_COLUMN_NUMBER}, {"busy_us", GT_COLUMN_TIME},
        {"bubbles_pct", GT_COLUMN_NUMBER}, {"recorded_tasks", GT_COLUMN_NUMBER},
        {"recorded_busy_us", GT_COLUMN_TIME}, {"recorded_bubbles_pct", GT_COLUMN_NUMBER},
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("workers", columns, sizeof columns / sizeof columns[0]);
    struct side simulated = { 0 }, recorded = { 0 };
    uint32_t on[2] = { 0, 0 };

    for (uint32_t i = 0; i < workers->count; i++) {
        const struct worker *worker = &workers->list[i];
        char number[24];

        snprintf(number, sizeof number, "%" PRIu64, worker->number);
        gt_table_text(table, number);
        add_side(table, &worker->simulated, workers->simulated_us);
        add_side(table, &worker->recorded, workers->recorded_us);
        simulated.tasks += worker->simulated.tasks;
        simulated.busy_us += worker->simulated.busy_us;
        recorded.tasks += worker->recorded.tasks;
        recorded.busy_us += worker->recorded.busy_us;
        on[0] += worker->simulated.tasks > 0;
        on[1] += worker->recorded.tasks > 0;
    }
    gt_table_text(table, "all");
    add_side(table, &simulated, workers->simulated_us * on[0]);
    add_side(table, &recorded, workers->recorded_us * on[1]);
    return table;
}

struct gt_table *gt_stats_workers_table(struct gt_database *database, int64_t run_id, const char *path,
                                        struct gt_error *error)
{
    struct workers workers = { .list = NULL };
    struct gt_table *table = NULL;

    if (read_simulated(&workers, database, run_id, error) == 0 &&
        read_recorded(&workers, database, run_id, path, error) == 0)
        table = make_table(&workers);
    free(workers.list);
    return table;
}
