#include "plots/figure.h"

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
            gt_view_time(view, (double)view->from_ps), gt_view_time(view, (double)view->to_ps),
            view->unit->name);
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
