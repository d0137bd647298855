#include "sim/workload/collective.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

const char *const gt_collective_kind_names[GT_COLLECTIVE_KINDS] = {
    [GT_COLLECTIVE_NONE] = "none",  [GT_ALL_REDUCE] = "all_reduce", [GT_REDUCE_SCATTER] = "reduce_scatter",
    [GT_ALL_GATHER] = "all_gather", [GT_BROADCAST] = "broadcast",   [GT_REDUCE] = "reduce",
    [GT_ALL_TO_ALL] = "all_to_all", [GT_SEND_RECV] = "send_recv",
};
const char *const gt_algorithm_names[GT_ALGORITHMS] = {
    [GT_ALGORITHM_ANY] = "any",
    [GT_ALGORITHM_RING] = "ring",
    [GT_ALGORITHM_TREE] = "tree",
};
const char *const gt_protocol_names[GT_PROTOCOLS] = {
    [GT_PROTOCOL_ANY] = "any",
    [GT_PROTOCOL_LL] = "ll",
    [GT_PROTOCOL_LL128] = "ll128",
    [GT_PROTOCOL_SIMPLE] = "simple",
};

struct gt_collective gt_collective_of(enum gt_collective_kind kind, uint32_t group, uint64_t bytes)
{
    return (struct gt_collective){
        .bytes = bytes,
        .group = group,
        .to = GT_NONE,
        .from = GT_NONE,
        .datatype = GT_NONE,
        .reduction = GT_NONE,
        .kind = (uint8_t)kind,
    };
}

uint32_t gt_workload_add_group(struct gt_workload *w, uint32_t name, const uint32_t *gpus, uint32_t size)
{
    struct gt_group *group;

    gt_array_grow(w->groups, w->group_count, w->group_room);
    group = &w->groups[w->group_count];
    *group = (struct gt_group){ .name = name, .size = size };
    group->members = gt_realloc(NULL, size, sizeof *group->members);
    if (size > 0)
        memcpy(group->members, gpus, size * sizeof *gpus);
    return w->group_count++;
}

uint32_t gt_group_rank(const struct gt_group *group, uint32_t gpu)
{
    for (uint32_t rank = 0; rank < group->size; rank++)
        if (group->members[rank] == gpu)
            return rank;
    return GT_NONE;
}

const struct gt_kernel *gt_collective_kernel(const struct gt_workload *workload, uint32_t op)
{
    gt_kernel_index kernel = workload->ops[op].kernel;

    if (kernel == GT_NONE || workload->kernels[kernel].collective.kind == GT_COLLECTIVE_NONE)
        return NULL;
    return &workload->kernels[kernel];
}
