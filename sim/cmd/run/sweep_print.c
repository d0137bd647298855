/* The grid of a sweep as a table, CSV or JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/run/sweep_parts.h"
#include "traces/names/clean_text.h"

/* What stands behind the parameters. */
static const struct gt_column results[] = {
    { "step_us", GT_COLUMN_NUMBER },    { "low_us", GT_COLUMN_NUMBER },       { "high_us", GT_COLUMN_NUMBER },
    { "change_pct", GT_COLUMN_NUMBER }, { "trust", GT_COLUMN_TEXT },          { "bound_by", GT_COLUMN_TEXT },
    { "bound_pct", GT_COLUMN_NUMBER },  { "predicted_us", GT_COLUMN_NUMBER }, { "refusal", GT_COLUMN_WIDE },
    { "assumptions", GT_COLUMN_WIDE },
};
enum { RESULTS = sizeof results / sizeof results[0] };

/* The grid while it is being filled. */
struct grid {
    const struct gt_sweep_plan *plan;
    struct gt_table *table;
    bool assumptions; /* for programs */
    struct best {     /* by trace: */
        double us;    /* the least step_us, */
        char *change; /* and its change */
        double change_pct;
    } * best;
};

static const char *trace_name(const struct gt_sweep_trace *trace)
{
    return trace->name != NULL ? trace->name : trace->file;
}

static struct gt_table *traces_table(const struct gt_sweep_plan *plan)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "trace", GT_COLUMN_TEXT }, { "measured_us", GT_COLUMN_NUMBER }, { "replay_us", GT_COLUMN_NUMBER },
        { "baseline_us", GT_COLUMN_NUMBER }, { "step_us", GT_COLUMN_NUMBER }, { "steps", GT_COLUMN_NUMBER },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("traces", columns, sizeof columns / sizeof columns[0]);

    for (uint32_t i = 0; i < plan->trace_count; i++) {
        const struct gt_sweep_trace *trace = &plan->traces[i];

        gt_table_text(table, trace_name(trace));
        gt_table_real(table, trace->measured_us, 1);
        gt_table_real(table, trace->replay_us, 1);
        gt_table_real(table, trace->baseline_us, 1);
        gt_table_real(table, trace->step_us, 1);
        gt_table_integer(table, trace->steps);
    }
    return table;
}

static void note_best(struct best *best, const struct gt_sweep_row *row)
{
    if (!isfinite(row->step_us) || (best->change != NULL && row->step_us >= best->us))
        return;
    free(best->change);
    *best = (struct best){ row->step_us, gt_clean_name(row->change), row->change_pct };
}

static int add_row(void *user, const struct gt_sweep_row *row, struct gt_error *error)
{
    struct grid *grid = user;
    const struct gt_sweep_plan *plan = grid->plan;
    uint32_t trace = (uint32_t)(row->point / gt_sweep_grid_points(plan));

    (void)error;
    gt_table_text(grid->table, trace_name(&plan->traces[trace]));
    for (uint32_t i = 0; i < plan->parameter_count; i++)
        gt_table_text(grid->table, plan->parameters[i].values[gt_sweep_value(plan, row->point, i)]);
    gt_table_real(grid->table, row->step_us, 1);
    gt_table_real(grid->table, row->low_us, 1);
    gt_table_real(grid->table, row->high_us, 1);
    gt_table_real(grid->table, row->change_pct, 1);
    gt_table_text(grid->table, row->trust);
    gt_table_text(grid->table, row->bound_by);
    gt_table_real(grid->table, row->bound_pct, 0);
    gt_table_real(grid->table, row->predicted_us, 1);
    gt_table_text(grid->table, row->refusal);
    if (grid->assumptions)
        gt_table_text(grid->table, row->assumptions);
    note_best(&grid->best[trace], row);
    return 0;
}

static void print_best(const struct grid *grid)
{
    for (uint32_t i = 0; i < grid->plan->trace_count; i++) {
        const struct best *best = &grid->best[i];
        char *name = gt_clean_name(trace_name(&grid->plan->traces[i]));

        if (best->change != NULL)
            printf("%sbest of %s: %s, %.1f us a step (%+.1f%%)\n", i == 0 ? "\n" : "", name,
                   best->change[0] != '\0' ? best->change : "no change", best->us, best->change_pct);
        free(name);
    }
}

int gt_sweep_print(struct gt_sweep *sweep, enum gt_format format, struct gt_error *error)
{
    struct gt_column columns[1 + GT_GRID_PARAMETERS_MAX + RESULTS] = { { "trace", GT_COLUMN_TEXT } };
    struct grid grid = { .assumptions = format != GT_FORMAT_TABLE };
    struct gt_sweep_plan plan;
    struct gt_table *tables[2];
    int result = gt_sweep_plan_read(sweep->store, &plan, error); /* with what the traces came to */

    if (result != 0) {
        gt_sweep_plan_free(&plan);
        return -1;
    }
    for (uint32_t i = 0; i < plan.parameter_count; i++)
        columns[1 + i] = (struct gt_column){ plan.parameters[i].name, GT_COLUMN_TEXT };
    memcpy(columns + 1 + plan.parameter_count, results, sizeof results);
    tables[0] = traces_table(&plan);
    tables[1] = gt_table_new("sweep", columns, 1 + plan.parameter_count + RESULTS - !grid.assumptions);
    grid.plan = &plan;
    grid.table = tables[1];
    grid.best = gt_calloc(plan.trace_count, sizeof *grid.best);
    result = gt_sweep_each(sweep->store, &plan, add_row, &grid, error);
    if (result == 0)
        gt_tables_print(stdout, format, tables, 2);
    if (result == 0 && format == GT_FORMAT_TABLE && !gt_tables_chosen())
        print_best(&grid);
    for (uint32_t i = 0; i < plan.trace_count; i++)
        free(grid.best[i].change);
    free(grid.best);
    for (int i = 0; i < 2; i++)
        gt_table_free(tables[i]);
    gt_sweep_plan_free(&plan);
    return result;
}
