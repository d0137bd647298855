/* gnuplot.h - one figure through gnuplot, as SVG and PNG.
 *
 * gnuplot runs without a shell and without the user's start-up files, in the
 * report's work folder.  It reads parameters.gp (numbers and words of our own
 * tables only) and data files; names from traces reach it as data alone.
 */
#ifndef GRIDTIDE_PLOTS_FIGURES_GNUPLOT_H
#define GRIDTIDE_PLOTS_FIGURES_GNUPLOT_H

#include <stdbool.h>

#include "plots/data/report_folder.h"

/* What a figure's preparation fills. */
struct gt_drawing {
    const struct gt_folder *folder;
    FILE *parameters; /* "name = number" lines for the template */
    unsigned width_px, height_px;
    char alt[512];      /* what the picture shows, for those who do not see it */
    char caption[1200]; /* how to read it */
};

/* Is there a gnuplot?  0, or -1 and what to do. */
int gt_drawing_possible(struct gt_error *error);
/* Begin a drawing: parameters.gp is open. */
int gt_drawing_begin(struct gt_drawing *drawing, const struct gt_folder *folder, struct gt_error *error);
/* Run TEMPLATE.gp; NAME.svg, and with `png` NAME.png, is in the report then. */
int gt_drawing_plot(struct gt_drawing *drawing, const char *template, const char *name, bool png,
                    struct gt_error *error);
void gt_drawing_abandon(struct gt_drawing *drawing);

#endif
