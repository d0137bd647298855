#include "sim/cmd/report/stats_tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "sim/cmd/report/breakdown_tables.h"
#include "sim/cmd/report/stats_sections.h"

enum { NAMES_FOR_PEOPLE = 30, SMS_FOR_PEOPLE = 16, LEAST_SMS = 5 };

#define COLUMNS(columns) (columns), sizeof(columns) / sizeof((columns)[0])

static void add_us(struct gt_table *table, gt_time_ps time_ps)
{
    gt_table_real(table, (double)time_ps / 1e6, 3);
}

static void add_us_if(struct gt_table *table, bool known, gt_time_ps time_ps)
{
    gt_table_real(table, known ? (double)time_ps / 1e6 : NAN, 3);
}

static void add_percent(struct gt_table *table, double share)
{
    gt_table_real(table, 100 * share, 2);
}

static double share_of(gt_time_ps part_ps, gt_time_ps whole_ps)
{
    return whole_ps == 0 ? NAN : (double)part_ps / (double)whole_ps;
}

/* clang-format off */
#define IDLE_COLUMNS \
    {"idle_host_us", GT_COLUMN_TIME}, {"idle_stream_us", GT_COLUMN_TIME}, \
    {"idle_event_us", GT_COLUMN_TIME}, {"idle_queue_us", GT_COLUMN_TIME}, \
    {"idle_engine_us", GT_COLUMN_TIME}, {"idle_resource_us", GT_COLUMN_TIME}
/* clang-format on */
_Static_assert(GT_WAIT_HOST == 0 && GT_WAIT_STREAM == 1 && GT_WAIT_EVENT == 2 && GT_WAIT_QUEUE == 3 &&
                   GT_WAIT_ENGINE == 4 && GT_WAIT_RESOURCE == 5 && GT_WAITS == 6,
               "as in IDLE_COLUMNS");

static void add_waits(struct gt_table *table, bool known, const gt_time_ps *wait_ps)
{
    for (int i = 0; i < GT_WAITS; i++)
        add_us_if(table, known, wait_ps[i]);
}

static struct gt_table *summary_table(const struct gt_stats *stats)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        {"run", GT_COLUMN_NUMBER}, {"kind", GT_COLUMN_TEXT}, {"trace", GT_COLUMN_TEXT},
        {"device", GT_COLUMN_TEXT}, {"options", GT_COLUMN_TEXT},
        {"operations", GT_COLUMN_NUMBER}, {"kernels", GT_COLUMN_NUMBER}, {"copies", GT_COLUMN_NUMBER},
        {"memsets", GT_COLUMN_NUMBER}, {"host_functions", GT_COLUMN_NUMBER},
        {"makespan_us", GT_COLUMN_TIME}, {"gpu_busy_us", GT_COLUMN_TIME},
        {"gpu_busy_pct", GT_COLUMN_NUMBER}, {"gpu_idle_us", GT_COLUMN_TIME},
        {"kernel_us", GT_COLUMN_TIME}, {"copy_us", GT_COLUMN_TIME},
        {"kernel_copy_overlap_us", GT_COLUMN_TIME}, {"mean_running", GT_COLUMN_NUMBER},
        {"peak_running", GT_COLUMN_NUMBER}, {"host_threads", GT_COLUMN_NUMBER},
        {"host_blocked_us", GT_COLUMN_TIME}, {"critical_path_us", GT_COLUMN_TIME},
    };
    /* clang-format on */
    const struct gt_stats_summary *summary = &stats->summary;
    struct gt_table *table = gt_table_new("summary", COLUMNS(columns));

    gt_table_single(table);
    gt_table_integer(table, stats->run.run_id);
    gt_table_text(table, stats->run.simulated ? "simulated" : "measured");
    gt_table_text(table, stats->run.trace);
    gt_table_text(table, stats->run.device.name);
    gt_table_text(table, stats->run.options);
    gt_table_integer(table, (int64_t)summary->operations);
    gt_table_integer(table, (int64_t)summary->kernels);
    gt_table_integer(table, (int64_t)summary->copies);
    gt_table_integer(table, (int64_t)summary->memsets);
    gt_table_integer(table, (int64_t)summary->host_functions);
    add_us(table, summary->makespan_ps);
    add_us(table, summary->busy_ps);
    add_percent(table, share_of(summary->busy_ps, summary->makespan_ps));
    add_us(table, summary->idle_ps);
    add_us(table, summary->kernel_ps);
    add_us(table, summary->copy_ps);
    add_us(table, summary->overlap_ps);
    gt_table_real(table, summary->mean_running, 3);
    gt_table_integer(table, (int64_t)summary->peak_running);
    gt_table_integer(table, summary->threads);
    add_us_if(table, summary->blocked_known, summary->blocked_ps);
    add_us_if(table, stats->path_count > 0, stats->path_end_ps - stats->path_start_ps);
    return table;
}

