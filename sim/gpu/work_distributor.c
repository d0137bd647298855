/* The work distributor: grids with blocks to hand out, and places that blocks leave. */
#include "sim/gpu/work_distributor.h"

#include <string.h>

#include "sim/gpu/arbitration.h"
#include "sim/gpu/batches.h"
#include "sim/gpu/block_progress.h"
#include "sim/gpu/clusters.h"
#include "sim/gpu/driver_kernel.h"
#include "sim/gpu/grid_sync.h"
#include "sim/gpu/placement.h"
#include "sim/gpu/sm.h"
#include "sim/gpu/sm_partitions.h"
#include "sim/gpu/steady_state.h"
#include "sim/machine/free_lists.h"
#include "sim/stream/graph.h"
#include "sim/stream/hw_queue.h"

void gt_distributor_remove(struct gt_machine *m, gt_gpu_index index, gt_grid_index grid)
{
    struct gt_gpu_state *gpu = &m->gpus[index];
    uint32_t level = m->grids[grid].level, before = GT_NONE;

    for (uint32_t at = gpu->level_head[level]; at != grid; at = m->grids[at].next)
        before = at;
    if (before == GT_NONE)
        gpu->level_head[level] = m->grids[grid].next;
    else
        m->grids[before].next = m->grids[grid].next;
    if (gpu->level_tail[level] == grid)
        gpu->level_tail[level] = before;
    if (gpu->level_head[level] == GT_NONE)
        gpu->levels_used &= ~(UINT64_C(1) << level);
    m->grids[grid].next = GT_NONE;
}

/* Equal blocks that one dispatch puts on one SM are one batch: one event ends them all. */
static void start_batches(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid, uint64_t first)
{
    struct gt_gpu_state *state = &m->gpus[gpu];

    for (uint32_t i = 0; i < state->dispatch_batch_count; i++) {
        gt_sm_index sm = state->dispatch_batch_sms[i];
        uint32_t blocks = state->dispatch_batch[sm];
        uint64_t block = state->dispatch_batch_first[sm];

        state->dispatch_batch[sm] = 0;
        gt_batch_start(m, gpu, grid, sm, blocks, block, block - first);
    }
    state->dispatch_batch_count = 0;
}

/* The SM that gets the grid's next block; GT_NONE: none for now. A cluster's blocks find room together. */
static gt_sm_index next_sm(struct gt_machine *m, struct gt_gpu_state *gpu, const struct gt_placement_view *view)
{
    uint64_t in_cluster = view->grid->dispatched % view->grid->occupancy.cluster_blocks;

    if (gpu->clusters_wait > 0 && view->grid->occupancy.cluster_blocks == 1)
        return gt_cluster_pass(view, gpu->clusters_wait);
    if (view->grid->occupancy.cluster_blocks == 1)
        return m->placement->pick(gpu->placement_state, view);
    if (in_cluster == 0) {
        if (!gt_sm_partition_has(m, view->grid->occupancy.need.partition, view->grid->occupancy.cluster_blocks))
            gt_sm_keep_to_used(m, (gt_gpu_index)(gpu - m->gpus));
        if (!gt_cluster_place(m->device, gpu, &view->grid->occupancy))
            return GT_NONE;
        m->fired[GT_RULE_CLUSTERS]++;
    }
    return gpu->cluster_sms[in_cluster];
}

/* A block that has found its SM: it starts at once, or with those that are equal and come to the same SM. */
static void place(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid, gt_sm_index sm, uint64_t first,
                  bool equal)
{
    struct gt_gpu_state *state = &m->gpus[gpu];
    struct gt_grid *g = &m->grids[grid];

    if (!equal) {
        gt_batch_start(m, gpu, grid, sm, 1, g->dispatched, g->dispatched - first);
    } else if (state->dispatch_batch[sm]++ == 0) {
        state->dispatch_batch_first[sm] = g->dispatched;
        state->dispatch_batch_sms[state->dispatch_batch_count++] = sm;
    }
    g->dispatched++;
}

/* Where the policy would pick them one after the other: a block each for all SMs that have room for the most, and equal
 * ones in several rounds at once.  False: ask it. */
