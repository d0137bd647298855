/* replicate.h - the same program on more GPUs, each in a process of its own. */
#ifndef GRIDTIDE_SIM_TRAINING_REPLICATE_H
#define GRIDTIDE_SIM_TRAINING_REPLICATE_H

#include "sim/workload/workload.h"

/* `workload`, whose work is on one GPU, also on `more` GPUs that it gets: with streams, threads and events of their own.
 * Returns the group of all of them, that GPU first: kernels of collectives that were added to the program are its ranks'
 * (see collective.h), and copies of them the other ranks'.  Their calls are in ranges without times. */
uint32_t gt_replicate_begin(struct gt_workload *workload, uint32_t more);
/* Then, once the program is as it is to be. */
void gt_replicate_end(struct gt_workload *workload, uint32_t group);

#endif
