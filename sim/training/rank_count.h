/* rank_count.h - N[:bucket=MIB], what changes to several GPUs are asked for. */
#ifndef GRIDTIDE_SIM_TRAINING_RANK_COUNT_H
#define GRIDTIDE_SIM_TRAINING_RANK_COUNT_H

#include "sim/rewrite/scenario.h"

/* From 2 GPUs on; *bucket_bytes is untouched where none is given.  0, or -1 with what is wrong. */
int gt_ranks_parse(const char *argument, uint32_t *ranks, uint64_t *bucket_bytes, struct gt_error *error);
/* A whole number from `least` to `most`: `what`. */
int gt_count_parse(const char *argument, const char *what, uint32_t least, uint32_t most, uint32_t *count,
                   struct gt_error *error);
/* Say so where more GPUs than were measured are asked for. */
void gt_ranks_tell_extrapolated(struct gt_scenario *scenario, uint32_t ranks);
/* Say so where so many collectives of the trace itself are. */
void gt_ranks_tell_extrapolated_collectives(struct gt_scenario *scenario, uint64_t collectives);

#endif
