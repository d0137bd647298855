/* report.h - what a store holds as a folder to open in a browser. */
#ifndef GRIDTIDE_PLOTS_PAGE_REPORT_H
#define GRIDTIDE_PLOTS_PAGE_REPORT_H

#include <stdint.h>

#include "traces/explain/overview.h"
#include "traces/store/selection.h"
#include "traces/store/store.h"

/* Told how many of `total` figures are drawn. */
typedef void gt_report_progress(void *user, uint64_t done, uint64_t total);

/* Make the report of `store`, or of a part of its run (`filter` not NULL), in folder `path`: index.html and its pictures, in place whole or not
 * at all. An existing `path` is replaced when it is empty or a former report; anything else there
 * is left alone and refused. Needs gnuplot. `predictor` says what changes of run `predicted_run` gain (NULL: nobody
 * does); a page about another run has no gains. `progress` may be NULL. Returns 0 or -1. */
int gt_report(struct gt_store *store, const char *path, const struct gt_filter *filter,
              const struct gt_predictor *predictor, int64_t predicted_run, gt_report_progress *progress, void *user,
              struct gt_error *error);

#endif
