#include "sim/cmd/report/stats_ranges.h"

#include <math.h>

static void add_us(struct gt_table *table, bool known, gt_time_ps time_ps)
{
    gt_table_real(table, known ? (double)time_ps / 1e6 : NAN, 3);
}

/* clang-format off */
#define STEP_HOST \
    {"start_us", GT_COLUMN_TIME}, {"duration_us", GT_COLUMN_TIME}, {"host_blocked_us", GT_COLUMN_TIME}
#define STEP_GPU \
    {"operations", GT_COLUMN_NUMBER}, {"gpu_us", GT_COLUMN_TIME}, {"gpu_busy_us", GT_COLUMN_TIME}, \
    {"gpu_start_us", GT_COLUMN_TIME}, {"gpu_end_us", GT_COLUMN_TIME}
/* clang-format on */
#define STEP_NAME              \
    {                          \
        "name", GT_COLUMN_WIDE \
    }
#define COLUMNS(columns) (columns), sizeof(columns) / sizeof((columns)[0])

static void add_host(struct gt_table *table, const struct gt_stats *stats, const struct gt_stats_step *step)
{
    add_us(table, true, step->start_ps);
    add_us(table, true, step->end_ps - step->start_ps);
    add_us(table, stats->summary.blocked_known, step->blocked_ps);
}

static void add_gpu(struct gt_table *table, const struct gt_stats_step *step)
{
    gt_table_integer(table, (int64_t)step->operations);
    add_us(table, true, step->gpu_ps);
    add_us(table, true, step->busy_ps);
    add_us(table, step->operations > 0, step->gpu_start_ps);
    add_us(table, step->operations > 0, step->gpu_end_ps);
}

struct gt_table *gt_stats_steps_table(const struct gt_stats *stats, enum gt_step_part part, size_t most)
{
    static const struct gt_column both[] = { STEP_NAME, STEP_HOST, STEP_GPU };
    static const struct gt_column host[] = { STEP_NAME, STEP_HOST };
    static const struct gt_column gpu[] = { STEP_NAME, STEP_GPU };
    struct gt_table *table = part == GT_STEP_HOST  ? gt_table_new("steps", COLUMNS(host))
                             : part == GT_STEP_GPU ? gt_table_new("steps on the GPU", COLUMNS(gpu))
                                                   : gt_table_new("steps", COLUMNS(both));

    for (size_t i = 0; i < stats->step_count && i < most; i++) {
        const struct gt_stats_step *step = &stats->steps[i];

        gt_table_text(table, step->name);
        if (part != GT_STEP_GPU)
            add_host(table, stats, step);
        if (part != GT_STEP_HOST)
            add_gpu(table, step);
    }
    return table;
}

struct gt_table *gt_stats_operators_table(const struct gt_stats *stats, size_t most)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        {"kind", GT_COLUMN_TEXT}, {"name", GT_COLUMN_NAME}, {"count", GT_COLUMN_NUMBER},
        {"host_us", GT_COLUMN_TIME}, {"host_self_us", GT_COLUMN_TIME}, {"operations", GT_COLUMN_NUMBER},
        {"gpu_us", GT_COLUMN_TIME}, {"gpu_self_us", GT_COLUMN_TIME},
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("operators", columns, sizeof columns / sizeof columns[0]);

    for (size_t i = 0; i < stats->operator_count && i < most; i++) {
        const struct gt_stats_operator *row = &stats->operators[i];

        gt_table_text(table, row->kind);
        gt_table_text(table, row->name);
        gt_table_integer(table, (int64_t)row->count);
        add_us(table, true, row->total_ps);
        add_us(table, true, row->self_ps);
        gt_table_integer(table, (int64_t)row->operations);
        add_us(table, true, row->gpu_ps);
        add_us(table, true, row->gpu_self_ps);
    }
    return table;
}
