/* Kernels under the roof of issue slots and DRAM. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/data/kernel_view.h"
#include "plots/figures/figure.h"
#include "plots/figures/labels.h"
#include "sim/warp/launch.h"

enum { LEFT_PX = 110, TOP_PX = 30, AXIS_PX = 60, PLOT_PX = 460 };

/* What the roofline spans, and how many points it has of each side. */
struct roof {
    double least_x, most_x, least_y;
    unsigned simulated, measured;
};

/* Where a launch lies in one run: instructions a byte across, instructions a cycle up. */
struct point {
    double across, up;
};

static bool find_point(const struct gt_kernel_numbers *numbers, struct point *point)
{
    point->up = numbers->covered / numbers->cycles;
    point->across = point->up / numbers->dram_bytes_per_cycle;
    return point->up > 0 && point->across > 0 && isfinite(point->across);
}

static void write_point(FILE *out, const struct gt_kernel_numbers *numbers, const char *label, int side,
                        struct roof *roof)
{
    struct point point;

    if (!find_point(numbers, &point))
        return;
    fprintf(out, "%.9g\t%.9g\t%d\t%s\n", point.across, point.up, side, label);
    roof->least_x = fmin(roof->least_x, point.across);
    roof->most_x = fmax(roof->most_x, point.across);
    roof->least_y = fmin(roof->least_y, point.up);
    *(side == 0 ? &roof->simulated : &roof->measured) += 1;
}

/* Labels of the launches that matter, by launch; one that would lie on another's is left out. */
struct labels {
    const struct gt_kernel_row *rows[GT_KERNELS_CHOSEN];
    uint32_t count;
};

static void choose_labels(const struct gt_kernels *kernels, struct labels *labels)
{
    const struct gt_kernel_row **chosen = gt_calloc(kernels->count + 1ull, sizeof *chosen);
    uint32_t count = gt_kernels_choose(kernels, chosen);
    struct gt_labels placed = { .apart_across = 1.35, .apart_up = 1.5 };
    struct point point;

    labels->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (find_point(&chosen[i]->in_simulated, &point) && gt_labels_place(&placed, point.across, point.up))
            labels->rows[labels->count++] = chosen[i];
    }
    free(chosen);
}

/* The number of a launch that matters, or a blank. */
static void label_of(const struct gt_kernel_row *row, const struct labels *labels, char label[16])
{
    strcpy(label, " ");
    for (uint32_t i = 0; i < labels->count; i++)
        if (labels->rows[i] == row)
            snprintf(label, 16, "%u", row->launch);
}

static int write_roof(const struct gt_kernels *kernels, struct roof *roof, struct gt_drawing *drawing,
                      struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "points.tsv", error);
    struct labels labels;

    if (out == NULL)
        return -1;
    choose_labels(kernels, &labels);
    *roof = (struct roof){ .least_x = INFINITY, .least_y = INFINITY };
    for (uint32_t i = 0; i < kernels->count; i++) {
        const struct gt_kernel_row *row = &kernels->rows[i];
        char label[16];

        label_of(row, &labels, label);
        if (row->simulated)
            write_point(out, &row->in_simulated, label, 0, roof);
        if (row->measured)
            write_point(out, &row->in_measured, label, 1, roof);
    }
    return gt_folder_close(drawing->folder, out, error);
}

static void describe_roof(const struct roof *roof, double issue_peak, double dram_peak, struct gt_drawing *drawing)
{
    unsigned points = roof->simulated > roof->measured ? roof->simulated : roof->measured;

    snprintf(drawing->alt, sizeof drawing->alt, "Roofline of %u kernel launches.", points);
    snprintf(drawing->caption, sizeof drawing->caption,
             "Launches with the most cycles have their numbers, where space allows. The slope is the DRAM peak, %.0f "
             "bytes per cycle; the flat part is the issue limit, one warp instruction per cycle and sub-partition, "
             "%.0f in total. Near the slope, fewer bytes help; near the flat part, fewer instructions; far below "
             "both, latency or too few warps limit the kernel. Launches without DRAM traffic are not shown.",
             dram_peak, issue_peak);
}

gt_prepare_fn gt_prepare_roofline;
int gt_prepare_roofline(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_kernels *kernels = &view->kernels;
    const struct gt_device *device = &view->subject->stats->run.device;
    double issue_peak = (double)GT_WARP_SUBS * device->sms;
    double dram_peak = device->warp.dram_gbps * 1e3 / device->clock_mhz;
    struct roof roof;

    if (write_roof(kernels, &roof, drawing, error) != 0)
        return -1;
    if (roof.simulated + roof.measured == 0)
        return 0;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, PLOT_PX, AXIS_PX);
    fprintf(drawing->parameters,
            "x_from = %.9g\nx_to = %.9g\ny_from = %.9g\nissue_peak = %.9g\n"
            "dram_peak = %.9g\nsimulated = %u\nmeasured = %u\n",
            roof.least_x / 2, fmax(roof.most_x, issue_peak / dram_peak) * 4, roof.least_y / 2, issue_peak, dram_peak,
            roof.simulated, roof.measured);
    describe_roof(&roof, issue_peak, dram_peak, drawing);
    return 1;
}
