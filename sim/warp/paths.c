/* paths.c - a launch's warps walk through their program, a basic block each in turn.
 *
 * The SM of the warp tier holds one thread block at a time and gets all of the grid: nothing but its walk is used.
 */
#include "sim/warp/paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/warp/internal.h"
#include "sim/warp/scheduler.h"

/* A walk is given up beyond so many times the basic blocks of a mean thread block, and a number that costs nothing. */
enum { HOPELESS_TIMES = 8, ALWAYS_ALLOWED = 1 << 22, LANES = 32 };

/* A divergence whose sides have not met. */
struct region {
    uint32_t join, waiting, arrived; /* threads of the side that waits, of the one that has come to the join */
    bool second;                     /* the side that waited runs */
};

/* Which threads of a warp are where. */
struct lanes {
    uint32_t active;
    struct region regions[GT_WARP_DEPTH];
    uint32_t count;
};

struct gt_warp_paths {
    struct gt_sm_core sm;
    struct gt_warp_launch launch;
    uint32_t threads;
    struct gt_warp_path *paths; /* [warps_per_block] */
    struct lanes *lanes;        /* [warps_per_block] */
    double most;                /* basic blocks of a thread block */
};

/* Every path in its share: not as the fullest SM has it, and what is waiting too. */
static void walk_all(struct gt_decoded_program *code)
{
    const struct gt_program *program = code->program;

    memset(code->rare, 0, program->edge_count * sizeof *code->rare);
    memset(code->more_work, 0, program->edge_count * sizeof *code->more_work);
    for (uint32_t l = 0; l < program->loop_count; l++)
        code->kept[l] = 1;
}

static double visits_of_a_block(const struct gt_warp_launch *launch)
{
    const struct gt_program *program = launch->program;
    double visits = 0;

    for (uint32_t b = 0; b < program->block_count; b++)
        visits += (double)program->blocks[b].executions;
    return visits / fmax(1, (double)program->warps) * launch->warps_per_block;
}

struct gt_warp_paths *gt_warp_paths_new(const struct gt_device *device, const struct gt_warp_launch *launch,
                                        uint32_t threads, struct gt_error *error)
{
    struct gt_warp_paths *paths = gt_calloc(1, sizeof *paths);
    struct gt_sm_core *sm = &paths->sm;

    paths->launch = *launch;
    paths->launch.blocks_per_sm = 1;
    paths->threads = threads;
    paths->most = fmax(ALWAYS_ALLOWED, HOPELESS_TIMES * visits_of_a_block(launch));
    *sm = (struct gt_sm_core){ .device = device,
                               .costs = &device->warp,
                               .launch = &paths->launch,
                               .trip_share = 1,
                               .sm_blocks = launch->blocks };
    sm->scheduler = gt_scheduler_find(device->warp.policy, NULL, sm->scheduler_parameters, error);
    if (sm->scheduler == NULL || gt_warp_decode(&sm->code, device, &paths->launch, error) != 0) {
        free(paths);
        return NULL;
    }
    walk_all(&sm->code);
    gt_warp_build(sm);
    paths->paths = gt_calloc(launch->warps_per_block, sizeof *paths->paths);
    paths->lanes = gt_calloc(launch->warps_per_block, sizeof *paths->lanes);
    return paths;
}

/* The first `count` of these threads. */
static uint32_t lowest(uint32_t threads, uint32_t count)
{
    uint32_t some = 0;

    for (; count > 0 && threads != 0; count--) {
        some |= threads & -threads;
        threads &= threads - 1;
    }
    return some;
}

/* Threads that execute the first instruction of a basic block, in the mean. */
static double threads_at(const struct gt_program *program, uint32_t block)
{
    return program->instructions[program->blocks[block].first].threads;
}

/* The warp has split: `here` is the side that goes on, `there` the one that waits. */
static void split(struct lanes *lanes, const struct gt_program *program, uint32_t here, uint32_t there, uint32_t join)
{
    uint32_t all = (uint32_t)__builtin_popcount(lanes->active), some;
    double ours = fmax(threads_at(program, here), 1e-3), theirs = fmax(threads_at(program, there), 1e-3);

    some = (uint32_t)fmin(fmax(1, all - 1.0), fmax(1, round(all * ours / (ours + theirs))));
    some = lowest(lanes->active, some);
    lanes->regions[lanes->count++] = (struct region){ .join = join, .waiting = lanes->active & ~some };
    lanes->active = some;
}

/* A side has ended, at the join or for good: the one that waits runs. */
static void change_sides(struct lanes *lanes, bool at_join)
{
    while (lanes->count > 0 && lanes->regions[lanes->count - 1].second)
        lanes->count--;
    if (lanes->count == 0)
        return;
    struct region *region = &lanes->regions[lanes->count - 1];
    region->arrived = at_join ? lanes->active : 0;
    lanes->active = region->waiting;
    region->second = true;
    if (region->join == GT_NONE)
        lanes->count--;
}

