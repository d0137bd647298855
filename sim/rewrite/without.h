/* without.h - a workload without some of its operations. */
#ifndef GRIDTIDE_SIM_REWRITE_WITHOUT_H
#define GRIDTIDE_SIM_REWRITE_WITHOUT_H

#include <stdbool.h>

#include "sim/workload/workload.h"

/* A copy without the operations that `gone` marks, and what they launch.  A launch whose operations all go goes with them, a
 * graph's node alone; the thread's own work before a call that goes stays. */
struct gt_workload *gt_workload_without(const struct gt_workload *workload, const bool *gone);

#endif
