#include "plots/data/scenarios.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/store/query.h"
#include "traces/store/store.h"

static const char prefix[] = "whatif ";

const char *gt_scenario_change(const char *options)
{
    return strncmp(options, prefix, sizeof prefix - 1) == 0 ? options + sizeof prefix - 1 : NULL;
}

/* From the first call or operation to the last end. */
static int find_time(struct gt_database *database, int64_t run, double *time_ps, struct gt_error *error)
{
    static const char sql[] = "SELECT max(last) - min(first) FROM"
                              " (SELECT min(start_ps) AS first, max(end_ps) AS last FROM run_op WHERE run_id = ?1"
                              " UNION ALL SELECT min(start_ps), max(end_ps) FROM run_call WHERE run_id = ?1)";
    int64_t found = 0;
    int result = gt_query_one(database, sql, run, 0, &found, error);

    *time_ps = (double)found;
    return result < 0 ? -1 : 0;
}

static int by_time(const void *a, const void *b)
{
    const struct gt_scenario_row *left = a, *right = b;

    if (left->time_ps != right->time_ps)
        return left->time_ps < right->time_ps ? -1 : 1;
    return (left->run_id > right->run_id) - (left->run_id < right->run_id);
}

static int add_run(struct gt_scenarios *scenarios, struct gt_database *database, struct gt_query *query,
                   struct gt_error *error)
{
    const char *options = gt_query_string(query, 1), *change = options != NULL ? gt_scenario_change(options) : NULL;
    struct gt_scenario_row row = { .run_id = gt_query_integer(query, 0) };

    if (change == NULL)
        return 0;
    if (find_time(database, row.run_id, &row.time_ps, error) != 0)
        return -1;
    row.change = gt_strdup(change);
    row.step_ps = NAN;
    gt_array_grow(scenarios->rows, scenarios->count, scenarios->room);
    scenarios->rows[scenarios->count++] = row;
    return 0;
}

/* What the answer was graded, and why. */
static int load_answer(struct gt_scenario_row *row, struct gt_database *database, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(database,
                                          "SELECT trust, bound_by, step_us, s.text FROM run_answer a"
                                          " LEFT JOIN run_assumption s USING (run_id) WHERE a.run_id = ?1"
                                          " ORDER BY s.assumption_no",
                                          error);
    int found = query == NULL ? -1 : 1;

    if (query != NULL)
        gt_query_bind(query, 1, row->run_id);
    while (found == 1 && (found = gt_query_next(query, error)) == 1) {
        if (row->trust == NULL) {
            row->trust = gt_query_text(query, 0);
            row->bound_by = gt_query_text(query, 1);
            row->step_ps = gt_query_real(query, 2) * 1e6;
        }
        if (gt_query_absent(query, 3))
            continue;
        gt_array_grow(row->assumptions, row->assumption_count, row->assumption_room);
        row->assumptions[row->assumption_count++] = gt_query_text(query, 3);
    }
    gt_query_end(query);
    return found;
}

/* Stores of older versions do not tell. */
static int load_answers(struct gt_scenarios *scenarios, struct gt_database *database, struct gt_error *error)
{
    int64_t version = 0;

    if (gt_query_one(database, "PRAGMA user_version", 0, 0, &version, error) < 0)
        return -1;
    for (size_t i = 0; version >= GT_STORE_WITH_ANSWERS && i < scenarios->count; i++)
        if (load_answer(&scenarios->rows[i], database, error) != 0)
            return -1;
    return 0;
}

int gt_scenarios_load(struct gt_scenarios *scenarios, struct gt_database *database, int64_t before,
                      struct gt_error *error)
{
    struct gt_query *query = gt_query_new(
        database,
        "SELECT r.run_id, r.options FROM counter c JOIN run r ON r.run_id = c.run_id"
        " WHERE c.name = '" GT_COUNTER_WITHOUT_RUN "' AND c.value = ?1 AND r.whole = 1 ORDER BY r.run_id",
        error);
    int result = query == NULL ? -1 : 0;

    *scenarios = (struct gt_scenarios){ .rows = NULL };
    if (result == 0) {
        gt_query_bind(query, 1, before);
        result = find_time(database, before, &scenarios->before_ps, error);
    }
    while (result == 0 && (result = gt_query_next(query, error)) == 1)
        result = add_run(scenarios, database, query, error);
    gt_query_end(query);
    if (scenarios->count > 0)
        qsort(scenarios->rows, scenarios->count, sizeof *scenarios->rows, by_time);
    return result == 0 ? load_answers(scenarios, database, error) : -1;
}

void gt_scenarios_free(struct gt_scenarios *scenarios)
{
    for (size_t i = 0; i < scenarios->count; i++) {
        struct gt_scenario_row *row = &scenarios->rows[i];

        free(row->change);
        free(row->trust);
        free(row->bound_by);
        for (uint32_t j = 0; j < row->assumption_count; j++)
            free(row->assumptions[j]);
        free(row->assumptions);
    }
    free(scenarios->rows);
    *scenarios = (struct gt_scenarios){ .rows = NULL };
}
