/* Copies within the device that keep out of kernels' way.
 *
 * Seen on H200, November 2026: a copy within the device of another stream starts only when no kernel runs,
 * 1.4 to 4.4 us after the last one's end, and kernels that come later wait for it; without other streams it
 * follows a kernel like the next kernel would.  copy.within_alone of the device file. */
#include "sim/gpu/exclusive_copy.h"

#include "sim/gpu/grid.h"
#include "sim/machine/durations.h"
#include "sim/stream/operation.h"

enum { TURN_COPY, TURN_KERNELS }; /* whose turn comes when a gap is over */

bool gt_exclusive_copy_holds(const struct gt_gpu_state *gpu)
{
    return gpu->exclusive != GT_NONE || gpu->exclusive_head != GT_NONE;
}

static void start_next(struct gt_machine *m, gt_gpu_index gpu)
{
    struct gt_gpu_state *state = &m->gpus[gpu];
    gt_command_index command = state->exclusive_head;

    state->exclusive_head = m->commands[command].wait_next;
    state->exclusive = command;
    gt_timed_op_start(m, command, gt_stated_ps(m, m->commands[command].index));
}

void gt_exclusive_copy_start(struct gt_machine *m, gt_command_index command)
{
    gt_gpu_index gpu = m->streams[m->workload->ops[m->commands[command].index].stream].gpu;
    struct gt_gpu_state *state = &m->gpus[gpu];
    bool free = !gt_exclusive_copy_holds(state) && state->resident == 0 && state->admits_used == 0;

    m->commands[command].wait_next = GT_NONE;
    if (state->exclusive_head == GT_NONE)
        state->exclusive_head = command;
    else
        m->commands[state->exclusive_tail].wait_next = command;
    state->exclusive_tail = command;
    m->fired[GT_RULE_WITHIN_ALONE] += !free;
    if (free)
        start_next(m, gpu);
}

/* The last kernel has gone: the engine turns to the copy. */
void gt_exclusive_copy_kernel_gone(struct gt_machine *m, gt_gpu_index gpu)
{
    struct gt_gpu_state *state = &m->gpus[gpu];

    if (state->resident != 0 || state->exclusive != GT_NONE)
        return;
    m->fired[GT_RULE_COPY_GAP]++;
    gt_engine_schedule(&m->engine, m->engine.now_ps + m->replay.copy_gap_ps, GT_PHASE_HOST, GT_HANDLE_EXCLUSIVE_COPY,
                       gpu, TURN_COPY);
}

int gt_exclusive_copy_handler(void *machine, gt_gpu_index gpu, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;

    (void)error;
    if (stamp == TURN_KERNELS)
        gt_kernels_go_on(m, gpu, m->gpus[gpu].freed_by_op);
    if (m->gpus[gpu].resident == 0 && m->gpus[gpu].exclusive == GT_NONE && m->gpus[gpu].exclusive_head != GT_NONE)
        start_next(m, gpu);
    return m->failed ? -1 : 0;
}

/* Kernels that wait have the next turn, then the next copy; a gap comes first, as between any two. */
void gt_exclusive_copy_ended(struct gt_machine *m, gt_command_index command)
{
    gt_op_index op = m->commands[command].index;
    gt_gpu_index gpu = m->streams[m->workload->ops[op].stream].gpu;

    m->gpus[gpu].exclusive = GT_NONE;
    m->gpus[gpu].freed_by_op = op;
    m->fired[GT_RULE_COPY_GAP] += gt_exclusive_copy_holds(&m->gpus[gpu]) || m->gpus[gpu].admits_used != 0;
    gt_engine_schedule(&m->engine, m->engine.now_ps + m->replay.copy_gap_ps, GT_PHASE_HOST, GT_HANDLE_EXCLUSIVE_COPY,
                       gpu, TURN_KERNELS);
    gt_op_ended(m, command);
}
