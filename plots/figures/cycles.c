/* Kernels in cycles: simulated against measured. */
#include <math.h>
#include <string.h>

#include "plots/figures/figure.h"

enum { LEFT_PX = 110, TOP_PX = 30, AXIS_PX = 60, PLOT_PX = 460 };

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

static void describe_cycles(const struct gt_kernel_error *error, const unsigned counts[3], struct gt_drawing *drawing)
{
    char pearson[32] = "-";

    if (!isnan(error->pearson))
        snprintf(pearson, sizeof pearson, "%.4f", error->pearson);
    fprintf(drawing->parameters,
            "array legend[4]\nlegend[1] = \"within %.0f%%: %u\"\n"
            "legend[2] = \"under: %u\"\nlegend[3] = \"over: %u\"\n"
            "legend[4] = \"MAPE %.1f%%, Pearson r %s\"\n",
            close_pct, counts[0], counts[1], counts[2], error->mape_pct, pearson);
    snprintf(drawing->alt, sizeof drawing->alt,
             "Simulated against measured cycles of %u kernel launches: %u within %.0f%%, %u under, %u over.",
             error->compared, counts[0], close_pct, counts[1], counts[2]);
    snprintf(drawing->caption, sizeof drawing->caption,
             "Of %u launches the median error is %.1f%%, the largest %.1f%%.", error->compared, error->median_pct,
             error->worst_pct);
    if (!isnan(error->short_mape_pct) && !isnan(error->long_mape_pct))
        snprintf(drawing->caption + strlen(drawing->caption), sizeof drawing->caption - strlen(drawing->caption),
                 " Those measured below %d µs (%u) have a mean error of %.1f%%, the others of %.1f%%.",
                 GT_SHORT_KERNEL_US, error->short_launches, error->short_mape_pct, error->long_mape_pct);
}

gt_prepare_fn gt_prepare_cycles;
int gt_prepare_cycles(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_kernels *kernels = &view->kernels;
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
