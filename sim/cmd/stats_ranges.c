#include "sim/cmd/stats_ranges.h"

#include <math.h>

static void add_us(struct gt_table *table, bool known, gt_time_ps time_ps)
{
    gt_table_real(table, known ? (double)time_ps / 1e6 : NAN, 3);
}

struct gt_table *gt_stats_steps_table(const struct gt_stats *stats, size_t most)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        {"name", GT_COLUMN_WIDE}, {"start_us", GT_COLUMN_NUMBER}, {"duration_us", GT_COLUMN_NUMBER},
        {"host_blocked_us", GT_COLUMN_NUMBER}, {"operations", GT_COLUMN_NUMBER}, {"gpu_us", GT_COLUMN_NUMBER},
        {"gpu_busy_us", GT_COLUMN_NUMBER}, {"gpu_start_us", GT_COLUMN_NUMBER}, {"gpu_end_us", GT_COLUMN_NUMBER},
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("steps", columns, sizeof columns / sizeof columns[0]);

    for (size_t i = 0; i < stats->step_count && i < most; i++) {
        const struct gt_stats_step *step = &stats->steps[i];

        gt_table_text(table, step->name);
        add_us(table, true, step->start_ps);
        add_us(table, true, step->end_ps - step->start_ps);
        add_us(table, stats->summary.blocked_known, step->blocked_ps);
        gt_table_integer(table, (int64_t)step->operations);
        add_us(table, true, step->gpu_ps);
        add_us(table, true, step->busy_ps);
        add_us(table, step->operations > 0, step->gpu_start_ps);
        add_us(table, step->operations > 0, step->gpu_end_ps);
    }
    return table;
}

struct gt_table *gt_stats_operators_table(const struct gt_stats *stats, size_t most)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        {"kind", GT_COLUMN_TEXT}, {"name", GT_COLUMN_NAME}, {"count", GT_COLUMN_NUMBER},
        {"host_us", GT_COLUMN_NUMBER}, {"host_self_us", GT_COLUMN_NUMBER}, {"operations", GT_COLUMN_NUMBER},
        {"gpu_us", GT_COLUMN_NUMBER}, {"gpu_self_us", GT_COLUMN_NUMBER},
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
