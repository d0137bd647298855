/* execute.c - what an instruction does when it issues, beside taking its pipe: a table by action. */
#include <math.h>

#include "sim/warp/internal.h"

static uint64_t whole(double cycles)
{
    return (uint64_t)ceil(cycles - 1e-6);
}

static void hold(struct gt_warp_state *warp, uint64_t until, uint8_t cause)
{
    warp->hold_until = until;
    warp->hold_cause = cause;
}

/* Scoreboard `number` is taken until `until`. */
static void take(struct gt_sm_core *sm, struct gt_warp_state *warp, uint8_t number, uint64_t until, uint8_t cause)
{
    if (number >= GT_NO_BARRIER)
        return;
    if (until > warp->scoreboard[number]) {
        warp->scoreboard[number] = until;
        warp->scoreboard_cause[number] = cause;
    }
    if (number < 6 && sm->code.ring_mask >> number & 1)
        warp->ring[number][warp->ring_count[number]++ % GT_WARP_RING] = until;
}

static void compute(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op, uint64_t now)
{
    take(sm, warp, op->write_barrier, now + whole(op->latency), op->cause);
    take(sm, warp, op->read_barrier, now + whole(op->latency / 2), op->cause);
}

static void tensor(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op, uint64_t now)
{
    if (op->access != NULL)
        gt_warp_lsu(sm, op->access->wavefronts, now);
    compute(sm, warp, op, now);
}

static void move(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op, uint64_t now)
{
    struct gt_wtimes times = gt_warp_access(sm, warp, op, now);

    take(sm, warp, op->write_barrier, whole(times.data), op->cause);
    take(sm, warp, op->read_barrier, whole(times.read) + 4, GT_STALL_SHORT_SCOREBOARD);
    if (op->action == GT_ACTION_ASYNC_COPY && warp->copies_done < whole(times.data))
        warp->copies_done = whole(times.data);
    if (op->action == GT_ACTION_STORE && op->cause == GT_STALL_LONG_SCOREBOARD)
        warp->stores_done = whole(times.data);
}

static void atomic(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op, uint64_t now)
{
    struct gt_wtimes times = gt_warp_atomic(sm, op, now);

    take(sm, warp, op->write_barrier, whole(times.data), op->cause);
    take(sm, warp, op->read_barrier, whole(times.read) + 4, GT_STALL_SHORT_SCOREBOARD);
    warp->stores_done = whole(times.data);
}

static void shuffle(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op, uint64_t now)
{
    double lsu = gt_warp_lsu(sm, 1, now);

    take(sm, warp, op->write_barrier, whole(lsu - 1 + sm->costs->shuffle_latency), op->cause);
}

static void commit_copies(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                          uint64_t now)
{
    uint64_t done = warp->copies_done > now ? warp->copies_done : now + 1;

    if (op->argument < 6)
        take(sm, warp, (uint8_t)op->argument, done, GT_STALL_LONG_SCOREBOARD);
    else
        gt_warp_fill(sm, warp, now);
}

/* DEPBAR: until no more than argument2 operations of the scoreboard are left. */
static void count_down(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                       uint64_t now)
{
    (void)sm;
    uint32_t number = op->argument;
    uint64_t until = now;

    if (number >= 6 || warp->ring_count[number] <= op->argument2)
        return;
    uint64_t count = warp->ring_count[number], end = count - op->argument2;
    uint64_t begin = count > GT_WARP_RING ? count - GT_WARP_RING : 0;
    for (uint64_t i = begin; i < end; i++) {
        uint64_t at = warp->ring[number][i % GT_WARP_RING];
        until = at > until ? at : until;
    }
    hold(warp, until, warp->scoreboard_cause[number]);
}

static void barrier_sync(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                         uint64_t now)
{
    gt_warp_barrier(sm, warp, op, now, true);
}

static void barrier_arrive(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                           uint64_t now)
{
    gt_warp_barrier(sm, warp, op, now, false);
}

static void bulk_store(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                       uint64_t now)
{
    double bytes = op->access != NULL && op->access->bulk_bytes > 0 ? op->access->bulk_bytes : 0;
    uint64_t done = whole(gt_warp_bulk(sm, bytes, true, now));

    warp->bulk_done = done > warp->bulk_done ? done : warp->bulk_done;
    take(sm, warp, op->read_barrier, now + whole(op->latency), op->cause);
}

