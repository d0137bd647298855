/* run_tables.c - what came out of `gridtide run`, as tables. */
#include "sim/cmd/print/kernel_tables.h"
#include "sim/cmd/print/table.h"
#include "sim/cmd/run/run_parts.h"

/* clang-format off */
static const struct gt_column as_recorded[] = {
    { "trace", GT_COLUMN_TEXT }, { "device", GT_COLUMN_TEXT }, { "operations", GT_COLUMN_NUMBER },
    { "makespan_measured_us", GT_COLUMN_NUMBER }, { "makespan_simulated_us", GT_COLUMN_NUMBER },
    { "makespan_error_pct", GT_COLUMN_NUMBER }, { "start_error_median_us", GT_COLUMN_NUMBER },
    { "gpu_busy_pct", GT_COLUMN_NUMBER },
};
/* Behind the last one: what `gridtide whatif` says of the same change. */
static const struct gt_column changed[] = {
    { "trace", GT_COLUMN_TEXT }, { "device", GT_COLUMN_TEXT }, { "operations", GT_COLUMN_NUMBER },
    { "makespan_without_us", GT_COLUMN_NUMBER }, { "makespan_simulated_us", GT_COLUMN_NUMBER },
    { "makespan_change_pct", GT_COLUMN_NUMBER }, { "start_change_median_us", GT_COLUMN_NUMBER },
    { "gpu_busy_pct", GT_COLUMN_NUMBER }, { "step_without_us", GT_COLUMN_NUMBER }, { "step_us", GT_COLUMN_NUMBER },
    { "low_us", GT_COLUMN_NUMBER }, { "high_us", GT_COLUMN_NUMBER }, { "change_pct", GT_COLUMN_NUMBER },
    { "trust", GT_COLUMN_TEXT },
};
enum { COMMON = sizeof as_recorded / sizeof as_recorded[0], CHANGED = sizeof changed / sizeof changed[0] };
/* clang-format on */

static void put_answer(struct gt_table *table, const struct gt_run_engine *engine)
{
    gt_table_real(table, engine->whatif.step_us, 1);
    gt_table_real(table, engine->answer.step_us, 1);
    gt_table_real(table, engine->answer.low_us, 1);
    gt_table_real(table, engine->answer.high_us, 1);
    gt_table_real(table, engine->answer.change_pct, 1);
    gt_table_text(table, gt_scenario_trust_text(&engine->answer.scenario));
}

static struct gt_table *result_table(const struct gt_run_work *work)
{
    const struct gt_comparison *comparison = work->changed ? &work->change : &work->asked.comparison;
    struct gt_table *table =
        gt_table_new("run", work->changed ? changed : as_recorded, work->engine.asked ? CHANGED : COMMON);

    gt_table_single(table);
    gt_table_text(table, work->name);
    gt_table_text(table, work->asked.device.name);
    gt_table_integer(table, (int64_t)(comparison->kernels + comparison->copies + comparison->memsets));
    gt_table_real(table, comparison->makespan_measured_us, 3);
    gt_table_real(table, comparison->makespan_simulated_us, 3);
    gt_table_real(table, comparison->makespan_error_pct, 3);
    gt_table_real(table, comparison->start_error_us.median, 3);
    gt_table_real(table, comparison->busy_simulated_pct, 1);
    if (work->engine.asked)
        put_answer(table, &work->engine);
    return table;
}

/* What the host's noise and the simulator's own error make of the makespan. */
static struct gt_table *interval_table(const struct gt_run_work *work)
{
    static const struct gt_column columns[] = {
        { "makespan_us", GT_COLUMN_TIME },
        { "low_us", GT_COLUMN_TIME },
        { "high_us", GT_COLUMN_TIME },
    };
    struct gt_table *table = gt_table_new("interval", columns, sizeof columns / sizeof columns[0]);

    gt_table_single(table);
    gt_table_real(table, work->asked.comparison.makespan_simulated_us, 3);
    gt_table_real(table, work->asked.range.low_us, 3);
    gt_table_real(table, work->asked.range.high_us, 3);
    return table;
}

static void add_assumption(void *table, const char *text)
{
    gt_table_text(table, text);
}

static struct gt_table *assumptions_table(const struct gt_run_work *work)
{
    static const struct gt_column columns[] = { { "assumption", GT_COLUMN_WIDE } };
    struct gt_table *table = gt_table_new("assumptions", columns, 1);

    gt_run_each_change(work, add_assumption, table);
    return table;
}

enum { TABLES = 5 };

/* The result, and the launches with cycles; for people where they are few, who get the rest in sentences. */
static size_t make_tables(const struct gt_run_work *work, bool people, struct gt_table *tables[TABLES])
{
    size_t count = 0;

    tables[count++] = result_table(work);
    if (!people && work->asked.range.draws > 0)
        tables[count++] = interval_table(work);
    if (!people && work->changed)
        tables[count++] = assumptions_table(work);
    if (work->kernels.count == 0)
        return count;
    if (!work->changed)
        tables[count++] = gt_kernel_error_table(&work->kernels);
    if (!people || work->kernels.count <= GT_RUN_KERNELS_SHOWN)
        tables[count++] =
            work->changed ? gt_kernel_changes_table(&work->kernels) : gt_kernel_rows_table(&work->kernels);
    return count;
}

void gt_run_print_tables(const struct gt_run_work *work, enum gt_format format)
{
    struct gt_table *tables[TABLES];
    size_t count = make_tables(work, format == GT_FORMAT_TABLE && !gt_tables_chosen(), tables);

    gt_tables_print(stdout, format, tables, count);
    while (count > 0)
        gt_table_free(tables[--count]);
}
