/* sweep_figures.h - the pictures of a sweep: a line a parameter, and a map of two. */
#ifndef GRIDTIDE_PLOTS_FIGURES_SWEEP_FIGURES_H
#define GRIDTIDE_PLOTS_FIGURES_SWEEP_FIGURES_H

#include "plots/data/sweep_view.h"
#include "plots/figures/gnuplot.h"

/* The names of the pictures, which are their templates' too. */
#define GT_SWEEP_LINES "sweep"
#define GT_SWEEP_MAP   "sweep-map"

/* As gt_prepare_fn (figure.h), with a gt_sweep_view: 1, 0 where there is nothing to draw, -1. */
int gt_prepare_sweep_lines(const void *user, struct gt_drawing *drawing, struct gt_error *error);
int gt_prepare_sweep_map(const void *user, struct gt_drawing *drawing, struct gt_error *error);

#endif
