/* Groups, what kernels say of them, and whether what belongs together is alike. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/workload/collective.h"

static const char *name_of(const struct gt_workload *workload, const struct gt_group *group)
{
    return gt_name_text(workload, group->name);
}

int gt_group_check(const struct gt_workload *workload, const struct gt_group *group, struct gt_error *error)
{
    uint8_t taken[GT_MOST_GPUS] = { 0 };

    if (group->name >= gt_name_count(workload))
        return gt_error_set(error, "a group has no name");
    if (group->size == 0 || group->size > GT_MOST_GPUS)
        return gt_error_set(error, "group %.200s has %u members; 1 to %d are possible", name_of(workload, group),
                            group->size, GT_MOST_GPUS);
    for (uint32_t rank = 0; rank < group->size; rank++) {
        if (group->members[rank] >= workload->gpu_count)
            return gt_error_set(error, "group %.200s: rank %u is on a GPU that is not there",
                                name_of(workload, group), rank);
        if (taken[group->members[rank]]++ != 0)
            return gt_error_set(error, "group %.200s: GPU %u is two of its ranks; a GPU is one at most",
                                name_of(workload, group), workload->gpus[group->members[rank]].id);
    }
    return 0;
}

static bool rank_fits(uint32_t rank, const struct gt_group *group)
{
    return rank == GT_NONE || rank < group->size;
}

static int check_kernel(const struct gt_workload *workload, const struct gt_kernel *kernel, struct gt_error *error)
{
    const struct gt_collective *collective = &kernel->collective;
    const struct gt_group *group;
    uint32_t names = gt_name_count(workload);

    if (collective->kind >= GT_COLLECTIVE_KINDS || collective->algorithm >= GT_ALGORITHMS ||
        collective->protocol >= GT_PROTOCOLS)
        return gt_error_set(error, "its collective, algorithm or protocol is of no known kind");
    if (collective->group >= workload->group_count)
        return gt_error_set(error, "its group is not among the groups");
    group = &workload->groups[collective->group];
    if (collective->bytes > INT64_MAX)
        return gt_error_set(error, "a %s of more than 2^63 bytes", gt_collective_kind_names[collective->kind]);
    if ((collective->datatype != GT_NONE && collective->datatype >= names) ||
        (collective->reduction != GT_NONE && collective->reduction >= names))
        return gt_error_set(error, "its datatype or reduction is not among the names");
    if (collective->root >= group->size)
        return gt_error_set(error, "its root is rank %u, and group %.200s has %u ranks", collective->root,
                            name_of(workload, group), group->size);
    if (collective->kind == GT_SEND_RECV &&
        (!rank_fits(collective->to, group) || !rank_fits(collective->from, group) ||
         (collective->to == GT_NONE && collective->from == GT_NONE)))
        return gt_error_set(error, "send_recv goes \"to\" or comes \"from\" a rank of group %.200s, 0 to %u",
                            name_of(workload, group), group->size - 1);
    if (kernel->tasks != NULL || kernel->launch_count > 0 || kernel->cost != GT_COST_NONE ||
        kernel->program != NULL || kernel->grid_barriers > 0 || gt_kernel_cluster_blocks(kernel) > 1 ||
        kernel->prologue_ps > 0)
        return gt_error_set(error,
                            "a collective takes as long as its ranks and its data do: no block time, clusters, "
                            "program, tasks, launches, grid_barriers or prologue");
    return 0;
}

static int at_op(const struct gt_workload *workload, gt_op_index op, struct gt_error *error)
{
    uint32_t line = workload->calls[workload->ops[op].call].line;

    return line != 0 ? gt_error_prefix(error, "line %u: ", line) : -1;
}

/* An operation is on a GPU that is a member, and speaks to other ranks. */
static int check_op(const struct gt_workload *workload, gt_op_index op, struct gt_error *error)
{
    const struct gt_kernel *kernel = gt_collective_kernel(workload, op);
    const struct gt_group *group;
    gt_gpu_index gpu;
    uint32_t rank;

    if (kernel == NULL)
        return 0;
    group = &workload->groups[kernel->collective.group];
    gpu = workload->streams[workload->ops[op].stream].gpu;
    rank = gt_group_rank(group, gpu);
    if (rank == GT_NONE)
        gt_error_set(error, "kernel %.200s is launched on GPU %u, which is no member of group %.200s",
                     gt_name_text(workload, kernel->name), workload->gpus[gpu].id, name_of(workload, group));
    else if (kernel->collective.kind == GT_SEND_RECV &&
             (kernel->collective.to == rank || kernel->collective.from == rank))
        gt_error_set(error, "kernel %.200s sends to or gets from its own rank, %u of group %.200s",
                     gt_name_text(workload, kernel->name), rank, name_of(workload, group));
    else
        return 0;
    return at_op(workload, op, error);
}

