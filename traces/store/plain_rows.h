/* plain_rows.h - plain fields of a trace (sim/workload/plain_fields.h) that a store keeps, back from it. */
#ifndef GRIDTIDE_TRACES_STORE_PLAIN_ROWS_H
#define GRIDTIDE_TRACES_STORE_PLAIN_ROWS_H

#include "sim/workload/workload.h"
#include "traces/store/database.h"

/* Set those of the trace's kernels, `count` of them by kernel_no; a store without them leaves them as they are.  Fields that
 * this version does not know mean nothing to it.  Returns 0 or -1. */
int gt_trace_plain_kernels(struct gt_database *database, int64_t trace_id, struct gt_kernel *kernels, uint32_t count,
                           struct gt_error *error);

#endif
