/* serve_figures.h - the pictures of a load: latencies, who runs when and on how many SMs, policies against each other. */
#ifndef GRIDTIDE_PLOTS_FIGURES_SERVE_FIGURES_H
#define GRIDTIDE_PLOTS_FIGURES_SERVE_FIGURES_H

#include "plots/data/serve_view.h"
#include "plots/figures/gnuplot.h"

/* The names of the pictures, which are their templates' too. */
#define GT_SERVE_LATENCY  "serve-latency"
#define GT_SERVE_TIMELINE "serve-timeline"
#define GT_SERVE_POLICIES "serve-policies"

/* As gt_prepare_fn (figure.h), with a gt_serve_view: 1, 0 where there is nothing to draw, -1.  The first two are of the first run. */
int gt_prepare_serve_latency(const void *view, struct gt_drawing *drawing, struct gt_error *error);
int gt_prepare_serve_timeline(const void *view, struct gt_drawing *drawing, struct gt_error *error);
int gt_prepare_serve_policies(const void *view, struct gt_drawing *drawing, struct gt_error *error);

#endif
