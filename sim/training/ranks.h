/* ranks.h - changes from one process to several: their arguments, more ranks of one program, and the threads of each rank. */
#ifndef GRIDTIDE_SIM_TRAINING_RANKS_H
#define GRIDTIDE_SIM_TRAINING_RANKS_H

#include "sim/rewrite/scenario.h"
#include "sim/workload/workload.h"

/* From 2 GPUs on; *bucket_bytes is untouched where none is given.  0, or -1 with what is wrong. */
int gt_ranks_parse(const char *argument, uint32_t *ranks, uint64_t *bucket_bytes, struct gt_error *error);
/* A whole number from `least` to `most`: `what`. */
int gt_count_parse(const char *argument, const char *what, uint32_t least, uint32_t most, uint32_t *count,
                   struct gt_error *error);
/* Say so where more GPUs than were measured are asked for. */
void gt_ranks_tell_extrapolated(struct gt_scenario *scenario, uint32_t ranks);
/* Say so where so many collectives of the trace itself are. */
void gt_ranks_tell_extrapolated_collectives(struct gt_scenario *scenario, uint64_t collectives);

/* In each process that has one GPU and marks steps, the threads that make gradients ready and the one that marks steps are
 * one from now on; are there any?  Nothing changes where there is but one process. */
bool gt_join_ranks(struct gt_scenario *scenario);

/* `workload`, whose work is on one GPU, also on `more` GPUs that it gets: with streams, threads and events of their own.
 * Returns the group of all of them, that GPU first: kernels of collectives that were added to the program are its ranks'
 * (see collective.h), and copies of them the other ranks'.  Their calls are in ranges without times. */
uint32_t gt_replicate_begin(struct gt_workload *workload, uint32_t more);
/* Then, once the program is as it is to be. */
void gt_replicate_end(struct gt_workload *workload, uint32_t group);

#endif
