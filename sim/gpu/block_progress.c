#include "sim/gpu/block_progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/gpu/batches.h"
#include "sim/gpu/ends_apart.h"
#include "sim/gpu/progress_limit.h"
#include "sim/gpu/progress_solve.h"
#include "sim/gpu/sm.h"
#include "sim/gpu/task_events.h"
#include "sim/gpu/work_distributor.h"
#include "sim/machine/durations.h"
#include "sim/machine/free_lists.h"
#include "sim/warp/kernel_model.h"
#include "sim/workload/block_cost.h"

/* Its demands, worked out once for each launch. */
static const struct gt_demand *demand_of(struct gt_machine *m, const struct gt_grid *grid)
{
    const struct gt_kernel_model *modelled = m->options->modelled;
    struct gt_demand *demand;

    if (m->demands == NULL)
        m->demands = gt_calloc(modelled->count, sizeof *m->demands);
    demand = &m->demands[grid->launch - modelled->launches];
    if (demand->launch == NULL)
        *demand = gt_demand_of(modelled, grid->launch, m->device, &grid->occupancy);
    return demand;
}

/* Work the rates out when all that happens now has happened. */
static void rates_due(struct gt_machine *m, gt_gpu_index gpu)
{
    struct gt_gpu_state *state = &m->gpus[gpu];

    if (state->rates_due || state->demanding == GT_NONE)
        return;
    state->rates_due = true;
    gt_engine_schedule(&m->engine, m->engine.now_ps, GT_PHASE_RATES, GT_HANDLE_BLOCK_PROGRESS, gpu, 0);
}

/* Blocks take more or less of memory than before. */
static void tell_collectives(struct gt_machine *m, gt_gpu_index gpu)
{
    if (m->collectives != NULL)
        gt_engine_schedule(&m->engine, m->engine.now_ps, GT_PHASE_RATES, GT_HANDLE_COLLECTIVE_MEMORY, gpu, 0);
}

/* Does anything run on the GPU that could be in the way of a grid's blocks? */
static bool neighbours(const struct gt_gpu_state *gpu)
{
    bool copies = gpu->copies_within > 0;

    for (int i = 0; i < GT_ENGINES; i++)
        copies = copies || gpu->engines[i].running != GT_NONE;
    return gpu->grids > 1 || copies;
}

/* From now on no grid has the GPU for itself. */
static void share_all(struct gt_machine *m, gt_gpu_index gpu)
{
    for (gt_grid_index at = m->gpus[gpu].demanding; at != GT_NONE; at = m->grids[at].next_demanding)
        if (m->grids[at].demand == NULL)
            m->grids[at].demand = demand_of(m, &m->grids[at]);
    rates_due(m, gpu);
}

void gt_block_progress_grid_begins(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid)
{
    struct gt_gpu_state *state = &m->gpus[gpu];

    state->grids++;
    if (m->grids[grid].launch != NULL) {
        m->grids[grid].next_demanding = state->demanding;
        state->demanding = grid;
    }
    if (state->demanding != GT_NONE && neighbours(state))
        share_all(m, gpu);
}

void gt_block_progress_grid_ends(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid)
{
    struct gt_gpu_state *state = &m->gpus[gpu];
    uint32_t *link = &state->demanding;

    state->grids--;
    if (m->grids[grid].launch == NULL)
        return;
    while (*link != grid)
        link = &m->grids[*link].next_demanding;
    *link = m->grids[grid].next_demanding;
    if (state->demanding != GT_NONE)
        return;
    gt_task_events_set_memory_part(m, gpu, gt_progress_dram_left(m, state));
    state->memory_busy = state->memory_mixed = 0;
    tell_collectives(m, gpu);
}

void gt_block_progress_copies_changed(struct gt_machine *m, gt_gpu_index gpu)
{
    const struct gt_gpu_state *state = &m->gpus[gpu];

    if (state->demanding != GT_NONE && (neighbours(state) || m->grids[state->demanding].demand != NULL))
        share_all(m, gpu);
    else
        gt_task_events_set_memory_part(m, gpu, gt_progress_dram_left(m, state));
}

void gt_block_progress_neighbours_changed(struct gt_machine *m, gt_gpu_index gpu)
{
    share_all(m, gpu);
}

void gt_block_progress_copy_within(struct gt_machine *m, gt_gpu_index gpu, int more)
{
    m->gpus[gpu].copies_within += (uint32_t)more;
    gt_block_progress_copies_changed(m, gpu);
}

