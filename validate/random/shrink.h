/* shrink.h - the smallest workload that still shows something: delta debugging (Zeller and Hildebrandt, Simplifying and
 * isolating failure-inducing input, IEEE TSE 2002) of its calls, nodes, edges and streams, then of its numbers. */
#ifndef GRIDTIDE_VALIDATE_RANDOM_SHRINK_H
#define GRIDTIDE_VALIDATE_RANDOM_SHRINK_H

#include "sim/workload/workload.h"

struct gt_shrinking {
    /* Does this workload, smaller than the last one that did, show it still?  One that cannot be played does not.
     * Whoever answers true may keep what it knows of it: it is the smallest so far. */
    bool (*shows)(void *user, struct gt_workload *candidate);
    bool (*stop)(void *user); /* asked before each question; true: that was all */
    void *user;
};

/* The smallest that was found, of `workload` that shows it; the caller frees it.  Leaving out any one part of it, or
 * halving any one of its numbers, shows it no more; unless it was stopped before. */
struct gt_workload *gt_shrink(const struct gt_workload *workload, const struct gt_shrinking *shrinking);

#endif
