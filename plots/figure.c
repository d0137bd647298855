#include "plots/figure.h"

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
