/* cfg.c - the parts of a control-flow graph, one after the other. */
#include "traces/sass/control_flow.h"

#include <stdlib.h>

/* Leave the program without control flow. */
static void forget(struct gt_program *program, struct gt_flow_report *report)
{
    free(program->blocks);
    free(program->edges);
    free(program->loops);
    program->blocks = NULL;
    program->edges = NULL;
    program->loops = NULL;
    program->block_count = program->edge_count = program->loop_count = 0;
    program->flow_broken = true;
    *report = (struct gt_flow_report){ .imbalance = 1, .worst = GT_NONE };
}

void gt_program_build(struct gt_program *program, const struct gt_sass_flow *flows, const uint64_t *divergent,
                      struct gt_flow_report *report)
{
    struct gt_build build = { .program = program, .flows = flows, .divergent = divergent };

    program->warp_instructions = 0;
    for (uint32_t i = 0; i < program->instruction_count; i++)
        program->warp_instructions += program->instructions[i].executions;
    gt_build_blocks(&build);
    if (!build.too_large) {
        gt_build_counts(&build, report);
        gt_build_loops(&build);
    }
    if (build.too_large) {
        forget(program, report);
    } else {
        gt_build_regions(&build);
        gt_build_roles(&build);
    }
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
