#include "sim/rates/block_turns.h"

#include <math.h>

#include "sim/warp/kernel_model.h"

/* Blocks that end within this part of the launch are in step: those that wait for memory do, though one or the other
 * is served first. */
#define IN_STEP 0.15

double gt_blocks_at_once(const struct gt_machine *m, const struct gt_grid *grid)
{
    uint64_t rows = (grid->blocks + m->device->sms - 1) / m->device->sms, held = grid->occupancy.blocks_per_sm;
    double together = (double)(rows < held ? rows : held), at_once = grid->launch->result.at_once;

    return at_once > 0 && at_once < (1 - IN_STEP) * together ? fmax(1, at_once) : 0;
}

double gt_block_turns_alone(const struct gt_machine *m, const struct gt_resident_group *group)
{
    const struct gt_grid *grid = &m->grids[group->grid];
    double rows = ceil((double)grid->blocks / m->device->sms);

    return rows / grid->occupancy.waves * fmin(1, group->most / grid->at_once) / group->blocks;
}

/* How many times as fast as in step the group's block goes that has `older` blocks before it. */
static double pace(const struct gt_machine *m, const struct gt_resident_group *group, uint32_t older)
{
    double blocks = group->blocks, at_once = fmin(m->grids[group->grid].at_once, blocks);

    return blocks / at_once * fmax(0, fmin(1, at_once - older));
}

void gt_block_turns_settle(struct gt_machine *m, const struct gt_resident_group *group, double passed_ps)
{
    uint32_t older = 0;

    for (gt_batch_index at = group->head; at != GT_NONE; at = m->batches[at].next)
        m->batches[at].done_ps += passed_ps * pace(m, group, older++);
}

/* How much all would progress in step until a batch ends that has `older` before it. */
static double left_ps(const struct gt_machine *m, const struct gt_resident_group *group, gt_batch_index batch,
                      uint32_t older)
{
    const struct gt_batch *b = &m->batches[batch];
    double goes = pace(m, group, older);

    return goes > 0 ? fmax(0, b->ends_at_ps - b->done_ps) / goes : INFINITY;
}

gt_batch_index gt_block_turns_next(const struct gt_machine *m, const struct gt_resident_group *group,
                                   double *progress_ps)
{
    gt_batch_index next = group->head;
    uint32_t older = 0;

    *progress_ps = INFINITY;
    for (gt_batch_index at = group->head; at != GT_NONE; at = m->batches[at].next) {
        double at_ps = left_ps(m, group, at, older++);

        if (at_ps < *progress_ps) {
            *progress_ps = at_ps;
            next = at;
        }
    }
    return next;
}
