/* axes.h - what figures share: the frame, the time axis, levels that change in steps. */
#ifndef GRIDTIDE_PLOTS_FIGURES_AXES_H
#define GRIDTIDE_PLOTS_FIGURES_AXES_H

#include "plots/data/view.h"
#include "plots/figures/gnuplot.h"

enum { GT_FIGURE_WIDTH_PX = 1100, GT_FIGURE_RIGHT_PX = 30 };

/* The frame of a figure's axes, in pixels from the edges of the picture, and the time axis. */
void gt_figure_frame(struct gt_drawing *drawing, unsigned left_px, unsigned top_px, unsigned plot_height_px,
                     unsigned bottom_px);
/* The least round number that holds `peak`: where an axis from 0 ends. */
double gt_figure_top(double peak);
void gt_figure_time_axis(const struct gt_view *view, struct gt_drawing *drawing);
/* What the two runs of a figure are called, for its template: side_name[1] and, of two, side_name[2]. */
void gt_figure_sides(const struct gt_view *view, struct gt_drawing *drawing);

/* A level that changes in steps, written as the corners of its outline: one shape to draw, however
 * many steps it has, and nothing where the level stays. */
struct gt_steps {
    FILE *out;
    double level, peak;
};
struct gt_steps gt_steps_begin(FILE *out, double x);
void gt_steps_to(struct gt_steps *steps, double x, double level); /* from `x` on */
void gt_steps_end(struct gt_steps *steps, double x);

#endif
