#include "traces/store/comparison.h"

#include <string.h>

#include "traces/store/internal.h"
#include "traces/store/query.h"

static int put_metrics(struct gt_store *store, const struct gt_metric_row *metrics, size_t count,
                       struct gt_error *error)
{
    sqlite3_stmt *insert = gt_store_prepare(store, "INSERT OR IGNORE INTO metric VALUES (?, ?, ?, ?)", error);
    int result = insert == NULL ? -1 : 0;

    for (size_t i = 0; i < count && result == 0; i++) {
        sqlite3_bind_text(insert, 1, metrics[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 2, metrics[i].unit, -1, SQLITE_STATIC);
        sqlite3_bind_double(insert, 3, metrics[i].threshold); /* SQLite makes NULL of a NAN */
        sqlite3_bind_text(insert, 4, metrics[i].help, -1, SQLITE_STATIC);
        result = gt_store_step(store, insert, error);
    }
    sqlite3_finalize(insert);
    return result;
}

static int put_values(struct gt_store *store, int64_t simulated_run, int64_t measured_run,
                      const struct gt_metric_value *values, size_t count, struct gt_error *error)
{
    sqlite3_stmt *insert = gt_store_prepare(store, "INSERT OR REPLACE INTO comparison VALUES (?, ?, ?, ?)", error);
    int result = insert == NULL ? -1 : 0;

    for (size_t i = 0; i < count && result == 0; i++) {
        sqlite3_bind_int64(insert, 1, simulated_run);
        sqlite3_bind_int64(insert, 2, measured_run);
        sqlite3_bind_text(insert, 3, values[i].name, -1, SQLITE_STATIC);
        sqlite3_bind_double(insert, 4, values[i].value);
        result = gt_store_step(store, insert, error);
    }
    sqlite3_finalize(insert);
    return result;
}

int gt_store_put_comparison(struct gt_store *store, int64_t simulated_run, int64_t measured_run,
                            const struct gt_metric_row *metrics, size_t metric_count,
                            const struct gt_metric_value *values, size_t count, struct gt_error *error)
{
    int result;

    if (gt_store_begin(store, error) != 0)
        return -1;
    result = put_metrics(store, metrics, metric_count, error);
    if (result == 0)
        result = put_values(store, simulated_run, measured_run, values, count, error);
    return gt_store_finish(store, result, error);
}

int gt_store_get_comparison(struct gt_store *store, int64_t simulated_run, int64_t measured_run,
                            struct gt_metric_value *values, size_t count, size_t *found, struct gt_error *error)
{
    struct gt_query *query = gt_query_new(gt_store_database(store),
                                          "SELECT metric, value FROM comparison"
                                          " WHERE simulated_run_id = ?1 AND measured_run_id = ?2",
                                          error);
    int row;

    *found = 0;
    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, simulated_run);
    gt_query_bind(query, 2, measured_run);
    while ((row = gt_query_next(query, error)) == 1) {
        const char *name = gt_query_string(query, 0);
        size_t i = 0;

        while (i < count && (name == NULL || strcmp(values[i].name, name) != 0))
            i++;
        if (i == count)
            continue;
        values[i].value = gt_query_real(query, 1);
        ++*found;
    }
    gt_query_end(query);
    return row;
}

int gt_store_threshold(struct gt_store *store, const struct gt_metric_row *metric, double *threshold,
                       struct gt_error *error)
{
    struct gt_query *query =
        gt_query_new(gt_store_database(store), "SELECT threshold FROM metric WHERE metric = ?1", error);
    int row;

    *threshold = metric->threshold;
    if (query == NULL)
        return -1;
    gt_query_bind_text(query, 1, metric->name);
    row = gt_query_next(query, error);
    if (row == 1)
        *threshold = gt_query_real(query, 0);
    gt_query_end(query);
    return row < 0 ? -1 : 0;
}
