/* compare.c - `gridtide compare`: how far the simulated run is from what the trace recorded. */
#include <argp.h>

#include <stdlib.h>

#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/print/json.h"
#include "sim/cmd/print/kernel_tables.h"
#include "sim/cmd/print/table.h"
#include "sim/cmd/report/compare_parts.h"

struct arguments {
    const char *store;
    enum gt_format format;
};

static const struct argp_option options[] = {
    GT_OPTION_FORMAT,
    GT_OPTION_TABLE("comparison, warnings, cycles, kernels, change, traces, summary"),
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'f': arguments->format = gt_option_format(state, text); return 0;
    case GT_KEY_TABLE: gt_option_table(state, text); return 0;
    case ARGP_KEY_ARG: gt_option_only(state, "store", text, &arguments->store); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a store that 'gridtide run' wrote"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "RUN.db|V.db",
    "Compare the simulated run in a store with the recorded one, or every simulated run in a "
    "store of 'gridtide validate' with the measured runs.\vMakespan: from the first "
    "operation's start to the last operation's end. Start error: difference of each "
    "operation's start when both runs are aligned at the start of their first operation. "
    "Percentiles use the nearest rank. Operations are kernels, copies and memsets; 'unmatched' "
    "counts operations without a time in both runs. If kernels have cycles, simulated from "
    "machine code or measured by a profiler, every launch is listed. If 'gridtide run' applied "
    "a change, the run is compared with the run without the change, and that run with the "
    "recording.",
    NULL, NULL, NULL,
};
/* clang-format on */

/* A run with a change, beside the comparison with what was measured. */
struct change {
    int64_t without;                 /* the run without it; 0: there is none */
    struct gt_comparison comparison; /* with that run in place of the measured one */
    struct gt_comparison before;     /* that run with the measured one */
    struct gt_subject subject;       /* that run */
    struct gt_kernels kernels;
};

/* All that is said of one simulated run. */
struct compared {
    struct gt_subject subject;
    struct gt_comparison comparison;
    struct gt_kernels kernels;
    struct change change;
};

static int load_change(struct gt_store *store, int64_t simulated, struct change *change, struct gt_error *error)
{
    struct gt_verdict verdict;

    if (gt_store_find_baseline(store, simulated, &change->without, error) != 0)
        return -1;
    if (change->without == 0)
        return 0;
    if (gt_compare(store, simulated, change->without, &change->comparison, error) != 0 ||
        gt_verdict_of(store, change->without, false, &verdict, error) != 0 ||
        gt_subject_open(store, change->without, &change->subject, error) != 0)
        return -1;
    change->before = verdict.comparison;
    return gt_kernels_load(store, simulated, change->without, &change->kernels, error);
}

static void change_json(yajl_gen json, const struct change *change)
{
    const struct gt_comparison *comparison = &change->comparison;
    /* clang-format off */
    const struct { const char *key; double value; } members[] = {
        { "makespan_without_us", comparison->makespan_measured_us },
        { "makespan_us", comparison->makespan_simulated_us },
        { "makespan_change_pct", comparison->makespan_error_pct },
        { "start_change_median_us", comparison->start_error_us.median },
    };
    /* clang-format on */

    gt_json_text(json, "change");
    yajl_gen_map_open(json);
    gt_json_text(json, "without_run_id");
    gt_json_integer(json, change->without);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        gt_json_text(json, members[i].key);
        gt_json_real(json, members[i].value);
    }
    yajl_gen_map_close(json);
}

static struct gt_table *change_table(const struct gt_subject *subject, const struct change *change)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "options", GT_COLUMN_WIDE }, { "device", GT_COLUMN_TEXT }, { "makespan_without_us", GT_COLUMN_NUMBER },
        { "makespan_simulated_us", GT_COLUMN_NUMBER }, { "makespan_change_pct", GT_COLUMN_NUMBER },
        { "start_change_median_us", GT_COLUMN_NUMBER }, { "start_change_max_us", GT_COLUMN_NUMBER },
    };
    /* clang-format on */
    const struct gt_comparison *comparison = &change->comparison;
    struct gt_table *table = gt_table_new("change", columns, sizeof columns / sizeof columns[0]);

    gt_table_single(table);
    gt_table_text(table, subject->names.options);
    gt_table_text(table, subject->names.device);
    gt_table_real(table, comparison->makespan_measured_us, 3);
    gt_table_real(table, comparison->makespan_simulated_us, 3);
    gt_table_real(table, comparison->makespan_error_pct, 3);
    gt_table_real(table, comparison->start_error_us.median, 3);
    gt_table_real(table, comparison->start_error_us.max, 3);
    return table;
}

static void print_json(const struct gt_subject *subject, const struct gt_comparison *comparison,
                       const struct gt_kernels *kernels, const struct change *change)
{
    yajl_gen json = gt_json_new();

    yajl_gen_map_open(json);
    gt_subject_json(json, subject, comparison);
    if (change->without != 0)
        change_json(json, change);
    if (kernels->count > 0)
        gt_kernels_json(json, kernels);
    yajl_gen_map_close(json);
    gt_json_finish(json, stdout);
}

static struct gt_table *comparison_table(const struct gt_subject *subject, const struct gt_comparison *comparison)
{
    /* clang-format off */
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
    /* clang-format on */
    const uint64_t counts[] = { comparison->kernels, comparison->copies, comparison->memsets, comparison->unmatched };
    const struct gt_spread *us = &comparison->start_error_us, *pct = &comparison->start_error_pct;
    const double numbers[] = { comparison->makespan_measured_us,
                               comparison->makespan_simulated_us,
                               comparison->makespan_error_pct,
                               us->median,
                               us->p95,
                               us->max,
                               pct->median,
                               pct->p95,
                               pct->max };
    struct gt_table *table = gt_table_new("comparison", columns, sizeof columns / sizeof columns[0]);

