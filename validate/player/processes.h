/* processes.h - a workload whose processes share a GPU, each played by a process of its own. */
#ifndef GRIDTIDE_VALIDATE_PLAYER_PROCESSES_H
#define GRIDTIDE_VALIDATE_PLAYER_PROCESSES_H

#include "validate/validate.h"

/* Like gt_cuda_players, with a process for each process of the workload: in time slices, or where the workload says so as clients of an
 * MPS daemon of their own, with their percentages.  No setting of the GPU is changed.  The process that calls these functions must not use
 * CUDA.  Green contexts and MIG instances are not played. */
extern const struct gt_players gt_process_players;

#endif
