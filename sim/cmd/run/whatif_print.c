/* whatif_print.c - answers as a table, CSV or JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/print/json.h"
#include "sim/cmd/print/terminal.h"
#include "sim/cmd/run/whatif_parts.h"

enum { INDENT = 2 };
static const double gib = 0x1p30;

static void put_real(yajl_gen json, const char *key, double value)
{
    gt_json_text(json, key);
    gt_json_real(json, value);
}

static void put_text(yajl_gen json, const char *key, const char *text)
{
    gt_json_text(json, key);
    gt_json_text(json, text);
}

static void put_answer(yajl_gen json, const struct gt_answer *answer)
{
    yajl_gen_map_open(json);
    put_text(json, "change", answer->change);
    put_real(json, "step_us", answer->step_us);
    put_real(json, "low_us", answer->low_us);
    put_real(json, "high_us", answer->high_us);
    put_real(json, "change_pct", answer->change_pct);
    put_real(json, "predicted_us", answer->predicted_us);
    put_real(json, "peak_memory_bytes", answer->peak_bytes);
    put_real(json, "reserved_memory_bytes", answer->reserved.bytes);
    gt_json_text(json, "out_of_memory");
    if (isnan(answer->peak_bytes))
        yajl_gen_null(json);
    else
        yajl_gen_bool(json, answer->reserved.out_of_memory);
    put_text(json, "trust", gt_trust_names[answer->scenario.trust]);
    gt_json_text(json, "extrapolated");
    yajl_gen_bool(json, answer->scenario.extrapolated);
    gt_json_text(json, "assumptions");
    yajl_gen_array_open(json);
    for (uint32_t i = 0; i < answer->scenario.assumption_count; i++)
        gt_json_text(json, answer->scenario.assumptions[i]);
    yajl_gen_array_close(json);
    put_text(json, "bound_by", gt_bound_names[answer->bound_by]);
    put_real(json, "bound_pct", 100 * answer->part[answer->bound_by]);
    yajl_gen_map_close(json);
}

/* What a step's host does, and whether the steady state has the step. */
static void put_recorded_steps(yajl_gen json, const struct gt_steady *steady)
{
    gt_json_text(json, "recorded_steps");
    yajl_gen_array_open(json);
    for (uint32_t i = 0; steady->recorded != NULL && i < steady->regular + steady->irregular; i++) {
        yajl_gen_map_open(json);
        put_real(json, "host_us", (double)steady->recorded[i].host_ps / 1e6);
        gt_json_text(json, "submits");
        gt_json_integer(json, steady->recorded[i].submits);
        gt_json_text(json, "waits");
        gt_json_integer(json, steady->recorded[i].waits);
        gt_json_text(json, "allocations");
        gt_json_integer(json, steady->recorded[i].allocations);
        gt_json_text(json, "regular");
        yajl_gen_bool(json, steady->recorded[i].regular);
        yajl_gen_map_close(json);
    }
    yajl_gen_array_close(json);
}

static void print_json(FILE *out, const char *name, const struct gt_whatif *whatif, const struct gt_answer *answers,
                       size_t count)
{
    yajl_gen json = gt_json_new();

    yajl_gen_map_open(json);
    put_text(json, "trace", name);
    put_real(json, "measured_us", whatif->facts.measured_us);
    put_real(json, "replay_us", whatif->facts.replay_us);
    put_real(json, "baseline_us", whatif->facts.baseline_us);
    put_real(json, "step_us", whatif->step_us);
    put_real(json, "peak_memory_bytes", whatif->peak_bytes);
    put_real(json, "reserved_memory_bytes", whatif->reserved.bytes);
    gt_json_text(json, "steps");
    gt_json_integer(json, whatif->facts.steps.count);
    put_recorded_steps(json, &whatif->steady);
    gt_json_text(json, "changes");
    yajl_gen_array_open(json);
    for (size_t i = 0; i < count; i++)
        put_answer(json, &answers[i]);
    yajl_gen_array_close(json);
    yajl_gen_map_close(json);
    gt_json_finish(json, out);
}

