/* figure.h - the figures of a report: a row of the table (table.c), a function and a gnuplot template each. */
#ifndef GRIDTIDE_PLOTS_FIGURES_FIGURE_H
#define GRIDTIDE_PLOTS_FIGURES_FIGURE_H

#include "plots/data/view.h"
#include "plots/figures/axes.h"

/* Write the data files and parameters, size, alternative text and what the caption adds to the table's.
 * Returns 1, 0 where there is nothing to draw, -1 on error. */
typedef int gt_prepare_fn(const struct gt_view *view, struct gt_drawing *drawing, struct gt_error *error);

struct gt_figure {
    const char *name;     /* of its pictures */
    const char *template; /* in plots/templates, without ".gp" */
    const char *title;
    unsigned opens, follows; /* enum gt_page_kind, bits: pages that it stands on, before or after the others */
    gt_prepare_fn *prepare;
    /* How to read it: of one run, or of two beside each other ("%1$s": what the first is called, "%2$s": the
     * second); the same where pair is NULL. */
    const char *alone, *pair;
    const char *absent; /* said where there is nothing to draw; NULL: the figure is left out */
};

extern const struct gt_figure gt_figures[];
extern const unsigned gt_figure_count;

#endif
