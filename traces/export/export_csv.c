/* export_csv.c - a store as one CSV file (RFC 4180): a row for each operation of each run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/export/internal.h"
#include "traces/io/csv_write.h"

enum field { FIELD_TEXT, FIELD_NUMBER, FIELD_TIME };

/* Columns of the file in order, as the query gives them. Times are picoseconds there. */
/* clang-format off */
static const struct { const char *name; enum field type; } columns[] = {
    {"run", FIELD_NUMBER}, {"run_kind", FIELD_TEXT}, {"trace", FIELD_TEXT}, {"op", FIELD_NUMBER},
    {"kind", FIELD_TEXT}, {"name", FIELD_TEXT}, {"gpu", FIELD_NUMBER}, {"context", FIELD_NUMBER},
    {"stream", FIELD_NUMBER}, {"stream_name", FIELD_TEXT}, {"call", FIELD_NUMBER}, {"grid", FIELD_TEXT},
    {"block", FIELD_TEXT}, {"direction", FIELD_TEXT}, {"memory", FIELD_TEXT}, {"bytes", FIELD_NUMBER},
    {"submit_us", FIELD_TIME}, {"start_us", FIELD_TIME}, {"end_us", FIELD_TIME}, {"duration_us", FIELD_TIME},
    {"wait_host_us", FIELD_TIME}, {"wait_stream_us", FIELD_TIME}, {"wait_event_us", FIELD_TIME},
    {"wait_queue_us", FIELD_TIME}, {"wait_engine_us", FIELD_TIME}, {"wait_resource_us", FIELD_TIME},
    {"correlation", FIELD_NUMBER}, {"range_kind", FIELD_TEXT}, {"range", FIELD_TEXT}, {"step", FIELD_TEXT},
};
/* clang-format on */
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

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
static const char rows_sql[] = ROWS ", NULL, NULL, NULL, NULL" TABLES ORDER;
static const char rows_and_ranges_sql[] =
    "WITH step AS MATERIALIZED (SELECT trace_id, name, first_op, behind_op FROM range WHERE kind = 'step') " ROWS
    ", i.correlation, e.kind, e.name, (SELECT n.name FROM step n WHERE n.trace_id = r.trace_id"
    " AND n.first_op <= o.op_no AND n.behind_op > o.op_no ORDER BY n.first_op DESC LIMIT 1)" TABLES
    " LEFT JOIN call_range i ON i.trace_id = r.trace_id AND i.call_no = o.call_no"
    " LEFT JOIN range e ON e.trace_id = r.trace_id AND e.range_no = i.range_no" ORDER;

static int write_text(struct gt_output *output, const char *text, struct gt_error *error)
{
    char *field = gt_csv_field_of(text);
    int result = gt_output_write(output, field, strlen(field), error);

    free(field);
    return result;
}

/* Picoseconds as microseconds, exactly. What no run can hold is not written as if it were a time. */
static int write_time(struct gt_output *output, int64_t ps, struct gt_error *error)
{
    uint64_t magnitude = ps < 0 ? -(uint64_t)ps : (uint64_t)ps;

    if (magnitude > GT_TIME_LIMIT_PS)
        return gt_error_set(error, "a time of %" PRId64 " ps, which no run can hold; the store is damaged", ps);
    return gt_output_printf(output, error, "%s%" PRIu64 ".%06" PRIu64, ps < 0 ? "-" : "", magnitude / 1000000,
                            magnitude % 1000000);
}

static int write_field(struct gt_output *output, struct gt_query *query, int column, struct gt_error *error)
{
    if (gt_query_absent(query, column))
        return 0;
    if (columns[column].type == FIELD_TEXT)
        return write_text(output, gt_export_text(query, column), error);
    if (columns[column].type == FIELD_TIME)
        return write_time(output, gt_query_integer(query, column), error);
    return gt_output_printf(output, error, "%" PRId64, (int64_t)gt_query_integer(query, column));
}

static int write_header(struct gt_output *output, struct gt_error *error)
{
    for (int column = 0; column < COLUMNS; column++)
        if (gt_output_printf(output, error, "%s%s", column > 0 ? "," : "", columns[column].name) != 0)
            return -1;
    return gt_output_write(output, "\r\n", 2, error);
}

static int write_row(struct gt_output *output, struct gt_query *query, struct gt_error *error)
{
    for (int column = 0; column < COLUMNS; column++)
        if ((column > 0 && gt_output_write(output, ",", 1, error) != 0) ||
            write_field(output, query, column, error) != 0)
            return -1;
    return gt_output_write(output, "\r\n", 2, error);
}

enum { RUN, OP = 3 };

/* The part of the run that the row is of; found anew where another run begins. */
static int select_run(struct gt_database *database, struct gt_query *query, const struct gt_filter *filter,
                      int64_t *run, struct gt_selection *selection, struct gt_error *error)
{
    if (*run == gt_query_integer(query, RUN))
        return 0;
    *run = gt_query_integer(query, RUN);
    gt_selection_free(selection);
    return gt_selection_find(selection, database, *run, filter, error);
}

static int write_rows(struct gt_store *store, struct gt_output *output, const struct gt_filter *filter,
                      struct gt_error *error)
{
    struct gt_database *database = gt_store_database(store);
    struct gt_query *query =
        gt_export_query(database, gt_store_has_ranges(store) ? rows_and_ranges_sql : rows_sql, 0, 0, error);
    struct gt_selection selection = { .all = true };
    int64_t run = -1;
    int row = query != NULL && write_header(output, error) == 0 ? 1 : -1;
    while (row > 0 && (row = gt_query_next(query, error)) > 0)
        if (select_run(database, query, filter, &run, &selection, error) != 0 ||
            (gt_selection_has_op(&selection, gt_query_integer(query, OP)) && write_row(output, query, error) != 0))
            row = -1;
    gt_query_end(query);
    gt_selection_free(&selection);
    return row;
}

static int write_csv(struct gt_store *store, const char *path, const struct gt_filter *filter, struct gt_error *error)
{
    struct gt_output *output = gt_output_open(path, error);
    if (output == NULL)
        return -1;
    if (write_rows(store, output, filter, error) != 0) {
        gt_output_abandon(output);
        return -1;
    }
    return gt_output_commit(output, error);
}

const struct gt_exporter gt_exporter_csv = {
    "csv",
    "a row for each operation and run, with its operator and step, times in microseconds.",
    write_csv,
};
