/* compare.c - `gridtide compare`: how far the simulated run is from what the trace recorded. */
#include <argp.h>

#include "sim/cmd/cmd.h"
#include "sim/cmd/json.h"
#include "sim/cmd/table.h"
#include "traces/store.h"

struct arguments {
    const char *store;
    enum gt_format format;
};

static const struct argp_option options[] = {
    {"format", 'f', "FORMAT", 0, "table (the default), csv or json", 0},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'f':
        if (gt_format_parse(text, &arguments->format) != 0)
            argp_error(state, "there is no format '%s'; formats are table, csv, json", text);
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->store != NULL)
            argp_error(state, "one store at a time: '%s' is one too many", text);
        arguments->store = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "name a store that 'gridtide run -o' wrote");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    options, parse_option, "RUN.db",
    "Hold the newest simulated run in a store against what its trace recorded.\v"
    "Makespan: first operation's start to last operation's end. Start error: how far each operation's start "
    "is off when both runs are aligned at their first operation's start. Percentiles are by nearest rank. "
    "Operations are kernels, copies and memsets; 'unmatched' counts those without a time in both runs.",
    NULL, NULL, NULL,
};

/* What is compared, by name, and the warnings that its trace came with. */
struct subject {
    sqlite3_stmt *names;      /* one row: trace, device */
    sqlite3_stmt *warnings;   /* kind, count, text a row */
};

static const char names_sql[] =
    "SELECT t.name, d.name FROM run r JOIN trace t ON t.trace_id = r.trace_id"
    " JOIN device d ON d.device_id = r.device_id WHERE r.run_id = ?";
static const char warnings_sql[] =
    "SELECT w.kind, w.count, w.text FROM run r JOIN trace t ON t.trace_id = r.trace_id"
    " JOIN warning w ON w.trace_id = coalesce(t.base_trace_id, t.trace_id)"
    " WHERE r.run_id = ? ORDER BY w.kind";

static int open_subject(struct gt_store *store, const char *path, int64_t run, struct subject *subject,
                        struct gt_error *error)
{
    sqlite3 *database = gt_store_database(store);

    if (sqlite3_prepare_v2(database, names_sql, -1, &subject->names, NULL) != SQLITE_OK
            || sqlite3_prepare_v2(database, warnings_sql, -1, &subject->warnings, NULL) != SQLITE_OK
            || sqlite3_bind_int64(subject->names, 1, run) != SQLITE_OK
            || sqlite3_bind_int64(subject->warnings, 1, run) != SQLITE_OK
            || sqlite3_step(subject->names) != SQLITE_ROW)
        return gt_error_set(error, "%s: %s", path, sqlite3_errmsg(database));
    return 0;
}

static void close_subject(struct subject *subject)
{
    sqlite3_finalize(subject->names);
    sqlite3_finalize(subject->warnings);
}

static const char *text_at(sqlite3_stmt *row, int column)
{
    return (const char *)sqlite3_column_text(row, column);
}

static void json_count(yajl_gen json, const char *key, uint64_t count)
{
    gt_json_text(json, key);
    gt_json_integer(json, (int64_t)count);
}

static void json_number(yajl_gen json, const char *key, double value)
{
    gt_json_text(json, key);
    gt_json_real(json, value);
}

static void json_spread(yajl_gen json, const char *key, const struct gt_spread *spread)
{
    gt_json_text(json, key);
    yajl_gen_map_open(json);
    json_number(json, "median", spread->median);
    json_number(json, "p95", spread->p95);
    json_number(json, "max", spread->max);
    yajl_gen_map_close(json);
}

