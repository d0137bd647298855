/* equivalent_launches.h - launches of graphs that have the same nodes, told by the nodes alone: a recording does not say which
 * graph was launched. */
#ifndef GRIDTIDE_SIM_REPLAY_EQUIVALENT_LAUNCHES_H
#define GRIDTIDE_SIM_REPLAY_EQUIVALENT_LAUNCHES_H

#include "sim/workload/workload.h"

struct gt_equivalent_launches {
    const gt_call_index *calls;
    uint32_t count;
    const uint32_t *order; /* by operation number: nodes of a launch by stream, then as they ran */
};
typedef void gt_equivalent_visitor(void *user, const struct gt_equivalent_launches *equivalent);

/* Tell `visit` of all of these `calls`, graph launches, those at a time that have as many nodes, in the same streams, of
 * the same kinds, kernels and bytes, and of which the same is `queued` (by call).  Sorts `calls`. */
void gt_equivalent_launches_visit(const struct gt_workload *workload, const bool *queued, gt_call_index *calls,
                                  uint32_t count, gt_equivalent_visitor *visit, void *user);

#endif
