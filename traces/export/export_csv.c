/* export_csv.c - a store as one CSV file (RFC 4180): a row for each operation of each run. */
#include "traces/export/csv_file.h"

/* Columns of the file in order, as the query gives them. Times are picoseconds there. */
/* clang-format off */
static const struct gt_csv_column columns[] = {
    {"run", GT_CSV_NUMBER}, {"run_kind", GT_CSV_TEXT}, {"trace", GT_CSV_TEXT}, {"op", GT_CSV_NUMBER},
    {"kind", GT_CSV_TEXT}, {"name", GT_CSV_TEXT}, {"gpu", GT_CSV_NUMBER}, {"context", GT_CSV_NUMBER},
    {"stream", GT_CSV_NUMBER}, {"stream_name", GT_CSV_TEXT}, {"call", GT_CSV_NUMBER}, {"grid", GT_CSV_TEXT},
    {"block", GT_CSV_TEXT}, {"direction", GT_CSV_TEXT}, {"memory", GT_CSV_TEXT}, {"bytes", GT_CSV_NUMBER},
    {"submit_us", GT_CSV_TIME}, {"start_us", GT_CSV_TIME}, {"end_us", GT_CSV_TIME}, {"duration_us", GT_CSV_TIME},
    {"wait_host_us", GT_CSV_TIME}, {"wait_stream_us", GT_CSV_TIME}, {"wait_event_us", GT_CSV_TIME},
    {"wait_queue_us", GT_CSV_TIME}, {"wait_engine_us", GT_CSV_TIME}, {"wait_resource_us", GT_CSV_TIME},
    {"correlation", GT_CSV_NUMBER}, {"range_kind", GT_CSV_TEXT}, {"range", GT_CSV_TEXT}, {"step", GT_CSV_TEXT},
    {"executable", GT_CSV_TEXT},
};
/* clang-format on */
#define ROWS                                                                                                   \
    "SELECT r.run_id, r.kind, t.name, p.op_no, o.kind,"                                                        \
    " CASE o.kind WHEN 'kernel' THEN k.name WHEN 'copy' THEN 'copy ' || o.direction || ' ' || o.memory"        \
    " ELSE o.kind END, g.id, s.context, s.id, s.name, o.call_no,"                                              \
    " CASE WHEN k.name IS NOT NULL THEN printf('%dx%dx%d', grid_x, grid_y, grid_z) END,"                       \
    " CASE WHEN k.name IS NOT NULL THEN printf('%dx%dx%d', block_x, block_y, block_z) END,"                    \
    " o.direction, o.memory, o.bytes, p.submit_ps, p.start_ps, p.end_ps, p.end_ps - p.start_ps, wait_host_ps," \
    " wait_stream_ps, wait_event_ps, wait_queue_ps, wait_engine_ps, wait_resource_ps"
#define TABLES                                                                \
    " FROM run r JOIN trace t USING (trace_id) JOIN run_op p USING (run_id)"  \
    " JOIN op o ON o.trace_id = r.trace_id AND o.op_no = p.op_no"             \
    " JOIN stream s ON s.trace_id = r.trace_id AND s.stream_no = o.stream_no" \
    " JOIN gpu g ON g.trace_id = r.trace_id AND g.gpu_no = s.gpu_no"          \
    " LEFT JOIN kernel k ON k.trace_id = r.trace_id AND k.kernel_no = o.kernel_no"
#define ORDER " WHERE r.whole = 1 AND ?1 = 0 ORDER BY r.run_id, p.op_no"
static const char rows_sql[] = ROWS ", NULL, NULL, NULL, NULL, NULL" TABLES ORDER;
#define STEPS "WITH step AS MATERIALIZED (SELECT trace_id, name, first_op, behind_op FROM range WHERE kind = 'step') "
#define RANGES                                                                                  \
    ", i.correlation, e.kind, e.name, (SELECT n.name FROM step n WHERE n.trace_id = r.trace_id" \
    " AND n.first_op <= o.op_no AND n.behind_op > o.op_no ORDER BY n.first_op DESC LIMIT 1)"
#define RANGE_TABLES                                                               \
    " LEFT JOIN call_range i ON i.trace_id = r.trace_id AND i.call_no = o.call_no" \
    " LEFT JOIN range e ON e.trace_id = r.trace_id AND e.range_no = i.range_no"
#define EXECUTABLES " LEFT JOIN call_executable x ON x.trace_id = r.trace_id AND x.call_no = o.call_no"
static const char rows_and_ranges_sql[] = STEPS ROWS RANGES ", NULL" TABLES RANGE_TABLES ORDER;
static const char all_sql[] = STEPS ROWS RANGES ", x.executable" TABLES RANGE_TABLES EXECUTABLES ORDER;

enum { OP = 3 };

static bool is_wanted(const struct gt_selection *selection, struct gt_query *query)
{
    return gt_selection_has_op(selection, gt_query_integer(query, OP));
}

static int write_csv(struct gt_store *store, const char *path, const struct gt_filter *filter, struct gt_error *error)
{
    struct gt_csv_file file = {
        .columns = columns,
        .count = sizeof columns / sizeof columns[0],
        .sql = gt_store_has_executables(store) ? all_sql
               : gt_store_has_ranges(store)    ? rows_and_ranges_sql
                                               : rows_sql,
        .is_wanted = is_wanted,
    };

    return gt_csv_file_write(&file, store, path, filter, error);
}

const struct gt_exporter gt_exporter_csv = {
    "csv",
    "one row per operation and run, with its operator and step; times in microseconds.",
    write_csv,
};