static void json_warnings(yajl_gen json, sqlite3_stmt *warnings)
{
    gt_json_text(json, "warnings");
    yajl_gen_array_open(json);
    while (sqlite3_step(warnings) == SQLITE_ROW) {
        yajl_gen_map_open(json);
        gt_json_text(json, "kind");
        gt_json_text(json, text_at(warnings, 0));
        gt_json_text(json, "count");
        gt_json_integer(json, sqlite3_column_int64(warnings, 1));
        gt_json_text(json, "text");
        gt_json_text(json, text_at(warnings, 2));
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}

static void print_json(const struct subject *subject, const struct gt_comparison *comparison)
{
    yajl_gen json = gt_json_new();

    yajl_gen_map_open(json);
    gt_json_text(json, "trace");
    gt_json_text(json, text_at(subject->names, 0));
    gt_json_text(json, "device");
    gt_json_text(json, text_at(subject->names, 1));
    gt_json_text(json, "operations");
    yajl_gen_map_open(json);
    json_count(json, "kernel", comparison->kernels);
    json_count(json, "copy", comparison->copies);
    json_count(json, "memset", comparison->memsets);
    yajl_gen_map_close(json);
    gt_json_text(json, "makespan_us");
    yajl_gen_map_open(json);
    json_number(json, "measured", comparison->makespan_measured_us);
    json_number(json, "simulated", comparison->makespan_simulated_us);
    json_number(json, "error_pct", comparison->makespan_error_pct);
    yajl_gen_map_close(json);
    json_spread(json, "start_error_us", &comparison->start_error_us);
    json_spread(json, "start_error_pct_of_makespan", &comparison->start_error_pct);
    json_count(json, "unmatched", comparison->unmatched);
    json_warnings(json, subject->warnings);
    yajl_gen_map_close(json);
    gt_json_finish(json, stdout);
}

static struct gt_table *comparison_table(const struct subject *subject,
                                         const struct gt_comparison *comparison)
{
    static const struct gt_column columns[] = {
        { "trace", GT_COLUMN_TEXT }, { "device", GT_COLUMN_TEXT },
        { "kernels", GT_COLUMN_NUMBER }, { "copies", GT_COLUMN_NUMBER }, { "memsets", GT_COLUMN_NUMBER },
        { "unmatched", GT_COLUMN_NUMBER },
        { "makespan_measured_us", GT_COLUMN_NUMBER }, { "makespan_simulated_us", GT_COLUMN_NUMBER },
        { "makespan_error_pct", GT_COLUMN_NUMBER },
        { "start_error_median_us", GT_COLUMN_NUMBER }, { "start_error_p95_us", GT_COLUMN_NUMBER },
        { "start_error_max_us", GT_COLUMN_NUMBER }, { "start_error_median_pct", GT_COLUMN_NUMBER },
        { "start_error_p95_pct", GT_COLUMN_NUMBER }, { "start_error_max_pct", GT_COLUMN_NUMBER },
    };
    const uint64_t counts[] = { comparison->kernels, comparison->copies, comparison->memsets,
                                comparison->unmatched };
    const struct gt_spread *us = &comparison->start_error_us, *pct = &comparison->start_error_pct;
    const double numbers[] = { comparison->makespan_measured_us, comparison->makespan_simulated_us,
                               comparison->makespan_error_pct, us->median, us->p95, us->max,
                               pct->median, pct->p95, pct->max };
    struct gt_table *table = gt_table_new("comparison", columns, sizeof columns / sizeof columns[0]);

    gt_table_single(table);
    gt_table_text(table, text_at(subject->names, 0));
    gt_table_text(table, text_at(subject->names, 1));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        gt_table_integer(table, (int64_t)counts[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        gt_table_real(table, numbers[i], 3);
    return table;
}

static struct gt_table *warnings_table(sqlite3_stmt *warnings)
{
    static const struct gt_column columns[] = {
        { "kind", GT_COLUMN_TEXT }, { "count", GT_COLUMN_NUMBER }, { "text", GT_COLUMN_WIDE },
    };
    struct gt_table *table = gt_table_new("warnings", columns, sizeof columns / sizeof columns[0]);

    while (sqlite3_step(warnings) == SQLITE_ROW) {
        gt_table_text(table, text_at(warnings, 0));
        gt_table_integer(table, sqlite3_column_int64(warnings, 1));
        gt_table_text(table, text_at(warnings, 2));
    }
    return table;
}

/* CSV is the comparison alone, one heading and one line, so that many can be put together. */
static void print_tables(const struct subject *subject, const struct gt_comparison *comparison,
                         enum gt_format format)
{
    struct gt_table *tables[] = { comparison_table(subject, comparison), warnings_table(subject->warnings) };

    gt_tables_print(stdout, format, tables, format == GT_FORMAT_CSV ? 1 : 2);
    gt_table_free(tables[0]);
    gt_table_free(tables[1]);
}

static int print_comparison(struct gt_store *store, const void *user, struct gt_error *error)
{
    const struct arguments *arguments = user;
    struct subject subject = { NULL, NULL };
    struct gt_comparison comparison;
    int64_t simulated, measured;
    int result;

    if (gt_store_runs(store, &simulated, &measured, error) != 0)
        return -1;
    if (simulated == 0)
        return gt_error_set(error, "%s: holds no simulated run; make one with 'gridtide run'",
                            arguments->store);
    result = gt_compare(store, simulated, measured, &comparison, error);
    if (result == 0)
        result = open_subject(store, arguments->store, simulated, &subject, error);
    if (result == 0 && measured == 0)
        fprintf(stderr, "gridtide: %s: the trace recorded no times, so there is nothing to compare with\n",
                arguments->store);
    if (result == 0 && arguments->format == GT_FORMAT_JSON)
        print_json(&subject, &comparison);
    else if (result == 0)
        print_tables(&subject, &comparison, arguments->format);
    close_subject(&subject);
    return result;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .format = GT_FORMAT_TABLE };

    argp_parse(&parser, argc, argv, 0, NULL, &arguments);
    return gt_with_store(arguments.store, print_comparison, &arguments);
}

const struct gt_command gt_command_compare = {
    "compare", "simulated against what the trace recorded", run,
};
