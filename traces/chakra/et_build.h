/* et_build.h - a file's nodes as operations of a workload: what both ways of building one share. */
#ifndef GRIDTIDE_TRACES_CHAKRA_ET_BUILD_H
#define GRIDTIDE_TRACES_CHAKRA_ET_BUILD_H

#include "traces/chakra/et_order.h"

struct gt_index_map;

struct gt_et_build {
    struct gt_workload *w;
    const struct gt_et_file *file;
    const struct gt_device *device;
    const struct gt_et_times *times;
    struct gt_collective_notes notes;
    struct gt_index_map *lanes;               /* streams by what says them */
    uint64_t streams_assumed, shapes_assumed; /* nodes that state no stream; kernels that state no grid */
    uint64_t process;                         /* of all its threads */
};

/* The stream of a node of the GPU: the one that it states; else compute, memory, each group's collectives, and messages to
 * and from each rank have a stream each. */
gt_stream_index gt_et_stream(struct gt_et_build *build, const struct gt_et_node *node);
/* The GPU of that number, added where it is new; the first for GT_ET_NONE. */
gt_gpu_index gt_et_gpu(struct gt_et_build *build, uint64_t device);
/* Append the node as an operation of the call, which was added last, and note collectives and messages. */
gt_op_index gt_et_add_op(struct gt_et_build *build, uint32_t node, gt_call_index call);
/* Kind of the call that submits it. */
enum gt_call_kind gt_et_call_kind(const struct gt_workload *workload, const struct gt_et_node *node);
void gt_et_build_free(struct gt_et_build *build); /* but for the workload and the notes */

/* et_recorded.c: does each node of the file say which call or operation it was, and when, so that they can be had back? */
bool gt_et_is_recorded(const struct gt_et_file *file);
/* The calls and operations as they were.  -1: a node of a graph depends on more others than a workload can hold. */
int gt_et_build_recorded(struct gt_et_build *build, struct gt_error *error);
/* et_stated.c: one thread that does the host's nodes and submits all others, in that order; events keep all dependences. */
void gt_et_build_stated(struct gt_et_build *build, const uint32_t *order);

#endif
