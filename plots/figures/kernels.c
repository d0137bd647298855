/* Kernels in cycles: simulated against measured, a roofline, and where warps wait. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/figures/figure.h"
#include "plots/data/kernel_view.h"
#include "traces/names/short_name.h"
#include "sim/warp/launch.h"

enum {
    LEFT_PX = 110, TOP_PX = 30, AXIS_PX = 60, PLOT_PX = 460,
    STALLS_LEFT_PX = 320, STALLS_TOP_PX = 60, LANE_PX = 40, LANES_MAX = 16, NAME_COLUMNS = 32
};

static const double close_pct = 10;

/* Count and write the launches with both cycles: within some percent, under, over. */
static int write_cycles(const struct gt_kernels *kernels, unsigned counts[3], double *least, double *most,
                        struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "points.tsv", error);

    if (out == NULL)
        return -1;
    *least = INFINITY;
    *most = 0;
    for (uint32_t i = 0; i < kernels->count; i++) {
        const struct gt_kernel_row *row = &kernels->rows[i];
        double measured = row->in_measured.cycles, simulated = row->in_simulated.cycles;
        int side = fabs(row->error_pct) <= close_pct ? 0 : row->error_pct < 0 ? 1 : 2;

        if (isnan(row->error_pct) || simulated <= 0)
            continue;
        counts[side]++;
        *least = fmin(*least, fmin(measured, simulated));
        *most = fmax(*most, fmax(measured, simulated));
        fprintf(out, "%.9g\t%.9g\t%d\n", measured, simulated, side);
    }
    return gt_folder_close(drawing->folder, out, error);
}

static void describe_cycles(const struct gt_kernel_error *error, const unsigned counts[3],
                            struct gt_drawing *drawing)
{
    char pearson[32] = "-";

    if (!isnan(error->pearson))
        snprintf(pearson, sizeof pearson, "%.4f", error->pearson);
    fprintf(drawing->parameters, "array legend[4]\nlegend[1] = \"within %.0f %%: %u\"\n"
            "legend[2] = \"under: %u\"\nlegend[3] = \"over: %u\"\n"
            "legend[4] = \"MAPE %.1f %%, Pearson r %s\"\n",
            close_pct, counts[0], counts[1], counts[2], error->mape_pct, pearson);
    snprintf(drawing->alt, sizeof drawing->alt,
             "Simulated against measured cycles of %u kernel launches: %u within %.0f%%, %u under, %u over.",
             error->compared, counts[0], close_pct, counts[1], counts[2]);
    snprintf(drawing->caption, sizeof drawing->caption,
             "Cycles of %u kernel launches, simulated from their machine code and measured by the profiler; "
             "both axes are logarithmic. On the line the simulation is right, below it too short, above it "
             "too long; the thin lines are %.0f%% away. The median error is %.1f%%, the largest %.1f%%; "
             "launches measured below %d µs (%u) have a mean error of %.1f%%, the others of %.1f%%.",
             error->compared, close_pct, error->median_pct, error->worst_pct, GT_SHORT_KERNEL_US,
             error->short_launches, isnan(error->short_mape_pct) ? 0 : error->short_mape_pct,
             isnan(error->long_mape_pct) ? 0 : error->long_mape_pct);
}

static int draw_cycles(const struct gt_kernels *kernels, struct gt_drawing *drawing, struct gt_error *error)
{
    unsigned counts[3] = { 0, 0, 0 };
    double least, most;

    if (kernels->error.compared == 0)
        return 0;
    if (write_cycles(kernels, counts, &least, &most, drawing, error) != 0)
        return -1;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, PLOT_PX, AXIS_PX);
    fprintf(drawing->parameters, "axis_from = %.9g\naxis_to = %.9g\nclose = %.9g\n", least / 1.5, most * 1.5,
            close_pct / 100);
    describe_cycles(&kernels->error, counts, drawing);
    return 1;
}

static int prepare_cycles(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    struct gt_kernels kernels;
    int result = gt_report_kernels(view, &kernels, error);

    if (result == 1)
        result = draw_cycles(&kernels, drawing, error);
    gt_kernels_free(&kernels);
    return result;
}

static int by_cycles(const void *left, const void *right)
{
    const struct gt_kernel_row *a = *(const struct gt_kernel_row *const *)left;
    const struct gt_kernel_row *b = *(const struct gt_kernel_row *const *)right;

    if (a->in_simulated.cycles != b->in_simulated.cycles)
        return a->in_simulated.cycles > b->in_simulated.cycles ? -1 : 1;
    return (a->launch > b->launch) - (a->launch < b->launch);
}

/* The launches that matter most, LANES_MAX at most: simulated ones, of equal ones the first, most cycles
 * first. */
