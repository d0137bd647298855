#include "sim/gpu/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "sim/gpu/arbitration.h"
#include "sim/gpu/placement.h"

bool gt_snapshot_is_own(const struct gt_machine *m, const struct gt_heap_event *event, gt_grid_index grid)
{
    return event->handler == GT_HANDLE_BLOCKS && m->batches[event->subject].grid == grid;
}

static int by_time(const void *left, const void *right)
{
    const struct gt_due *a = left, *b = right;

    if (a->in_ps != b->in_ps)
        return a->in_ps < b->in_ps ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static gt_time_ps since_now(const struct gt_machine *m, gt_time_ps time_ps)
{
    return time_ps > m->engine.now_ps ? time_ps - m->engine.now_ps : 0;
}

/* The ends that share one place in the heap, in their order. */
static void take_ends(const struct gt_machine *m, const struct gt_heap_event *event, struct gt_due_list *due)
{
    uint64_t order = event->order;

    for (gt_batch_index batch = event->subject; batch != GT_NONE; batch = m->batches[batch].next_due) {
        if (due->count == due->room) {
            due->room = due->room == 0 ? 256 : 2 * due->room;
            due->ends = gt_realloc(due->ends, due->room, sizeof *due->ends);
        }
        due->ends[due->count] = (struct gt_due){ .in_ps = event->time_ps - m->engine.now_ps,
                                                 .order = order,
                                                 .stamp = event->stamp,
                                                 .sm = m->batches[batch].sm,
                                                 .blocks = m->batches[batch].blocks };
        memcpy(due->ends[due->count++].odd_warps, m->batches[batch].odd_warps, sizeof m->batches[batch].odd_warps);
        order++;
    }
}

static void take_due(const struct gt_machine *m, gt_grid_index grid, struct gt_due_list *due)
{
    const struct gt_heap *heap = &m->engine.heap;

    due->count = 0;
    for (size_t i = 0; i < heap->count; i++) {
        if (gt_snapshot_is_own(m, &heap->events[i], grid))
            take_ends(m, &heap->events[i], due);
    }
    if (due->count > 0)
        qsort(due->ends, due->count, sizeof *due->ends, by_time);
}

static uint64_t position_of(const struct gt_machine *m, const struct gt_gpu_state *gpu, enum gt_position which)
{
    if (which == GT_POSITION_PLACEMENT)
        return m->placement->position != NULL ? m->placement->position(gpu->placement_state) : 0;
    if (which == GT_POSITION_ARBITRATION)
        return m->arbitration->position != NULL ? m->arbitration->position(gpu->arbitration_state) : 0;
    return gpu->cluster_gpc;
}

void gt_snapshot_take(const struct gt_machine *m, gt_gpu_index index, gt_grid_index grid,
                      struct gt_snapshot *snapshot)
{
    const struct gt_gpu_state *gpu = &m->gpus[index];

    if (snapshot->sms == NULL)
        snapshot->sms = gt_calloc(m->device->sms, sizeof *snapshot->sms);
    for (gt_sm_index sm = 0; sm < m->device->sms; sm++) {
        snapshot->sms[sm] = gpu->sms[sm];
        snapshot->sms[sm].ready_ps = since_now(m, gpu->sms[sm].ready_ps);
        snapshot->sms[sm].retire_ps = since_now(m, gpu->sms[sm].retire_ps);
    }
    for (int i = 0; i < GT_POSITIONS; i++)
        snapshot->positions[i] = position_of(m, gpu, (enum gt_position)i);
    take_due(m, grid, &snapshot->due);
}

static bool same_sm(const struct gt_machine *m, const struct gt_sm_state *then, const struct gt_sm_state *now)
{
    return then->threads == now->threads && then->warps == now->warps &&
           memcmp(then->registers, now->registers, sizeof then->registers) == 0 &&
           then->shared_bytes == now->shared_bytes && then->blocks == now->blocks &&
           then->resident == now->resident && then->carveout_bytes == now->carveout_bytes &&
           then->ready_ps == since_now(m, now->ready_ps) && then->retire_ps == since_now(m, now->retire_ps);
}

static bool same_due(const struct gt_due_list *a, const struct gt_due_list *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct gt_due *one = &a->ends[i], *other = &b->ends[i];

        if (one->in_ps != other->in_ps || one->stamp != other->stamp || one->sm != other->sm ||
            one->blocks != other->blocks || memcmp(one->odd_warps, other->odd_warps, sizeof one->odd_warps) != 0)
            return false;
    }
    return true;
}

/* What is cheap to see is looked at first: what is due must be sorted. */
bool gt_snapshot_holds(const struct gt_machine *m, gt_gpu_index index, gt_grid_index grid,
                       const struct gt_snapshot *then, struct gt_due_list *now)
{
    const struct gt_gpu_state *gpu = &m->gpus[index];

    if (m->engine.heap.events[0].time_ps - m->engine.now_ps != then->due.ends[0].in_ps)
        return false;
    for (int i = 0; i < GT_POSITIONS; i++)
        if (then->positions[i] != position_of(m, gpu, (enum gt_position)i))
            return false;
    for (gt_sm_index sm = 0; sm < m->device->sms; sm++)
        if (!same_sm(m, &then->sms[sm], &gpu->sms[sm]))
            return false;
    take_due(m, grid, now);
    return same_due(&then->due, now);
}

void gt_snapshot_free(struct gt_snapshot *snapshot)
{
    free(snapshot->due.ends);
    free(snapshot->sms);
}
