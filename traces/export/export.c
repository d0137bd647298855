/* export.c - the table of exporters. */
#include "traces/export/internal.h"

#include <stdio.h>
#include <string.h>

#include "traces/stats/internal.h"

const struct gt_exporter *const gt_exporters[] = {&gt_exporter_perfetto, &gt_exporter_csv, NULL};

const struct gt_exporter *gt_exporter_find(const char *name, struct gt_error *error)
{
    char known[128] = "";
    size_t at = 0;
    for (size_t i = 0; gt_exporters[i] != NULL && at < sizeof(known); i++) {
        if (strcmp(gt_exporters[i]->name, name) == 0)
            return gt_exporters[i];
        at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", i > 0 ? ", " : "",
                               gt_exporters[i]->name);
    }
    gt_error_set(error, "there is no export format '%.60s'; formats are %s", name, known);
    return NULL;
}

sqlite3_stmt *gt_export_query(sqlite3 *database, const char *sql, int64_t run_id, int64_t trace_id,
                              struct gt_error *error)
{
    sqlite3_stmt *query;
    if (sqlite3_prepare_v2(database, sql, -1, &query, NULL) != SQLITE_OK) {
        gt_error_set(error, "%s", sqlite3_errmsg(database));
        return NULL;
    }
    sqlite3_bind_int64(query, 1, run_id);
    if (sqlite3_bind_parameter_count(query) > 1)
        sqlite3_bind_int64(query, 2, trace_id);
    return query;
}

const char *gt_export_text(sqlite3_stmt *query, int column)
{
    const unsigned char *text = sqlite3_column_text(query, column);
    return text != NULL ? (const char *)text : "";
}

int gt_export_number(sqlite3_stmt *query, int column, const char *what, uint64_t *number,
                     struct gt_error *error)
{
    return gt_query_number(query, column, UINT32_MAX - 1, what, number, error);
}
