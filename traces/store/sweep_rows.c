/* Points of a sweep, written and read. */
#include "traces/store/sweep_rows.h"

#include "traces/store/internal.h"
#include "traces/store/query.h"

int gt_sweep_begin(struct gt_store *store, struct gt_error *error)
{
    return gt_store_begin(store, error);
}

int gt_sweep_end(struct gt_store *store, struct gt_error *error)
{
    return gt_store_finish(store, 0, error);
}

int gt_sweep_put_trace(struct gt_store *store, uint32_t number, const struct gt_sweep_trace *trace,
                       struct gt_error *error)
{
    static const char sql[] = "UPDATE sweep_trace SET name = ?, device = ?, measured_us = ?, replay_us = ?,"
                              " baseline_us = ?, step_us = ?, steps = ? WHERE trace_no = ?";
    sqlite3_stmt *update = gt_store_prepare(store, sql, error);
    int result;

    if (update == NULL)
        return -1;
    gt_store_bind_text(update, 1, trace->name);
    gt_store_bind_text(update, 2, trace->device);
    gt_store_bind_real(update, 3, trace->measured_us);
    gt_store_bind_real(update, 4, trace->replay_us);
    gt_store_bind_real(update, 5, trace->baseline_us);
    gt_store_bind_real(update, 6, trace->step_us);
    sqlite3_bind_int64(update, 7, trace->steps);
    sqlite3_bind_int64(update, 8, number);
    result = gt_store_step(store, update, error);
    sqlite3_finalize(update);
    return result;
}

int gt_sweep_put(struct gt_store *store, uint32_t trace, const struct gt_sweep_row *row, struct gt_error *error)
{
    static const char sql[] =
        "INSERT OR REPLACE INTO sweep (point, trace_no, change, predicted_us, step_us, low_us, high_us, change_pct,"
        " trust, assumptions, bound_by, bound_pct, refusal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    sqlite3_stmt *insert = gt_store_prepare(store, sql, error);
    int result;

    if (insert == NULL)
        return -1;
    sqlite3_bind_int64(insert, 1, (int64_t)row->point);
    sqlite3_bind_int64(insert, 2, trace);
    sqlite3_bind_text(insert, 3, row->change, -1, SQLITE_STATIC);
    gt_store_bind_real(insert, 4, row->predicted_us);
    gt_store_bind_real(insert, 5, row->step_us);
    gt_store_bind_real(insert, 6, row->low_us);
    gt_store_bind_real(insert, 7, row->high_us);
    gt_store_bind_real(insert, 8, row->change_pct);
    gt_store_bind_text(insert, 9, row->trust);
    gt_store_bind_text(insert, 10, row->assumptions);
    gt_store_bind_text(insert, 11, row->bound_by);
    gt_store_bind_real(insert, 12, row->bound_pct);
    gt_store_bind_text(insert, 13, row->refusal);
    result = gt_store_step(store, insert, error);
    sqlite3_finalize(insert);
    return result;
}

static int give(struct gt_query *query, const struct gt_sweep_plan *plan, gt_sweep_fn *each, void *user,
                struct gt_error *error)
{
    struct gt_sweep_row row = {
        .change = gt_query_string(query, 1),
        .predicted_us = gt_query_real(query, 2),
        .step_us = gt_query_real(query, 3),
        .low_us = gt_query_real(query, 4),
        .high_us = gt_query_real(query, 5),
        .change_pct = gt_query_real(query, 6),
        .trust = gt_query_string(query, 7),
        .assumptions = gt_query_string(query, 8),
        .bound_by = gt_query_string(query, 9),
        .bound_pct = gt_query_real(query, 10),
        .refusal = gt_query_string(query, 11),
    };

    if (gt_query_number(query, 0, gt_sweep_points(plan) - 1, "point", &row.point, error) != 0)
        return -1;
    return each(user, &row, error);
}

int gt_sweep_each(struct gt_store *store, const struct gt_sweep_plan *plan, gt_sweep_fn *each, void *user,
                  struct gt_error *error)
{
    static const char sql[] = "SELECT point, change, predicted_us, step_us, low_us, high_us, change_pct, trust,"
                              " assumptions, bound_by, bound_pct, refusal FROM main.sweep ORDER BY point";
    struct gt_query *query = gt_query_new(gt_store_database(store), sql, error);
    int more = -1;

    if (query == NULL)
        return -1;
    gt_query_about(query, "sweep");
    while ((more = gt_query_next(query, error)) == 1)
        if (give(query, plan, each, user, error) != 0) {
            more = gt_database_name_error(gt_store_database(store), error);
            break;
        }
    gt_query_end(query);
    return more;
}