static uint32_t choose(const struct gt_kernels *kernels, const struct gt_kernel_row **chosen)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < kernels->count; i++) {
        const struct gt_kernel_row *row = &kernels->rows[i];

        if (row->in_simulated.cycles > 0 && row->in_simulated.like_op == row->op)
            chosen[count++] = row;
    }
    qsort(chosen, count, sizeof *chosen, by_cycles);
    return count < LANES_MAX ? count : LANES_MAX;
}

/* What the roofline spans, and how many points it has of each side. */
struct roof { double least_x, most_x, least_y; unsigned simulated, measured; };

/* One launch in one run: instructions a byte across, instructions a cycle up. */
static void write_point(FILE *out, const struct gt_kernel_numbers *numbers, const char *label, int side,
                        struct roof *roof)
{
    double up = numbers->covered / numbers->cycles, across = up / numbers->dram_bytes_per_cycle;

    if (!(up > 0) || !(across > 0) || !isfinite(across))
        return;
    fprintf(out, "%.9g\t%.9g\t%d\t%s\n", across, up, side, label);
    roof->least_x = fmin(roof->least_x, across);
    roof->most_x = fmax(roof->most_x, across);
    roof->least_y = fmin(roof->least_y, up);
    *(side == 0 ? &roof->simulated : &roof->measured) += 1;
}

/* The number of a launch that matters, or a blank. */
static void label_of(const struct gt_kernel_row *row, const struct gt_kernel_row **chosen, uint32_t count,
                     char label[16])
{
    strcpy(label, " ");
    for (uint32_t i = 0; i < count; i++)
        if (chosen[i] == row)
            snprintf(label, 16, "%u", row->launch);
}

static int write_roof(const struct gt_kernels *kernels, struct roof *roof, struct gt_drawing *drawing,
                      struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "points.tsv", error);
    const struct gt_kernel_row **chosen;
    uint32_t count;

    if (out == NULL)
        return -1;
    chosen = gt_calloc(kernels->count, sizeof *chosen);
    count = choose(kernels, chosen);
    *roof = (struct roof){ .least_x = INFINITY, .least_y = INFINITY };
    for (uint32_t i = 0; i < kernels->count; i++) {
        const struct gt_kernel_row *row = &kernels->rows[i];
        char label[16];

        label_of(row, chosen, count, label);
        if (row->simulated)
            write_point(out, &row->in_simulated, label, 0, roof);
        if (row->measured)
            write_point(out, &row->in_measured, label, 1, roof);
    }
    free(chosen);
    return gt_folder_close(drawing->folder, out, error);
}

static void describe_roof(const struct roof *roof, double issue_peak, double dram_peak,
                          struct gt_drawing *drawing)
{
    unsigned points = roof->simulated > roof->measured ? roof->simulated : roof->measured;

    snprintf(drawing->alt, sizeof drawing->alt, "Roofline of %u kernel launches.", points);
    snprintf(drawing->caption, sizeof drawing->caption,
             "Each launch by the warp instructions that it has for a byte of DRAM traffic (across) and those "
             "that the whole GPU executes in a cycle (up); both axes are logarithmic, numbers are of the "
             "launches with the most cycles. The slope is DRAM's peak, %.0f bytes a cycle; the flat part is "
             "one warp instruction a cycle in each sub-partition, %.0f. Near the slope fewer bytes help, "
             "near the flat part fewer instructions; far below both, latency or too few warps hold a kernel "
             "up. Launches without DRAM traffic are left out.",
             dram_peak, issue_peak);
}

static int draw_roof(const struct gt_view *view, const struct gt_kernels *kernels, struct gt_drawing *drawing,
                     struct gt_error *error)
{
    const struct gt_device *device = &view->main->stats->run.device;
    double issue_peak = (double)GT_WARP_SUBS * device->sms;
    double dram_peak = device->warp.dram_gbps * 1e3 / device->clock_mhz;
    struct roof roof;

    if (write_roof(kernels, &roof, drawing, error) != 0)
        return -1;
    if (roof.simulated + roof.measured == 0)
        return 0;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, PLOT_PX, AXIS_PX);
    fprintf(drawing->parameters, "x_from = %.9g\nx_to = %.9g\ny_from = %.9g\nissue_peak = %.9g\n"
            "dram_peak = %.9g\nsimulated = %u\nmeasured = %u\n", roof.least_x / 2,
            fmax(roof.most_x, issue_peak / dram_peak) * 4, roof.least_y / 2, issue_peak, dram_peak,
            roof.simulated, roof.measured);
    describe_roof(&roof, issue_peak, dram_peak, drawing);
    return 1;
}

