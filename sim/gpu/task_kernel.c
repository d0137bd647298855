#include "sim/gpu/task_kernel.h"

#include <stdio.h>
#include <string.h>

#include "sim/gpu/batches.h"
#include "sim/gpu/block_progress.h"
#include "sim/gpu/progress_solve.h"
#include "sim/gpu/task_events.h"
#include "sim/gpu/work_distributor.h"
#include "sim/machine/free_lists.h"
#include "sim/tasks/policy.h"
#include "sim/tasks/tasks.h"

enum { CHANGE_MATTERS = 16 }; /* of SMs: one in so many */

static void task_ended(void *user, const struct gt_task_record *record)
{
    struct gt_machine *m = user;

    m->tasks++;
    if (m->probe->task != NULL && m->probe->task(m->probe->user, record, m->error) != 0)
        m->failed = true;
}

/* Its block leaves its SM, and the last one ends the grid. */
static void worker_ended(void *user, struct gt_task_run *run, gt_worker_index worker)
{
    struct gt_machine *m = user;
    gt_batch_index batch = gt_task_run_place(run, worker);
    struct gt_batch b = m->batches[batch];

    gt_batch_free(m, batch);
    gt_batch_tell_ended(m, &b);
    if (m->grids[b.grid].ended + b.blocks == m->grids[b.grid].blocks) {
        gt_task_run_end(run);
        m->grids[b.grid].tasks = NULL;
    }
    gt_blocks_left(m, &b);
}

/* It becomes a worker; its end is told by gt_blocks_left(). */
static void block_begins(struct gt_machine *m, gt_batch_index batch)
{
    const struct gt_batch *b = &m->batches[batch];

    gt_task_run_add_worker(m->grids[b->grid].tasks, (gt_worker_index)b->first_block, b->sm, b->start_ps, batch);
    gt_task_events_schedule(m, b->gpu);
}

bool gt_task_kernel_begin(struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid, struct gt_error *error)
{
    struct gt_gpu_state *state = &m->gpus[gpu];
    struct gt_grid *g = &m->grids[grid];
    const struct gt_kernel *kernel = &m->workload->kernels[g->kernel];
    const struct gt_task_policy *policy = gt_task_policy_find(gt_name_text(m->workload, kernel->task_policy), error);

    if (policy == NULL)
        return false;
    if (state->tasks == NULL) {
        const struct gt_task_listener listener = { .user = m, .task = task_ended, .worker = worker_ended };

        state->tasks = gt_tasks_new(m->device, &listener);
        state->tasks_due_ps = GT_TIME_NONE;
        gt_task_events_set_memory_part(m, gpu, gt_progress_dram_left(m, state));
    }
    g->tasks = gt_task_run_begin(state->tasks, kernel->tasks, policy, (gt_worker_index)g->blocks, m->options->seed,
                                 g->op, error);
    g->block_begins = block_begins;
    if (g->tasks != NULL)
        gt_task_run_set_threads(g->tasks, (uint32_t)gt_kernel_threads(kernel));
    return g->tasks != NULL;
}

/* May the next step of the GPU's task graphs be taken without asking the engine what else is due? */
static bool nothing_comes_before(const struct gt_machine *m, gt_time_ps next_ps)
{
    return next_ps <= GT_TIME_LIMIT_PS && (m->engine.heap.count == 0 || next_ps < m->engine.heap.events->time_ps);
}

/* Other kernels have more or less of DRAM when tasks move bytes on clearly fewer or more SMs than they did. */
static void step(struct gt_machine *m, gt_gpu_index gpu)
{
    struct gt_gpu_state *state = &m->gpus[gpu];
    uint32_t sms, before = state->tasks_memory_sms;

    gt_tasks_step(state->tasks);
    if (state->demanding == GT_NONE)
        return;
    gt_tasks_memory_wanted(state->tasks, &sms);
    if ((sms > before ? sms - before : before - sms) * CHANGE_MATTERS > before)
        gt_block_progress_neighbours_changed(m, gpu);
}

int gt_tasks_handler(void *machine, gt_gpu_index gpu, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    struct gt_gpu_state *state = &m->gpus[gpu];

    (void)error;
    if (stamp != state->tasks_stamp)
        return 0;
    state->tasks_at_work = true;
    if (gt_tasks_next_ps(state->tasks) == m->engine.now_ps)
        step(m, gpu); /* else what was due has become slower since */
    while (!m->failed && nothing_comes_before(m, gt_tasks_next_ps(state->tasks))) {
        m->engine.now_ps = gt_tasks_next_ps(state->tasks);
        m->engine.handled++;
        step(m, gpu);
    }
    state->tasks_at_work = false;
    state->tasks_due_ps = GT_TIME_NONE;
    gt_task_events_schedule(m, gpu);
    return m->failed ? -1 : 0;
}

void gt_task_kernels_append_stuck(const struct gt_machine *m, char *text, size_t bytes)
{
    for (gt_grid_index i = 0; i < m->grid_count; i++) {
        const struct gt_grid *grid = &m->grids[i];
        const struct gt_kernel *kernel;
        char workers[512];
        size_t used = strlen(text);

        if (grid->tasks == NULL)
            continue;
        kernel = &m->workload->kernels[grid->kernel];
        gt_task_run_describe(grid->tasks, m->workload, workers, sizeof workers);
        snprintf(text + used, bytes - used, "; kernel '%.60s': %s", gt_name_text(m->workload, kernel->name), workers);
    }
}