static void bulk_commit(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                        uint64_t now)
{
    uint64_t done = warp->bulk_done > now ? warp->bulk_done : now + 1;

    take(sm, warp, op->read_barrier, done, op->cause);
    take(sm, warp, op->write_barrier, done, op->cause);
}

/* A warp group's matrix product: in the tensor pipe of each of its sub-partitions, one after the other. */
static void gmma(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op, uint64_t now)
{
    struct gt_smsp *sub = &sm->subs[warp->sub];
    double start = fmax(sub->tensor_free, (double)now);

    sub->tensor_free = start + op->latency;
    if (op->access != NULL) {
        double shared = gt_warp_lsu(sm, op->access->wavefronts, now);
        sub->tensor_free = fmax(sub->tensor_free, shared);
    }
    warp->gmma_done = whole(sub->tensor_free + sm->costs->gmma_latency);
    if (op->commits)
        warp->gmma_ring[warp->gmma_groups++ % GT_WARP_RING] = warp->gmma_done;
}

static void gmma_wait(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                      uint64_t now)
{
    (void)sm;
    uint64_t left = op->argument2, until = now;

    if (left == 0)
        until = warp->gmma_done;
    else if (warp->gmma_groups > left)
        until = warp->gmma_ring[(warp->gmma_groups - left - 1) % GT_WARP_RING];
    hold(warp, until, GT_STALL_GMMA);
}

static void cluster_wait(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                         uint64_t now)
{
    struct gt_decoded_inst block_wide = *op;

    block_wide.argument = GT_WARP_BARRIERS - 1;
    block_wide.argument2 = 0;
    gt_warp_barrier(sm, warp, &block_wide, now, true);
}

static void fence(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op, uint64_t now)
{
    uint64_t until = now + (uint64_t)sm->costs->fence_cycles;

    (void)op;
    hold(warp, warp->stores_done > until ? warp->stores_done : until, GT_STALL_MEMBAR);
}

static void sleep_ns(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                     uint64_t now)
{
    hold(warp, now + (uint64_t)op->argument * sm->device->clock_mhz / 1000, GT_STALL_SLEEPING);
}

typedef void act(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op, uint64_t now);

/* clang-format off */
static act *const acts[GT_ACTIONS] = {
    [GT_ACTION_COMPUTE] = tensor, [GT_ACTION_LOAD] = move, [GT_ACTION_STORE] = move,
    [GT_ACTION_ATOMIC] = atomic, [GT_ACTION_REDUCE] = atomic, [GT_ACTION_SHUFFLE] = shuffle,
    [GT_ACTION_ASYNC_COPY] = move, [GT_ACTION_ASYNC_COMMIT] = commit_copies,
    [GT_ACTION_SCOREBOARD_WAIT] = count_down, [GT_ACTION_BARRIER_SYNC] = barrier_sync,
    [GT_ACTION_BARRIER_ARRIVE] = barrier_arrive, [GT_ACTION_WARP_SYNC] = compute,
    [GT_ACTION_MBARRIER_INIT] = compute, [GT_ACTION_MBARRIER_ARRIVE] = gt_warp_phase_arrive,
    [GT_ACTION_MBARRIER_WAIT] = gt_warp_phase_wait, [GT_ACTION_BULK_LOAD] = gt_warp_bulk_load,
    [GT_ACTION_BULK_STORE] = bulk_store, [GT_ACTION_BULK_PREFETCH] = compute,
    [GT_ACTION_BULK_COMMIT] = bulk_commit, [GT_ACTION_GMMA] = gmma, [GT_ACTION_GMMA_ARRIVE] = compute,
    [GT_ACTION_GMMA_WAIT] = gmma_wait, [GT_ACTION_CLUSTER_ARRIVE] = compute,
    [GT_ACTION_CLUSTER_WAIT] = cluster_wait, [GT_ACTION_SET_REGISTERS] = compute,
    [GT_ACTION_FENCE] = fence, [GT_ACTION_GRID_WAIT] = compute, [GT_ACTION_GRID_RELEASE] = compute,
    [GT_ACTION_SLEEP] = sleep_ns, [GT_ACTION_SPECIAL] = compute, [GT_ACTION_DIVERGE] = compute,
    [GT_ACTION_BRANCH] = compute,
};
/* clang-format on */

void gt_warp_act(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op, uint64_t now)
{
    acts[op->action](sm, warp, op, now);
}