static bool place_rounds(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid, uint64_t first, bool equal)
{
    const struct gt_gpu_state *state = &m->gpus[gpu];
    struct gt_grid *g = &m->grids[grid];
    uint64_t round[GT_FREE_BLOCK_WORDS];
    uint64_t more = 0; /* blocks, of the rounds behind the first */
    uint32_t rounds;

    if (!m->placement->in_rounds || g->occupancy.need.partition > 0 || state->clusters_wait > 0 ||
        g->occupancy.cluster_blocks > 1)
        return false;
    rounds = gt_sm_promise_rounds(m, gpu, g->blocks - g->dispatched, equal ? UINT32_MAX : 1, round);
    if (rounds == 0)
        return false;
    for (uint32_t word = 0; word * 64 < m->device->sms; word++) {
        for (; round[word] != 0; round[word] &= round[word] - 1) {
            gt_sm_index sm = state->order[word * 64 + (uint32_t)__builtin_ctzll(round[word])];

            place(m, gpu, grid, sm, first, equal);
            state->dispatch_batch[sm] += rounds - 1;
            more += rounds - 1;
        }
    }
    g->dispatched += more;
    return true;
}

/* A cooperative launch starts when there is room for all of its blocks. */
static bool all_fit(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid)
{
    const struct gt_grid *g = &m->grids[grid];

    if (g->kernel == GT_NONE || !m->workload->kernels[g->kernel].cooperative || m->device->cooperative_at_once == 0 ||
        g->blocks > (uint64_t)g->occupancy.blocks_per_sm * gt_sm_partition_size(m, g->occupancy.need.partition) ||
        gt_grid_sync_has_room(m, gpu, grid))
        return true;
    m->fired[GT_RULE_COOPERATIVE]++;
    return false;
}

/* Hand out blocks of one grid while there is room. True when all have left. */
static bool dispatch(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid)
{
    struct gt_gpu_state *state = &m->gpus[gpu];
    struct gt_grid *g = &m->grids[grid];
    uint64_t first = g->dispatched;
    bool equal = g->block_ps != GT_TIME_NONE && g->early_ps == 0 && g->at_once == 0 && !g->launches;
    const struct gt_placement_view view = {
        .device = m->device, .gpu = state, .grid = g, .parameters = m->placement_parameters
    };

    if (g->apart_ps > 0 && g->occupancy.need.partition == 0 && gt_deferred_placement_suits(m, gpu, grid)) {
        gt_batch_start_deferred(m, gpu, grid);
        return true;
    }
    if (!gt_deferred_placement_make_way(m, gpu, g))
        return false;
    gt_sm_find_free_blocks(m, gpu, &g->occupancy.need);
    if (!all_fit(m, gpu, grid))
        return false;
    while (g->dispatched < g->blocks && !m->failed) {
        gt_sm_index sm;

        if (place_rounds(m, gpu, grid, first, equal))
            continue;
        sm = next_sm(m, state, &view);
        if (sm == GT_NONE)
            break;
        if (sm >= m->device->sms || state->sms[sm].free_blocks == 0)
            gt_bug("placement policy '%s' chose SM %u, which has no room", m->placement->named.name, sm);
        gt_sm_promise(m, gpu, sm);
        place(m, gpu, grid, sm, first, equal);
    }
    if (g->apart_ps > 0 && g->dispatched > first)
        gt_driver_kernel_placed(g, g->dispatched - first);
    if (state->dispatch_batch_count > 0)
        start_batches(m, gpu, grid, first);
    m->fired[GT_RULE_PLACEMENT] += g->dispatched > first + (state->grids == 1);
    m->fired[GT_RULE_DISPATCH] += g->dispatched > first + 1;
    return g->dispatched == g->blocks;
}

