/* Several measured runs of one trace: the median one, their spread, where their blocks lay. */
#include "traces/compare/repetitions.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/sort.h"
#include "traces/store/placement.h"
#include "traces/store/query.h"

struct measured {
    int64_t run;
    double makespan_us;
};
struct list {
    struct measured *runs;
    uint32_t count;
};

static int by_makespan(const void *left, const void *right)
{
    const struct measured *a = left, *b = right;

    if (a->makespan_us != b->makespan_us)
        return a->makespan_us < b->makespan_us ? -1 : 1;
    return (a->run > b->run) - (a->run < b->run);
}

/* The whole measured runs of the trace that the simulated run played, shortest makespan first; of one alone it is not worked out. */
static int list_measured(struct gt_store *store, int64_t simulated_run, struct list *list, struct gt_error *error)
{
    static const char sql[] =
        "WITH played AS (SELECT m.run_id, m.trace_id FROM run s JOIN trace t ON t.trace_id = s.trace_id"
        "   JOIN run m ON m.trace_id = coalesce(t.base_trace_id, t.trace_id) AND m.kind = 'measured'"
        "     AND m.whole = 1 WHERE s.run_id = ?)"
        " SELECT m.run_id, CASE WHEN (SELECT count(*) FROM played) > 1 THEN"
        "   (SELECT coalesce((max(p.end_ps) - min(p.start_ps)) / 1e6, 0) FROM run_op p"
        "     JOIN op o ON o.trace_id = m.trace_id AND o.op_no = p.op_no AND o.kind <> 'host_function'"
        "     WHERE p.run_id = m.run_id) ELSE 0 END FROM played m";
    struct gt_query *query = gt_query_new(gt_store_database(store), sql, error);
    int row;

    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, simulated_run);
    while ((row = gt_query_next(query, error)) == 1) {
        list->runs = gt_realloc(list->runs, list->count + 1ull, sizeof *list->runs);
        list->runs[list->count++] = (struct measured){ gt_query_integer(query, 0), gt_query_real(query, 1) };
    }
    gt_query_end(query);
    if (list->count > 0)
        qsort(list->runs, list->count, sizeof *list->runs, by_makespan);
    return row;
}

/* A distance that is not there is left out. */
static int add_distance(struct gt_store *store, int64_t left, int64_t right, double *values, uint32_t *count,
                        struct gt_error *error)
{
    if (gt_placement_distance(gt_store_database(store), left, right, &values[*count], error) != 0)
        return -1;
    if (!isnan(values[*count]))
        (*count)++;
    return 0;
}

static int place(struct gt_store *store, int64_t simulated_run, const struct list *list, struct gt_repeats *repeats,
                 struct gt_error *error)
{
    double *values = gt_calloc((uint64_t)list->count * list->count + 1, sizeof *values);
    uint32_t count = 0;
    int result = 0;

    for (uint32_t i = 0; i < list->count && result == 0; i++)
        result = add_distance(store, list->runs[i].run, simulated_run, values, &count, error);
    repeats->placement_pct = gt_median(values, count);
    count = 0;
    for (uint32_t i = 0; i < list->count && result == 0; i++)
        for (uint32_t j = i + 1; j < list->count && result == 0; j++)
            result = add_distance(store, list->runs[i].run, list->runs[j].run, values, &count, error);
    repeats->placement_floor_pct = gt_median(values, count);
    free(values);
    return result;
}

static int order(struct gt_store *store, int64_t simulated_run, const struct list *list, struct gt_order *order,
                 struct gt_error *error)
{
    int64_t *runs = gt_calloc(list->count + 1ull, sizeof *runs);
    int result;

    for (uint32_t i = 0; i < list->count; i++)
        runs[i] = list->runs[i].run;
    result = gt_order_of(store, simulated_run, runs, list->count, order, error);
    free(runs);
    return result;
}

static int find_median(struct gt_store *store, int64_t simulated_run, struct list *list, struct gt_repeats *repeats,
                       struct gt_error *error)
{
    int result = list_measured(store, simulated_run, list, error);

    *repeats = (struct gt_repeats){
        .count = list->count,
        .spread_pct = NAN,
        .placement_pct = NAN,
        .placement_floor_pct = NAN,
        .order = { NAN, NAN },
    };
    if (result == 0 && list->count > 0) {
        const struct measured *median = &list->runs[(list->count - 1) / 2];

        repeats->median_run = median->run;
        if (list->count > 1 && median->makespan_us > 0)
            repeats->spread_pct =
                100 * (list->runs[list->count - 1].makespan_us - list->runs[0].makespan_us) / median->makespan_us;
    }
    return result;
}

int gt_repeats_median(struct gt_store *store, int64_t simulated_run, struct gt_repeats *repeats,
                      struct gt_error *error)
{
    struct list list = { NULL, 0 };
    int result = find_median(store, simulated_run, &list, repeats, error);

    free(list.runs);
    return result;
}

int gt_repeats_of(struct gt_store *store, int64_t simulated_run, struct gt_repeats *repeats, struct gt_error *error)
{
    struct list list = { NULL, 0 };
    int result = find_median(store, simulated_run, &list, repeats, error);

    if (result == 0 && list.count > 0) {
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
        " AND run_id NOT IN (SELECT value FROM counter WHERE name = '" GT_COUNTER_WITHOUT_RUN "')"
        " AND run_id " GT_RUN_SIMULATES_ALL " ORDER BY run_id";
    struct gt_query *query = gt_query_new(gt_store_database(store), sql, error);
    int row;

    *runs = NULL;
    *count = 0;
    if (query == NULL)
        return -1;
    while ((row = gt_query_next(query, error)) == 1) {
        *runs = gt_realloc(*runs, *count + 1ull, sizeof **runs);
        (*runs)[(*count)++] = gt_query_integer(query, 0);
    }
    gt_query_end(query);
    if (row == 0)
        return 0;
    free(*runs);
    return -1;
}