static void describe(const struct gt_collective *collective, char *text, size_t bytes)
{
    bool rooted = collective->kind == GT_BROADCAST || collective->kind == GT_REDUCE;
    int length = snprintf(text, bytes, "%s of %" PRIu64 " bytes", gt_collective_kind_names[collective->kind],
                          collective->bytes);

    if (rooted)
        snprintf(text + length, bytes - (size_t)length, " with root %" PRIu32, collective->root);
}

static int unlike(const struct gt_workload *workload, const struct gt_collective_part *part,
                  const struct gt_collective_part *first, struct gt_error *error)
{
    const struct gt_collective *a = &gt_collective_kernel(workload, part->op)->collective;
    const struct gt_collective *b = &gt_collective_kernel(workload, first->op)->collective;
    uint32_t line = workload->calls[workload->ops[first->op].call].line;

    char one[64], other[64];

    describe(a, one, sizeof one);
    describe(b, other, sizeof other);
    gt_error_set(
        error,
        "%s number %u of group %.200s is %s on rank %u, and %s on rank %u (line %u); each rank's must be the same",
        part->to == GT_NONE ? "collective" : "message", part->sequence,
        name_of(workload, &workload->groups[part->group]), one, part->rank, other, first->rank, line);
    return at_op(workload, part->op, error);
}

static int check_instances(const struct gt_workload *workload, struct gt_error *error)
{
    struct gt_collective_parts parts = gt_collective_parts(workload);
    const struct gt_collective_part **first = gt_calloc(parts.instances + 1ull, sizeof(struct gt_collective_part *));
    int result = 0;

    for (uint32_t i = 0; i < parts.count && result == 0; i++) {
        const struct gt_collective_part *part = &parts.parts[i];
        const struct gt_collective *a, *b;

        if (first[part->instance] == NULL)
            first[part->instance] = part;
        a = &gt_collective_kernel(workload, part->op)->collective;
        b = &gt_collective_kernel(workload, first[part->instance]->op)->collective;
        if (a->kind != b->kind || a->bytes != b->bytes || a->root != b->root)
            result = unlike(workload, part, first[part->instance], error);
    }
    free(first);
    gt_collective_parts_free(&parts);
    return result;
}

int gt_collectives_check(const struct gt_workload *workload, struct gt_error *error)
{
    if (workload->group_count > GT_MOST_GROUPS)
        return gt_error_set(error, "it has %u groups; %d are the limit", workload->group_count, GT_MOST_GROUPS);
    for (uint32_t i = 0; i < workload->group_count; i++)
        if (gt_group_check(workload, &workload->groups[i], error) != 0)
            return -1;
    for (uint32_t i = 0; i < workload->kernel_count; i++) {
        const struct gt_kernel *kernel = &workload->kernels[i];

        if (kernel->collective.kind == GT_COLLECTIVE_NONE || check_kernel(workload, kernel, error) == 0)
            continue;
        gt_error_prefix(error, "kernel %.200s: ", gt_name_text(workload, kernel->name));
        return kernel->line != 0 ? gt_error_prefix(error, "line %u: ", kernel->line) : -1;
    }
    if (workload->group_count == 0)
        return 0;
    for (uint32_t i = 0; i < workload->op_count; i++)
        if (check_op(workload, i, error) != 0)
            return -1;
    return check_instances(workload, error);
}