/* Hand out what can be handed out now, in the order the policy says. */
static void run_distributor(struct gt_machine *m, gt_gpu_index gpu)
{
    struct gt_gpu_state *state = &m->gpus[gpu];
    const struct gt_arbitration_view view = {
        .device = m->device,
        .gpu = state,
        .grids = m->grids,
        .parameters = m->arbitration_parameters,
        .partitions = m->partition_count > 0,
    };
    gt_grid_index grid = GT_NONE;

    if (!state->stopped)
        grid = m->arbitration->next(state->arbitration_state, &view, GT_NONE);
    while (grid != GT_NONE && !m->failed) {
        if (dispatch(m, gpu, grid)) {
            state->clusters_wait = 0;
            gt_distributor_remove(m, gpu, grid);
            gt_graph_handed_out(m, grid);
            if (m->grids[grid].sync.held || m->programmatic)
                gt_grid_sync_handed_out(m, grid);
            grid = m->arbitration->next(state->arbitration_state, &view, GT_NONE);
        } else {
            const struct gt_grid *held = &m->grids[grid];

            if (state->clusters_wait == 0 && held->occupancy.cluster_blocks > 1)
                state->clusters_wait = held->occupancy.cluster_blocks;

            grid = m->arbitration->next(state->arbitration_state, &view, grid);
            m->fired[GT_RULE_LEFTOVER] +=
                grid == GT_NONE && (held->next != GT_NONE || state->levels_used >> held->level > 1);
        }
    }
    state->clusters_wait = 0;
}

static bool is_cooperative(const struct gt_machine *m, gt_grid_index grid)
{
    return m->grids[grid].kernel != GT_NONE && m->workload->kernels[m->grids[grid].kernel].cooperative;
}

/* Behind all others of its level. Seen on an H200: a cooperative launch goes ahead of plain ones that have not begun. */
static void stand_in_line(struct gt_machine *m, struct gt_gpu_state *gpu, gt_grid_index grid)
{
    uint32_t level = m->grids[grid].level;
    gt_grid_index before = GT_NONE, at = gpu->levels_used & UINT64_C(1) << level ? gpu->level_head[level] : GT_NONE;

    while (is_cooperative(m, grid) && at != GT_NONE && (m->grids[at].dispatched > 0 || is_cooperative(m, at))) {
        before = at;
        at = m->grids[at].next;
    }
    if (!is_cooperative(m, grid) && at != GT_NONE) {
        before = gpu->level_tail[level];
        at = GT_NONE;
    }
    m->grids[grid].next = at;
    if (before == GT_NONE)
        gpu->level_head[level] = grid;
    else
        m->grids[before].next = grid;
    if (at == GT_NONE)
        gpu->level_tail[level] = grid;
}

void gt_distributor_add(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid)
{
    struct gt_gpu_state *state = &m->gpus[gpu];
    uint32_t level = m->grids[grid].level;

    m->grids[grid].held_head = GT_NONE;
    m->fired[GT_RULE_PRIORITY] += state->levels_used >> level > 1;
    stand_in_line(m, state, grid);
    state->levels_used |= UINT64_C(1) << level;
    gt_block_progress_grid_begins(m, gpu, grid);
    gt_hw_queue_leave(m, m->grids[grid].command);
    run_distributor(m, gpu);
}

void gt_distributor_resume(struct gt_machine *m, gt_gpu_index gpu)
{
    if (m->gpus[gpu].levels_used != 0)
        run_distributor(m, gpu);
}

static gt_time_ps remainder_ps(struct gt_machine *m, gt_gpu_index gpu, const struct gt_grid *grid)
{
    return grid->apart_ps > 0 ? gt_driver_kernel_remainder_ps(m, gpu, grid) : grid->remainder_ps;
}

/* The blocks of a batch, or of what was parted from it, leave their SM now. */
static void leave(struct gt_machine *m, const struct gt_batch *batch)
{
    struct gt_gpu_state *gpu = &m->gpus[batch->gpu];
    struct gt_grid *grid = &m->grids[batch->grid];

    if (batch->sm == GT_NONE) {
        gt_deferred_placement_end(m, batch);
    } else {
        gt_sm_release(m, batch->gpu, batch->sm, &grid->occupancy.need, batch->blocks, batch->odd_warps);
        gpu->sms[batch->sm].ready_ps = m->engine.now_ps + m->device->refill_ps;
    }
    gpu->resident_blocks -= batch->blocks;
    gpu->freed_by_op = grid->op;
    grid->ended += batch->blocks;
    if (grid->ended == grid->blocks) {
        gt_block_progress_grid_ends(m, batch->gpu, batch->grid);
        gt_grid_sync_left(m, batch->grid);
        gt_engine_schedule(&m->engine, m->engine.now_ps + remainder_ps(m, batch->gpu, grid), GT_PHASE_END,
                           GT_HANDLE_GRID, batch->grid, 0);
    }
}

