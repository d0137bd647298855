#include "sim/cmd/report/stats_tasks.h"

#include <math.h>

static void add_us(struct gt_table *table, double time_ps)
{
    gt_table_real(table, time_ps / 1e6, 3);
}

static double mean_ps(gt_time_ps sum_ps, uint64_t count)
{
    return count == 0 ? NAN : (double)sum_ps / (double)count;
}

struct gt_table *gt_stats_tasks_table(const struct gt_stats *stats)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        {"count", GT_COLUMN_NUMBER}, {"workers", GT_COLUMN_NUMBER}, {"utilisation_pct", GT_COLUMN_NUMBER},
        {"overhead_us", GT_COLUMN_TIME}, {"wait_queue_us", GT_COLUMN_TIME},
        {"wait_counter_us", GT_COLUMN_TIME}, {"critical_path_us", GT_COLUMN_TIME},
    };
    /* clang-format on */
    const struct gt_stats_tasks *tasks = &stats->tasks;
    struct gt_table *table = gt_table_new("tasks", columns, sizeof columns / sizeof columns[0]);

    gt_table_single(table);
    gt_table_integer(table, (int64_t)tasks->count);
    gt_table_integer(table, (int64_t)tasks->workers);
    gt_table_real(table, tasks->worker_ps == 0 ? NAN : 100 * (double)tasks->work_ps / (double)tasks->worker_ps, 2);
    add_us(table, mean_ps(tasks->queue_ps, tasks->workers) + mean_ps(tasks->other_ps, tasks->workers));
    add_us(table, mean_ps(tasks->queue_ps, tasks->workers));
    add_us(table, mean_ps(tasks->counter_ps, tasks->workers));
    add_us(table, (double)tasks->path_ps);
    return table;
}

struct gt_table *gt_stats_task_kinds_table(const struct gt_stats *stats, size_t most)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        {"graph", GT_COLUMN_NAME}, {"kind", GT_COLUMN_NAME}, {"count", GT_COLUMN_NUMBER},
        {"total_us", GT_COLUMN_TIME}, {"mean_us", GT_COLUMN_TIME}, {"mean_wait_counter_us", GT_COLUMN_TIME},
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("task_kinds", columns, sizeof columns / sizeof columns[0]);

    for (size_t i = 0; i < stats->task_kind_count && i < most; i++) {
        const struct gt_stats_task_kind *kind = &stats->task_kinds[i];

        if (kind->count == 0)
            continue;
        gt_table_text(table, kind->graph);
        gt_table_text(table, kind->name);
        gt_table_integer(table, (int64_t)kind->count);
        add_us(table, (double)kind->total_ps);
        add_us(table, mean_ps(kind->total_ps, kind->count));
        add_us(table, mean_ps(kind->wait_ps, kind->count));
    }
    return table;
}

struct gt_table *gt_stats_polls_table(const struct gt_stats *stats)
{
    static const struct gt_column columns[] = { { "count", GT_COLUMN_NUMBER },
                                                { "pieces", GT_COLUMN_NUMBER },
                                                { "total_us", GT_COLUMN_TIME } };
    struct gt_table *table = gt_table_new("polls", columns, sizeof columns / sizeof columns[0]);

    gt_table_single(table);
    gt_table_integer(table, (int64_t)stats->polls.count);
    gt_table_integer(table, (int64_t)stats->polls.pieces);
    add_us(table, (double)stats->polls.total_ps);
    return table;
}
