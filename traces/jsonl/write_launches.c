/* What a kernel's blocks launch, as it stands in a trace. */
#include "sim/workload/child_launches.h"
#include "traces/jsonl/emit.h"

static void emit_blocks(struct gt_emit *emit, const struct gt_launch_rule *rule)
{
    switch ((enum gt_launch_blocks)rule->blocks) {
    case GT_BLOCKS_ALL: return;
    case GT_BLOCKS_FIRST: gt_emit_text(emit, "blocks", "first"); return;
    case GT_BLOCKS_LAST: gt_emit_text(emit, "blocks", "last"); return;
    case GT_BLOCKS_EVERY: gt_emit_number(emit, "every", rule->every); return;
    case GT_BLOCKS_LIST: break;
    }
    gt_emit_key(emit, "block_numbers");
    yajl_gen_array_open(emit->gen);
    for (uint32_t i = 0; i < rule->block_list_length; i++)
        gt_emit_number_value(emit, rule->block_list[i]);
    yajl_gen_array_close(emit->gen);
}

static void emit_launch(struct gt_emit *emit, gt_kernel_index index, const struct gt_launch_rule *rule)
{
    yajl_gen_map_open(emit->gen);
    gt_emit_ref(emit, "kernel", &emit->keys.kernels[rule->kernel != GT_NONE ? rule->kernel : index]);
    emit_blocks(emit, rule);
    if (rule->count != 1)
        gt_emit_number(emit, "count", rule->count);
    if (rule->at != 0) {
        gt_emit_key(emit, "at");
        gt_emit_mean_value(emit, rule->at);
    }
    if (rule->into == GT_INTO_STREAM)
        gt_emit_number(emit, "stream", rule->stream);
    else if (rule->into != GT_INTO_NULL)
        gt_emit_text(emit, "into", gt_launch_into_names[rule->into]);
    if (rule->depth != GT_ANY_DEPTH)
        gt_emit_number(emit, "depth", rule->depth);
    yajl_gen_map_close(emit->gen);
}

void gt_emit_launches(struct gt_emit *emit, gt_kernel_index index)
{
    const struct gt_kernel *kernel = &emit->workload->kernels[index];

    if (kernel->launch_count == 0)
        return;
    gt_emit_key(emit, "launches");
    yajl_gen_array_open(emit->gen);
    for (uint32_t i = 0; i < kernel->launch_count; i++)
        emit_launch(emit, index, &kernel->launches[i]);
    yajl_gen_array_close(emit->gen);
}
