/* check.c - `gridtide check`: operations that touch the same memory and have no order. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check/witness.h"
#include "sim/cmd/input/cmd.h"
#include "sim/cmd/input/options.h"
#include "sim/cmd/input/run_input.h"
#include "sim/cmd/print/json.h"
#include "sim/cmd/trace/check_texts.h"
#include "traces/io/data_path.h"
#include "traces/names/clean_text.h"

struct arguments {
    const char *trace;
    enum gt_format format;
    bool quiet;
};

/* Operations that are simulated at most to show races in schedules, over all of them. */
static const uint64_t most_simulated = 2000000;

enum { POSSIBLE_PRINTED = 5 };

/* What was found, and the schedule of each race that the simulator shows. */
struct findings {
    const struct gt_workload *workload;
    char *name;
    struct gt_check check;
    struct gt_schedule *schedules;
    bool *shown;
    uint32_t not_tried;
};

static const struct argp_option options[] = {
    GT_OPTION_FORMAT,
    GT_OPTION_TABLE("races, misuses"),
    GT_OPTION_QUIET_ANSWER,
    { 0 },
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'f': arguments->format = gt_option_format(state, text); return 0;
    case GT_KEY_TABLE: gt_option_table(state, text); return 0;
    case 'q': arguments->quiet = true; return 0;
    case ARGP_KEY_ARG: gt_option_only(state, "trace", text, &arguments->trace); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a trace"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* clang-format off */
static const struct argp parser = {
    options, parse_option, "TRACE",
    "Find races: operations that access the same memory, at least one of them writing, without "
    "an enforced order. The trace must state what operations read and write.\vEach race is "
    "printed with the two operations, the missing order, what to add, and a schedule in which "
    "the result is wrong. Exit status: 1 if there are races, 0 if not. Operations whose "
    "accesses the trace does not state are not checked.",
    NULL, NULL, NULL,
};
/* clang-format on */

static bool certain(const struct findings *f)
{
    return f->check.known == f->check.operations && f->check.unknown_waits == 0;
}

static char *races_verdict(const struct findings *f)
{
    if (f->check.certain.count > 0)
        return gt_format("%" PRIu32 " race%s", f->check.certain.count, f->check.certain.count > 1 ? "s" : "");
    if (certain(f))
        return gt_strdup("no races");
    if (f->check.known < f->check.operations)
        return gt_format("none found, but the accesses of %" PRIu64 " operations are unknown",
                         f->check.operations - f->check.known);
    return gt_format("none found, but the targets of %" PRIu64 " waits are unknown", f->check.unknown_waits);
}

static char *verdict(const struct findings *f)
{
    uint32_t misuses = gt_check_certain_misuses(&f->check.misuses);
    char *races = races_verdict(f), *text;

    if (misuses == 0)
        return races;
    text = gt_format("%s; %" PRIu32 " memory error%s", races, misuses, misuses > 1 ? "s" : "");
    free(races);
    return text;
}

static void put_text(yajl_gen json, const char *key, char *text)
{
    gt_json_text(json, key);
    gt_json_text(json, text);
    free(text);
}

static void put_us(yajl_gen json, const char *key, gt_time_ps time_ps)
{
    gt_json_text(json, key);
    gt_json_real(json, (double)time_ps / 1e6);
}

static void put_schedule(yajl_gen json, const struct gt_schedule *schedule)
{
    gt_json_text(json, "schedule");
    if (schedule == NULL) {
        yajl_gen_null(json);
        return;
    }
    yajl_gen_map_open(json);
    put_us(json, "first_late_us", schedule->late_ps);
    put_us(json, "first_start_us", schedule->first_start_ps);
    put_us(json, "first_end_us", schedule->first_end_ps);
    put_us(json, "second_start_us", schedule->second_start_ps);
    put_us(json, "second_end_us", schedule->second_end_ps);
    yajl_gen_map_close(json);
}

/* What there is to say of a race without its schedule. */
static void put_race(yajl_gen json, const struct findings *f, const struct gt_race *race)
{
    put_text(json, "first", gt_check_op_text(f->workload, race->first));
    put_text(json, "second", gt_check_op_text(f->workload, race->second));
    put_text(json, "buffer", gt_check_buffer_text(f->workload, race));
    put_text(json, "kind", gt_strdup(gt_race_kind_names[race->kind]));
    put_text(json, "missing", gt_check_missing_text(f->workload, race));
    put_text(json, "fix", gt_check_fix_text(f->workload, race));
    gt_json_text(json, "first_op");
    gt_json_integer(json, race->first);
    gt_json_text(json, "second_op");
    gt_json_integer(json, race->second);
    gt_json_text(json, "reused");
    yajl_gen_bool(json, race->freed != GT_NONE);
}

static void put_races(yajl_gen json, const struct findings *f)
{
    gt_json_text(json, "races");
    yajl_gen_array_open(json);
    for (uint32_t i = 0; i < f->check.certain.count; i++) {
        yajl_gen_map_open(json);
        put_race(json, f, &f->check.certain.races[i]);
        put_schedule(json, f->shown[i] ? &f->schedules[i] : NULL);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
    gt_json_text(json, "possible");
    yajl_gen_array_open(json);
    for (uint32_t i = 0; i < f->check.possible.count; i++) {
        yajl_gen_map_open(json);
        put_race(json, f, &f->check.possible.races[i]);
        put_text(json, "why", gt_strdup(f->check.possible.races[i].unknown_wait ? "unknown wait" : "pointer"));
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}

static void print_json(const struct findings *f)
{
    yajl_gen json = gt_json_new();

    yajl_gen_map_open(json);
    put_text(json, "trace", gt_strdup(f->name));
    gt_json_text(json, "operations");
    gt_json_integer(json, (int64_t)f->check.operations);
    gt_json_text(json, "covered_pct");
    gt_json_real(json, gt_check_covered_pct(&f->check));
    gt_json_text(json, "unknown_waits");
    gt_json_integer(json, (int64_t)f->check.unknown_waits);
    put_text(json, "verdict", verdict(f));
    put_races(json, f);
    gt_check_put_misuses(json, f->workload, &f->check.misuses);
    yajl_gen_map_close(json);
    gt_json_finish(json, stdout);
}

static void add_text(struct gt_table *table, char *text)
{
    gt_table_text(table, text);
    free(text);
}

static void add_us(struct gt_table *table, bool known, gt_time_ps time_ps)
{
    if (known)
        gt_table_real(table, (double)time_ps / 1e6, 1);
    else
        gt_table_text(table, NULL);
}

static void print_tables(const struct findings *f, enum gt_format format)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "first", GT_COLUMN_TEXT }, { "second", GT_COLUMN_TEXT }, { "buffer", GT_COLUMN_TEXT },
        { "kind", GT_COLUMN_TEXT }, { "missing", GT_COLUMN_WIDE }, { "fix", GT_COLUMN_WIDE },
        { "first_start_us", GT_COLUMN_NUMBER }, { "first_end_us", GT_COLUMN_NUMBER },
        { "second_start_us", GT_COLUMN_NUMBER }, { "second_end_us", GT_COLUMN_NUMBER },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("races", columns, sizeof columns / sizeof columns[0]),
                    *tables[2] = { table };

    for (uint32_t i = 0; i < f->check.certain.count; i++) {
        const struct gt_race *race = &f->check.certain.races[i];
        const struct gt_schedule *schedule = &f->schedules[i];

        add_text(table, gt_check_op_text(f->workload, race->first));
        add_text(table, gt_check_op_text(f->workload, race->second));
        add_text(table, gt_check_buffer_text(f->workload, race));
        gt_table_text(table, gt_race_kind_names[race->kind]);
        add_text(table, gt_check_missing_text(f->workload, race));
        add_text(table, gt_check_fix_text(f->workload, race));
        add_us(table, f->shown[i], schedule->first_start_ps);
        add_us(table, f->shown[i], schedule->first_end_ps);
        add_us(table, f->shown[i], schedule->second_start_ps);
        add_us(table, f->shown[i], schedule->second_end_ps);
    }
    if (f->check.misuses.count > 0 || gt_tables_chosen()) /* one table, as ever, where there are none */
        tables[1] = gt_check_misuse_table(f->workload, &f->check.misuses);
    gt_tables_print(stdout, format, tables, tables[1] != NULL ? 2 : 1);
    gt_table_free(table);
    if (tables[1] != NULL)
        gt_table_free(tables[1]);
}

/* Names as a terminal can show them; frees `text`. */
static char *cleaned(char *text)
{
    char *clean = gt_clean_name(text);

    free(text);
    return clean;
}

static void print_line(const char *what, char *text)
{
    char *clean = cleaned(text);

    printf("  %-8s%s\n", what, clean);
    free(clean);
}

static void print_race(const struct findings *f, uint32_t index)
{
    const struct gt_race *race = &f->check.certain.races[index];
    const struct gt_schedule *s = &f->schedules[index];
    char *buffer = cleaned(gt_check_buffer_text(f->workload, race));

    printf("\nrace %" PRIu32 ": %s of %s%s\n", index + 1, gt_race_kind_names[race->kind], buffer,
           race->freed != GT_NONE ? ", whose memory was reused" : "");
    free(buffer);
    print_line("first", gt_check_op_text(f->workload, race->first));
    print_line("second", gt_check_op_text(f->workload, race->second));
    print_line("missing", gt_check_missing_text(f->workload, race));
    print_line("add", gt_check_fix_text(f->workload, race));
    if (f->shown[index])
        print_line("shown",
                   gt_format("if the first is %.0f us late, it runs from %.1f to %.1f us, and the second from "
                             "%.1f to %.1f us",
                             (double)s->late_ps / 1e6, (double)s->first_start_ps / 1e6, (double)s->first_end_ps / 1e6,
                             (double)s->second_start_ps / 1e6, (double)s->second_end_ps / 1e6));
}

/* Those that there are only if an operation uses memory that it was given a pointer to. */
static void print_possible(const struct findings *f)
{
    uint32_t count = f->check.possible.count, most = count < POSSIBLE_PRINTED ? count : POSSIBLE_PRINTED;

    if (count == 0)
        return;
    printf("\n%" PRIu32
           " possible race%s, not counted: an operation got a pointer but may not access that memory, or a wait with "
           "an unknown target may order the two\n",
           count, count > 1 ? "s" : "");
    for (uint32_t i = 0; i < most; i++) {
        const struct gt_race *race = &f->check.possible.races[i];
        char *first = cleaned(gt_check_op_text(f->workload, race->first)),
             *second = cleaned(gt_check_op_text(f->workload, race->second));
        char *buffer = cleaned(gt_check_buffer_text(f->workload, race));

        printf("  %s of %s: %s, then %s\n", gt_race_kind_names[race->kind], buffer, first, second);
        free(first);
        free(second);
        free(buffer);
    }
    if (count > most)
        printf("  and %" PRIu32 " more, which --format json lists\n", count - most);
}

static void print_people(const struct findings *f)
{
    char *text = verdict(f), *name = gt_clean_name(f->name);

    printf("%s: %s; accesses are known for %.1f%% of %" PRIu64 " operations\n", name, text,
           gt_check_covered_pct(&f->check), f->check.operations);
    free(text);
    free(name);
    if (f->check.unknown_waits > 0)
        printf("%" PRIu64 " waits have an unknown target and are treated as waits for all earlier work: races "
               "that they may hide are at most listed as possible, judged by the recorded times; for exact results "
               "record the program with gridtide record\n",
               f->check.unknown_waits);
    for (uint32_t i = 0; i < f->check.certain.count; i++)
        print_race(f, i);
    if (f->not_tried > 0)
        printf("\nschedules of %" PRIu32 " races were not simulated, because the trace is long\n", f->not_tried);
    gt_check_print_misuses(f->workload, &f->check.misuses);
    print_possible(f);
}

/* Races in schedules of the simulator, as many as are worth the time. */
static int show(struct findings *f, bool quiet, struct gt_error *error)
{
    uint64_t each = f->check.operations, left = most_simulated;
    struct gt_witness *witness;
    struct gt_device device;
    int result = 0;

    f->schedules = gt_calloc(f->check.certain.count + 1ull, sizeof *f->schedules);
    f->shown = gt_calloc(f->check.certain.count + 1ull, sizeof *f->shown);
    if (f->check.certain.count == 0)
        return 0;
    f->not_tried = f->check.certain.count;
    if (2 * each > left)
        return 0;
    if (gt_run_device(f->workload, NULL, quiet, &device, error) != 0)
        return -1;
    witness = gt_witness_new(f->workload, &device, error);
    if (witness == NULL)
        return -1;
    left -= each;
    for (uint32_t i = 0; i < f->check.certain.count && left >= each && result >= 0; i++) {
        result = gt_witness_show(witness, &f->check.certain.races[i], &f->schedules[i], error);
        f->shown[i] = result == 1;
        f->not_tried--;
        left -= each;
    }
    gt_witness_free(witness);
    return result < 0 ? -1 : 0;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = { .format = GT_FORMAT_TABLE };
    struct findings findings = { .name = NULL };
    struct gt_error error = { "" };
    struct gt_workload *workload;
    int status = GT_EXIT_DONE;

    gt_parse(&parser, argc, argv, &arguments);
    workload = gt_run_read(arguments.trace, arguments.quiet, &error);
    if (workload == NULL)
        return gt_fail(&error);
    findings.workload = workload;
    findings.name = workload->name != NULL ? gt_strdup(workload->name) : gt_path_stem(arguments.trace);
    gt_check_run(&findings.check, workload);
    if (show(&findings, arguments.quiet, &error) != 0 && !arguments.quiet)
        fprintf(stderr, "gridtide: warning: races are printed without schedules: %s\n", error.text);
    if (arguments.format == GT_FORMAT_CSV || gt_tables_chosen())
        print_tables(&findings, arguments.format);
    else
        (arguments.format == GT_FORMAT_JSON ? print_json : print_people)(&findings);
    if (findings.check.certain.count > 0 || gt_check_certain_misuses(&findings.check.misuses) > 0)
        status = GT_EXIT_FAILED;
    gt_check_free(&findings.check);
    free(findings.schedules);
    free(findings.shown);
    free(findings.name);
    gt_workload_free(workload);
    return status;
}

const struct gt_command gt_command_check = {
    "check",
    "find races: unordered accesses to the same memory",
    run,
};
