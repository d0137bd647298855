/* Barriers over a grid, and blocks that wait for the kernel before. */
#include "sim/gpu/grid_sync.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/base/sort.h"
#include "sim/gpu/batches.h"
#include "sim/machine/durations.h"
#include "sim/stream/programmatic.h"
#include "sim/workload/block_cost.h"

static const struct gt_kernel *kernel_of(const struct gt_machine *m, const struct gt_grid *grid)
{
    static const struct gt_kernel none;

    return grid->kernel == GT_NONE ? &none : &m->workload->kernels[grid->kernel];
}

/* A time that is known to hold barriers and waits already has none of its own. */
static uint32_t barriers_of(const struct gt_machine *m, const struct gt_grid *grid)
{
    return kernel_of(m, grid)->grid_barriers;
}

static gt_time_ps part_of(gt_time_ps whole_ps, uint32_t pct)
{
    return whole_ps / 100 * pct + whole_ps % 100 * pct / 100;
}

/* When a block that started then would have started, had it not waited for the kernel before. */
static gt_time_ps begun_ps(const struct gt_machine *m, const struct gt_grid *grid, gt_time_ps start_ps,
                           gt_time_ps cost_ps)
{
    gt_time_ps depends_ps = m->commands[grid->command].depends_ps, prologue_ps = kernel_of(m, grid)->prologue_ps;

    if (prologue_ps > cost_ps)
        prologue_ps = cost_ps;
    return depends_ps > start_ps + prologue_ps ? depends_ps - prologue_ps : start_ps;
}

/* The times of a grid's barriers: the first opens, and the others so long after the one before, where a block's time is in
 * equal parts; else all of them. */
struct barriers {
    const struct gt_kernel *kernel;
    uint32_t count;
    gt_time_ps first_ps, step_ps;
    gt_time_ps *open_ps; /* NULL: equal parts */
};

/* How many barriers a block is past that has done so much of its work. */
static uint32_t passed_by(const struct barriers *barriers, gt_time_ps cost_ps, gt_time_ps work_ps)
{
    uint32_t low = 0, high = barriers->count;

    if (work_ps == cost_ps)
        return barriers->count;
    low = GT_LOWER_BOUND(middle, low, high, gt_block_phase_ps(barriers->kernel, cost_ps, middle) <= work_ps);
    return low;
}

/* When a block has done that much of its work, which it begins (but for the barriers) then. */
static gt_time_ps done_ps(const struct barriers *barriers, gt_time_ps begun_ps, gt_time_ps cost_ps,
                          gt_time_ps work_ps)
{
    uint32_t passed = passed_by(barriers, cost_ps, work_ps);
    gt_time_ps open_ps;

    if (passed == 0)
        return begun_ps + work_ps;
    open_ps = barriers->open_ps != NULL ? barriers->open_ps[passed - 1]
                                        : barriers->first_ps + (passed - 1) * barriers->step_ps;
    return open_ps + (work_ps - gt_block_phase_ps(barriers->kernel, cost_ps, passed - 1));
}

/* The block lets the next kernel come then: `early` says whether that is so before it waits for anything. */
static bool triggers_early(const struct gt_machine *m, const struct gt_grid *grid, gt_time_ps cost_ps)
{
    const struct gt_kernel *kernel = kernel_of(m, grid);
    gt_time_ps work_ps = part_of(cost_ps, 100 - kernel->early_pct);

    return kernel->early_pct > 0 && work_ps <= kernel->prologue_ps &&
           work_ps <= gt_block_phase_ps(kernel, cost_ps, 0);
}

static void note_trigger(struct gt_grid *grid, gt_time_ps time_ps)
{
    if (time_ps > grid->sync.triggered_ps)
        grid->sync.triggered_ps = time_ps;
}

static gt_time_ps trigger_work_ps(const struct gt_machine *m, const struct gt_grid *grid, gt_time_ps cost_ps)
{
    return part_of(cost_ps, 100 - kernel_of(m, grid)->early_pct);
}

/* All blocks are out and are known to let the next kernel come by some time. */
static void tell_triggered(struct gt_machine *m, gt_grid_index grid)
{
    const struct gt_grid *g = &m->grids[grid];

    if (m->programmatic && !g->sync.triggers_unknown && g->kernel != GT_NONE)
        gt_programmatic_triggered(m, g->command, g->sync.triggered_ps);
}

