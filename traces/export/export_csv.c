/* export_csv.c - a store as one CSV file (RFC 4180): a row for each operation of each run; of requests of a load, for each of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/export/internal.h"
#include "traces/io/csv.h"
#include "traces/store/serve_rows.h"

enum gt_csv_type { GT_CSV_TEXT, GT_CSV_NUMBER, GT_CSV_TIME };

struct gt_csv_column {
    const char *name;
    enum gt_csv_type type; /* times are picoseconds in the store, microseconds in the file */
};

struct gt_csv_file {
    const struct gt_csv_column *columns; /* as the query gives them; the first is the run's number */
    size_t count;
    const char *sql; /* run by run; ?1 and ?2 are bound to 0 */
    /* Is the row in the part of its run that is asked for?  NULL: all are, there are no parts. */
    bool (*is_wanted)(const struct gt_selection *selection, struct gt_query *query);
};

/* rows of a store's runs as a CSV file (RFC 4180). */

int gt_export_csv_text(struct gt_output *output, const char *text, struct gt_error *error)
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

static int write_field(const struct gt_csv_file *file, struct gt_output *output, struct gt_query *query, int column,
                       struct gt_error *error)
{
    if (gt_query_absent(query, column))
        return 0;
    if (file->columns[column].type == GT_CSV_TEXT)
        return gt_export_csv_text(output, gt_export_text(query, column), error);
    if (file->columns[column].type == GT_CSV_TIME)
        return write_time(output, gt_query_integer(query, column), error);
    return gt_output_printf(output, error, "%" PRId64, (int64_t)gt_query_integer(query, column));
}

static int write_header(const struct gt_csv_file *file, struct gt_output *output, struct gt_error *error)
{
    for (size_t column = 0; column < file->count; column++)
        if (gt_output_printf(output, error, "%s%s", column > 0 ? "," : "", file->columns[column].name) != 0)
            return -1;
    return gt_output_write(output, "\r\n", 2, error);
}

static int write_row(const struct gt_csv_file *file, struct gt_output *output, struct gt_query *query,
                     struct gt_error *error)
{
    for (size_t column = 0; column < file->count; column++)
        if ((column > 0 && gt_output_write(output, ",", 1, error) != 0) ||
            write_field(file, output, query, (int)column, error) != 0)
            return -1;
    return gt_output_write(output, "\r\n", 2, error);
}

/* The part of the run that the row is of; found anew where another run begins. */
static int select_run(struct gt_database *database, struct gt_query *query, const struct gt_filter *filter,
                      int64_t *run, struct gt_selection *selection, struct gt_error *error)
{
    if (*run == gt_query_integer(query, 0))
        return 0;
    *run = gt_query_integer(query, 0);
    gt_selection_free(selection);
    return gt_selection_find(selection, database, *run, filter, error);
}

static int write_rows(const struct gt_csv_file *file, struct gt_store *store, struct gt_output *output,
                      const struct gt_filter *filter, struct gt_error *error)
{
    struct gt_database *database = gt_store_database(store);
    struct gt_query *query = gt_export_query(database, file->sql, 0, 0, error);
    struct gt_selection selection = { .all = true };
    int64_t run = -1;
    int row = query != NULL && write_header(file, output, error) == 0 ? 1 : -1;
    while (row > 0 && (row = gt_query_next(query, error)) > 0)
        if ((file->is_wanted != NULL && select_run(database, query, filter, &run, &selection, error) != 0) ||
            ((file->is_wanted == NULL || file->is_wanted(&selection, query)) &&
             write_row(file, output, query, error) != 0))
            row = -1;
    gt_query_end(query);
    gt_selection_free(&selection);
    return row;
}

/* The rows of the store in that part of each run (NULL: all) to `path`, whole or not at all.  Returns 0 or -1. */
static int csv_file_write(const struct gt_csv_file *file, struct gt_store *store, const char *path,
                          const struct gt_filter *filter, struct gt_error *error)
{
    struct gt_output *output = gt_output_open(path, error);
    if (output == NULL)
        return -1;
    if (write_rows(file, store, output, filter, error) != 0) {
        gt_output_abandon(output);
        return -1;
    }
    return gt_output_commit(output, error);
}

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

/* clang-format off */
static const struct gt_csv_column request_columns[] = {
    {"run", GT_CSV_NUMBER}, {"policy", GT_CSV_TEXT}, {"share", GT_CSV_TEXT}, {"load", GT_CSV_TEXT}, {"tenant", GT_CSV_TEXT},
    {"class", GT_CSV_TEXT}, {"request", GT_CSV_NUMBER}, {"arrival_us", GT_CSV_TIME}, {"begin_us", GT_CSV_TIME},
    {"end_us", GT_CSV_TIME}, {"latency_us", GT_CSV_TIME}, {"held_us", GT_CSV_TIME}, {"waited_us", GT_CSV_TIME},
    {"slowed_us", GT_CSV_TIME}, {"behind", GT_CSV_TEXT},
};
/* clang-format on */
static const char requests_sql[] =
    "SELECT r.serve_no, s.policy, s.share, CAST(s.load AS TEXT), t.name, t.class, r.number, r.arrival_ps, r.begin_ps,"
    " r.end_ps, r.end_ps - r.arrival_ps, r.held_ps, r.waited_ps, r.slowed_ps, b.name"
    " FROM serve_request r JOIN serve s USING (serve_no)"
    " JOIN serve_tenant t ON t.serve_no = r.serve_no AND t.tenant_no = r.tenant_no"
    " LEFT JOIN serve_tenant b ON b.serve_no = r.serve_no AND b.tenant_no = r.blocker_no"
    " WHERE ?1 = 0 ORDER BY r.serve_no, r.rowid";

