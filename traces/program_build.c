#include "traces/program_build.h"

#include <stdlib.h>

void gt_program_build(struct gt_program *program, const struct gt_sass_flow *flows, const uint64_t *divergent,
                      struct gt_flow_report *report)
{
    struct gt_build build = { .program = program, .flows = flows, .divergent = divergent };

    program->warp_instructions = 0;
    for (uint32_t i = 0; i < program->instruction_count; i++)
        program->warp_instructions += program->instructions[i].executions;
    gt_build_blocks(&build);
    gt_build_counts(&build, report);
    gt_build_loops(&build);
    gt_build_regions(&build);
    gt_build_roles(&build);
    free(build.block_of);
    free(build.known);
    free(build.edge_from);
    free(build.in_first);
    free(build.in);
    free(build.dominator);
    free(build.order);
    free(build.position);
    free(build.taint);
}
