/* graph_launch.h - in which order, and when, graph launches hand their nodes to the GPU. */
#ifndef GRIDTIDE_SIM_REPLAY_GRAPH_LAUNCH_H
#define GRIDTIDE_SIM_REPLAY_GRAPH_LAUNCH_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* As though nobody had measured the launches; NULL where there is no graph. */
struct gt_graph_launches {
    gt_time_ps *node_ps; /* by operation, of graphs: from the launch's begin until the GPU may be told of the node */
    gt_time_ps *call_ps; /* by call, of graphs: until all nodes are written */
    bool *waits;         /* by operation, of graphs: does it come after a node of another group? */
    bool *begins;        /* by operation, of graphs: is it the first of its group? */
    /* by operation, of groups' first nodes; GT_NONE: there is none */
    gt_op_index *behind; /* of the groups that this one waits for, the one written last */
    gt_op_index *next;   /* the group of its graph that is written next */
    gt_op_index *first;  /* by call, of graphs: the group written first */
};

/* Of all graphs of `workload` on that device.  Successors of operation i are edge_to[edge_from[i] ..
 * edge_from[i + 1] - 1]; NULL: there are no edges. */
void gt_graph_launches_make(struct gt_graph_launches *launches, const struct gt_workload *workload,
                            const struct gt_device *device, const uint32_t *edge_from, const uint32_t *edge_to);
void gt_graph_launches_free(struct gt_graph_launches *launches);

#endif
