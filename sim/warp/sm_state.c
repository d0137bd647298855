/* sm_state.c - an SM's memory, from its beginning to its end. */
#include <stdlib.h>
#include <string.h>

#include "sim/warp/internal.h"
#include "sim/warp/scheduler.h"

void gt_warp_build(struct gt_sm_core *sm)
{
    const struct gt_program *program = sm->code.program;
    uint32_t loops = program->loop_count + 1, edges = program->edge_count + 1;
    uint32_t slots = sm->launch->blocks_per_sm;

    sm->warp_count = slots * sm->launch->warps_per_block;
    sm->warps = gt_calloc(sm->warp_count, sizeof *sm->warps);
    sm->free_warps = gt_calloc(sm->warp_count, sizeof *sm->free_warps);
    sm->blocks = gt_calloc(slots, sizeof *sm->blocks);
    sm->starts = gt_calloc(slots + 1, sizeof *sm->starts);
    sm->ended_at = gt_calloc(sm->sm_blocks + 1, sizeof *sm->ended_at);
    for (uint32_t i = 0; i < sm->warp_count; i++) {
        sm->warps[i].trips = gt_calloc(4ull * loops + program->block_count, sizeof(uint32_t));
        sm->warps[i].exits = sm->warps[i].trips + loops;
        sm->warps[i].fixed_trips = sm->warps[i].exits + loops;
        sm->warps[i].entries = sm->warps[i].fixed_trips + loops;
        sm->warps[i].visits = sm->warps[i].entries + loops;
        sm->warps[i].decided = gt_calloc(program->block_count, 1);
        sm->free_warps[i] = sm->warp_count - 1 - i;
    }
    sm->free_warp_count = sm->warp_count;
    for (uint32_t i = 0; i < slots; i++) {
        sm->blocks[i].members = gt_calloc(sm->launch->warps_per_block, sizeof *sm->blocks[i].members);
        sm->blocks[i].trips = gt_calloc(loops, sizeof *sm->blocks[i].trips);
        sm->blocks[i].choices = gt_calloc(program->block_count, sizeof *sm->blocks[i].choices);
    }
    sm->line_ready = gt_calloc(sm->code.lines, sizeof *sm->line_ready);
    sm->constant_ready = gt_calloc(sm->code.constants + 1ull, sizeof *sm->constant_ready);
    memset(sm->line_ready, 0xff, sm->code.lines * sizeof *sm->line_ready);
    memset(sm->constant_ready, 0xff, sm->code.constants * sizeof *sm->constant_ready);
    sm->edge_carry = gt_calloc(edges, sizeof *sm->edge_carry);
    sm->loop_carry = gt_calloc(loops, sizeof *sm->loop_carry);
    /* Where the whole grid is resident at once, the fullest SM's blocks make the most trips. */
    for (uint32_t l = 0; l < program->loop_count; l++)
        sm->loop_carry[l] = program->loops[l].who == GT_WHO_BLOCK && sm->sm_blocks <= slots ? 0.999 : 0.5;
    sm->block_carry = gt_calloc(program->block_count, sizeof *sm->block_carry);
    sm->stalls = gt_calloc((size_t)program->instruction_count * GT_STALLS, sizeof *sm->stalls);
    for (uint32_t s = 0; s < GT_WARP_SUBS; s++) {
        memset(sm->subs[s].ready, 0xff, sizeof sm->subs[s].ready);
        sm->subs[s].next = GT_WARP_NEVER;
        if (sm->scheduler->create != NULL)
            sm->subs[s].scheduler_state = sm->scheduler->create(sm->device, sm->scheduler_parameters);
    }
    sm->share = 1;
}

void gt_warp_tear_down(struct gt_sm_core *sm)
{
    for (uint32_t i = 0; i < sm->warp_count; i++) {
        free(sm->warps[i].trips);
        free(sm->warps[i].decided);
    }
    for (uint32_t i = 0; i < sm->launch->blocks_per_sm; i++) {
        free(sm->blocks[i].members);
        free(sm->blocks[i].trips);
        free(sm->blocks[i].choices);
    }
    for (uint32_t s = 0; s < GT_WARP_SUBS && sm->scheduler->free != NULL; s++)
        sm->scheduler->free(sm->subs[s].scheduler_state);
    free(sm->warps);
    free(sm->free_warps);
    free(sm->blocks);
    free(sm->starts);
    free(sm->ended_at);
    free(sm->line_ready);
    free(sm->constant_ready);
    free(sm->edge_carry);
    free(sm->loop_carry);
    free(sm->block_carry);
    free(sm->stalls);
    gt_warp_decode_free(&sm->code);
}