/* Is the next event of blocks of the same GPU that end, or leave, at this time too? */
static bool more_are_due(const struct gt_machine *m, gt_gpu_index gpu)
{
    const struct gt_heap_event *next = m->engine.heap.events;

    return m->engine.heap.count > 0 && next->time_ps == m->engine.now_ps && next->handler == GT_HANDLE_BLOCKS &&
           m->batches[next->subject].gpu == gpu;
}

/* Places that are freed at one time are handed out together: whose block is next is asked once for all of them. */
static void fill_places(struct gt_machine *m, gt_gpu_index gpu)
{
    if (m->gpus[gpu].levels_used != 0 && !more_are_due(m, gpu))
        run_distributor(m, gpu);
}

/* A batch has ended: its blocks take their places in the row of those that leave the SM. True when the
 * first may leave at once. */
static bool queue_to_leave(struct gt_machine *m, gt_batch_index batch)
{
    struct gt_batch *b = &m->batches[batch];
    struct gt_sm_state *sm = &m->gpus[b->gpu].sms[b->sm];
    gt_time_ps first_ps = sm->retire_ps > m->engine.now_ps ? sm->retire_ps : m->engine.now_ps;

    sm->retire_ps = first_ps + b->blocks * m->device->retire_ps;
    if (first_ps == m->engine.now_ps)
        return true;
    gt_batch_schedule(m, batch, first_ps, GT_STAMP_LEAVE);
    return false;
}

/* Seen on H200: blocks of an SM that end together leave it one after the other. */
static void handle_batch(struct gt_machine *m, gt_batch_index batch, uint64_t stamp)
{
    struct gt_batch b = m->batches[batch];

    if (stamp == GT_STAMP_END && m->blocks_may_stop && m->grids[b.grid].apart_ps == 0)
        gt_batch_tell_ended(m, &b);
    if (stamp == GT_STAMP_END && (m->device->retire_ps == 0 || m->grids[b.grid].inverted)) {
        gt_batch_free(m, batch);
        leave(m, &b);
        return;
    }
    if (stamp == GT_STAMP_END && !queue_to_leave(m, batch))
        return;
    if (b.blocks == 1) {
        m->fired[GT_RULE_RETIRE] += stamp == GT_STAMP_LEAVE;
        gt_batch_free(m, batch);
    } else {
        memset(b.odd_warps, 0, sizeof b.odd_warps);
        gt_sm_take_block(&m->batches[batch], m->device, m->grids[b.grid].occupancy.need.warps, b.odd_warps);
        b.blocks = 1;
        gt_batch_schedule(m, batch,
                          m->engine.now_ps + (b.leaves_every_ps > 0 ? b.leaves_every_ps : m->device->retire_ps),
                          GT_STAMP_LEAVE);
    }
    leave(m, &b);
}

/* Seen on H200: blocks of an SM that end together leave it one after the other; where none waits for their places one need not
 * know. */
void gt_blocks_left(struct gt_machine *m, const struct gt_batch *batch)
{
    gt_gpu_index gpu = batch->gpu;
    bool in_turn = batch->blocks == 1 && m->gpus[gpu].levels_used != 0 && m->device->retire_ps > 0;

    if (in_turn || (batch->blocks > 1 && batch->leaves_every_ps > 0)) {
        gt_batch_index leaving = gt_batch_new(m);

        m->batches[leaving] = *batch;
        m->batches[leaving].next_due = GT_NONE;
        if (!in_turn || queue_to_leave(m, leaving))
            handle_batch(m, leaving, GT_STAMP_LEAVE);
    } else {
        leave(m, batch);
    }
    fill_places(m, gpu);
}

int gt_blocks_handler(void *machine, gt_batch_index batch, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    gt_gpu_index gpu = m->batches[batch].gpu;
    gt_grid_index grid = m->batches[batch].grid;
    gt_sm_index sm = m->batches[batch].sm;

    (void)error;
    handle_batch(m, batch, stamp);
    fill_places(m, gpu);
    if (m->grids[grid].dispatched < m->grids[grid].blocks && !m->blocks_may_stop)
        gt_steady_state_handled(m, gpu, grid, sm);
    return m->failed ? -1 : 0;
}
