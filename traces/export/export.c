/* export.c - the table of exporters. */
#include "traces/export/internal.h"

#include <stdio.h>
#include <string.h>


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

int gt_export_number(struct gt_query *query, int column, const char *what, uint64_t *number,
                     struct gt_error *error)
{
    return gt_query_number(query, column, UINT32_MAX - 1, what, number, error);
}
