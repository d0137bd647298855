/* figure.h - the figures of a report: one file and one gnuplot template each. */
#ifndef GRIDTIDE_PLOTS_FIGURES_FIGURE_H
#define GRIDTIDE_PLOTS_FIGURES_FIGURE_H

#include "plots/figures/gnuplot.h"
#include "plots/data/view.h"

struct gt_figure {
    const char *name;         /* of its template and its pictures */
    const char *title;
    const char *absent;       /* said where the run has nothing of the kind; NULL: the figure is left out */
    /* Write the data files and parameters, size, alternative text and caption.
     * Returns 1, 0 where there is nothing to draw, -1 on error. */
    int (*prepare)(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error);
};

extern const struct gt_figure gt_figure_timeline, gt_figure_sms, gt_figure_warps, gt_figure_copies,
    gt_figure_errors, gt_figure_placement, gt_figure_suite, gt_figure_families, gt_figure_cycles,
    gt_figure_roofline, gt_figure_stalls;

enum { GT_FIGURE_WIDTH_PX = 1100, GT_FIGURE_RIGHT_PX = 30 };

/* The frame of a figure's axes, in pixels from the edges of the picture, and the time axis. */
void gt_figure_frame(struct gt_drawing *drawing, unsigned left_px, unsigned top_px, unsigned plot_height_px,
                     unsigned bottom_px);
/* The least round number that holds `peak`: where an axis from 0 ends. */
double gt_figure_top(double peak);
void gt_figure_time_axis(const struct gt_view *view, struct gt_drawing *drawing);

/* A level that changes in steps, written as the corners of its outline: one shape to draw, however
 * many steps it has, and nothing where the level stays. */
struct gt_steps { FILE *out; double level, peak; };
struct gt_steps gt_steps_begin(FILE *out, double x);
void gt_steps_to(struct gt_steps *steps, double x, double level);   /* from `x` on */
void gt_steps_end(struct gt_steps *steps, double x);

#endif
