/* rows.c - a store's rows for the exporters. */
#include "traces/export/internal.h"

struct gt_query *gt_export_query(struct gt_database *database, const char *sql, int64_t run_id, int64_t trace_id,
                                 struct gt_error *error)
{
    struct gt_query *query = gt_query_new(database, sql, error);
    if (query != NULL) {
        gt_query_bind(query, 1, run_id);
        gt_query_bind(query, 2, trace_id);
    }
    return query;
}

const char *gt_export_text(struct gt_query *query, int column)
{
    const char *text = gt_query_string(query, column);
    return text != NULL ? text : "";
}

int gt_export_number(struct gt_query *query, int column, const char *what, uint64_t *number, struct gt_error *error)
{
    return gt_query_number(query, column, UINT32_MAX - 1, what, number, error);
}