    gt_table_single(table);
    gt_table_text(table, subject->names.trace);
    gt_table_text(table, subject->names.device);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        gt_table_integer(table, (int64_t)counts[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        gt_table_real(table, numbers[i], 3);
    return table;
}

static struct gt_table *warnings_table(const struct gt_subject *subject)
{
    static const struct gt_column columns[] = {
        { "kind", GT_COLUMN_TEXT },
        { "count", GT_COLUMN_NUMBER },
        { "text", GT_COLUMN_WIDE },
    };
    struct gt_table *table = gt_table_new("warnings", columns, sizeof columns / sizeof columns[0]);

    for (size_t i = 0; i < subject->warning_count; i++) {
        gt_table_text(table, subject->warnings[i].kind);
        gt_table_integer(table, subject->warnings[i].count);
        gt_table_text(table, subject->warnings[i].text);
    }
    return table;
}

/* CSV is the comparison, one heading and one line, so that many can be put together; kernels come behind. */
static void print_tables(const struct compared *compared, enum gt_format format)
{
    struct gt_table *tables[5] = { comparison_table(&compared->subject, &compared->comparison) };
    size_t count = 1;

    if (format != GT_FORMAT_CSV || gt_tables_chosen())
        tables[count++] = warnings_table(&compared->subject);
    if (compared->kernels.count > 0) {
        tables[count++] = gt_kernel_error_table(&compared->kernels);
        tables[count++] = gt_kernel_rows_table(&compared->kernels);
    }
    if (compared->change.without != 0 && gt_tables_chosen())
        tables[count++] = change_table(&compared->subject, &compared->change);
    gt_tables_print(stdout, format, tables, count);
    while (count > 0)
        gt_table_free(tables[--count]);
}

/* A change is no error: what is off by how much is told of the run without it. */
static void print_change(const struct gt_subject *subject, const struct change *change)
{
    struct gt_table *tables[4] = { change_table(subject, change), comparison_table(&change->subject, &change->before),
                                   warnings_table(subject) };
    size_t count = 3;

    if (change->kernels.count > 0)
        tables[count++] = gt_kernel_changes_table(&change->kernels);
    gt_tables_print(stdout, GT_FORMAT_TABLE, tables, count);
    while (count > 0)
        gt_table_free(tables[--count]);
}

static int load(struct gt_store *store, int64_t simulated, int64_t measured, struct compared *compared,
                struct gt_error *error)
{
    struct gt_verdict verdict;

    if (gt_verdict_of(store, simulated, false, &verdict, error) != 0 ||
        gt_subject_open(store, simulated, &compared->subject, error) != 0 ||
        gt_kernels_load(store, simulated, measured, &compared->kernels, error) != 0)
        return -1;
    compared->comparison = verdict.comparison;
    return load_change(store, simulated, &compared->change, error);
}

static void print(const struct compared *compared, enum gt_format format)
{
    if (format == GT_FORMAT_JSON && !gt_tables_chosen())
        print_json(&compared->subject, &compared->comparison, &compared->kernels, &compared->change);
    else if (format == GT_FORMAT_TABLE && compared->change.without != 0 && !gt_tables_chosen())
        print_change(&compared->subject, &compared->change);
    else
        print_tables(compared, format);
}

static int print_comparison(struct gt_store *store, const struct arguments *arguments, struct gt_error *error)
{
    struct compared compared = { .comparison = { 0 } };
    int64_t simulated, measured;
    int result;

    if (gt_verdict_find_runs(store, &simulated, &measured, error) != 0)
        return -1;
    if (simulated == 0)
        return gt_error_set(error, "%s: contains no simulated run; create one with 'gridtide run'", arguments->store);
    result = load(store, simulated, measured, &compared, error);
    if (result == 0 && measured == 0)
        fprintf(stderr, "gridtide: %s: the trace has no recorded times to compare with\n", arguments->store);
    if (result == 0)
        print(&compared, arguments->format);
    gt_kernels_free(&compared.kernels);
    gt_kernels_free(&compared.change.kernels);
    gt_subject_close(&compared.change.subject);
    gt_subject_close(&compared.subject);
    return result;
}

/* Has the store more than one simulated run with one measured run? */
static int is_many(struct gt_store *store, const int64_t *runs, uint32_t count, bool *many, struct gt_error *error)
{
    struct gt_repeats repeats;

    *many = count > 1;
    if (count != 1)
        return 0;
    if (gt_repeats_median(store, runs[0], &repeats, error) != 0)
        return -1;
    *many = repeats.count > 1;
    return 0;
}

static int print_all(struct gt_store *store, const void *user, struct gt_error *error)
{
    const struct arguments *arguments = user;
    uint32_t count;
    int64_t *runs;
    bool many;
    int result;

    if (gt_simulated_runs(store, &runs, &count, error) != 0)
        return -1;
    result = is_many(store, runs, count, &many, error);
    if (result == 0 && many)
        result = gt_compare_many(store, runs, count, arguments->format, error);
    else if (result == 0)
        result = print_comparison(store, arguments, error);
    free(runs);
    return result;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .format = GT_FORMAT_TABLE };

    gt_parse(&parser, argc, argv, &arguments);
    return gt_with_store(arguments.store, print_all, &arguments);
}

const struct gt_command gt_command_compare = {
    "compare",
    "compare a simulated run with the recorded one",
    run,
};
