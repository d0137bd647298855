/* call_kinds.h - what a call copies, and where a reader finds it.  What it waits for: sim/workload/host_waits.h. */
#ifndef GRIDTIDE_SIM_REWRITE_CALL_KINDS_H
#define GRIDTIDE_SIM_REWRITE_CALL_KINDS_H

#include "sim/workload/workload.h"

/* The copy that a copy call makes, one of that direction; else NULL. */
const struct gt_op *gt_call_copies(const struct gt_workload *workload, const struct gt_call *call,
                                   enum gt_direction direction);
/* Does it allocate or free memory, but not in stream order: cudaMalloc, cudaFree, cudaHostAlloc, ...? */
bool gt_call_allocates(const struct gt_workload *workload, const struct gt_call *call);
/* Does a function of that name, whatever its version? */
bool gt_name_allocates(const char *name);

/* "line 12 (cudaMalloc)", "call 12 (copy)": where a reader finds it; into `text`, which is returned. */
enum { GT_CALL_PLACE_BYTES = 128 };
const char *gt_call_place(const struct gt_workload *workload, gt_call_index call, char text[GT_CALL_PLACE_BYTES]);

#endif
