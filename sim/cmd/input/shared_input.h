/* shared_input.h - programs that run beside each other on one GPU, each from a trace of its own. */
#ifndef GRIDTIDE_SIM_CMD_INPUT_SHARED_INPUT_H
#define GRIDTIDE_SIM_CMD_INPUT_SHARED_INPUT_H

#include <stdbool.h>

#include "sim/workload/workload.h"

enum { GT_SHARED_TRACES_MAX = 64 };

/* Read the traces and make one workload of them, whose processes share as `share` says (gt_sharing_parse_all()).  With one trace,
 * all processes of that one do; `share` NULL leaves it as it is.  NULL with the reason; the caller frees it. */
struct gt_workload *gt_shared_read(const char *const *paths, uint32_t count, const char *share, bool quiet,
                                   struct gt_error *error);

/* Warn of kernels of which nothing says what they ask of caches and memory: how programs slow each other down there is not
 * simulated.  Of a workload of several traces, once programs are attached (gt_profiles_attach()). */
void gt_shared_warn(struct gt_workload *workload, bool quiet);

/* Warn of MIG instances, which nobody measured. */
void gt_shared_warn_of_mig(struct gt_workload *workload, bool quiet);

#endif
