#include "sim/gpu/task_events.h"

#include "sim/tasks/tasks.h"

void gt_task_events_schedule(struct gt_machine *m, gt_gpu_index gpu)
{
    struct gt_gpu_state *state = &m->gpus[gpu];
    gt_time_ps next_ps = gt_tasks_next_ps(state->tasks);

    if (state->tasks_at_work || next_ps >= state->tasks_due_ps)
        return;
    state->tasks_due_ps = next_ps;
    gt_engine_schedule(&m->engine, next_ps, GT_PHASE_END, GT_HANDLE_TASKS, gpu, ++state->tasks_stamp);
}

void gt_task_events_set_memory_part(struct gt_machine *m, gt_gpu_index gpu, double part)
{
    struct gt_gpu_state *state = &m->gpus[gpu];

    if (state->tasks == NULL)
        return;
    gt_tasks_set_memory_part(state->tasks, m->engine.now_ps, part);
    gt_task_events_schedule(m, gpu);
}
