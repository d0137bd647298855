/* predict.h - what the changes that findings name would gain: the trace of a stored run is read again, and the what-if
 * engine asked. */
#ifndef GRIDTIDE_SIM_CMD_REPORT_PREDICT_H
#define GRIDTIDE_SIM_CMD_REPORT_PREDICT_H

#include "traces/explain/overview.h"
#include "traces/store/store.h"

struct gt_predicting;

/* Who predicts for a run of the store, into *predictor: nobody where the run's trace is not there any more or has changed,
 * the run is itself one of a change, or had options that are not taken over (all but --seed and --blocks);
 * predictor->why_not then says so.  The trace is read at the first question; but for progress, unless `quiet`, nothing is
 * printed.  NULL with the reason where the store cannot be read. */
struct gt_predicting *gt_predicting_begin(struct gt_store *store, int64_t run_id, bool quiet,
                                          struct gt_predictor *predictor, struct gt_error *error);
void gt_predicting_end(struct gt_predicting *predicting); /* NULL allowed */

#endif
