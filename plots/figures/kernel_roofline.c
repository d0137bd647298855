/* Kernels whose work is known, under the roofs of arithmetic and DRAM. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/figures/figure.h"
#include "plots/figures/labels.h"
#include "sim/shapes/roofline.h"
#include "traces/explain/families.h"
#include "traces/names/clean_text.h"
#include "traces/names/short_name.h"

enum { LEFT_PX = 110, TOP_PX = 30, AXIS_PX = 60, PLOT_PX = 480, LABELS = 12, LABEL_COLUMNS = 26, COLOURS = 5 };

/* Areas of dots: a kernel with all of the time, and the least that can be seen. */
static const double whole_size = 7, least_size = 0.4;

/* Families that have a colour of their own; the others share the last. */
static const enum gt_kernel_family coloured[COLOURS - 1] = { GT_FAMILY_GEMM, GT_FAMILY_CONVOLUTION,
                                                             GT_FAMILY_ATTENTION, GT_FAMILY_ELEMENTWISE };

static int colour_of(enum gt_kernel_family family)
{
    int colour = 0;

    while (colour < COLOURS - 1 && coloured[colour] != family)
        colour++;
    return colour;
}

struct span {
    double least_x, most_x, least_y, known_ps, all_ps;
    unsigned count, colours; /* dots; bits */
    bool unless_causal;
    bool by_precision[GT_PRECISIONS];
    struct gt_labels labels;
};

/* Operations a byte across, operations a second up. */
static bool find_dot(const struct gt_kernel_times *times, double *across, double *up)
{
    *across = times->flops / times->bytes;
    *up = times->flops / (double)times->work_ps * 1e12;
    return times->flops > 0 && times->bytes > 0 && times->work_ps > 0;
}

static void write_dot(FILE *out, const struct gt_name_time *kernel, struct span *span)
{
    const struct gt_kernel_times *times = &kernel->times;
    int colour = colour_of(kernel->family);
    double across, up;
    char *brief;

    span->all_ps += (double)times->time_ps;
    span->known_ps += (double)times->known_ps;
    if (!find_dot(times, &across, &up))
        return;
    brief = gt_short_name(kernel->name, LABEL_COLUMNS);
    fprintf(out, "%.9g\t%.9g\t%.4g\t%d\t", across, up, fmax(least_size, whole_size * sqrt(times->share)), colour);
    gt_plot_field(out, span->count < LABELS && gt_labels_place(&span->labels, across, up) ? brief : " ");
    fputc('\n', out);
    free(brief);
    span->least_x = fmin(span->least_x, across);
    span->most_x = fmax(span->most_x, across);
    span->least_y = fmin(span->least_y, up);
    span->count++;
    span->colours |= 1u << colour;
    span->unless_causal |= times->unless_causal;
    span->by_precision[times->precision] = true;
}

static int write_dots(const struct gt_loaded_run *run, struct span *span, struct gt_drawing *drawing,
                      struct gt_error *error)
{
    FILE *out = gt_folder_open_work(drawing->folder, "points.tsv", error);
    struct gt_name_time *kernels;
    size_t count;

    if (out == NULL)
        return -1;
    *span =
        (struct span){ .least_x = INFINITY, .least_y = INFINITY, .labels = { .apart_across = 10, .apart_up = 1.6 } };
    kernels = gt_name_times(run, &count);
    for (size_t i = 0; i < count; i++)
        write_dot(out, &kernels[i], span);
    free(kernels);
    return gt_folder_close(drawing->folder, out, error);
}

static void write_parameters(const struct span *span, const struct gt_device *device, FILE *out)
{
    double dram = gt_roof_dram_bytes_per_us(device) * 1e6,
           top = gt_roof_flops_per_us(GT_PRECISION_HALF, device) * 1e6;

    fprintf(out, "x_from = %.9g\nx_to = %.9g\ny_from = %.9g\ny_to = %.9g\ndram_peak = %.9g\ncolours = %d\n",
            span->least_x / 2, fmax(span->most_x, top / dram) * 4, span->least_y / 3, top * 3, dram, COLOURS);
    fprintf(out, "array peak[%d]\narray peak_name[%d]\narray family[%d]\n", GT_PRECISIONS, GT_PRECISIONS, COLOURS);
    for (int i = 0; i < GT_PRECISIONS; i++) {
        static const char *const names[GT_PRECISIONS] = { "tensor cores, 16 bits", "tensor cores, TF32", "FP32" };
        bool shown = span->by_precision[i] || i == GT_PRECISION_HALF;

        fprintf(out, "peak[%d] = %.9g\npeak_name[%d] = \"%s\"\n", i + 1,
                shown ? gt_roof_flops_per_us((enum gt_precision)i, device) * 1e6 : 0, i + 1, names[i]);
    }
    for (int i = 0; i < COLOURS; i++)
        fprintf(out, "family[%d] = \"%s\"\n", i + 1,
                !(span->colours & 1u << i) ? ""
                : i < COLOURS - 1          ? gt_kernel_family_names[coloured[i]]
                                           : "other families");
}

gt_prepare_fn gt_prepare_kernel_roofline;
int gt_prepare_kernel_roofline(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error)
{
    const struct gt_device *device = &view->subject->stats->run.device;
    struct span span;

    if (write_dots(view->subject->run, &span, drawing, error) != 0)
        return -1;
    if (span.count == 0)
        return 0;
    gt_figure_frame(drawing, LEFT_PX, TOP_PX, PLOT_PX, AXIS_PX);
    write_parameters(&span, device, drawing->parameters);
    snprintf(drawing->alt, sizeof drawing->alt, "Roofline of %u kernels.", span.count);
    snprintf(
        drawing->caption, sizeof drawing->caption,
        "Slope: DRAM at %.0f GB/s; flat lines: arithmetic at most. Below the slope a kernel waits for memory: fewer "
        "bytes help (fusion). Below a flat line it computes: a lower precision helps. The vertical distance to its "
        "line is what a better kernel could gain; above the slope, data is in L2. Work is the least that the "
        "operators’ inputs ask for, known for %.0f%% of the kernels’ time; element-wise operators are counted as one "
        "operation an element%s.",
        device->warp.dram_gbps, 100 * span.known_ps / fmax(1, span.all_ps),
        span.unless_causal ? ", attention as if it were not causal" : "");
    return 1;
}
