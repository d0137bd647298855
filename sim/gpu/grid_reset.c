#include "sim/gpu/grid_reset.h"

#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/gpu/batches.h"
#include "sim/gpu/block_progress.h"
#include "sim/gpu/grid.h"
#include "sim/gpu/sm.h"
#include "sim/gpu/work_distributor.h"
#include "sim/machine/free_lists.h"

/* Its blocks are its own: nobody waits for them, and nothing else stands behind it. */
static bool may_be_reset(const struct gt_machine *m, gt_command_index command)
{
    const struct gt_stream_command *c = &m->commands[command];
    const struct gt_grid *grid = c->grid != GT_NONE ? &m->grids[c->grid] : NULL;

    if (grid == NULL || grid->command != command || c->kind != GT_COMMAND_OP || grid->kernel == GT_NONE ||
        grid->ended >= grid->blocks || m->time_slices_count > 0 || m->programmatic)
        return false;
    return grid->launch == NULL && grid->block_begins == NULL && !grid->sync.held && grid->apart_ps == 0 &&
           !grid->launches && grid->held_head == GT_NONE;
}

/* Events of its blocks. */
struct taking {
    const struct gt_machine *m;
    gt_grid_index grid;
    gt_batch_index *batches; /* each with others behind it */
    uint32_t count, room;
};

static bool take(void *user, const struct gt_heap_event *event)
{
    struct taking *taking = user;

    if (event->handler != GT_HANDLE_BLOCKS || taking->m->batches[event->subject].grid != taking->grid)
        return false;
    gt_array_grow(taking->batches, taking->count, taking->room);
    taking->batches[taking->count++] = event->subject;
    return true;
}

static void remove_blocks(struct gt_machine *m, gt_batch_index batch)
{
    struct gt_batch *b = &m->batches[batch];

    gt_batch_tell_ended(m, b);
    gt_sm_release(m, b->gpu, b->sm, &m->grids[b->grid].occupancy.need, b->blocks, b->odd_warps);
    m->gpus[b->gpu].sms[b->sm].ready_ps = m->engine.now_ps + m->device->refill_ps;
    m->gpus[b->gpu].resident_blocks -= b->blocks;
    gt_batch_free(m, batch);
}

/* One that waits to become resident waits no more; false: it does not wait. */
static bool withdraw(struct gt_machine *m, struct gt_gpu_state *gpu, gt_command_index command)
{
    for (uint32_t level = 0; level < GT_LEVELS; level++) {
        gt_command_index before = GT_NONE, at = gpu->admits_used >> level & 1 ? gpu->admit_head[level] : GT_NONE;

        while (at != GT_NONE && at != command) {
            before = at;
            at = m->commands[at].wait_next;
        }
        if (at == GT_NONE)
            continue;
        if (before == GT_NONE)
            gpu->admit_head[level] = m->commands[command].wait_next;
        else
            m->commands[before].wait_next = m->commands[command].wait_next;
        if (gpu->admit_tail[level] == command)
            gpu->admit_tail[level] = before;
        if (gpu->admit_head[level] == GT_NONE)
            gpu->admits_used &= ~(UINT64_C(1) << level);
        return true;
    }
    return false;
}

bool gt_grid_reset(struct gt_machine *m, gt_command_index command)
{
    gt_grid_index grid = m->commands[command].grid;
    gt_gpu_index gpu = m->streams[m->commands[command].stream].compute;
    gt_op_index op = m->commands[command].index;
    struct taking taking = { .m = m, .grid = grid };

    if (withdraw(m, &m->gpus[gpu], command))
        return true;
    if (!may_be_reset(m, command))
        return false;
    m->last_due.batch = GT_NONE; /* nothing joins an event that is gone */
    gt_heap_take(&m->engine.heap, take, &taking);
    for (uint32_t i = 0; i < taking.count; i++)
        for (gt_batch_index at = taking.batches[i], next; at != GT_NONE; at = next) {
            next = gt_batch_take_next(m, at);
            remove_blocks(m, at);
        }
    free(taking.batches);
    if (m->grids[grid].dispatched < m->grids[grid].blocks)
        gt_distributor_remove(m, gpu, grid);
    gt_block_progress_grid_ends(m, gpu, grid);
    gt_grid_free(m, grid);
    m->commands[command].grid = GT_NONE;
    m->gpus[gpu].freed_by_op = op;
    gt_kernel_left(m, gpu, op);
    return true;
}
