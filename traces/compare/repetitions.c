/* Several measured runs of one trace: the median one, their spread, where their blocks lay. */
#include "traces/compare/repetitions.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/sort.h"
#include "traces/store/placement.h"
#include "traces/store/internal.h"

struct measured { int64_t run; double makespan_us; };
struct list { struct measured *runs; uint32_t count; };

static int by_makespan(const void *left, const void *right)
{
    const struct measured *a = left, *b = right;

    if (a->makespan_us != b->makespan_us)
        return a->makespan_us < b->makespan_us ? -1 : 1;
    return (a->run > b->run) - (a->run < b->run);
}

/* The whole measured runs of the trace that the simulated run played, shortest makespan first. */
static int list_measured(struct gt_store *store, int64_t simulated_run, struct list *list,
                         struct gt_error *error)
{
    static const char sql[] =
        "SELECT m.run_id, (SELECT (max(p.end_ps) - min(p.start_ps)) / 1e6 FROM run_op p"
        "   JOIN op o ON o.trace_id = m.trace_id AND o.op_no = p.op_no AND o.kind <> 'host_function'"
        "   WHERE p.run_id = m.run_id)"
        " FROM run s JOIN trace t ON t.trace_id = s.trace_id"
        " JOIN run m ON m.trace_id = coalesce(t.base_trace_id, t.trace_id) AND m.kind = 'measured' AND "
        "m.whole = 1"
        " WHERE s.run_id = ?";
    sqlite3_stmt *query = gt_store_prepare(store, sql, error);
    int code;

    if (query == NULL)
        return -1;
    sqlite3_bind_int64(query, 1, simulated_run);
    while ((code = sqlite3_step(query)) == SQLITE_ROW) {
        list->runs = gt_realloc(list->runs, list->count + 1ull, sizeof *list->runs);
        list->runs[list->count++] = (struct measured){ sqlite3_column_int64(query, 0),
                                                       sqlite3_column_double(query, 1) };
    }
    if (code != SQLITE_DONE)
        gt_store_fail(store, error);
    sqlite3_finalize(query);
    if (list->count > 0)
        qsort(list->runs, list->count, sizeof *list->runs, by_makespan);
    return code == SQLITE_DONE ? 0 : -1;
}

/* Share of the blocks that lie on other SMs in two runs, in percent; NAN where one has no placements. */
static int distance(struct gt_store *store, sqlite3_stmt *query, int64_t left, int64_t right, double *pct,
                    struct gt_error *error)
{
    double moved = 0, blocks = 0;
    int code;

    sqlite3_bind_int64(query, 1, left);
    sqlite3_bind_int64(query, 2, right);
    while ((code = sqlite3_step(query)) == SQLITE_ROW) {
        const char *a = (const char *)sqlite3_column_text(query, 0),
                   *b = (const char *)sqlite3_column_text(query, 1);
        double op_moved, op_blocks;

        if (a == NULL || b == NULL || gt_placement_moved(a, b, &op_moved, &op_blocks) != 0) {
            sqlite3_reset(query);
            return gt_error_set(error, "%s: damaged: a list of blocks by SM cannot be read", store->path);
        }
        moved += op_moved;
        blocks += op_blocks;
    }
    if (code != SQLITE_DONE)
        gt_store_fail(store, error);
    sqlite3_reset(query);
    *pct = blocks > 0 ? 100 * moved / blocks : NAN;
    return code == SQLITE_DONE ? 0 : -1;
}

/* A distance that is not there is left out. */
static int add_distance(struct gt_store *store, sqlite3_stmt *query, int64_t left, int64_t right,
                        double *values, uint32_t *count, struct gt_error *error)
{
    if (distance(store, query, left, right, &values[*count], error) != 0)
        return -1;
    if (!isnan(values[*count]))
        (*count)++;
    return 0;
}

