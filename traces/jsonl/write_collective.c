/* Groups of GPUs, and what kernels say of collectives, as they stand in a trace. */
#include "sim/workload/collective.h"
#include "traces/jsonl/emit.h"

void gt_emit_groups(struct gt_emit *emit)
{
    const struct gt_workload *workload = emit->workload;

    for (uint32_t i = 0; i < workload->group_count; i++) {
        const struct gt_group *group = &workload->groups[i];

        gt_emit_open(emit);
        gt_emit_text(emit, "group", emit->keys.names[group->name]);
        gt_emit_open_list(emit, "gpus");
        for (uint32_t rank = 0; rank < group->size; rank++)
            gt_emit_key_value(emit, &emit->keys.gpus[group->members[rank]]);
        gt_emit_close_list(emit);
        gt_emit_close(emit, GT_EXTRA_GROUP, i);
        gt_emit_newline(emit);
    }
}

void gt_emit_collective(struct gt_emit *emit, const struct gt_kernel *kernel)
{
    const struct gt_collective *collective = &kernel->collective;

    if (collective->kind == GT_COLLECTIVE_NONE)
        return;
    gt_emit_text(emit, "collective", gt_collective_kind_names[collective->kind]);
    gt_emit_text(emit, "group", emit->keys.names[emit->workload->groups[collective->group].name]);
    gt_emit_number(emit, "bytes", collective->bytes);
    if (collective->datatype != GT_NONE)
        gt_emit_text(emit, "datatype", emit->keys.names[collective->datatype]);
    if (collective->reduction != GT_NONE)
        gt_emit_text(emit, "reduction", emit->keys.names[collective->reduction]);
    if (collective->root != 0)
        gt_emit_number(emit, "root", collective->root);
    if (collective->to != GT_NONE)
        gt_emit_number(emit, "to", collective->to);
    if (collective->from != GT_NONE)
        gt_emit_number(emit, "from", collective->from);
    if (collective->algorithm != GT_ALGORITHM_ANY)
        gt_emit_text(emit, "algorithm", gt_algorithm_names[collective->algorithm]);
    if (collective->protocol != GT_PROTOCOL_ANY)
        gt_emit_text(emit, "protocol", gt_protocol_names[collective->protocol]);
}
