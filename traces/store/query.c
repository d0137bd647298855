/* Rows out of SQLite, checked: a store may have been edited by hand. */
#include <stdlib.h>
#include <string.h>

#include "traces/stats/internal.h"

sqlite3_stmt *gt_query(struct gt_stats_work *work, const char *sql, struct gt_error *error)
{
    const struct gt_stats_run *run = &work->stats->run;
    sqlite3_stmt *query;

    if (sqlite3_prepare_v2(work->database, sql, -1, &query, NULL) != SQLITE_OK) {
        gt_error_set(error, "%s", sqlite3_errmsg(work->database));
        return NULL;
    }
    if (sqlite3_bind_parameter_index(query, "?1") != 0)
        sqlite3_bind_int64(query, 1, run->run_id);
    if (sqlite3_bind_parameter_index(query, "?2") != 0)
        sqlite3_bind_int64(query, 2, run->trace_id);
    return query;
}

int gt_query_row(sqlite3_stmt *query, struct gt_error *error)
{
    switch (sqlite3_step(query)) {
    case SQLITE_ROW: return 1;
    case SQLITE_DONE: return 0;
    default: return gt_error_set(error, "%s", sqlite3_errmsg(sqlite3_db_handle(query)));
    }
}

int gt_query_number(sqlite3_stmt *query, int column, uint64_t limit, const char *what, uint64_t *number,
                    struct gt_error *error)
{
    sqlite3_int64 value = sqlite3_column_int64(query, column);

    if (sqlite3_column_type(query, column) != SQLITE_INTEGER || value < 0 || (uint64_t)value > limit) {
        const unsigned char *text = sqlite3_column_text(query, column);

        return gt_error_set(error, "%s is %.40s: not a whole number of 0 to %llu; the store is damaged", what,
                            text != NULL ? (const char *)text : "missing", (unsigned long long)limit);
    }
    *number = (uint64_t)value;
    return 0;
}

int gt_query_span(sqlite3_stmt *query, int column, const char *what, int64_t number, gt_time_ps *start_ps,
                  gt_time_ps *end_ps, struct gt_error *error)
{
    if (gt_query_number(query, column, GT_TIME_LIMIT_PS, "start_ps", start_ps, error) != 0
        || gt_query_number(query, column + 1, GT_TIME_LIMIT_PS, "end_ps", end_ps, error) != 0)
        return gt_error_prefix(error, "%s %lld: ", what, (long long)number);
    if (*end_ps < *start_ps)
        return gt_error_set(error, "%s %lld ends before it starts; the store is damaged", what,
                            (long long)number);
    return 0;
}

char *gt_query_text(sqlite3_stmt *query, int column)
{
    const unsigned char *text = sqlite3_column_text(query, column);
    size_t bytes = (size_t)sqlite3_column_bytes(query, column);
    char *copy = gt_calloc(bytes + 1, 1);

    if (text != NULL)
        memcpy(copy, text, bytes);
    return copy;
}

bool gt_query_absent(sqlite3_stmt *query, int column)
{
    return sqlite3_column_type(query, column) == SQLITE_NULL;
}
