/* reduce.h - a workload less some of its parts, still one that can be simulated and played. */
#ifndef GRIDTIDE_VALIDATE_RANDOM_REDUCE_H
#define GRIDTIDE_VALIDATE_RANDOM_REDUCE_H

#include "sim/workload/workload.h"

/* What can be left out: calls with their operations; nodes of graphs; edges between nodes; streams that nothing is in
 * (they take connections all the same); rules by which blocks launch kernels, with all that follows from them; tasks. */
enum gt_reducible {
    GT_REDUCE_CALLS,
    GT_REDUCE_NODES,
    GT_REDUCE_EDGES,
    GT_REDUCE_STREAMS,
    GT_REDUCE_RULES,
    GT_REDUCE_TASKS,
    GT_REDUCIBLES
};

/* How many such parts it has. */
uint32_t gt_reduce_count(const struct gt_workload *workload, enum gt_reducible what);

/* A new workload without `count` such parts from number `first` on.  What needs them goes too: calls about an event that
 * nothing records any more, threads, events and kernels without a use, a graph whose last node went; and what came
 * after a node that went comes after those before it.  What blocks launch is worked out anew.  Programs, profiles, warnings and unknown fields
 * stay behind: they are no part of typed traces' runs. */
struct gt_workload *gt_reduce(const struct gt_workload *workload, enum gt_reducible what, uint32_t first,
                              uint32_t count);

#endif
