/* node_plan.h - the nodes that a recorded workload becomes in execution traces, and what each of them comes after.
 *
 * One rank is one process.  Its nodes make a graph in which each starts when all that it comes after has ended, and lasts as
 * long as it did; started so, every node begins and ends when it was recorded to.  Times are whole microseconds, as the format
 * has them: the rounded end less the rounded start, so that no rounding adds up along a chain.
 *
 *   Each call is a node of the host, behind the node before it on its thread; the thread's own work between two calls is one, too.
 *   A call that submits operations is up to the first one's start (or the call's end) one node, behind which these come, and from
 *   there on another one.  A call that waits is behind what it waits for, and lasts from the end of that to its return.
 *   Each operation is a node behind its call, behind the one before it in its stream, and behind what events, graphs' edges and
 *   default streams' rules say (sim/check/dependences.h).  Where it started later than all of these ended, a node of that
 *   length is between: the launch gap.
 */
#ifndef GRIDTIDE_TRACES_CHAKRA_NODE_PLAN_H
#define GRIDTIDE_TRACES_CHAKRA_NODE_PLAN_H

#include "traces/chakra/kernel_work.h"

enum gt_planned_kind {
    GT_NODE_GROUPS,    /* the groups of ranks; first of all, where there are any */
    GT_NODE_HOST_WORK, /* what a thread did between two calls; `what` is the later call */
    GT_NODE_CALL,      /* `what`: a call, all of it or up to its first operation's start */
    GT_NODE_RETURN,    /* the rest of that call */
    GT_NODE_GAP,       /* before operation `what` */
    GT_NODE_OP,        /* operation `what` */
    GT_NODE_RECEIVE    /* of operation `what`, which sends and receives: the part that receives */
};

struct gt_planned_node {
    uint64_t start_us, duration_us;
    uint64_t first_dep; /* its nodes are deps[first_dep .. first_dep + deps - 1] */
    uint32_t deps;
    uint32_t call; /* the node of the call that submitted it (operations, gaps); GT_NONE */
    uint32_t what;
    uint8_t kind; /* gt_planned_kind */
};

struct gt_planned_rank {
    gt_thread_index process; /* as gt_thread_processes() has it; threads of process 0 are the first one's */
    struct gt_planned_node *nodes;
    uint32_t count, room;
    uint64_t
        overlapping; /* operations that began before all that they come behind had ended, as in the graph they cannot */
};

struct gt_node_plan {
    const struct gt_workload *w;
    struct gt_planned_rank *ranks;
    uint32_t count;
    uint32_t *rank_of_thread;
    uint32_t *rank_of_gpu;       /* whose process submits to it; 0 where none does */
    struct gt_kernel_work *work; /* by operation; NULL: of none anything is known */
    uint32_t *deps;              /* nodes of the same rank, by their place */
    uint64_t dep_count, dep_room;
    uint64_t unknown_waits; /* as in struct gt_dependences */
};

/* Of a workload all of whose calls and operations have measured times; -1 with the reason where not.  Ended by
 * gt_node_plan_free() either way. */
int gt_node_plan_make(struct gt_node_plan *plan, const struct gt_workload *workload, struct gt_error *error);
void gt_node_plan_free(struct gt_node_plan *plan);

#endif