/* Blocks of one grid on one SM that are not in step: the oldest go first.
 *
 * A scheduler prefers the warps that came first, so that where an SM's issue slots, or a pipe, hold a kernel back, its
 * oldest blocks run at full pace and the youngest wait: of 4 blocks of 512 threads of integer chains the first ended
 * after 0.25 of the launch, of 8 of 256 threads of sines after 0.32, where all together wait for memory after 0.9 and
 * more (H200, November 2026).  So places get free, and late kernels in, long before the launch ends.  The warp tier
 * has such a scheduler and says how many blocks an SM works at at a time (gt_warp_result.at_once): all get their
 * group's time in equal parts of one such block, in the order of their age, until it is used up. */

/* Blocks that end within this part of the launch are in step: those that wait for memory do, though one or the other
 * is served first. */
#define IN_STEP 0.15

double gt_blocks_at_once(const struct gt_machine *m, const struct gt_grid *grid)
{
    uint64_t rows = (grid->blocks + m->device->sms - 1) / m->device->sms, held = grid->occupancy.blocks_per_sm;
    double together = (double)(rows < held ? rows : held), at_once = grid->launch->result.at_once;

    return at_once > 0 && at_once < (1 - IN_STEP) * together ? fmax(1, at_once) : 0;
}

/* The rate of a group of a grid that has the GPU for itself: the whole grid lasts what it lasts. */
static double rate_alone(const struct gt_machine *m, const struct gt_resident_group *group)
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

/* Its blocks would each have progressed by `passed_ps` in step: who has done how much of it. */
static void settle_turns(struct gt_machine *m, const struct gt_resident_group *group, double passed_ps)
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

