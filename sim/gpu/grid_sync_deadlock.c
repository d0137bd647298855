#include "sim/gpu/grid_sync_deadlock.h"

#include "sim/base/error.h"

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

            if (grid != NULL && &m->gpus[m->streams[stream].gpu] == gpu && grid->dispatched == grid->blocks)
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

    for (uint32_t i = 0; i < m->gpu_count; i++) {
        const struct gt_gpu_state *gpu = &m->gpus[i];

        for (uint32_t level = 0; level < GT_LEVELS; level++)
            for (gt_grid_index g = gpu->levels_used >> level & 1 ? gpu->level_head[level] : GT_NONE; g != GT_NONE;
                 g = m->grids[g].next)
                if (waits_at_barrier(m, &m->grids[g]) && count++ < 2)
                    describe(m, gpu, &m->grids[g], text, bytes);
    }
    return count;
}
