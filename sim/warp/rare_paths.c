/* rare_paths.c - paths that fewer thread blocks take than there are SMs.
 *
 * The block that ends last sums up what the others left (reductions, scans, top-k).  Dealt out by its share,
 * such a path would be taken by no block of the SM that is simulated, but the launch ends with it: the last
 * block of that SM takes it.  A block knows that it is the last from an atomic that all of them count with.
 * Before the first of those, a path that some blocks take and others pass is work that there is not for all: the SM that is
 * simulated is the fullest, and its first blocks have it.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/warp/internal.h"

enum { FAR = 1024 }; /* basic blocks looked at before a path counts as one without a way back */

/* Whether `to` can be reached from `from` without another trip of a loop. */
static bool reaches(const struct gt_program *program, uint32_t from, uint32_t to, uint8_t *seen)
{
    uint32_t queue[FAR], head = 0, tail = 0;

    memset(seen, 0, program->block_count);
    queue[tail++] = from;
    seen[from] = 1;
    while (head < tail) {
        const struct gt_basic_block *block = &program->blocks[queue[head++]];
        const struct gt_edge *edges = &program->edges[block->first_edge];

        if (block == &program->blocks[to])
            return true;
        for (uint32_t e = 0; e < block->edge_count; e++)
            if (!edges[e].back && !seen[edges[e].to] && tail < FAR) {
                seen[edges[e].to] = 1;
                queue[tail++] = edges[e].to;
            }
    }
    return false;
}

/* Whether the edge leads past nothing that the others of its block lead to: it is more work, not less. */
static bool is_detour(const struct gt_program *program, const struct gt_basic_block *block, uint32_t edge,
                      uint8_t *seen)
{
    uint32_t to = program->edges[edge].to;

    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++)
        if (e != edge &&
            (!reaches(program, to, program->edges[e].to, seen) || reaches(program, program->edges[e].to, to, seen)))
            return false;
    return true;
}

/* The first atomic on global memory that returns something. */
static uint32_t first_atomic(const struct gt_program *program)
{
    uint32_t i = 0;

    for (; i < program->instruction_count; i++) {
        const struct gt_instruction *in = &program->instructions[i];

        if (in->action == GT_ACTION_ATOMIC && in->memory != GT_NONE &&
            program->memory[in->memory].space != GT_SPACE_SHARED)
            break;
    }
    return i;
}

/* Where blocks choose, before they count themselves, between work and little. */
static void find_more_work(struct gt_decoded_program *code, uint32_t counted, uint8_t *seen)
{
    const struct gt_program *program = code->program;

    code->more_work = gt_calloc(program->edge_count + 1, sizeof *code->more_work);
    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct gt_basic_block *block = &program->blocks[b];
        bool chooses = block->who == GT_WHO_BLOCK && block->choice == GT_CHOICE_RATIO && block->loop == GT_NONE &&
                       block->first < counted;

        for (uint32_t e = block->first_edge; chooses && e < block->first_edge + block->edge_count; e++)
            code->more_work[e] =
                program->edges[e].executions > 0 && (block->end == GT_END_EXIT || is_detour(program, block, e, seen));
    }
}

void gt_warp_find_rare(struct gt_decoded_program *code, const struct gt_device *device)
{
    const struct gt_program *program = code->program;
    double few = program->warps_per_block * (double)device->sms / 2;
    uint8_t *seen = gt_calloc(program->block_count, sizeof *seen);
    uint32_t counted = first_atomic(program);

    code->rare = gt_calloc(program->edge_count + 1, sizeof *code->rare);
    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct gt_basic_block *block = &program->blocks[b];
        bool decides = block->who == GT_WHO_BLOCK && block->choice == GT_CHOICE_RATIO && block->first >= counted &&
                       (double)block->executions >= 2 * few;

        for (uint32_t e = block->first_edge; decides && e < block->first_edge + block->edge_count; e++)
            code->rare[e] = program->edges[e].executions > 0 && (double)program->edges[e].executions < few &&
                            is_detour(program, block, e, seen);
    }
    find_more_work(code, counted, seen);
    free(seen);
}
