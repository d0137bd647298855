/* full_queue.h - calls that a full queue kept waiting while they were recorded. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_FULL_QUEUE_H
#define GRIDTIDE_TRACES_EXPLAIN_FULL_QUEUE_H

#include "traces/explain/loaded_run.h"

/* By call: how much longer than its like one took that asked for work of a stream of which as much had not begun as a
 * queue holds.  A profile says how long a call took, not that it waited, so the replay takes it for the call's own time.
 * The caller frees it. */
gt_time_ps *gt_full_queue_waits(const struct gt_loaded_run *run);

#endif
