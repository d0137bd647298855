/* chains.h - the order that a recorded graph's streams ran its nodes in, as edges from each node to its stream's next. */
#ifndef GRIDTIDE_SIM_REPLAY_CHAINS_H
#define GRIDTIDE_SIM_REPLAY_CHAINS_H

#include "sim/workload/workload.h"

typedef void gt_edge_visitor(void *user, uint32_t before, uint32_t after);

/* Visit the chains of a graph launch, a stream's nodes in their order.  Of a graph whose edges are stated only between nodes
 * that really ran one after the other; and where these and the stated edges close a circle, only those that do not go
 * against an order that the stated edges allow.  `last`: room for one number a stream.  Returns how many went against it. */
uint32_t gt_chains_visit(const struct gt_workload *workload, const struct gt_call *call, uint32_t *last,
                         gt_edge_visitor *visit, void *user);

#endif
