/* SMs over time: each one's residency as a heat map, and all of them together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/data/view.h"
#include "plots/figures/figure.h"
#include "traces/store/run_rows.h"

enum { GT_RESIDENCY_COLUMNS_MAX = 1024 };

struct gt_residency {
    size_t gpus, sms;  /* rows: gpus * sms, a GPU's SMs together */
    uint32_t *gpu_ids; /* as the trace numbers them */
    size_t columns;
    int64_t from_ps; /* of the first column, since the side's origin */
    uint64_t column_ps;
    float *share; /* [row * columns + column]: resident warps as a share of what an SM holds */
};

/* How full each SM was over time, out of run_bin. */

/* The GPUs that have SMs in the run, in the order of the statistics. */
static void find_gpus(struct gt_residency *residency, const struct gt_stats *stats)
{
    residency->sms = stats->run.device.sms;
    residency->gpu_ids = gt_calloc(stats->sm_count + 1, sizeof *residency->gpu_ids);
    for (size_t i = 0; i < stats->sm_count; i++)
        if (residency->gpus == 0 || residency->gpu_ids[residency->gpus - 1] != stats->sms[i].gpu)
            residency->gpu_ids[residency->gpus++] = stats->sms[i].gpu;
}

/* Columns of whole bins, from the first operation's to the last one's. */
static void plan_columns(struct gt_residency *residency, const struct gt_side *side, int64_t bin_ps,
                         int64_t *first_bin, int64_t *group)
{
    const struct gt_stats_summary *summary = &side->stats->summary;
    int64_t last_bin = summary->end_ps == 0 ? 0 : (int64_t)((summary->end_ps - 1) / (uint64_t)bin_ps);

    *first_bin = (int64_t)(summary->start_ps / (uint64_t)bin_ps);
    *group = (last_bin - *first_bin) / GT_RESIDENCY_COLUMNS_MAX + 1;
    residency->columns = (size_t)((last_bin - *first_bin) / *group + 1);
    residency->column_ps = (uint64_t)*group * (uint64_t)bin_ps;
    residency->from_ps = *first_bin * bin_ps - side->origin_ps;
}

/* Bins on their way into columns. */
struct bins {
    struct gt_residency *residency;
    int64_t first_bin, group;
    double full_ps; /* of warps in one column */
};

static int add_bin(void *user, const struct gt_bin_row *row, struct gt_error *error)
{
    const struct bins *bins = user;
    struct gt_residency *residency = bins->residency;
    size_t gpu = 0, column;

    (void)error;
    while (gpu < residency->gpus && residency->gpu_ids[gpu] != row->gpu_id)
        gpu++;
    if (gpu == residency->gpus || row->sm < 0 || (size_t)row->sm >= residency->sms || row->bin < bins->first_bin)
        return 0;
    column = (size_t)((row->bin - bins->first_bin) / bins->group);
    if (column < residency->columns)
        residency->share[(gpu * residency->sms + (size_t)row->sm) * residency->columns + column] +=
            (float)((double)row->warp_ps / bins->full_ps);
    return 0;
}

static void residency_free(struct gt_residency *residency)
{
    free(residency->gpu_ids);
    free(residency->share);
    memset(residency, 0, sizeof *residency);
}

/* Returns 1, 0 where the run that the page is about has no residency, -1 on error. */
static int residency_load(struct gt_residency *residency, const struct gt_view *view, struct gt_error *error)
{
    const struct gt_stats *stats = view->subject->stats;
    struct bins bins = { .residency = residency };
    int64_t bin_ps;

    memset(residency, 0, sizeof *residency);
    if (gt_run_bin_ps(view->database, stats->run.run_id, &bin_ps, error) != 0)
        return -1;
    if (bin_ps <= 0 || stats->sm_count == 0 || stats->summary.makespan_ps == 0 || stats->run.device.sms == 0 ||
        stats->run.device.warps_per_sm == 0)
        return 0;
    find_gpus(residency, stats);
    plan_columns(residency, view->subject, bin_ps, &bins.first_bin, &bins.group);
    bins.full_ps = (double)residency->column_ps * stats->run.device.warps_per_sm;
    residency->share = gt_calloc(residency->gpus * residency->sms * residency->columns, sizeof *residency->share);
    if (gt_run_bins(view->database, stats->run.run_id, add_bin, &bins, error) != 0) {
        residency_free(residency);
        return -1;
    }
    return 1;
}