void gt_grid_sync_begin(struct gt_machine *m, gt_grid_index grid)
{
    struct gt_grid *g = &m->grids[grid];

    m->commands[g->command].grid = grid;
    g->sync.head = GT_NONE;
    g->sync.triggers_unknown = kernel_of(m, g)->early_pct == 0;
    g->sync.held = barriers_of(m, g) > 0 || m->commands[g->command].depends_ps != 0;
    if (g->sync.held)
        g->launch = NULL; /* its blocks' times are as they are alone */
}

bool gt_grid_sync_started(struct gt_machine *m, gt_batch_index batch, gt_time_ps *end_ps)
{
    const struct gt_batch *b = &m->batches[batch];
    struct gt_grid *g = &m->grids[b->grid];
    gt_time_ps cost_ps = *end_ps - b->start_ps, begun;
    bool knows = m->commands[g->command].depends_ps != GT_TIME_NONE && barriers_of(m, g) == 0;

    if (knows) {
        const struct barriers none = { .kernel = kernel_of(m, g) };

        begun = begun_ps(m, g, b->start_ps, cost_ps);
        *end_ps = begun + cost_ps;
        note_trigger(g, triggers_early(m, g, cost_ps)
                            ? b->start_ps + trigger_work_ps(m, g, cost_ps)
                            : done_ps(&none, begun, cost_ps, trigger_work_ps(m, g, cost_ps)));
        return false;
    }
    if (triggers_early(m, g, cost_ps))
        note_trigger(g, b->start_ps + trigger_work_ps(m, g, cost_ps));
    else
        g->sync.triggers_unknown = true;
    m->batches[batch].next = GT_NONE;
    if (g->sync.head == GT_NONE)
        g->sync.head = batch;
    else
        m->batches[g->sync.tail].next = batch;
    g->sync.tail = batch;
    return true;
}

void gt_grid_sync_will_end(struct gt_machine *m, gt_grid_index grid, gt_time_ps start_ps, gt_time_ps end_ps)
{
    struct gt_grid *g = &m->grids[grid];

    note_trigger(g, start_ps + trigger_work_ps(m, g, end_ps - start_ps));
}

/* Blocks that come to a barrier at one time. */
struct arrival {
    gt_time_ps time_ps;
    uint32_t blocks;
};

static int by_time(const void *left, const void *right)
{
    const struct arrival *a = left, *b = right;

    return (a->time_ps > b->time_ps) - (a->time_ps < b->time_ps);
}

/* When a barrier opens.  Those who come count themselves in one after the other (latency.barrier_arrival_ns each), so that
 * many at once queue; then all of them see it (latency.barrier_block_ns each), the first after latency.barrier_us. That and
 * the queues overlap. */
static gt_time_ps opens_ps(const struct gt_machine *m, const struct gt_grid *grid, struct arrival *arrivals,
                           uint32_t count)
{
    gt_time_ps counted_ps = 0, last_ps;
    double queued_ps;

    qsort(arrivals, count, sizeof *arrivals, by_time);
    last_ps = arrivals[count - 1].time_ps;
    for (uint32_t i = 0; i < count; i++) {
        counted_ps = counted_ps > arrivals[i].time_ps ? counted_ps : arrivals[i].time_ps;
        counted_ps += arrivals[i].blocks * m->device->barrier_arrival_ps;
    }
    queued_ps = (double)(counted_ps - last_ps) + (double)grid->blocks * (double)m->device->barrier_block_ps;
    return grid->inverted ? last_ps : last_ps + gt_whole_ps(hypot((double)m->device->barrier_ps, queued_ps));
}

/* When the barrier opens to which blocks come once they have done their part of that number: after the start that they
 * have had, or after the barrier before has opened, at 0. */
static gt_time_ps part_opens_ps(const struct gt_machine *m, const struct gt_grid *grid, struct arrival *arrivals,
                                uint32_t part, bool from_start)
{
    const struct gt_kernel *kernel = kernel_of(m, grid);
    uint32_t count = 0;

    for (gt_batch_index i = grid->sync.head; i != GT_NONE; i = m->batches[i].next, count++) {
        gt_time_ps cost_ps = gt_batch_cost_ps(m, grid, m->batches[i].first_block);
        gt_time_ps work_ps = gt_block_phase_ps(kernel, cost_ps, part);

        if (part > 0)
            work_ps -= gt_block_phase_ps(kernel, cost_ps, part - 1);
        if (from_start)
            work_ps += begun_ps(m, grid, m->batches[i].start_ps, cost_ps);
        arrivals[count] = (struct arrival){ work_ps, m->batches[i].blocks };
    }
    return opens_ps(m, grid, arrivals, count);
}