static int place(struct gt_store *store, int64_t simulated_run, const struct list *list,
                 struct gt_repeats *repeats, struct gt_error *error)
{
    static const char sql[] =
        "SELECT a.sm_blocks, b.sm_blocks FROM run_placement a"
        " JOIN run_placement b ON b.run_id = ?2 AND b.op_no = a.op_no AND b.gpu_no = a.gpu_no"
        " WHERE a.run_id = ?1";
    sqlite3_stmt *query = gt_store_prepare(store, sql, error);
    double *values = gt_calloc((uint64_t)list->count * list->count + 1, sizeof *values);
    uint32_t count = 0;
    int result = query == NULL ? -1 : 0;

    for (uint32_t i = 0; i < list->count && result == 0; i++)
        result = add_distance(store, query, list->runs[i].run, simulated_run, values, &count, error);
    repeats->placement_pct = gt_median(values, count);
    count = 0;
    for (uint32_t i = 0; i < list->count && result == 0; i++)
        for (uint32_t j = i + 1; j < list->count && result == 0; j++)
            result = add_distance(store, query, list->runs[i].run, list->runs[j].run, values, &count, error);
    repeats->placement_floor_pct = gt_median(values, count);
    sqlite3_finalize(query);
    free(values);
    return result;
}

static int order(struct gt_store *store, int64_t simulated_run, const struct list *list,
                 struct gt_order *order, struct gt_error *error)
{
    int64_t *runs = gt_calloc(list->count + 1ull, sizeof *runs);
    int result;

    for (uint32_t i = 0; i < list->count; i++)
        runs[i] = list->runs[i].run;
    result = gt_order_of(store, simulated_run, runs, list->count, order, error);
    free(runs);
    return result;
}

int gt_repeats_of(struct gt_store *store, int64_t simulated_run, struct gt_repeats *repeats,
                  struct gt_error *error)
{
    struct list list = { NULL, 0 };
    int result = list_measured(store, simulated_run, &list, error);

    *repeats = (struct gt_repeats){
        .count = list.count, .makespan_us = NAN, .spread_pct = NAN,
        .placement_pct = NAN, .placement_floor_pct = NAN, .order = { NAN, NAN },
    };
    if (result == 0 && list.count > 0) {
        const struct measured *median = &list.runs[(list.count - 1) / 2];

        repeats->median_run = median->run;
        repeats->makespan_us = median->makespan_us;
        if (list.count > 1 && median->makespan_us > 0)
            repeats->spread_pct = 100 * (list.runs[list.count - 1].makespan_us - list.runs[0].makespan_us)
                                / median->makespan_us;
        result = place(store, simulated_run, &list, repeats, error);
        if (result == 0)
            result = order(store, simulated_run, &list, &repeats->order, error);
    }
    free(list.runs);
    return result;
}

int gt_simulated_runs(struct gt_store *store, int64_t **runs, uint32_t *count, struct gt_error *error)
{
    static const char sql[] =
        "WITH pair AS (SELECT DISTINCT s.run_id FROM run s JOIN trace t ON t.trace_id = s.trace_id"
        "   JOIN run m ON m.trace_id = coalesce(t.base_trace_id, t.trace_id) AND m.kind = 'measured'"
        "     AND m.whole = 1"
        "   WHERE s.kind = 'simulated' AND s.whole = 1)"
        " SELECT run_id FROM run WHERE kind = 'simulated' AND whole = 1"
        " AND (run_id IN pair OR NOT EXISTS (SELECT 1 FROM pair))"
        " AND run_id NOT IN (SELECT value FROM counter WHERE name = '" GT_COUNTER_WITHOUT_RUN "') ORDER BY run_id";
    sqlite3_stmt *query = gt_store_prepare(store, sql, error);
    int code;

    *runs = NULL;
    *count = 0;
    if (query == NULL)
        return -1;
    while ((code = sqlite3_step(query)) == SQLITE_ROW) {
        *runs = gt_realloc(*runs, *count + 1ull, sizeof **runs);
        (*runs)[(*count)++] = sqlite3_column_int64(query, 0);
    }
    sqlite3_finalize(query);
    if (code == SQLITE_DONE)
        return 0;
    free(*runs);
    return gt_store_fail(store, error);
}