static struct gt_table *trace_table(const char *name, const struct gt_whatif *whatif)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "trace", GT_COLUMN_TEXT }, { "measured_us", GT_COLUMN_NUMBER }, { "replay_us", GT_COLUMN_NUMBER },
        { "baseline_us", GT_COLUMN_NUMBER }, { "step_us", GT_COLUMN_NUMBER }, { "steps", GT_COLUMN_NUMBER },
        { "peak_memory_gib", GT_COLUMN_NUMBER }, { "reserved_memory_gib", GT_COLUMN_NUMBER }, /* where it was recorded */
    };
    /* clang-format on */
    bool has_peak = !isnan(whatif->peak_bytes);
    struct gt_table *table = gt_table_new("whatif", columns, sizeof columns / sizeof columns[0] - (has_peak ? 0 : 2));

    gt_table_single(table);
    gt_table_text(table, name);
    gt_table_real(table, whatif->facts.measured_us, 1);
    gt_table_real(table, whatif->facts.replay_us, 1);
    gt_table_real(table, whatif->facts.baseline_us, 1);
    gt_table_real(table, whatif->step_us, 1);
    gt_table_integer(table, whatif->facts.steps.count);
    if (has_peak) {
        gt_table_real(table, whatif->peak_bytes / gib, 3);
        gt_table_real(table, whatif->reserved.bytes / gib, 3);
    }
    return table;
}

static struct gt_table *changes_table(const struct gt_answer *answers, size_t count, bool has_peak)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "change", GT_COLUMN_WIDE }, { "step_us", GT_COLUMN_NUMBER }, { "low_us", GT_COLUMN_NUMBER },
        { "high_us", GT_COLUMN_NUMBER }, { "change_pct", GT_COLUMN_NUMBER }, { "trust", GT_COLUMN_TEXT },
        { "bound_by", GT_COLUMN_TEXT }, { "bound_pct", GT_COLUMN_NUMBER }, { "predicted_us", GT_COLUMN_NUMBER },
        { "peak_memory_gib", GT_COLUMN_NUMBER }, { "reserved_memory_gib", GT_COLUMN_NUMBER },
        { "out_of_memory", GT_COLUMN_TEXT }, /* these three: where it was recorded */
    };
    /* clang-format on */
    struct gt_table *table =
        gt_table_new("changes", columns, sizeof columns / sizeof columns[0] - (has_peak ? 0 : 3));

    for (size_t i = 0; i < count; i++) {
        gt_table_text(table, answers[i].change);
        gt_table_real(table, answers[i].step_us, 1);
        gt_table_real(table, answers[i].low_us, 1);
        gt_table_real(table, answers[i].high_us, 1);
        gt_table_real(table, answers[i].change_pct, 1);
        gt_table_text(table, gt_scenario_trust_text(&answers[i].scenario));
        gt_table_text(table, gt_bound_names[answers[i].bound_by]);
        gt_table_real(table, 100 * answers[i].part[answers[i].bound_by], 0);
        gt_table_real(table, answers[i].predicted_us, 1);
        if (!has_peak)
            continue;
        gt_table_real(table, answers[i].peak_bytes / gib, 3);
        gt_table_real(table, answers[i].reserved.bytes / gib, 3);
        gt_table_text(table, isnan(answers[i].peak_bytes) ? "-" : answers[i].reserved.out_of_memory ? "yes" : "no");
    }
    return table;
}

/* Times of steps that cannot run are told all the same: below the table it is said that they cannot. */
static void print_out_of_memory(FILE *out, const struct gt_answer *answers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct gt_device *device = &answers[i].scenario.device;
        char *text;

        if (!answers[i].reserved.out_of_memory)
            continue;
        text =
            gt_format("%s runs out of memory: its allocator reserves %.1f GiB for %.1f GiB that are allocated at a "
                      "time, and %s has %.1f GiB for a program. Its times are those of a GPU with enough memory.",
                      answers[i].change, answers[i].reserved.bytes / gib, answers[i].peak_bytes / gib, device->name,
                      answers[i].reserved.available_bytes / gib);
        fputc('\n', out);
        gt_fold_print(out, 0, text);
        free(text);
    }
}

