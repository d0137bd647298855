/* export_ranges.c - the ranges of a store's runs as one CSV file: a row for each of each run. */
#include "traces/export/csv_file.h"

/* clang-format off */
static const struct gt_csv_column columns[] = {
    {"run", GT_CSV_NUMBER}, {"run_kind", GT_CSV_TEXT}, {"trace", GT_CSV_TEXT}, {"range", GT_CSV_NUMBER},
    {"kind", GT_CSV_TEXT}, {"name", GT_CSV_TEXT}, {"parent", GT_CSV_NUMBER}, {"thread", GT_CSV_NUMBER},
    {"thread_name", GT_CSV_TEXT}, {"external_id", GT_CSV_NUMBER}, {"first_call", GT_CSV_NUMBER},
    {"behind_call", GT_CSV_NUMBER}, {"first_op", GT_CSV_NUMBER}, {"behind_op", GT_CSV_NUMBER},
    {"start_us", GT_CSV_TIME}, {"end_us", GT_CSV_TIME}, {"duration_us", GT_CSV_TIME},
};
/* clang-format on */
enum { FIRST_CALL = 10, BEHIND_CALL, START = 14, END };

static const char rows_sql[] =
    "SELECT r.run_id, r.kind, t.name, g.range_no, g.kind, g.name, g.parent_no, h.id, h.name, g.external_id,"
    " g.first_call, g.behind_call, g.first_op, g.behind_op, p.start_ps, p.end_ps, p.end_ps - p.start_ps"
    " FROM run r JOIN trace t USING (trace_id) JOIN run_range p USING (run_id)"
    " JOIN range g ON g.trace_id = r.trace_id AND g.range_no = p.range_no"
    " LEFT JOIN thread h ON h.trace_id = r.trace_id AND h.thread_no = g.thread_no"
    " WHERE r.whole = 1 AND ?1 = 0 ORDER BY r.run_id, p.range_no";

static bool is_wanted(const struct gt_selection *selection, struct gt_query *query)
{
    return gt_export_has_range(selection, gt_query_integer(query, START), gt_query_integer(query, END),
                               gt_query_integer(query, FIRST_CALL), gt_query_integer(query, BEHIND_CALL));
}

static int write_ranges(struct gt_store *store, const char *path, const struct gt_filter *filter,
                        struct gt_error *error)
{
    struct gt_csv_file file = {
        .columns = columns,
        .count = sizeof columns / sizeof columns[0],
        .sql = rows_sql,
        .is_wanted = is_wanted,
    };

    if (!gt_store_has_ranges(store))
        return gt_error_set(error, "%s: has no ranges: it was made before stores had them; run the trace again",
                            gt_store_database(store)->path);
    return gt_csv_file_write(&file, store, path, filter, error);
}

const struct gt_exporter gt_exporter_ranges = {
    "csv-ranges",
    "one row per operator, annotation and step of each run.",
    write_ranges,
};