static int write_csv(struct gt_store *store, const char *path, const struct gt_filter *filter, struct gt_error *error)
{
    static const struct gt_csv_file requests = { .columns = request_columns,
                                                 .count = sizeof request_columns / sizeof request_columns[0],
                                                 .sql = requests_sql };
    struct gt_csv_file file = {
        .columns = columns,
        .count = sizeof columns / sizeof columns[0],
        .sql = gt_store_has_executables(store) ? all_sql
               : gt_store_has_ranges(store)    ? rows_and_ranges_sql
                                               : rows_sql,
        .is_wanted = is_wanted,
    };

    int serves = gt_store_has_serve(store, error);

    if (serves < 0)
        return -1;
    return csv_file_write(serves > 0 ? &requests : &file, store, path, filter, error);
}

const struct gt_exporter gt_exporter_csv = {
    "csv",
    "one row per operation and run, with its operator and step; of a store of serve, one per request; times in "
    "microseconds.",
    write_csv,
    NULL,
};

/* The ranges of a store's runs as one CSV file: a row for each of each run. */

/* clang-format off */
static const struct gt_csv_column range_columns[] = {
    {"run", GT_CSV_NUMBER}, {"run_kind", GT_CSV_TEXT}, {"trace", GT_CSV_TEXT}, {"range", GT_CSV_NUMBER},
    {"kind", GT_CSV_TEXT}, {"name", GT_CSV_TEXT}, {"parent", GT_CSV_NUMBER}, {"thread", GT_CSV_NUMBER},
    {"thread_name", GT_CSV_TEXT}, {"external_id", GT_CSV_NUMBER}, {"first_call", GT_CSV_NUMBER},
    {"behind_call", GT_CSV_NUMBER}, {"first_op", GT_CSV_NUMBER}, {"behind_op", GT_CSV_NUMBER},
    {"start_us", GT_CSV_TIME}, {"end_us", GT_CSV_TIME}, {"duration_us", GT_CSV_TIME},
};
/* clang-format on */
enum { FIRST_CALL = 10, BEHIND_CALL, START = 14, END };

static const char range_rows_sql[] =
    "SELECT r.run_id, r.kind, t.name, g.range_no, g.kind, g.name, g.parent_no, h.id, h.name, g.external_id,"
    " g.first_call, g.behind_call, g.first_op, g.behind_op, p.start_ps, p.end_ps, p.end_ps - p.start_ps"
    " FROM run r JOIN trace t USING (trace_id) JOIN run_range p USING (run_id)"
    " JOIN range g ON g.trace_id = r.trace_id AND g.range_no = p.range_no"
    " LEFT JOIN thread h ON h.trace_id = r.trace_id AND h.thread_no = g.thread_no"
    " WHERE r.whole = 1 AND ?1 = 0 ORDER BY r.run_id, p.range_no";

static bool is_wanted_range(const struct gt_selection *selection, struct gt_query *query)
{
    return gt_export_has_range(selection, gt_query_integer(query, START), gt_query_integer(query, END),
                               gt_query_integer(query, FIRST_CALL), gt_query_integer(query, BEHIND_CALL));
}

static int write_ranges(struct gt_store *store, const char *path, const struct gt_filter *filter,
                        struct gt_error *error)
{
    struct gt_csv_file file = {
        .columns = range_columns,
        .count = sizeof range_columns / sizeof range_columns[0],
        .sql = range_rows_sql,
        .is_wanted = is_wanted_range,
    };

    if (!gt_store_has_ranges(store))
        return gt_error_set(error, "%s: has no ranges: it was made before stores had them; run the trace again",
                            gt_store_database(store)->path);
    return csv_file_write(&file, store, path, filter, error);
}

const struct gt_exporter gt_exporter_ranges = {
    "csv-ranges",
    "one row per operator, annotation and step of each run.",
    write_ranges,
    NULL,
};

/* Operators, annotations and steps as slices of their threads' tracks, around the calls. */

/* What began before the part that is shown and goes on in it is shown too. */
bool gt_export_has_range(const struct gt_selection *selection, int64_t start_ps, int64_t end_ps, int64_t first_call,
                         int64_t end_call)
{
    return (uint64_t)start_ps < selection->to_ps && (uint64_t)end_ps >= selection->from_ps &&
           (uint64_t)end_call >= selection->first_call && (uint64_t)first_call <= selection->end_call;
}

int gt_export_write_range(struct gt_export *export, struct gt_perfetto_sequence *sequence,
                          const struct gt_perfetto_track *track, struct gt_query *query, struct gt_error *error)
{
    struct gt_perfetto_note note = { "range", NULL, (uint64_t)gt_query_integer(query, GT_CALL_ROW_NUMBER) };
    struct gt_perfetto_slice slice = { .notes = &note, .note_count = 1, .nests = true };
    uint64_t behind;

    if (gt_query_span(query, GT_CALL_ROW_START, "range", gt_query_integer(query, GT_CALL_ROW_NUMBER), &slice.start_ps,
                      &slice.end_ps, error) != 0 ||
        gt_query_number(query, GT_CALL_ROW_BEHIND, GT_NONE, "behind_call", &behind, error) != 0)
        return -1;
    if (!gt_export_has_range(&export->selection, (int64_t)slice.start_ps, (int64_t)slice.end_ps,
                             gt_query_integer(query, GT_CALL_ROW_FIRST), (int64_t)behind))
        return 0;
    slice.name = gt_export_text(query, GT_CALL_ROW_NAME);
    slice.category = gt_export_text(query, GT_CALL_ROW_KIND);
    return gt_perfetto_slice(sequence, track, &slice, error);
}
