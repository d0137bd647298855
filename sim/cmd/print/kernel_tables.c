#include "sim/cmd/print/kernel_tables.h"

#include <math.h>
#include <stdlib.h>

#include "sim/cmd/print/json.h"
#include "traces/names/short_name.h"

struct gt_table *gt_kernel_rows_table(const struct gt_kernels *kernels)
{
    static const struct gt_column columns[] = {
        { "launch", GT_COLUMN_NUMBER },           { "measured_cycles", GT_COLUMN_NUMBER },
        { "simulated_cycles", GT_COLUMN_NUMBER }, { "bound_cycles", GT_COLUMN_NUMBER },
        { "error_pct", GT_COLUMN_NUMBER },        { "name", GT_COLUMN_NAME },
    };
    struct gt_table *table = gt_table_new("kernels", columns, sizeof columns / sizeof columns[0]);

    for (uint32_t i = 0; i < kernels->count; i++) {
        const struct gt_kernel_row *row = &kernels->rows[i];

        gt_table_integer(table, row->launch);
        gt_table_real(table, row->in_measured.cycles, 0);
        gt_table_real(table, row->in_simulated.cycles, 0);
        gt_table_real(table, row->in_simulated.bound_cycles, 0);
        gt_table_real(table, row->error_pct, 1);
        gt_table_text(table, row->name);
    }
    return table;
}

struct gt_table *gt_kernel_changes_table(const struct gt_kernels *kernels)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        { "launch", GT_COLUMN_NUMBER }, { "without_cycles", GT_COLUMN_NUMBER },
        { "simulated_cycles", GT_COLUMN_NUMBER }, { "change_pct", GT_COLUMN_NUMBER }, { "name", GT_COLUMN_NAME },
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("kernels", columns, sizeof columns / sizeof columns[0]);

    for (uint32_t i = 0; i < kernels->count; i++) {
        const struct gt_kernel_row *row = &kernels->rows[i];

        gt_table_integer(table, row->launch);
        gt_table_real(table, row->in_measured.cycles, 0);
        gt_table_real(table, row->in_simulated.cycles, 0);
        gt_table_real(table, row->error_pct, 1);
        gt_table_text(table, row->name);
    }
    return table;
}

/* A second's worth of what took `us`. */
static double per_second(double count, double us)
{
    return us > 0 ? count / us * 1e6 : NAN;
}

/* The figures over all launches, by name. */
struct figure {
    const char *name;
    double value;
    int decimals;
};
enum { FIGURES = 13 };

static void collect(const struct gt_kernel_error *error, struct figure figures[FIGURES])
{
    const struct figure all[FIGURES] = {
        { "launches", error->launches, 0 },
        { "compared", error->compared, 0 },
        { "mape_pct", error->mape_pct, 2 },
        { "pearson", error->pearson, 5 },
        { "error_median_pct", error->median_pct, 2 },
        { "error_worst_pct", error->worst_pct, 2 },
        { "launches_below_5us", error->short_launches, 0 },
        { "mape_below_5us_pct", error->short_mape_pct, 2 },
        { "mape_from_5us_pct", error->long_mape_pct, 2 },
        { "warp_instructions", error->warp_instructions, 0 },
        { "warp_instructions_per_s", per_second(error->warp_instructions, error->model_us), 0 },
        { "covered", error->covered, 0 },
        { "covered_per_s", per_second(error->covered, error->model_us), 0 },
    };

    for (int i = 0; i < FIGURES; i++)
        figures[i] = all[i];
}

struct gt_table *gt_kernel_error_table(const struct gt_kernels *kernels)
{
    static struct gt_column columns[FIGURES];
    struct figure figures[FIGURES];
    struct gt_table *table;

    collect(&kernels->error, figures);
    for (int i = 0; i < FIGURES; i++)
        columns[i] = (struct gt_column){ figures[i].name, GT_COLUMN_NUMBER };
    table = gt_table_new("cycles", columns, FIGURES);
    gt_table_single(table);
    for (int i = 0; i < FIGURES; i++)
        gt_table_real(table, figures[i].value, figures[i].decimals);
    return table;
}

static void json_number(yajl_gen json, const char *key, double value)
{
    gt_json_text(json, key);
    gt_json_real(json, value);
}

/* One a launch, the caller's to free: names that differ have short names that differ. */
static char **short_names_of(const struct gt_kernels *kernels)
{
    const char **names = gt_calloc(kernels->count + 1ull, sizeof *names);
    char **short_names = gt_calloc(kernels->count + 1ull, sizeof *short_names);

    for (uint32_t i = 0; i < kernels->count; i++)
        names[i] = kernels->rows[i].name;
    gt_short_names_unique(names, short_names, kernels->count, GT_SHORT_NAME_COLUMNS);
    free(names);
    return short_names;
}

void gt_kernels_json(yajl_gen json, const struct gt_kernels *kernels)
{
    struct figure figures[FIGURES];
    char **short_names = short_names_of(kernels);

    gt_json_text(json, "kernels");
    yajl_gen_array_open(json);
    for (uint32_t i = 0; i < kernels->count; i++) {
        const struct gt_kernel_row *row = &kernels->rows[i];

        yajl_gen_map_open(json);
        gt_json_text(json, "name");
        gt_json_text(json, row->name);
        gt_json_text(json, "short_name");
        gt_json_text(json, short_names[i]);
        free(short_names[i]);
        gt_json_text(json, "launch");
        gt_json_integer(json, row->launch);
        json_number(json, "measured_cycles", row->in_measured.cycles);
        json_number(json, "simulated_cycles", row->in_simulated.cycles);
        json_number(json, "error_pct", row->error_pct);
        yajl_gen_map_close(json);
    }
    free(short_names);
    yajl_gen_array_close(json);
    collect(&kernels->error, figures);
    for (int i = 0; i < FIGURES; i++)
        json_number(json, figures[i].name, figures[i].value);
}