/* Programs get all about a stream, or a kernel, in one table; people in two, narrow enough to read. */
enum cells { CELLS_FIRST = 1, CELLS_SECOND = 2, CELLS_BOTH = 3 };

#define STREAM_PLACE               \
    { "gpu", GT_COLUMN_NUMBER },   \
    {                              \
        "stream", GT_COLUMN_NUMBER \
    }
/* clang-format off */
#define STREAM_BUSY \
    {"name", GT_COLUMN_WIDE}, {"operations", GT_COLUMN_NUMBER}, \
    {"busy_us", GT_COLUMN_TIME}, {"busy_pct", GT_COLUMN_NUMBER}, \
    {"idle_before_us", GT_COLUMN_TIME}, {"idle_between_us", GT_COLUMN_TIME}, \
    {"idle_after_us", GT_COLUMN_TIME}
/* clang-format on */
#define STREAM_IDLE                       \
    IDLE_COLUMNS,                         \
    {                                     \
        "idle_unknown_us", GT_COLUMN_TIME \
    }

static void add_stream_busy(struct gt_table *table, const struct gt_stats *stats,
                            const struct gt_stats_stream *stream)
{
    gt_time_ps between_ps = stream->idle_unknown_ps;

    for (int i = 0; i < GT_WAITS; i++)
        between_ps += stream->idle_wait_ps[i];
    gt_table_text(table, stream->name[0] != '\0' ? stream->name : NULL);
    gt_table_integer(table, (int64_t)stream->operations);
    add_us(table, stream->busy_ps);
    add_percent(table, share_of(stream->busy_ps, stats->summary.makespan_ps));
    add_us(table, stream->idle_before_ps);
    add_us(table, between_ps);
    add_us(table, stream->idle_after_ps);
}

static struct gt_table *streams_table(const struct gt_stats *stats, const char *name, enum cells cells)
{
    static const struct gt_column both[] = { STREAM_PLACE, STREAM_BUSY, STREAM_IDLE };
    static const struct gt_column busy[] = { STREAM_PLACE, STREAM_BUSY };
    static const struct gt_column idle[] = { STREAM_PLACE, STREAM_IDLE };
    struct gt_table *table = cells == CELLS_FIRST    ? gt_table_new(name, COLUMNS(busy))
                             : cells == CELLS_SECOND ? gt_table_new(name, COLUMNS(idle))
                                                     : gt_table_new(name, COLUMNS(both));

    for (size_t i = 0; i < stats->stream_count; i++) {
        const struct gt_stats_stream *stream = &stats->streams[i];

        if (stream->operations == 0)
            continue;
        gt_table_integer(table, stream->gpu);
        gt_table_integer(table, (int64_t)stream->id);
        if (cells & CELLS_FIRST)
            add_stream_busy(table, stats, stream);
        if (cells & CELLS_SECOND) {
            add_waits(table, stats->summary.waits_known, stream->idle_wait_ps);
            add_us(table, stream->idle_unknown_ps);
        }
    }
    return table;
}

#define KERNEL_NAME            \
    {                          \
        "name", GT_COLUMN_NAME \
    }