static int prepare_roof(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    struct gt_kernels kernels;
    int result = gt_report_kernels(view, &kernels, error);

    if (result == 1)
        result = draw_roof(view, &kernels, drawing, error);
    gt_kernels_free(&kernels);
    return result;
}

/* A bar of one run: the groups one after the other, in percent. */
static void write_bar(FILE *out, const double reasons[GT_STALLS], double lane, double half_height)
{
    double shares[GT_WAIT_GROUPS], from = 0;

    gt_wait_shares(reasons, shares);
    for (int group = 0; group < GT_WAIT_GROUPS; group++) {
        double part = 100 * shares[group];

        if (part > 0)
            fprintf(out, "%.6g\t%.6g\t%.6g\t%.6g\t%u\n", from, from + part, lane - half_height,
                    lane + half_height, gt_wait_groups[group].rgb);
        from += part;
    }
}

static int write_lane(const struct gt_view *view, const struct gt_kernel_row *row, uint32_t lane, FILE *bars,
                      FILE *lanes, struct gt_error *error)
{
    double simulated[GT_STALLS], measured[GT_STALLS];
    int64_t twin_run = view->measured != NULL ? view->measured->stats->run.run_id : 0;
    char *name = gt_short_name(row->name, NAME_COLUMNS);

    fprintf(lanes, "%u\t%u ", lane + 1, row->launch);
    gt_plot_field(lanes, name);
    fputc('\n', lanes);
    free(name);
    if (gt_kernel_reasons(view->store, view->main->stats->run.run_id, row->in_simulated.like_op, simulated,
                          error) != 0
        || gt_kernel_reasons(view->store, twin_run, row->in_measured.like_op, measured, error) != 0)
        return -1;
    write_bar(bars, simulated, lane + 0.87, 0.18);
    write_bar(bars, measured, lane + 1.2, 0.09);
    return 0;
}

static int write_lanes(const struct gt_view *view, const struct gt_kernel_row **rows, uint32_t count,
                       struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *bars = gt_folder_open_work(drawing->folder, "bars.tsv", error);
    FILE *lanes = bars != NULL ? gt_folder_open_work(drawing->folder, "lanes.tsv", error) : NULL;
    int result = lanes != NULL ? 0 : -1;

    for (uint32_t i = 0; i < count && result == 0; i++)
        result = write_lane(view, rows[i], i, bars, lanes, error);
    if (bars != NULL && gt_folder_close(drawing->folder, bars, error) != 0)
        result = -1;
    if (lanes != NULL && gt_folder_close(drawing->folder, lanes, error) != 0)
        result = -1;
    return result;
}

static int draw_stalls(const struct gt_view *view, const struct gt_kernels *kernels,
                       struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_kernel_row **rows = gt_calloc(kernels->count, sizeof *rows);
    uint32_t count = choose(kernels, rows);
    int result = count > 0 ? write_lanes(view, rows, count, drawing, error) : 0;

    free(rows);
    if (count == 0 || result != 0)
        return result;
    gt_figure_frame(drawing, STALLS_LEFT_PX, STALLS_TOP_PX, (count + 1) * LANE_PX, AXIS_PX);
    fprintf(drawing->parameters, "lanes = %u\ngroups = %d\narray group_name[%d]\narray group_rgb[%d]\n",
            count, GT_WAIT_GROUPS, GT_WAIT_GROUPS, GT_WAIT_GROUPS);
    for (int i = 0; i < GT_WAIT_GROUPS; i++)
        fprintf(drawing->parameters, "group_name[%d] = \"%s\"\ngroup_rgb[%d] = %u\n", i + 1,
                gt_wait_groups[i].name, i + 1, gt_wait_groups[i].rgb);
    snprintf(drawing->alt, sizeof drawing->alt, "Where the warps of %u kernel launches are, by reason.",
             count);
    snprintf(drawing->caption, sizeof drawing->caption,
             "The %u launches with the most simulated cycles, of equal ones the first; numbers are the "
             "launches'. Broad bars: shares of all warp cycles in the simulation. Narrow bars below: the "
             "profiler's samples, where the trace has them. 'gridtide explain' lists them by instruction.",
             count);
    return 1;
}

static int prepare_stalls(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    struct gt_kernels kernels;
    int result = gt_report_kernels(view, &kernels, error);

    if (result == 1)
        result = draw_stalls(view, &kernels, drawing, error);
    gt_kernels_free(&kernels);
    return result;
}

const struct gt_figure gt_figure_cycles = { "cycles", "Kernels in cycles", NULL, prepare_cycles };
const struct gt_figure gt_figure_roofline = { "roofline", "Kernels: roofline", NULL, prepare_roof };
const struct gt_figure gt_figure_stalls = { "stalls", "Kernels: where warps wait", NULL, prepare_stalls };