enum {
    LEFT_PX = 80,
    RIGHT_BAR_PX = 90,
    TOP_PX = 14,
    AXIS_PX = 60,
    HEAT_PX = 400,
    WARPS_PX = 210,
    HEAT_COLUMNS = 930,
    HEAT_ROWS = 4096
};

/* What the figure is of: both runs of a change are simulated, and the second is drawn. */
static const char *of_run(const struct gt_view *view)
{
    return view->kind == GT_PAGE_CHANGE ? "Simulated, with the change." : "Simulated.";
}

/* How the SMs become lines of an image: few are repeated, so that viewers do not blur them; of very
 * many, each line is the mean of `merged` (cairo draws no image of over 32767 lines). */
struct heat {
    size_t rows, across, up, merged, lines;
};

static struct heat plan_heat(const struct gt_residency *residency)
{
    struct heat heat = { .rows = residency->gpus * residency->sms };

    heat.across = residency->columns < HEAT_COLUMNS ? HEAT_COLUMNS / residency->columns : 1;
    heat.up = heat.rows < HEAT_PX ? HEAT_PX / heat.rows : 1;
    heat.merged = (heat.rows - 1) / HEAT_ROWS + 1;
    heat.lines = heat.merged > 1 ? (heat.rows - 1) / heat.merged + 1 : heat.rows * heat.up;
    return heat;
}

/* Percent: the mean of SMs [first, first + count) in a column. */
static float mean_pct(const struct gt_residency *residency, size_t first, size_t count, size_t column)
{
    float sum = 0;

    for (size_t row = first; row < first + count; row++)
        sum += residency->share[row * residency->columns + column];
    return 100 * sum / (float)count;
}

/* The template draws percents as an image: gnuplot is slow to work on each value. */
static int write_heat(const struct gt_residency *residency, const struct heat *heat, const struct gt_drawing *drawing,
                      struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "heat.f32", error);

    if (out == NULL)
        return -1;
    for (size_t line = 0; line < heat->lines; line++) {
        size_t first = line * heat->merged / heat->up, left = heat->rows - first;
        size_t count = left < heat->merged ? left : heat->merged;

        for (size_t column = 0; column < residency->columns; column++) {
            float pct = mean_pct(residency, first, count, column);

            for (size_t i = 0; i < heat->across; i++)
                fwrite(&pct, sizeof pct, 1, out);
        }
    }
    return gt_folder_close(drawing->folder, out, error);
}

static void time_columns(const struct gt_view *view, const struct gt_residency *residency, struct gt_drawing *drawing)
{
    gt_figure_time_axis(view, drawing);
    fprintf(drawing->parameters, "columns = %zu\ncolumn_from = %.9g\ncolumn_step = %.9g\n", residency->columns,
            gt_view_time(view, (double)residency->from_ps), gt_view_time(view, (double)residency->column_ps));
}

static int draw_heat(const struct gt_view *view, const struct gt_residency *residency, struct gt_drawing *drawing,
                     struct gt_error *error)
{
    struct heat heat = plan_heat(residency);
    float peak = 0;
    double top_pct;

