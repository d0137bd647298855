/* Where the warps of kernels are, by reason: simulated over what the profiler sampled. */
#include <stdlib.h>

#include "plots/data/kernel_view.h"
#include "plots/figures/figure.h"
#include "traces/names/short_name.h"

enum { LEFT_PX = 320, TOP_PX = 76, AXIS_PX = 60, LANE_PX = 40, NAME_COLUMNS = 32 };

/* A bar of one run: the groups one after the other, in percent. */
static void write_bar(FILE *out, const double reasons[GT_STALLS], double lane, double half_height)
{
    double shares[GT_WAIT_GROUPS], from = 0;

    gt_wait_shares(reasons, shares);
    for (int group = 0; group < GT_WAIT_GROUPS; group++) {
        double part = 100 * shares[group];

        if (part > 0)
            fprintf(out, "%.6g\t%.6g\t%.6g\t%.6g\t%u\n", from, from + part, lane - half_height, lane + half_height,
                    gt_wait_groups[group].rgb);
        from += part;
    }
}

/* A launch's two bars. */
static int write_lane(const struct gt_view *view, const struct gt_kernel_row *row, uint32_t lane, bool *sampled,
                      FILE *bars, struct gt_error *error)
{
    double simulated[GT_STALLS], measured[GT_STALLS];
    int64_t measured_run = view->kind == GT_PAGE_CHANGE ? 0 : view->measured_run;

    if (gt_kernel_reasons(view->store, view->subject->stats->run.run_id, row->in_simulated.like_op, simulated,
                          error) != 0 ||
        gt_kernel_reasons(view->store, measured_run, row->in_measured.like_op, measured, error) != 0)
        return -1;
    for (int reason = 0; reason < GT_STALLS; reason++)
        *sampled |= measured[reason] > 0;
    write_bar(bars, simulated, lane + 0.87, 0.18);
    write_bar(bars, measured, lane + 1.2, 0.09);
    return 0;
}

static int write_bars(const struct gt_view *view, const struct gt_kernel_row **rows, uint32_t count, bool *sampled,
                      struct gt_drawing *drawing, struct gt_error *error)
{
    FILE *bars = gt_folder_open_work(drawing->folder, "bars.tsv", error);
    int result = bars != NULL ? 0 : -1;

    for (uint32_t i = 0; i < count && result == 0; i++)
        result = write_lane(view, rows[i], i, sampled, bars, error);
    if (bars != NULL && gt_folder_close(drawing->folder, bars, error) != 0)
        result = -1;
    return result;
}

/* The lanes' names: number and kernel of each launch. */
static int write_names(const struct gt_kernel_row **rows, uint32_t count, struct gt_drawing *drawing,
                       struct gt_error *error)
{
    FILE *lanes = gt_folder_open_work(drawing->folder, "lanes.tsv", error);
    const char *names[GT_KERNELS_CHOSEN];
    char *shorts[GT_KERNELS_CHOSEN];

    if (lanes == NULL)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        names[i] = rows[i]->name;
    gt_short_names_unique(names, shorts, count, NAME_COLUMNS);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(lanes, "%u\t%u ", i + 1, rows[i]->launch);
        gt_plot_field(lanes, shorts[i]);
        fputc('\n', lanes);
        free(shorts[i]);
    }
    return gt_folder_close(drawing->folder, lanes, error);
}

static void describe(uint32_t count, bool sampled, struct gt_drawing *drawing)
{
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, (count + 1) * LANE_PX, AXIS_PX);
    fprintf(drawing->parameters,
            "lanes = %u\ngroups = %d\narray group_name[%d]\narray group_rgb[%d]\n"
            "axis_label = \"share of warp cycles%s\"\n",
            count, GT_WAIT_GROUPS, GT_WAIT_GROUPS, GT_WAIT_GROUPS, sampled ? ", or of samples" : "");
    for (int i = 0; i < GT_WAIT_GROUPS; i++)
        fprintf(drawing->parameters, "group_name[%d] = \"%s\"\ngroup_rgb[%d] = %u\n", i + 1, gt_wait_groups[i].name,
                i + 1, gt_wait_groups[i].rgb);
    snprintf(drawing->alt, sizeof drawing->alt, "Warp states of %u kernel launches, by stall reason%s.", count,
             sampled ? ": simulated above, the profiler’s samples below" : "");
    snprintf(
        drawing->caption, sizeof drawing->caption, "%s",
        sampled
            ? "Wide bars: shares of all simulated warp cycles. Narrow bars below: shares of the profiler’s samples."
            : "The bars are shares of all simulated warp cycles.");
}

gt_prepare_fn gt_prepare_stalls;
int gt_prepare_stalls(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_kernel_row **rows = gt_calloc(view->kernels.count + 1ull, sizeof *rows);
    uint32_t count = gt_kernels_choose(&view->kernels, rows);
    bool sampled = false;
    int result = count > 0;

    if (count > 0 && (write_bars(view, rows, count, &sampled, drawing, error) != 0 ||
                      write_names(rows, count, drawing, error) != 0))
        result = -1;
    if (result == 1)
        describe(count, sampled, drawing);
    free(rows);
    return result;
}