/* All barriers; where a block's time is in equal parts all but the first are alike. */
static struct barriers barrier_times(const struct gt_machine *m, const struct gt_grid *grid)
{
    struct barriers barriers = { .kernel = kernel_of(m, grid), .count = barriers_of(m, grid) };
    struct arrival *arrivals;
    uint32_t count = 0;

    if (barriers.count == 0)
        return barriers;
    for (gt_batch_index i = grid->sync.head; i != GT_NONE; i = m->batches[i].next)
        count++;
    arrivals = gt_calloc(count, sizeof *arrivals);
    barriers.first_ps = part_opens_ps(m, grid, arrivals, 0, true);
    if (barriers.kernel->phase_end_ps == NULL) {
        barriers.step_ps = part_opens_ps(m, grid, arrivals, 0, false);
    } else {
        barriers.open_ps = gt_calloc(barriers.count, sizeof *barriers.open_ps);
        barriers.open_ps[0] = barriers.first_ps;
        for (uint32_t i = 1; i < barriers.count; i++)
            barriers.open_ps[i] = barriers.open_ps[i - 1] + part_opens_ps(m, grid, arrivals, i, false);
    }
    free(arrivals);
    return barriers;
}

/* Ends of blocks that were held, as far as all that they wait for is known. */
static void settle(struct gt_machine *m, gt_grid_index grid)
{
    struct gt_grid *g = &m->grids[grid];
    struct barriers barriers;
    gt_batch_index next;

    if (g->sync.head == GT_NONE || m->commands[g->command].depends_ps == GT_TIME_NONE ||
        (barriers_of(m, g) > 0 && g->dispatched < g->blocks))
        return;
    barriers = barrier_times(m, g);
    m->fired[GT_RULE_GRID_BARRIER] += barriers.count;
    for (gt_batch_index i = g->sync.head; i != GT_NONE; i = next) {
        gt_time_ps start_ps = m->batches[i].start_ps, cost_ps = gt_batch_cost_ps(m, g, m->batches[i].first_block);
        gt_time_ps begun = begun_ps(m, g, start_ps, cost_ps);

        next = m->batches[i].next;
        if (!triggers_early(m, g, cost_ps))
            note_trigger(g, done_ps(&barriers, begun, cost_ps, trigger_work_ps(m, g, cost_ps)));
        gt_batch_due(m, i, done_ps(&barriers, begun, cost_ps, cost_ps));
    }
    free(barriers.open_ps);
    g->sync.head = GT_NONE;
    g->sync.triggers_unknown = kernel_of(m, g)->early_pct == 0;
    if (g->dispatched == g->blocks)
        tell_triggered(m, grid);
}

void gt_grid_sync_handed_out(struct gt_machine *m, gt_grid_index grid)
{
    if (m->grids[grid].launch != NULL || m->grids[grid].tasks != NULL ||
        m->grids[grid].peer != NULL) /* nobody knows before they end */
        m->grids[grid].sync.triggers_unknown = true;
    if (m->grids[grid].sync.held)
        settle(m, grid);
    tell_triggered(m, grid);
}

void gt_grid_sync_left(struct gt_machine *m, gt_grid_index grid)
{
    struct gt_grid *g = &m->grids[grid];

    if (!m->programmatic || g->kernel == GT_NONE || !g->sync.triggers_unknown)
        return;
    g->sync.triggers_unknown = false;
    if (m->workload->ops[g->op].programmatic)
        g->sync.triggered_ps += m->device->programmatic_exit_ps;
    note_trigger(g, m->engine.now_ps);
    tell_triggered(m, grid);
}

/* What `next` waits for, if it came before this, is over. */
static void let_go_on(struct gt_machine *m, gt_command_index next)
{
    if (m->commands[next].depends_ps != GT_TIME_NONE)
        return;
    m->commands[next].depends_ps = m->engine.now_ps + m->device->programmatic_wait_ps;
    if (m->commands[next].grid != GT_NONE)
        settle(m, m->commands[next].grid);
}

