/* sync.c - where warps of a block wait for each other: named barriers, and the pipeline of phases that
 * bulk loads fill and other warps empty (mbarriers).
 *
 * Addresses of mbarriers are not known.  So phases are counted instead: the warps that start bulk loads fill
 * phase after phase, `loads_per_phase` loads each; a warp that empties waits for one phase after the other,
 * and the ones that fill wait until no more than `stages` phases are in use.
 */
#include <math.h>

#include "sim/warp/internal.h"

static uint32_t expected(const struct gt_wblock *block, const struct gt_decoded_inst *op)
{
    uint32_t warps = (uint32_t)(op->argument2 + 31) / 32;

    return warps == 0 || warps > block->alive ? block->alive : warps;
}

static void release(struct gt_sm_core *sm, struct gt_wblock *block, uint32_t barrier, uint64_t at)
{
    block->arrived[barrier] = 0;
    for (uint32_t i = 0; i < block->warps; i++)
        if (block->members[i] != NULL && block->members[i]->barrier == barrier) {
            block->members[i]->barrier = GT_NONE;
            gt_warp_wake(sm, block->members[i], at);
        }
}

void gt_warp_barrier(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                     uint64_t now, bool wait)
{
    struct gt_wblock *block = &sm->blocks[warp->slot];
    uint32_t barrier = op->argument % GT_WARP_BARRIERS;

    block->arrived[barrier]++;
    if (wait) {
        warp->barrier = barrier;
        warp->blocked = true;
        warp->hold_cause = GT_STALL_BARRIER;
    }
    /* The SM takes in one warp after the other. */
    sm->barrier_free = fmax(sm->barrier_free, (double)now) + sm->costs->barrier_warp_cycles;
    double more = op->action == GT_ACTION_CLUSTER_WAIT ? sm->costs->cluster_barrier_cycles : 0;
    if (block->arrived[barrier] >= expected(block, op))
        release(sm, block, barrier, (uint64_t)(sm->barrier_free + sm->costs->barrier_cycles + more));
}

/* Phases that every warp that empties has arrived for. */
static uint64_t least_consumed(const struct gt_sm_core *sm, const struct gt_wblock *block)
{
    double least = INFINITY;

    for (uint32_t i = 0; i < block->warps; i++) {
        const struct gt_warp_state *warp = block->members[i];
        bool counts = warp != NULL && sm->code.consumers >> (i % 32) & 1;

        if (counts && warp->arrivals < least)
            least = warp->arrivals;
    }
    return least == INFINITY ? GT_WARP_NEVER : (uint64_t)(least + 0.01);
}

/* Phases that are filled, or will be by what is on its way. */
static uint64_t phases_loaded(const struct gt_sm_core *sm, const struct gt_wblock *block)
{
    uint64_t least = GT_WARP_NEVER;

    for (uint32_t i = 0; sm->code.copies && i < block->warps; i++)
        if (block->members[i] != NULL && sm->code.producers >> (i % 32) & 1)
            least = block->members[i]->fills < least ? block->members[i]->fills : least;
    if (sm->code.copies)
        return least;
    return (uint64_t)((double)block->loads / sm->code.loads_per_phase + 1e-6);
}

/* Whether the phase that `warp` is about to use is there (then *at says when), or what it fills is empty. */
static bool phase_done(const struct gt_sm_core *sm, const struct gt_wblock *block, const struct gt_warp_state *warp,
                       uint64_t now, uint64_t *at)
{
    const struct gt_decoded_program *code = &sm->code;
    uint32_t bit = warp->number % 32;

    *at = now;
    if (!code->bulk && !code->copies) {
        uint64_t least = least_consumed(sm, block);
        return least == GT_WARP_NEVER || (double)least > warp->waits - 0.01;
    }
    if (code->consumers_arrive && !(code->consumers >> bit & 1))
        return phases_loaded(sm, block) < code->stages + block->consumed;
    uint64_t phase = (uint64_t)(warp->waits + 0.01);
    if (phase < phases_loaded(sm, block)) {
        uint64_t ready = block->phase_ready[phase % GT_WARP_PHASES];
        *at = ready > now ? ready : now;
        return true;
    }
    return false;
}

/* The phase that `warp` has asked for is there from `at` on. */
static void answer(struct gt_warp_state *warp, uint64_t at)
{
    for (uint32_t i = 0; i < GT_NO_BARRIER; i++)
        if (warp->phase_mask >> i & 1 && warp->scoreboard[i] < at) {
            warp->scoreboard[i] = at;
            warp->scoreboard_cause[i] = GT_STALL_LONG_SCOREBOARD;
        }
    if (warp->phase_mask == 0) {
        warp->hold_until = at;
        warp->hold_cause = GT_STALL_LONG_SCOREBOARD;
    }
}

