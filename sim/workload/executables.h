/* executables.h - which graph launches are of the same executable graph (cudaGraphExec_t).
 *
 * CUDA runs launches of one executable graph one after the other, whatever streams they are launched into: "Only one
 * instance of graphExec may be executing at a time. Each launch is ordered behind both any previous work in stream and any
 * previous launches of graphExec" (CUDA Runtime API, cudaGraphLaunch).  An update (cudaGraphExecUpdate) leaves it the same
 * executable graph.
 */
#ifndef GRIDTIDE_SIM_WORKLOAD_EXECUTABLES_H
#define GRIDTIDE_SIM_WORKLOAD_EXECUTABLES_H

#include "sim/workload/workload.h"

/* By call: a number from 0 on that launches of one executable graph share; GT_NONE for all other calls.  Malloced; NULL
 * where no launch says which it is of.  *count: how many executable graphs there are. */
uint32_t *gt_executables_of_calls(const struct gt_workload *workload, uint32_t *count);

#endif
