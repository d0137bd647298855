#include "plots/figures/axes.h"

#include <math.h>

void gt_figure_frame(struct gt_drawing *drawing, unsigned left_px, unsigned top_px, unsigned plot_height_px,
                     unsigned bottom_px)
{
    drawing->width_px = GT_FIGURE_WIDTH_PX;
    drawing->height_px = top_px + plot_height_px + bottom_px;
    fprintf(drawing->parameters, "left_px = %u\nright_px = %u\ntop_px = %u\nbottom_px = %u\n", left_px,
            (unsigned)GT_FIGURE_RIGHT_PX, top_px, bottom_px);
}

void gt_figure_time_axis(const struct gt_view *view, struct gt_drawing *drawing)
{
    fprintf(drawing->parameters, "time_from = %.9g\ntime_to = %.9g\ntime_unit = \"%s\"\n",
            gt_view_time(view, (double)view->from_ps), gt_view_time(view, (double)view->to_ps), view->unit->name);
}

void gt_figure_sides(const struct gt_view *view, struct gt_drawing *drawing)
{
    fprintf(drawing->parameters, "sides = %zu\narray side_name[%d]\n", view->side_count, GT_SIDES);
    for (size_t i = 0; i < view->side_count; i++)
        fprintf(drawing->parameters, "side_name[%zu] = \"%s\"\n", i + 1, view->sides[i].label);
}

double gt_figure_top(double peak)
{
    static const double steps[] = { 1, 1.6, 2, 3, 4, 5, 6, 8, 10 };
    double power = pow(10, floor(log10(fmax(peak, 1e-3))));
    size_t i = 0;

    while (steps[i] < peak / power && i + 1 < sizeof steps / sizeof steps[0])
        i++;
    return power * steps[i];
}

struct gt_steps gt_steps_begin(FILE *out, double x)
{
    fprintf(out, "%.9g\t0\n", x);
    return (struct gt_steps){ out, 0, 0 };
}

void gt_steps_to(struct gt_steps *steps, double x, double level)
{
    if (level < 1e-9)
        level = 0; /* what is left of sums and differences */
    if (fabs(level - steps->level) <= 1e-6 * level)
        return;
    fprintf(steps->out, "%.9g\t%.6g\n%.9g\t%.6g\n", x, steps->level, x, level);
    steps->level = level;
    steps->peak = level > steps->peak ? level : steps->peak;
}

void gt_steps_end(struct gt_steps *steps, double x)
{
    gt_steps_to(steps, x, 0);
    fprintf(steps->out, "%.9g\t0\n", x);
}