/* clang-format off */
#define KERNEL_TIMES \
    {"count", GT_COLUMN_NUMBER}, {"total_us", GT_COLUMN_TIME}, {"mean_us", GT_COLUMN_TIME}, \
    {"min_us", GT_COLUMN_TIME}, {"max_us", GT_COLUMN_TIME}, {"share_pct", GT_COLUMN_NUMBER}, \
    {"mean_wait_resource_us", GT_COLUMN_TIME}
#define KERNEL_SHAPES \
    {"shapes", GT_COLUMN_NUMBER}, {"grid", GT_COLUMN_TEXT}, {"block", GT_COLUMN_TEXT}, \
    {"blocks", GT_COLUMN_NUMBER}, {"blocks_per_sm", GT_COLUMN_NUMBER}, {"waves", GT_COLUMN_NUMBER}, \
    {"occupancy_pct", GT_COLUMN_NUMBER}, {"limiter", GT_COLUMN_TEXT}, \
    {"recorded_occupancy_pct", GT_COLUMN_NUMBER}
#define KERNEL_KIND {"family", GT_COLUMN_TEXT}, {"bound", GT_COLUMN_TEXT} /* not for people, whose tables are 80 columns wide */
/* clang-format on */

static void add_kernel_times(struct gt_table *table, const struct gt_stats_kernel *kernel)
{
    gt_table_integer(table, (int64_t)kernel->count);
    add_us(table, kernel->total_ps);
    gt_table_real(table, kernel->mean_ps / 1e6, 3);
    add_us(table, kernel->min_ps);
    add_us(table, kernel->max_ps);
    add_percent(table, kernel->share);
    gt_table_real(table, kernel->mean_wait_resource_ps / 1e6, 3);
}

static void add_shape(struct gt_table *table, const uint32_t shape[3])
{
    char text[40];

    snprintf(text, sizeof text, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, shape[0], shape[1], shape[2]);
    gt_table_text(table, text);
}

static void add_kernel_shapes(struct gt_table *table, const struct gt_stats_kernel *kernel)
{
    gt_table_integer(table, kernel->shapes);
    add_shape(table, kernel->grid);
    add_shape(table, kernel->block);
    gt_table_integer(table, kernel->blocks > INT64_MAX ? INT64_MAX : (int64_t)kernel->blocks);
    gt_table_integer(table, kernel->blocks_per_sm);
    gt_table_real(table, kernel->waves, 2);
    add_percent(table, kernel->occupancy);
    gt_table_text(table, kernel->limiter);
    add_percent(table, kernel->recorded_occupancy);
}

static struct gt_table *kernels_table(const struct gt_stats *stats, const char *name, enum cells cells, size_t most)
{
    static const struct gt_column both[] = { KERNEL_NAME, KERNEL_TIMES, KERNEL_SHAPES, KERNEL_KIND };
    static const struct gt_column times[] = { KERNEL_NAME, KERNEL_TIMES };
    static const struct gt_column shapes[] = { KERNEL_NAME, KERNEL_SHAPES };
    struct gt_table *table = cells == CELLS_FIRST    ? gt_table_new(name, COLUMNS(times))
                             : cells == CELLS_SECOND ? gt_table_new(name, COLUMNS(shapes))
                                                     : gt_table_new(name, COLUMNS(both));

    for (size_t i = 0; i < stats->kernel_count && i < most; i++) {
        gt_table_text(table, stats->kernels[i].name);
        if (cells & CELLS_FIRST)
            add_kernel_times(table, &stats->kernels[i]);
        if (cells & CELLS_SECOND)
            add_kernel_shapes(table, &stats->kernels[i]);
        if (cells != CELLS_FIRST && cells != CELLS_SECOND) {
            gt_table_text(table, stats->kernels[i].family);
            gt_table_text(table, stats->kernels[i].bound);
        }
    }
    return table;
}

static struct gt_table *copies_table(const struct gt_stats *stats)
{
    /* clang-format off */
    static const struct gt_column columns[] = {
        {"kind", GT_COLUMN_TEXT}, {"direction", GT_COLUMN_TEXT}, {"memory", GT_COLUMN_TEXT},
        {"count", GT_COLUMN_NUMBER}, {"bytes", GT_COLUMN_NUMBER}, {"busy_us", GT_COLUMN_TIME},
        {"gbps", GT_COLUMN_NUMBER}, {"kernel_overlap_us", GT_COLUMN_TIME},
        {"other_direction_overlap_us", GT_COLUMN_TIME},
    };
    /* clang-format on */
    struct gt_table *table = gt_table_new("copies", COLUMNS(columns));

