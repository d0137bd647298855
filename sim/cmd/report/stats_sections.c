#include "sim/cmd/report/stats_sections.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/heap.h"
#include "sim/base/sort.h"

/* First pass: the longest so far, the shortest and latest of them on top of the heap.
 * Second pass: what became of them, in order of time. */
struct longest {
    struct gt_heap heap;
    uint64_t most, seen;
    uint64_t *kept, kept_next; /* their numbers along the path, ascending */
    struct gt_table *table;
};

static int choose(void *user, const struct gt_stats_segment *segment, struct gt_error *error)
{
    struct longest *longest = user;

    (void)error;
    gt_heap_push(&longest->heap, (struct gt_heap_event){ .time_ps = segment->to_ps - segment->from_ps,
                                                         .order = UINT64_MAX - longest->seen,
                                                         .stamp = longest->seen });
    if (longest->heap.count > longest->most)
        gt_heap_pop(&longest->heap);
    longest->seen++;
    return 0;
}

static void add_number(struct gt_table *table, int64_t number)
{
    if (number < 0)
        gt_table_text(table, NULL);
    else
        gt_table_integer(table, number);
}

static int add_chosen(void *user, const struct gt_stats_segment *segment, struct gt_error *error)
{
    struct longest *longest = user;

    (void)error;
    if (longest->kept_next == longest->heap.count || longest->seen++ != longest->kept[longest->kept_next])
        return 0;
    longest->kept_next++;
    gt_table_text(longest->table, gt_path_kind_names[segment->kind]);
    gt_table_text(longest->table, segment->name[0] != '\0' ? segment->name : NULL);
    add_number(longest->table, segment->op);
    add_number(longest->table, segment->call);
    gt_table_real(longest->table, (double)segment->from_ps / 1e6, 3);
    gt_table_real(longest->table, (double)segment->to_ps / 1e6, 3);
    gt_table_real(longest->table, (double)(segment->to_ps - segment->from_ps) / 1e6, 3);
    return 0;
}

struct gt_table *gt_stats_segments_table(struct gt_stats *stats, uint64_t most, struct gt_error *error)
{
    static const struct gt_column columns[] = { { "kind", GT_COLUMN_TEXT },        { "name", GT_COLUMN_NAME },
                                                { "operation", GT_COLUMN_NUMBER }, { "call", GT_COLUMN_NUMBER },
                                                { "from_us", GT_COLUMN_TIME },     { "to_us", GT_COLUMN_TIME },
                                                { "time_us", GT_COLUMN_TIME } };
    struct longest longest = { .most = most };
    int result = gt_stats_path(stats, choose, &longest, error);

    longest.table = gt_table_new("critical_path_segments", columns, sizeof columns / sizeof columns[0]);
    longest.kept = gt_calloc(longest.heap.count + 1, sizeof *longest.kept);
    for (size_t i = 0; i < longest.heap.count; i++)
        longest.kept[i] = longest.heap.events[i].stamp;
    qsort(longest.kept, longest.heap.count, sizeof *longest.kept, gt_by_u64);
    longest.seen = 0;
    if (result == 0)
        result = gt_stats_path(stats, add_chosen, &longest, error);
    gt_heap_free(&longest.heap);
    free(longest.kept);
    if (result != 0) {
        gt_table_free(longest.table);
        return NULL;
    }
    return longest.table;
}

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

static void add_task_us(struct gt_table *table, double time_ps)
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
    add_task_us(table, mean_ps(tasks->queue_ps, tasks->workers) + mean_ps(tasks->other_ps, tasks->workers));
    add_task_us(table, mean_ps(tasks->queue_ps, tasks->workers));
    add_task_us(table, mean_ps(tasks->counter_ps, tasks->workers));
    add_task_us(table, (double)tasks->path_ps);
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
        add_task_us(table, (double)kind->total_ps);
        add_task_us(table, mean_ps(kind->total_ps, kind->count));
        add_task_us(table, mean_ps(kind->wait_ps, kind->count));
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
    add_task_us(table, (double)stats->polls.total_ps);
    return table;
}
