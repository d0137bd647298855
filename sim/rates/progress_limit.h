/* progress_limit.h - how fast a group could go if nothing but time held it back. */
#ifndef GRIDTIDE_SIM_RATES_PROGRESS_LIMIT_H
#define GRIDTIDE_SIM_RATES_PROGRESS_LIMIT_H

#include "sim/machine/machine.h"

/* Whether a resource (gt_resource) of an SM goes by turns, issue slots and pipes: each group has what those
 * with an earlier turn leave it.  Of the others all have shares. */
bool gt_progress_by_turns(uint32_t resource);

/* The place of each group of an SM in the order of turns, into its `rank`.  `first`: of the SM's groups. */
void gt_progress_turns(struct gt_machine *m, gt_group_index first);

/* The limits of the rates of the groups of one SM of each kind (m->sm_kinds, `kinds` of them), and what part of
 * its SM each is: into `limit` and `sm_part`. */
void gt_progress_limits(struct gt_machine *m, const struct gt_gpu_state *gpu, uint32_t kinds);

#endif
