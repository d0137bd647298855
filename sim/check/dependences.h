/* dependences.h - the order of a workload as a list: which operations each operation starts behind, and which each call returns
 * behind.  It is the order of order.h without what only the host knows (an operation comes behind the call that submits it)
 * and without what collectives bring from other ranks.
 */
#ifndef GRIDTIDE_SIM_CHECK_DEPENDENCES_H
#define GRIDTIDE_SIM_CHECK_DEPENDENCES_H

#include "sim/workload/workload.h"

/* Those of i are list[first[i] .. first[i + 1] - 1]. */
struct gt_dependence_list {
    uint64_t *first;
    gt_op_index *list;
    uint64_t count, room;
};

struct gt_dependences {
    /* By operation: the one before it in its stream, what its events, its graph's edges and the default streams' rules say.  One
     * that another one of the same stream comes behind is left out, but for nodes of graphs. */
    struct gt_dependence_list ops;
    struct gt_dependence_list calls; /* by call: synchronisations, and calls that wait for their own operation */
    uint64_t unknown_waits;          /* whose target was not recorded; measured times then say what they were for */
};

/* Of a workload that gt_workload_check() let pass; ended by gt_dependences_free(). */
void gt_dependences_find(struct gt_dependences *dependences, const struct gt_workload *workload);
void gt_dependences_free(struct gt_dependences *dependences);

#endif
