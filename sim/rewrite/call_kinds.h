/* call_kinds.h - what calls of a workload without measured times do to the thread that makes them. */
#ifndef GRIDTIDE_SIM_REWRITE_CALL_KINDS_H
#define GRIDTIDE_SIM_REWRITE_CALL_KINDS_H

#include "sim/workload/workload.h"

/* cudaStreamSynchronize, cudaEventSynchronize, cudaDeviceSynchronize; cudaFree, which waits as that does. */
bool gt_call_synchronises(const struct gt_call *call);
/* cudaStreamQuery, cudaEventQuery: the host looks how far the GPU is. */
bool gt_call_queries(const struct gt_call *call);
/* The copy that a copy call makes, one of that direction; else NULL. */
const struct gt_op *gt_call_copies(const struct gt_workload *workload, const struct gt_call *call,
                                   enum gt_direction direction);
/* Is it a copy or memset that its call waits for: as it was seen to, or in the synchronous form, or a copy out to pageable
 * memory? */
bool gt_call_holds_host(const struct gt_workload *workload, const struct gt_call *call);
/* Does the thread do nothing for the GPU in it: its own work, or a call that neither submits nor waits? */
bool gt_call_is_idle(const struct gt_call *call);

/* Does it allocate or free memory, but not in stream order: cudaMalloc, cudaFree, cudaHostAlloc, ...? */
bool gt_call_allocates(const struct gt_workload *workload, const struct gt_call *call);

/* "line 12 (cudaMalloc)", "call 12 (copy)": where a reader finds it; into `text`, which is returned. */
enum { GT_CALL_PLACE_BYTES = 128 };
const char *gt_call_place(const struct gt_workload *workload, gt_call_index call, char text[GT_CALL_PLACE_BYTES]);

#endif
