/* Copies within the device that keep out of kernels' way.
 *
 * Seen on H200, November 2026: a copy within the device of another stream starts only when no kernel runs,
 * 1.4 to 4.4 us after the last one's end, and kernels that come later wait for it; without other streams it
 * follows a kernel like the next kernel would.  copy.within_alone of the device file. */
#include "sim/gpu/exclusive_copy.h"

#include "sim/gpu/grid.h"
#include "sim/machine/durations.h"
#include "sim/stream/operation.h"

enum { TURN_COPY, TURN_KERNELS };  /* whose turn comes when a gap is over */

bool gt_exclusive_copy_holds(const struct gt_gpu_state *gpu)
{
    return gpu->exclusive != GT_NONE || gpu->exclusive_head != GT_NONE;
}

static void start_next(struct gt_machine *m, uint32_t number)
{
    struct gt_gpu_state *gpu = &m->gpus[number];
    uint32_t command = gpu->exclusive_head;

    gpu->exclusive_head = m->commands[command].wait_next;
    gpu->exclusive = command;
    gt_timed_op_start(m, command, gt_stated_ps(m, m->commands[command].index));
}

void gt_exclusive_copy_start(struct gt_machine *m, uint32_t command)
{
    uint32_t number = m->streams[m->workload->ops[m->commands[command].index].stream].gpu;
    struct gt_gpu_state *gpu = &m->gpus[number];
    bool free = !gt_exclusive_copy_holds(gpu) && gpu->resident == 0 && gpu->admits_used == 0;

    m->commands[command].wait_next = GT_NONE;
    if (gpu->exclusive_head == GT_NONE)
        gpu->exclusive_head = command;
    else
        m->commands[gpu->exclusive_tail].wait_next = command;
    gpu->exclusive_tail = command;
    if (free)
        start_next(m, number);
}

/* The last kernel has gone: the engine turns to the copy. */
void gt_exclusive_copy_kernel_gone(struct gt_machine *m, uint32_t number)
{
    struct gt_gpu_state *gpu = &m->gpus[number];

    if (gpu->resident == 0 && gpu->exclusive == GT_NONE)
        gt_engine_schedule(&m->engine, m->engine.now_ps + m->replay.copy_gap_ps, GT_PHASE_HOST,
                           GT_HANDLE_EXCLUSIVE_COPY, number, TURN_COPY);
}

int gt_exclusive_copy_handler(void *machine, uint32_t number, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;

    (void)error;
    if (stamp == TURN_KERNELS)
        gt_kernels_go_on(m, number, m->gpus[number].freed_by_op);
    if (m->gpus[number].resident == 0 && m->gpus[number].exclusive == GT_NONE
        && m->gpus[number].exclusive_head != GT_NONE)
        start_next(m, number);
    return m->failed ? -1 : 0;
}

/* Kernels that wait have the next turn, then the next copy; a gap comes first, as between any two. */
void gt_exclusive_copy_ended(struct gt_machine *m, uint32_t command)
{
    uint32_t op = m->commands[command].index, number = m->streams[m->workload->ops[op].stream].gpu;

    m->gpus[number].exclusive = GT_NONE;
    m->gpus[number].freed_by_op = op;
    gt_engine_schedule(&m->engine, m->engine.now_ps + m->replay.copy_gap_ps, GT_PHASE_HOST, GT_HANDLE_EXCLUSIVE_COPY,
                       number, TURN_KERNELS);
    gt_op_ended(m, command);
}
