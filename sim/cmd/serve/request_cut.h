/* request_cut.h - what one request is of a trace: all of it, or a range. */
#ifndef GRIDTIDE_SIM_CMD_SERVE_REQUEST_CUT_H
#define GRIDTIDE_SIM_CMD_SERVE_REQUEST_CUT_H

#include "sim/simulate.h"

/* `workload`, as recorded on `recorded`, in stated form; with `range`, only the calls of its first range of that name, or whose name
 * begins so.  NULL with the reason: no such range, or what a request may not have (collectives, launches by blocks).  The caller frees it. */
struct gt_workload *gt_request_cut(const struct gt_workload *workload, const struct gt_device *recorded,
                                   const char *range, struct gt_error *error);

#endif
