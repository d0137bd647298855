/* Workers over time: what each block of a kernel that hands out tasks does, by kind of task, or waits for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/figures/figure.h"
#include "traces/names/clean_text.h"
#include "traces/store/query.h"

enum {
    LEFT_PX = 80,
    TOP_PX = 10,
    AXIS_PX = 66,
    PLOT_PX = GT_FIGURE_WIDTH_PX - LEFT_PX - GT_FIGURE_RIGHT_PX,
    HEIGHT_PX = 396,
    WORKERS_MAX = 396, /* shown: a pixel's row each at least */
    LEGEND_ROW_PX = 22,
    LEGEND_COLUMNS = 3
};

/* What a worker does: a kind of task of those that take most time, another one, or how it waits. */
enum doing { DOING_KINDS = GT_CLASS_KERNELS, DOING_OTHER_KIND = DOING_KINDS, DOING_QUEUE, DOING_COUNTER, DOINGS };

struct workers {
    const struct gt_view *view;
    struct {
        unsigned workers, all, rows_px; /* shown; there are; pixels of each */
        float (*share)[DOINGS];         /* by worker and column: of the column's time */
        bool seen[DOINGS];
    } grid;
};

static const uint32_t idle_rgb[DOINGS] = { [DOING_QUEUE] = 0xf0d2e4, [DOING_COUNTER] = 0xf6e3bd };
static const char *const idle_names[DOINGS] = {
    [DOING_QUEUE] = "queries the queue, or finds it empty", [DOING_COUNTER] = "waits for a counter"
};

static uint32_t rgb_of(int doing)
{
    return doing == DOING_QUEUE || doing == DOING_COUNTER ? idle_rgb[doing] : gt_class_rows[doing].rgb;
}

/* Kinds stand in the order of their time. */
static int kind_of(const struct gt_stats *stats, const char *graph, const char *name)
{
    for (size_t i = 0; i < stats->task_kind_count && i < DOING_KINDS; i++)
        if (strcmp(stats->task_kinds[i].name, name) == 0 && strcmp(stats->task_kinds[i].graph, graph) == 0)
            return (int)i;
    return DOING_OTHER_KIND;
}

static void add(struct workers *workers, unsigned worker, int doing, double from_ps, double to_ps)
{
    const struct gt_view *view = workers->view;
    double column_ps = (double)(view->to_ps - view->from_ps) / PLOT_PX;
    double from = (from_ps - (double)view->from_ps) / column_ps, to = (to_ps - (double)view->from_ps) / column_ps;

    for (int column = (int)fmax(from, 0); column < PLOT_PX && column < to; column++) {
        double share = fmin(to, column + 1) - fmax(from, column);

        if (share > 0)
            workers->grid.share[worker * PLOT_PX + (unsigned)column][doing] += (float)share;
    }
    workers->grid.seen[doing] = workers->grid.seen[doing] || to_ps > from_ps;
}

static const char tasks_sql[] =
    "SELECT x.op_no, x.worker_no, x.asked_ps, x.taken_ps, x.start_ps, x.end_ps, k.graph, k.name FROM run_task x"
    " JOIN op o ON o.trace_id = ?2 AND o.op_no = x.op_no"
    " JOIN kernel_tasks n ON n.trace_id = ?2 AND n.kernel_no = o.kernel_no"
    " LEFT JOIN task t ON t.trace_id = ?2 AND t.graph_no = n.graph_no AND t.task_no = x.task_no"
    " LEFT JOIN task_kind k ON k.trace_id = ?2 AND k.graph_no = n.graph_no AND k.kind_no = t.kind_no"
    " WHERE x.run_id = ?1 AND x.worker_no < ?3";

static void add_task(struct workers *workers, struct gt_query *query)
{
    const struct gt_side *side = workers->view->subject;
    unsigned worker = (unsigned)gt_query_integer(query, 1);
    const char *graph = gt_query_string(query, 6), *name = gt_query_string(query, 7);
    double at_ps[4];

    for (int i = 0; i < 4; i++)
        at_ps[i] = (double)(gt_query_integer(query, 2 + i) - side->origin_ps);
    add(workers, worker, DOING_QUEUE, at_ps[0], at_ps[1]);
    add(workers, worker, DOING_COUNTER, at_ps[1], at_ps[2]);
    add(workers, worker, kind_of(side->stats, graph != NULL ? graph : "", name != NULL ? name : ""), at_ps[2],
        at_ps[3]);
}

static int load(struct workers *workers, struct gt_error *error)
{
    const struct gt_view *view = workers->view;
    struct gt_query *query = gt_query_new(view->database, tasks_sql, error);
    int row;

    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, view->subject->stats->run.run_id);
    gt_query_bind(query, 2, view->subject->stats->run.trace_id);
    gt_query_bind(query, 3, workers->grid.workers);
    while ((row = gt_query_next(query, error)) == 1)
        if (gt_query_integer(query, 1) >= 0 &&
            gt_selection_has_op(&view->subject->run->part, gt_query_integer(query, 0)))
            add_task(workers, query);
    gt_query_end(query);
    return row;
}