void gt_grid_sync_kernel_over(struct gt_machine *m, gt_command_index command)
{
    gt_op_index op = m->commands[command].index;

    if (m->commands[command].kind == GT_COMMAND_OP && gt_programmatic_behind(m, command) != GT_NONE &&
        m->commands[gt_programmatic_behind(m, command)].started)
        let_go_on(m, gt_programmatic_behind(m, command));
    if (m->commands[command].kind != GT_COMMAND_NODE || m->replay.edge_count == 0)
        return;
    for (uint32_t i = m->replay.edge_from[op]; i < m->replay.edge_from[op + 1]; i++)
        if (m->op_commands[m->replay.edge_to[i]] != GT_NONE)
            let_go_on(m, m->op_commands[m->replay.edge_to[i]]);
}

bool gt_grid_sync_has_room(const struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid)
{
    const struct gt_gpu_state *state = &m->gpus[gpu];
    uint64_t room = 0;

    for (uint32_t blocks = 1; blocks <= state->free_blocks_most; blocks++)
        for (uint32_t word = 0; word * 64 < m->device->sms; word++)
            room += (uint64_t)blocks * (uint32_t)__builtin_popcountll(state->free_block_sets[blocks][word]);
    return room >= m->grids[grid].blocks;
}

static const char *name_of(const struct gt_machine *m, const struct gt_grid *grid)
{
    return gt_name_text(m->workload, m->workload->kernels[grid->kernel].name);
}

static uint32_t line_of(const struct gt_machine *m, const struct gt_grid *grid)
{
    return m->workload->calls[m->workload->ops[grid->op].call].line;
}

static bool waits_at_barrier(const struct gt_machine *m, const struct gt_grid *grid)
{
    return grid->kernel != GT_NONE && grid->sync.held && m->workload->kernels[grid->kernel].grid_barriers > 0 &&
           grid->dispatched > 0 && grid->dispatched < grid->blocks;
}

/* Blocks of other grids that hold room: those with more to come, and those whose kernels stand in a stream. */
static void append_holders(const struct gt_machine *m, const struct gt_gpu_state *gpu, const struct gt_grid *held,
                           char *text, size_t bytes)
{
    gt_text_append(text, bytes, ": SMs hold %llu blocks of itself", (unsigned long long)held->dispatched);
    for (uint32_t level = 0; level < GT_LEVELS; level++)
        for (gt_grid_index i = gpu->levels_used >> level & 1 ? gpu->level_head[level] : GT_NONE; i != GT_NONE;
             i = m->grids[i].next)
            if (&m->grids[i] != held && m->grids[i].kernel != GT_NONE && m->grids[i].dispatched > m->grids[i].ended)
                gt_text_append(text, bytes, ", %llu of '%.60s'",
                               (unsigned long long)(m->grids[i].dispatched - m->grids[i].ended),
                               name_of(m, &m->grids[i]));
    for (uint32_t stream = 0; stream < m->workload->stream_count; stream++)
        for (gt_command_index c = m->streams[stream].head; c != GT_NONE && m->commands[c].started;
             c = m->commands[c].next) {
            const struct gt_grid *grid = m->commands[c].grid != GT_NONE ? &m->grids[m->commands[c].grid] : NULL;

            if (grid != NULL && &m->gpus[m->streams[stream].compute] == gpu && grid->dispatched == grid->blocks)
                gt_text_append(text, bytes, ", %llu of '%.60s'", (unsigned long long)(grid->dispatched - grid->ended),
                               name_of(m, grid));
        }
}

static void describe(const struct gt_machine *m, const struct gt_gpu_state *gpu, const struct gt_grid *grid,
                     char *text, size_t bytes)
{
    uint64_t without = grid->blocks - grid->dispatched;

    gt_text_append(
        text, bytes,
        "; kernel '%.60s' of line %u: blocks 0 to %llu wait at a barrier over the grid for the %llu others, which "
        "have "
        "no SM",
        name_of(m, grid), line_of(m, grid), (unsigned long long)grid->dispatched - 1, (unsigned long long)without);
    append_holders(m, gpu, grid, text, bytes);
    gt_text_append(text, bytes, "; launched with \"cooperative\" it would start when all fit, or be refused");
}

uint32_t gt_grid_sync_deadlocks(const struct gt_machine *m, char *text, size_t bytes)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < m->compute_count; i++) {
        const struct gt_gpu_state *gpu = &m->gpus[i];

        for (uint32_t level = 0; level < GT_LEVELS; level++)
            for (gt_grid_index g = gpu->levels_used >> level & 1 ? gpu->level_head[level] : GT_NONE; g != GT_NONE;
                 g = m->grids[g].next)
                if (waits_at_barrier(m, &m->grids[g]) && count++ < 2)
                    describe(m, gpu, &m->grids[g], text, bytes);
    }
    return count;
}