    for (size_t i = 0; i < heat.rows * residency->columns; i++)
        peak = residency->share[i] > peak ? residency->share[i] : peak;
    if (write_heat(residency, &heat, drawing, error) != 0)
        return -1;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, HEAT_PX, AXIS_PX);
    time_columns(view, residency, drawing);
    fprintf(drawing->parameters,
            "right_px = %u\nsms = %zu\ngpus = %zu\nacross = %zu\nlines = %zu\nsms_a_line = %.9g\n",
            (unsigned)RIGHT_BAR_PX, residency->sms, residency->gpus, heat.across, heat.lines,
            (double)heat.merged / (double)heat.up);
    top_pct = fmin(gt_figure_top(100 * (double)peak), 100);
    fprintf(drawing->parameters, "top = %.6g\n", top_pct);
    fprintf(drawing->parameters, "array gpu_id[%zu]\n", residency->gpus);
    for (size_t gpu = 0; gpu < residency->gpus; gpu++)
        fprintf(drawing->parameters, "gpu_id[%zu] = %u\n", gpu + 1, residency->gpu_ids[gpu]);
    snprintf(drawing->alt, sizeof drawing->alt, "Heat map of %zu SMs over time: resident warps of each.", heat.rows);
    snprintf(drawing->caption, sizeof drawing->caption,
             "%s A column is %s of time; an SM has %u warp slots, and the darkest colour means that %s of them are "
             "occupied.",
             of_run(view), gt_time_text((double)residency->column_ps).s,
             view->subject->stats->run.device.warps_per_sm, gt_share_text(top_pct / 100).s);
    return 1;
}

static double column_time(const struct gt_view *view, const struct gt_residency *residency, size_t column)
{
    return gt_view_time(view, (double)residency->from_ps + (double)column * (double)residency->column_ps);
}

static int draw_warps(const struct gt_view *view, const struct gt_residency *residency, struct gt_drawing *drawing,
                      struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "steps.tsv", error);
    size_t rows = residency->gpus * residency->sms;
    struct gt_steps steps;
    double total = 0, mean;

    if (out == NULL)
        return -1;
    steps = gt_steps_begin(out, column_time(view, residency, 0));
    for (size_t column = 0; column < residency->columns; column++) {
        double sum = 0;

        for (size_t row = 0; row < rows; row++)
            sum += residency->share[row * residency->columns + column];
        total += sum;
        gt_steps_to(&steps, column_time(view, residency, column), 100 * sum / (double)rows);
    }
    gt_steps_end(&steps, column_time(view, residency, residency->columns));
    if (gt_folder_close(drawing->folder, out, error) != 0)
        return -1;
    total *= 100 / (double)rows;
    mean = total * (double)residency->column_ps / (double)view->subject->stats->summary.makespan_ps;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, WARPS_PX, AXIS_PX);
    time_columns(view, residency, drawing);
    fprintf(drawing->parameters, "mean = %.6g\ntop = %.6g\nrun_from = %.9g\nrun_to = %.9g\n", mean,
            fmin(gt_figure_top(steps.peak), 100),
            gt_view_time(view, (double)view->subject->stats->summary.start_ps - (double)view->subject->origin_ps),
            gt_view_time(view, (double)view->subject->stats->summary.end_ps - (double)view->subject->origin_ps));
    snprintf(drawing->alt, sizeof drawing->alt,
             "Resident warps over time as a share of the device’s warp slots; %s on average.",
             gt_share_text(mean / 100).s);
    snprintf(drawing->caption, sizeof drawing->caption, "%s %s on average (dashed), %s at most.", of_run(view),
             gt_share_text(mean / 100).s, gt_share_text(steps.peak / 100).s);
    return 1;
}

gt_prepare_fn gt_prepare_sms;
int gt_prepare_sms(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    struct gt_residency residency;
    int result = residency_load(&residency, view, error);

    if (result == 1)
        result = draw_heat(view, &residency, drawing, error);
    residency_free(&residency);
    return result;
}

gt_prepare_fn gt_prepare_warps;
int gt_prepare_warps(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    struct gt_residency residency;
    int result = residency_load(&residency, view, error);

    if (result == 1)
        result = draw_warps(view, &residency, drawing, error);
    residency_free(&residency);
    return result;
}