/* The next of its batches to end; *progress_ps: by how much all would progress in step until then. */
static gt_batch_index next_by_turns(const struct gt_machine *m, const struct gt_resident_group *group,
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

static bool takes_turns(const struct gt_machine *m, const struct gt_resident_group *group)
{
    return m->grids[group->grid].at_once > 0;
}

/* Account for what its blocks have done since the rate last changed. */
static void settle(struct gt_machine *m, struct gt_resident_group *group)
{
    double passed_ps = (double)(m->engine.now_ps - group->updated_ps) * group->rate;

    if (takes_turns(m, group))
        settle_turns(m, group, passed_ps);
    group->progress_ps += passed_ps;
    group->updated_ps = m->engine.now_ps;
}

/* The batch that ends next; *left_ps: how much its group progresses until then. */
static gt_batch_index next_end(const struct gt_machine *m, const struct gt_resident_group *group, double *left_ps)
{
    if (takes_turns(m, group))
        return next_by_turns(m, group, left_ps);
    *left_ps = fmax(0, m->batches[group->head].ends_at_ps - group->progress_ps);
    return group->head;
}

static void schedule_end(struct gt_machine *m, gt_group_index group)
{
    struct gt_resident_group *g = &m->groups[group];
    gt_time_ps end_ps;
    double left_ps;

    if (takes_turns(m, g) && m->grids[g->grid].demand == NULL)
        g->rate = rate_alone(m, g);
    next_end(m, g, &left_ps);
    end_ps = m->engine.now_ps + gt_whole_ps(left_ps / g->rate);
    g->stamp = ++m->group_stamps;
    gt_engine_schedule(&m->engine, end_ps, GT_PHASE_END, GT_HANDLE_RESIDENT_GROUP, group, g->stamp);
}

/* The group of a grid on an SM, a new one if need be; they stand in the order of their grids. */
static gt_group_index group_on(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid, gt_sm_index sm)
{
    struct gt_gpu_state *state = &m->gpus[gpu];
    gt_group_index group, before = GT_NONE, after;

    if (state->groups == NULL) {
        state->groups = gt_realloc(NULL, m->device->sms, sizeof *state->groups);
        memset(state->groups, 0xff, m->device->sms * sizeof *state->groups);
    }
    after = state->groups[sm];
    while (after != GT_NONE && m->groups[after].grid < grid) {
        before = after;
        after = m->groups[after].next;
    }
    if (after != GT_NONE && m->groups[after].grid == grid)
        return after;
    group = gt_resident_group_new(m);
    m->groups[group] = (struct gt_resident_group){
        .gpu = gpu, .grid = grid, .sm = sm, .next = after, .head = GT_NONE, .rate = 1, .updated_ps = m->engine.now_ps
    };
    if (before == GT_NONE)
        state->groups[sm] = group;
    else
        m->groups[before].next = group;
    return group;
}

/* Into its group, whose batches stand in the order in which they end; or start, where they take turns. */
static void insert_batch(struct gt_machine *m, struct gt_resident_group *group, gt_batch_index batch)
{
    uint32_t *link = &group->head;

    while (*link != GT_NONE &&
           (takes_turns(m, group) || m->batches[*link].ends_at_ps <= m->batches[batch].ends_at_ps))
        link = &m->batches[*link].next;
    m->batches[batch].next = *link;
    *link = batch;
}

/* The batch's blocks go into their group. */
static void begin_together(struct gt_machine *m, gt_batch_index batch)
{
    struct gt_batch *b = &m->batches[batch];
    const struct gt_grid *grid = &m->grids[b->grid];
    gt_group_index on = group_on(m, b->gpu, b->grid, b->sm);
    struct gt_resident_group *group = &m->groups[on];

    settle(m, group);
    b->done_ps = 0;
    b->ends_at_ps =
        (takes_turns(m, group) ? 0 : group->progress_ps) + gt_block_until_first_ps(m, grid, b, group->progress_ps);
    insert_batch(m, group, batch);
    group->blocks += b->blocks;
    group->most = group->blocks > group->most ? group->blocks : group->most;
    if (grid->demand != NULL && group->head == batch)
        group->stamp = 0; /* another one's end is due */
    if (grid->demand != NULL)
        rates_due(m, b->gpu);
    else if (group->head == batch || takes_turns(m, group))
        schedule_end(m, on);
}

void gt_block_progress_batch_begins(struct gt_machine *m, gt_batch_index batch)
{
    const struct gt_grid *grid = &m->grids[m->batches[batch].grid];

    while (m->batches[batch].blocks > 1 && gt_blocks_end_singly(m, grid, &m->batches[batch])) {
        gt_batch_index single = gt_batch_new(m);

        m->batches[single] = m->batches[batch];
        memset(m->batches[single].odd_warps, 0, sizeof m->batches[single].odd_warps);
        gt_sm_take_block(&m->batches[batch], m->device, grid->occupancy.need.warps, m->batches[single].odd_warps);
        m->batches[single].blocks = 1;
        m->batches[single].first_block += m->batches[batch].blocks; /* no other batch on the SM has this number */
        begin_together(m, single);
    }
    begin_together(m, batch);
}

static void take_out(struct gt_machine *m, struct gt_resident_group *group, gt_batch_index batch)
{
    uint32_t *link = &group->head;

    while (*link != batch)
        link = &m->batches[*link].next;
    *link = m->batches[batch].next;
    gt_batch_free(m, batch);
}

static void remove_group(struct gt_machine *m, gt_group_index group)
{
    const struct gt_resident_group *g = &m->groups[group];
    uint32_t *link = &m->gpus[g->gpu].groups[g->sm];

    while (*link != group)
        link = &m->groups[*link].next;
    *link = g->next;
    gt_resident_group_free(m, group);
}

int gt_resident_group_handler(void *machine, gt_group_index group, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_resident_group *g = &m->groups[group];
    gt_batch_index ended;
    struct gt_batch b;
    double left_ps;

    (void)error;
    if (stamp != g->stamp)
        return 0;
    ended = next_end(m, g, &left_ps);
    b = m->batches[ended];
    settle(m, g);
    if (!takes_turns(m, g))
        g->progress_ps = b.ends_at_ps; /* whatever was rounded */
    take_out(m, g, ended);
    g->blocks -= b.blocks;
    g->stamp = 0;
    if (g->head != GT_NONE)
        schedule_end(m, group);
    if (m->grids[b.grid].demand != NULL)
        rates_due(m, b.gpu);
    gt_batch_tell_ended(m, &b);
    gt_blocks_left(m, &b);
    if (m->groups[group].blocks == 0) /* no other has taken their place */
        remove_group(m, group);
    return m->failed ? -1 : 0;
}

static void set_rate(struct gt_machine *m, gt_group_index group, double rate)
{
    struct gt_resident_group *g = &m->groups[group];

    if (g->rate == rate && g->stamp != 0 && !takes_turns(m, g))
        return;
    settle(m, g);
    g->rate = rate;
    schedule_end(m, group);
}

int gt_block_progress_handler(void *machine, gt_gpu_index gpu, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_gpu_state *state = &m->gpus[gpu];

    (void)stamp;
    (void)error;
    state->rates_due = false;
    if (state->demanding != GT_NONE && m->grids[state->demanding].demand != NULL)
        gt_progress_solve(m, gpu, set_rate);
    tell_collectives(m, gpu);
    return m->failed ? -1 : 0;
}