static void go_on(struct gt_sm_core *sm, struct gt_warp_state *warp, uint64_t at)
{
    warp->phase_wait = false;
    answer(warp, at);
    if (warp->blocked && warp->barrier == GT_NONE)
        gt_warp_wake(sm, warp, at);
}

/* Warps that wait for a phase look again. */
static void look_again(struct gt_sm_core *sm, struct gt_wblock *block, uint64_t now)
{
    for (uint32_t i = 0; i < block->warps; i++) {
        struct gt_warp_state *warp = block->members[i];
        uint64_t at;

        if (warp == NULL || !warp->phase_wait)
            continue;
        /* Its count of waits includes this one. */
        warp->waits -= 1;
        bool done = phase_done(sm, block, warp, now, &at);
        warp->waits += 1;
        if (!done)
            continue;
        go_on(sm, warp, at);
    }
}

void gt_warp_bulk_load(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                       uint64_t now)
{
    struct gt_wblock *block = &sm->blocks[warp->slot];
    double bytes = op->access != NULL ? op->access->bulk_bytes : 0;
    uint64_t done = (uint64_t)gt_warp_bulk(sm, bytes, false, now);
    uint64_t phase = phases_loaded(sm, block) % GT_WARP_PHASES;

    if (block->phase_ready[phase] < done)
        block->phase_ready[phase] = done;
    block->loads++;
    uint64_t next = phases_loaded(sm, block) % GT_WARP_PHASES;
    if (next != phase) {
        block->phase_ready[next] = 0;
        look_again(sm, block, now);
    }
}

void gt_warp_phase_arrive(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                          uint64_t now)
{
    struct gt_wblock *block = &sm->blocks[warp->slot];

    if (op->argument == 1) {
        block->expects++;
        return;
    }
    warp->arrivals += op->counts * sm->code.arrival_scale;
    uint64_t least = least_consumed(sm, block);
    if (least != GT_WARP_NEVER && least > block->consumed) {
        block->consumed = least;
        look_again(sm, block, now + (uint64_t)sm->costs->mbarrier_cycles);
    }
}

void gt_warp_phase_wait(struct gt_sm_core *sm, struct gt_warp_state *warp, const struct gt_decoded_inst *op,
                        uint64_t now)
{
    struct gt_wblock *block = &sm->blocks[warp->slot];
    uint64_t at;

    if (op->counts <= 0)
        return;
    warp->phase_mask = op->write_barrier < GT_NO_BARRIER ? (uint8_t)(1u << op->write_barrier) : 0;
    warp->phase_wait = !phase_done(sm, block, warp, now, &at);
    warp->waits += op->counts;
    if (!warp->phase_wait)
        answer(warp, at);
}

void gt_warp_fill(struct gt_sm_core *sm, struct gt_warp_state *warp, uint64_t now)
{
    struct gt_wblock *block = &sm->blocks[warp->slot];
    uint64_t *ready = &block->phase_ready[warp->fills++ % GT_WARP_PHASES];

    if (*ready < warp->copies_done)
        *ready = warp->copies_done;
    look_again(sm, block, now);
}

bool gt_warp_force(struct gt_sm_core *sm, uint64_t now)
{
    bool any = false;

    for (uint32_t i = 0; i < sm->warp_count; i++) {
        struct gt_warp_state *warp = &sm->warps[i];

        if (warp->op == NULL || !warp->phase_wait)
            continue;
        sm->forced++;
        any = true;
        go_on(sm, warp, now + (uint64_t)sm->costs->mbarrier_cycles);
    }
    return any;
}

/* A warp that has ended is waited for no longer. */
void gt_warp_ended(struct gt_sm_core *sm, struct gt_warp_state *warp, uint64_t now)
{
    struct gt_wblock *block = &sm->blocks[warp->slot];

    if (block->stores_done < warp->stores_done)
        block->stores_done = warp->stores_done;
    block->members[warp->number] = NULL;
    block->alive--;
    for (uint32_t i = 0; i < GT_WARP_BARRIERS && block->alive > 0; i++)
        if (block->arrived[i] >= block->alive)
            release(sm, block, i, now + (uint64_t)sm->costs->barrier_cycles);
    uint64_t least = least_consumed(sm, block);
    block->consumed = least != GT_WARP_NEVER && least > block->consumed ? least : block->consumed;
    look_again(sm, block, now);
}
