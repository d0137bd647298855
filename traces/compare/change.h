/* change.h - a simulated run with a change, and the one without it.
 *
 * `gridtide run` with an option that changes something (--streams, --device...) simulates without it too and
 * stores that run first.  The run with the change names it in a counter. */
#ifndef GRIDTIDE_TRACES_COMPARE_CHANGE_H
#define GRIDTIDE_TRACES_COMPARE_CHANGE_H

#include "traces/store/store.h"

/* The counter of a run with a change: the number of the run without it. */
#define GT_CHANGE_COUNTER "without_run_id"

/* The run without the change of `run`, into *without; 0 where there is none.  Returns 0, or -1 with `error`. */
int gt_change_without(struct gt_store *store, int64_t run, int64_t *without, struct gt_error *error);

#endif