    for (size_t i = 0; i < stats->copy_count; i++) {
        const struct gt_stats_copy *copy = &stats->copies[i];

        gt_table_text(table, copy->kind);
        gt_table_text(table, copy->direction[0] != '\0' ? copy->direction : NULL);
        gt_table_text(table, copy->memory);
        gt_table_integer(table, (int64_t)copy->count);
        gt_table_integer(table, copy->bytes > INT64_MAX ? INT64_MAX : (int64_t)copy->bytes);
        add_us(table, copy->busy_ps);
        gt_table_real(table, copy->gbps, 3);
        add_us(table, copy->kernel_overlap_ps);
        add_us(table, copy->other_direction_overlap_ps);
    }
    return table;
}

static void add_sm(struct gt_table *table, const struct gt_stats *stats, const struct gt_stats_sm *sm)
{
    add_us(table, sm->busy_ps);
    add_percent(table, share_of(sm->busy_ps, stats->summary.makespan_ps));
    gt_table_real(table, sm->mean_warps, 3);
    add_percent(table, sm->occupancy);
    gt_table_real(table, sm->blocks_known ? (double)sm->blocks : NAN, 0);
}

/* Least, mean and most of each figure, each on its own: not of one SM. */
static void add_sm_spread(struct gt_table *table, const struct gt_stats *stats)
{
    struct gt_stats_sm least = stats->sms[0], most = stats->sms[0];
    double busy = 0, warps = 0, occupancy = 0, blocks = 0, count = (double)stats->sm_count;

    for (size_t i = 0; i < stats->sm_count; i++) {
        const struct gt_stats_sm *sm = &stats->sms[i];

        least.busy_ps = sm->busy_ps < least.busy_ps ? sm->busy_ps : least.busy_ps;
        most.busy_ps = sm->busy_ps > most.busy_ps ? sm->busy_ps : most.busy_ps;
        least.mean_warps = fmin(least.mean_warps, sm->mean_warps);
        most.mean_warps = fmax(most.mean_warps, sm->mean_warps);
        least.occupancy = fmin(least.occupancy, sm->occupancy);
        most.occupancy = fmax(most.occupancy, sm->occupancy);
        least.blocks = sm->blocks < least.blocks ? sm->blocks : least.blocks;
        most.blocks = sm->blocks > most.blocks ? sm->blocks : most.blocks;
        busy += (double)sm->busy_ps;
        warps += sm->mean_warps;
        occupancy += sm->occupancy;
        blocks += (double)sm->blocks;
    }
    gt_table_text(table, "min");
    add_sm(table, stats, &least);
    gt_table_text(table, "mean");
    gt_table_real(table, busy / count / 1e6, 3);
    add_percent(table, busy / count / (double)stats->summary.makespan_ps);
    gt_table_real(table, warps / count, 3);
    add_percent(table, occupancy / count);
    gt_table_real(table, least.blocks_known ? blocks / count : NAN, 1);
    gt_table_text(table, "max");
    add_sm(table, stats, &most);
}

/* The least busy SM not yet shown: after `shown` in order of (busy time, place). */
static const struct gt_stats_sm *next_least(const struct gt_stats *stats, const struct gt_stats_sm *shown)
{
    const struct gt_stats_sm *least = NULL;

    for (size_t i = 0; i < stats->sm_count; i++) {
        const struct gt_stats_sm *sm = &stats->sms[i];
        bool later = shown == NULL || sm->busy_ps > shown->busy_ps || (sm->busy_ps == shown->busy_ps && sm > shown);

        if (later && (least == NULL || sm->busy_ps < least->busy_ps))
            least = sm;
    }
    return least;
}

