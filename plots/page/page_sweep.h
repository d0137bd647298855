/* page_sweep.h - the report of a sweep: one page, with its pictures. */
#ifndef GRIDTIDE_PLOTS_PAGE_PAGE_SWEEP_H
#define GRIDTIDE_PLOTS_PAGE_PAGE_SWEEP_H

#include "plots/data/report_folder.h"
#include "traces/store/store.h"

/* Draw and write it, into a folder that was begun with the pictures of figures/sweep_figures.h.  Returns 0 or -1. */
int gt_page_sweep(const struct gt_folder *folder, struct gt_store *store, struct gt_error *error);

#endif