/* Both sides of the innermost region are there, or all of the warp. */
static void meet(struct lanes *lanes, uint32_t join)
{
    const struct region *region = lanes->count > 0 ? &lanes->regions[lanes->count - 1] : NULL;

    if (region == NULL || !region->second || region->join != join)
        return;
    lanes->active |= region->arrived;
    lanes->count--;
}

/* Threads that a conditional EXIT ends where the warp goes on: those that the next basic block no longer has. */
static uint32_t ended(struct lanes *lanes, const struct gt_program *program, uint32_t next)
{
    uint32_t all = (uint32_t)__builtin_popcount(lanes->active);
    uint32_t left = (uint32_t)fmin(all, fmax(1, round(threads_at(program, next))));
    uint32_t gone = lanes->active & ~lowest(lanes->active, left);

    lanes->active &= ~gone;
    return gone;
}

/* Is `to` the basic block behind `from`, where a branch goes that does not jump? */
static bool falls(const struct gt_program *program, uint32_t from, uint32_t to)
{
    return program->blocks[to].first == program->blocks[from].first + program->blocks[from].count;
}

/* The warp has gone from `from` to where it is: which threads did, and which its last instruction took. */
static uint32_t follow_lanes(struct lanes *lanes, const struct gt_program *program, uint32_t from,
                             const struct gt_warp_state *warp, uint32_t depth_before)
{
    const struct gt_basic_block *block = &program->blocks[from];
    uint32_t before = lanes->active;

    if (warp->simt_depth > depth_before) {
        uint32_t there = warp->simt_stack[depth_before].block;

        split(lanes, program, warp->block, there, warp->simt_stack[depth_before].join);
        return falls(program, from, warp->block) ? before & ~lanes->active : lanes->active;
    }
    if (warp->simt_depth < depth_before) {
        change_sides(lanes, block->end == GT_END_JOIN);
        return before;
    }
    if (block->end == GT_END_JOIN && block->edge_count > 0)
        meet(lanes, program->edges[block->first_edge].to);
    if (block->end == GT_END_EXIT)
        return ended(lanes, program, warp->block);
    return block->end == GT_END_BRANCH && falls(program, from, warp->block) ? 0 : before;
}

/* One basic block further; false: the warp has ended. */
static bool step(struct gt_warp_paths *paths, struct gt_warp_state *warp)
{
    const struct gt_program *program = paths->launch.program;
    struct gt_warp_path *path = &paths->paths[warp->number];
    struct lanes *lanes = &paths->lanes[warp->number];
    uint32_t depth = warp->simt_depth;
    struct gt_warp_visit visit = { warp->block, lanes->active, lanes->active };
    bool taken;

    warp->op = gt_warp_walk_next(&paths->sm, warp, &taken);
    if (warp->op != NULL)
        visit.leave = follow_lanes(lanes, program, visit.block, warp, depth);
    gt_array_grow(path->visits, path->count, path->room);
    path->visits[path->count++] = visit;
    return warp->op != NULL;
}

static void begin(struct gt_warp_paths *paths)
{
    struct gt_sm_core *sm = &paths->sm;

    sm->free_warp_count = sm->warp_count;
    gt_warp_block_place(sm, &sm->blocks[0]);
    for (uint32_t i = 0; i < paths->launch.warps_per_block; i++) {
        uint32_t threads = paths->threads - i * LANES;

        paths->paths[i].count = 0;
        paths->lanes[i] = (struct lanes){ .active = threads >= LANES ? UINT32_MAX : (1u << threads) - 1 };
    }
}

const struct gt_warp_path *gt_warp_paths_next(struct gt_warp_paths *paths, struct gt_error *error)
{
    const struct gt_warp_launch *launch = &paths->launch;
    uint32_t alive = launch->warps_per_block;

    begin(paths);
    for (double walked = 0; alive > 0; walked += alive) {
        for (uint32_t i = 0; i < launch->warps_per_block; i++)
            if (paths->sm.warps[i].op != NULL && !step(paths, &paths->sm.warps[i]))
                alive--;
        if (walked > paths->most) {
            gt_error_set(error,
                         "program '%s': its warps go on beyond %.0f basic blocks a thread block: the counts "
                         "contradict the control flow",
                         launch->program->key, paths->most);
            return NULL;
        }
    }
    return paths->paths;
}

void gt_warp_paths_misses(const struct gt_warp_paths *paths, uint32_t i, double *l1, double *l2)
{
    *l1 = paths->sm.code.ops[i].l1_miss;
    *l2 = paths->sm.code.ops[i].l2_miss;
}

void gt_warp_paths_free(struct gt_warp_paths *paths)
{
    if (paths == NULL)
        return;
    for (uint32_t i = 0; i < paths->launch.warps_per_block; i++)
        free(paths->paths[i].visits);
    free(paths->paths);
    free(paths->lanes);
    gt_warp_tear_down(&paths->sm);
    free(paths);
}