static bool assumes(const struct gt_answer *answer, const char *text)
{
    for (uint32_t i = 0; i < answer->scenario.assumption_count; i++)
        if (strcmp(answer->scenario.assumptions[i], text) == 0)
            return true;
    return false;
}

/* Do all of several answers rest on it? */
static bool all_assume(const struct gt_answer *answers, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (!assumes(&answers[i], text))
            return false;
    return count > 1;
}

static void print_own(FILE *out, const struct gt_answer *answer, const struct gt_answer *answers, size_t count)
{
    bool any = false;

    for (uint32_t i = 0; i < answer->scenario.assumption_count; i++) {
        if (all_assume(answers, count, answer->scenario.assumptions[i]))
            continue;
        if (!any)
            fprintf(out, "\n%s assumes:\n", answer->change);
        any = true;
        gt_fold_print(out, INDENT, answer->scenario.assumptions[i]);
    }
}

/* Below the table: what each answer takes for granted, and what all do. */
static void print_assumptions(FILE *out, const struct gt_answer *answers, size_t count)
{
    bool any = false;

    for (size_t i = 0; i < count; i++)
        print_own(out, &answers[i], answers, count);
    for (uint32_t i = 0; count > 1 && i < answers[0].scenario.assumption_count; i++) {
        if (!all_assume(answers, count, answers[0].scenario.assumptions[i]))
            continue;
        if (!any)
            fputs("\nall assume:\n", out);
        any = true;
        gt_fold_print(out, INDENT, answers[0].scenario.assumptions[i]);
    }
}

/* The same for --table, a row each. */
static struct gt_table *assumptions_table(const struct gt_answer *answers, size_t count)
{
    static const struct gt_column columns[] = { { "change", GT_COLUMN_TEXT }, { "assumption", GT_COLUMN_WIDE } };
    struct gt_table *table = gt_table_new("assumptions", columns, 2);

    for (size_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < answers[i].scenario.assumption_count; j++) {
            gt_table_text(table, answers[i].change);
            gt_table_text(table, answers[i].scenario.assumptions[j]);
        }
    return table;
}

enum { BEST = 3 };
/* A change that gains less is none to recommend. */
static const double least_gain_pct = 1;

/* Above the tables, where all changes were tried: "1. graph: 80.1% shorter, 163 us a step (150 to 176; trust "
    "medium, bound by gpu)". */
static void print_best(FILE *out, const struct gt_answer *answers, size_t count)
{
    size_t place = 0;

    for (size_t i = 0; i < count && place < BEST; i++) {
        const struct gt_answer *answer = &answers[i];
        char *text;

        if (!(answer->change_pct <= -least_gain_pct))
            continue;
        text = gt_format("%zu. %s: %.1f%% shorter, %.1f us a step (%.1f to %.1f; trust %s, bound by %s)", ++place,
                         answer->change, -answer->change_pct, answer->step_us, answer->low_us, answer->high_us,
                         gt_scenario_trust_text(&answer->scenario), gt_bound_names[answer->bound_by]);
        gt_fold_print(out, 0, text);
        free(text);
    }
    if (place == 0)
        fprintf(out, "No change makes a step more than %.0f%% shorter.\n", least_gain_pct);
    fputc('\n', out);
}

void gt_whatif_print(FILE *out, enum gt_format format, const char *name, const struct gt_whatif *whatif,
                     const struct gt_answer *answers, size_t count, bool ranked)
{
    struct gt_table *tables[3];
    size_t table_count = 2;

    if (format == GT_FORMAT_JSON && !gt_tables_chosen()) {
        print_json(out, name, whatif, answers, count);
        return;
    }
    if (format == GT_FORMAT_TABLE && ranked && !gt_tables_chosen())
        print_best(out, answers, count);
    tables[0] = trace_table(name, whatif);
    tables[1] = changes_table(answers, count, !isnan(whatif->peak_bytes));
    if (gt_tables_chosen())
        tables[table_count++] = assumptions_table(answers, count);
    gt_tables_print(out, format, tables, table_count);
    while (table_count > 0)
        gt_table_free(tables[--table_count]);
    if (format != GT_FORMAT_TABLE || gt_tables_chosen())
        return;
    print_out_of_memory(out, answers, count);
    print_assumptions(out, answers, count);
}