static void add_named_sm(struct gt_table *table, const struct gt_stats *stats, const struct gt_stats_sm *sm)
{
    char name[40];

    snprintf(name, sizeof name, "gpu %" PRIu32 " sm %" PRIu32, sm->gpu, sm->sm);
    gt_table_text(table, name);
    add_sm(table, stats, sm);
}

/* clang-format off */
#define SM_FIGURES \
    {"busy_us", GT_COLUMN_TIME}, {"busy_pct", GT_COLUMN_NUMBER}, {"mean_warps", GT_COLUMN_NUMBER}, \
    {"occupancy_pct", GT_COLUMN_NUMBER}, {"blocks", GT_COLUMN_NUMBER}
/* clang-format on */

static struct gt_table *sms_table_for_people(const struct gt_stats *stats)
{
    static const struct gt_column columns[] = { { "sm", GT_COLUMN_TEXT }, SM_FIGURES };
    struct gt_table *table = gt_table_new("sms", COLUMNS(columns));
    const struct gt_stats_sm *shown = NULL;

    if (stats->sm_count > 0)
        add_sm_spread(table, stats);
    for (size_t i = 0; i < stats->sm_count && stats->sm_count <= SMS_FOR_PEOPLE; i++)
        add_named_sm(table, stats, &stats->sms[i]);
    for (int i = 0; i < LEAST_SMS && stats->sm_count > SMS_FOR_PEOPLE; i++) {
        shown = next_least(stats, shown);
        add_named_sm(table, stats, shown);
    }
    return table;
}

static struct gt_table *sms_table(const struct gt_stats *stats)
{
    static const struct gt_column columns[] = { { "gpu", GT_COLUMN_NUMBER }, { "sm", GT_COLUMN_NUMBER }, SM_FIGURES };
    struct gt_table *table = gt_table_new("sms", COLUMNS(columns));

    for (size_t i = 0; i < stats->sm_count; i++) {
        gt_table_integer(table, stats->sms[i].gpu);
        gt_table_integer(table, stats->sms[i].sm);
        add_sm(table, stats, &stats->sms[i]);
    }
    return table;
}

static struct gt_table *occupancy_table(const struct gt_stats *stats)
{
    static const struct gt_column columns[] = { { "from_us", GT_COLUMN_TIME },
                                                { "to_us", GT_COLUMN_TIME },
                                                { "mean_warps", GT_COLUMN_NUMBER },
                                                { "occupancy_pct", GT_COLUMN_NUMBER } };
    struct gt_table *table = gt_table_new("occupancy", COLUMNS(columns));

    for (size_t i = 0; i < stats->interval_count; i++) {
        const struct gt_stats_interval *interval = &stats->intervals[i];

        add_us(table, interval->from_ps);
        add_us(table, interval->to_ps);
        gt_table_real(table, interval->mean_warps, 2);
        add_percent(table, interval->occupancy);
    }
    return table;
}

static struct gt_table *path_table(const struct gt_stats *stats, size_t most)
{
    static const struct gt_column columns[] = { { "kind", GT_COLUMN_TEXT },
                                                { "name", GT_COLUMN_NAME },
                                                { "segments", GT_COLUMN_NUMBER },
                                                { "time_us", GT_COLUMN_TIME },
                                                { "share_pct", GT_COLUMN_NUMBER } };
    struct gt_table *table = gt_table_new("critical_path", COLUMNS(columns));

    for (size_t i = 0; i < stats->path_count && i < most; i++) {
        const struct gt_stats_path_part *part = &stats->path[i];

        gt_table_text(table, gt_path_kind_names[part->kind]);
        gt_table_text(table, part->name[0] != '\0' ? part->name : NULL);
        gt_table_integer(table, (int64_t)part->segments);
        add_us(table, part->total_ps);
        add_percent(table, part->share);
    }
    return table;
}

static void add_note(struct gt_table *table, const char *section, const char *text)
{
    gt_table_text(table, section);
    gt_table_text(table, text);
}

static void add_cut(struct gt_table *table, const char *section, size_t most, size_t count)
{
    char text[160];

    if (count <= most)
        return;
    snprintf(text, sizeof text, "the %zu with the most time of %zu; --format csv and json list all", most, count);
    add_note(table, section, text);
}