/* The colour of a column is the mean of what the worker did in it; white is nothing. */
static void write_pixel(FILE *out, const float share[DOINGS])
{
    double rgb[3] = { 0 }, left = 1;

    for (int doing = 0; doing < DOINGS && left > 0; doing++) {
        double part = fmin(share[doing], left);

        for (int i = 0; i < 3; i++)
            rgb[i] += part * (rgb_of(doing) >> (16 - 8 * i) & 255);
        left -= part;
    }
    for (int i = 0; i < 3; i++)
        putc((int)(rgb[i] + fmax(left, 0) * 255), out);
}

static int write_raster(const struct workers *workers, struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "raster.rgb", error);

    if (out == NULL)
        return -1;
    for (unsigned worker = 0; worker < workers->grid.workers; worker++)
        for (unsigned line = 0; line < workers->grid.rows_px; line++)
            for (unsigned column = 0; column < PLOT_PX; column++)
                write_pixel(out, workers->grid.share[worker * PLOT_PX + column]);
    return gt_folder_close(drawing->folder, out, error);
}

/* Returns the rows of the legend, or -1. */
static int write_legend(const struct workers *workers, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_stats *stats = workers->view->subject->stats;
    FILE *out = gt_folder_open_work(drawing->folder, "legend.tsv", error);
    int place = 0;

    if (out == NULL)
        return -1;
    for (int doing = 0; doing < DOINGS; doing++) {
        const char *name = doing < DOING_KINDS         ? stats->task_kinds[doing].name
                           : doing == DOING_OTHER_KIND ? "other kinds"
                                                       : idle_names[doing];

        if (!workers->grid.seen[doing])
            continue;
        fprintf(out, "%d\t%d\t1\t%u\t", place % LEGEND_COLUMNS, place / LEGEND_COLUMNS, (unsigned)rgb_of(doing));
        gt_plot_field(out, name);
        putc('\n', out);
        place++;
    }
    return gt_folder_close(drawing->folder, out, error) == 0 ? (place + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS : -1;
}

static void describe(const struct workers *workers, struct gt_drawing *drawing)
{
    const struct gt_stats_tasks *tasks = &workers->view->subject->stats->tasks;
    char shown[64] = "";

    if (workers->grid.workers < workers->grid.all)
        snprintf(shown, sizeof shown, " The first %u workers of %u are shown.", workers->grid.workers,
                 workers->grid.all);
    snprintf(drawing->alt, sizeof drawing->alt, "Activity of %u workers over time: kinds of task, and waits.",
             workers->grid.workers);
    snprintf(drawing->caption, sizeof drawing->caption,
             "%s tasks; workers were busy for %s of their time, and waited %s for counters and %s for the queue.%s",
             gt_count_text(tasks->count).s, gt_share_text((double)tasks->work_ps / (double)tasks->worker_ps).s,
             gt_share_text((double)tasks->counter_ps / (double)tasks->worker_ps).s,
             gt_share_text((double)tasks->queue_ps / (double)tasks->worker_ps).s, shown);
}

static int draw(struct workers *workers, struct gt_drawing *drawing, struct gt_error *error)
{
    int legend_rows;
    unsigned legend_px, height_px = workers->grid.workers * workers->grid.rows_px;

    if (load(workers, error) != 0 || write_raster(workers, drawing, error) != 0)
        return -1;
    legend_rows = write_legend(workers, drawing, error);
    if (legend_rows < 0)
        return -1;
    legend_px = (unsigned)legend_rows * LEGEND_ROW_PX + 8;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, height_px, AXIS_PX + legend_px);
    gt_figure_time_axis(workers->view, drawing);
    fprintf(drawing->parameters,
            "plot_px = %d\nplot_height_px = %u\nworkers = %u\nlegend_rows = %d\nlegend_columns = %d\n"
            "legend_px = %u\n",
            PLOT_PX, height_px, workers->grid.workers, legend_rows, LEGEND_COLUMNS, legend_px);
    describe(workers, drawing);
    return 1;
}

/* How many workers the run had: their highest number, and one. */
static int count_workers(struct workers *workers, struct gt_error *error)
{
    const struct gt_view *view = workers->view;
    int64_t most = -1;

    if (gt_query_one(view->database, "SELECT max(worker_no) FROM run_task WHERE run_id = ?1",
                     view->subject->stats->run.run_id, 0, &most, error) < 0)
        return -1;
    workers->grid.all = most < 0 || most >= UINT32_MAX - 1 ? 0 : (unsigned)most + 1;
    workers->grid.workers = workers->grid.all < WORKERS_MAX ? workers->grid.all : WORKERS_MAX;
    workers->grid.rows_px = workers->grid.workers == 0 ? 0 : HEIGHT_PX / workers->grid.workers;
    return 0;
}

gt_prepare_fn gt_prepare_workers;
int gt_prepare_workers(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    struct workers *workers;
    int result = 0;

    if (view->subject->stats->tasks.count == 0)
        return 0;
    workers = gt_calloc(1, sizeof *workers);
    workers->view = view;
    if (count_workers(workers, error) != 0)
        result = -1;
    workers->grid.share = gt_calloc((size_t)workers->grid.workers * PLOT_PX + 1, sizeof *workers->grid.share);
    if (result == 0 && workers->grid.workers > 0)
        result = draw(workers, drawing, error);
    free(workers->grid.share);
    free(workers);
    return result;
}
