/* loaded_order.h - the orders in which a loaded run is looked at. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_LOADED_ORDER_H
#define GRIDTIDE_TRACES_EXPLAIN_LOADED_ORDER_H

#include "traces/explain/loaded_run.h"

/* Once all rows are there: operations by start, the one before each in its stream, each thread's calls, the makespan. */
void gt_loaded_run_order(struct gt_loaded_run *run);

#endif