static struct gt_table *notes_table(const struct gt_stats *stats, size_t most_names, uint64_t most_segments)
{
    static const struct gt_column columns[] = { { "section", GT_COLUMN_TEXT }, { "note", GT_COLUMN_TEXT } };
    struct gt_table *table = gt_table_new("notes", COLUMNS(columns));
    char text[160];

    for (size_t i = 0; i < stats->note_count; i++)
        add_note(table, stats->notes[i].section, stats->notes[i].text);
    add_cut(table, "kernels", most_names, stats->kernel_count);
    add_cut(table, "operators", most_names, stats->operator_count);
    if (stats->step_count > most_names) {
        snprintf(text, sizeof text, "the first %zu of %zu; --format csv and json list all", most_names,
                 stats->step_count);
        add_note(table, "steps", text);
    }
    add_cut(table, "critical_path", most_names, stats->path_count);
    if (stats->path_segments > most_segments) {
        snprintf(text, sizeof text, "the %" PRIu64 " longest of %" PRIu64 ", in order of time", most_segments,
                 stats->path_segments);
        add_note(table, "critical_path_segments", text);
    }
    return table;
}

int gt_stats_tables(struct gt_stats *stats, const struct gt_loaded_run *run, enum gt_format format,
                    struct gt_table **tables, struct gt_error *error)
{
    bool people = format == GT_FORMAT_TABLE, all = !people || gt_tables_chosen();
    size_t most_names = people ? NAMES_FOR_PEOPLE : SIZE_MAX;
    uint64_t most_segments = people ? GT_SEGMENTS_FOR_PEOPLE : GT_SEGMENTS_FOR_PROGRAMS;
    struct gt_breakdown breakdown;
    int count = 0;

    tables[count++] = summary_table(stats);
    gt_breakdown_find(run, &breakdown);
    count += gt_breakdown_tables(&breakdown, format, most_names, &tables[count]);
    gt_breakdown_free(&breakdown);
    if (!all) {
        tables[count++] = streams_table(stats, "streams", CELLS_FIRST);
        if (stats->summary.waits_known)
            tables[count++] = streams_table(stats, "stream idle between operations", CELLS_SECOND);
        tables[count++] = kernels_table(stats, "kernels", CELLS_FIRST, most_names);
        tables[count++] = kernels_table(stats, "kernel shapes", CELLS_SECOND, most_names);
    } else {
        tables[count++] = streams_table(stats, "streams", CELLS_BOTH);
        tables[count++] = kernels_table(stats, "kernels", CELLS_BOTH, most_names);
    }
    if (all)
        tables[count++] = gt_stats_steps_table(stats, GT_STEP_ALL, most_names);
    for (int part = GT_STEP_HOST; !all && stats->step_count > 0 && part <= GT_STEP_GPU; part++)
        tables[count++] = gt_stats_steps_table(stats, (enum gt_step_part)part, most_names);
    if (all || stats->operator_count > 0)
        tables[count++] = gt_stats_operators_table(stats, most_names);
    count += gt_launch_tables(run, format, most_names, &tables[count]);
    if (stats->tasks.count > 0) {
        tables[count++] = gt_stats_tasks_table(stats);
        tables[count++] = gt_stats_task_kinds_table(stats, most_names);
    }
    if (stats->polls.count > 0)
        tables[count++] = gt_stats_polls_table(stats);
    tables[count++] = copies_table(stats);
    tables[count++] = people ? sms_table_for_people(stats) : sms_table(stats);
    tables[count++] = occupancy_table(stats);
    tables[count++] = path_table(stats, most_names);
    tables[count] = gt_stats_segments_table(stats, most_segments, error);
    if (tables[count] == NULL) {
        while (count > 0)
            gt_table_free(tables[--count]);
        return -1;
    }
    count++;
    if (all || stats->note_count > 0 || stats->kernel_count > most_names || stats->path_count > most_names ||
        stats->step_count > most_names || stats->operator_count > most_names || stats->path_segments > most_segments)
        tables[count++] = notes_table(stats, most_names, most_segments);
    return count;
}
