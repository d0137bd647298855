/* Copies within the device that keep out of kernels' way.
 *
 * Seen on H200, November 2026: a copy within the device of another stream starts only when no kernel runs,
 * 1.4 to 4.4 us after the last one's end, and kernels that come later wait for it; without other streams it
 * follows a kernel like the next kernel would.  copy.within_alone of the device file. */
#include "sim/machine/machine.h"

enum { TURN_COPY, TURN_KERNELS };  /* whose turn comes when a gap is over */

bool gt_alone_holds(const struct gt_gpu_state *gpu)
{
    return gpu->alone != GT_NONE || gpu->alone_head != GT_NONE;
}

static void start_next(struct gt_machine *m, uint32_t number)
{
    struct gt_gpu_state *gpu = &m->gpus[number];
    uint32_t item = gpu->alone_head;

    gpu->alone_head = m->items[item].wait_next;
    gpu->alone = item;
    gt_bar_start(m, item, gt_stated_ps(m, m->items[item].index));
}

void gt_alone_ready(struct gt_machine *m, uint32_t item)
{
    uint32_t number = m->streams[m->workload->ops[m->items[item].index].stream].gpu;
    struct gt_gpu_state *gpu = &m->gpus[number];
    bool free = !gt_alone_holds(gpu) && gpu->resident == 0 && gpu->admits_used == 0;

    m->items[item].wait_next = GT_NONE;
    if (gpu->alone_head == GT_NONE)
        gpu->alone_head = item;
    else
        m->items[gpu->alone_tail].wait_next = item;
    gpu->alone_tail = item;
    if (free)
        start_next(m, number);
}

/* The last kernel has gone: the engine turns to the copy. */
void gt_alone_kernel_gone(struct gt_machine *m, uint32_t number)
{
    struct gt_gpu_state *gpu = &m->gpus[number];

    if (gpu->resident == 0 && gpu->alone == GT_NONE)
        gt_engine_schedule(&m->engine, m->engine.now_ps + m->plan.copy_gap_ps, GT_PHASE_HOST,
                           GT_HANDLE_ALONE, number, TURN_COPY);
}

int gt_alone_handler(void *machine, uint32_t number, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;

    (void)error;
    if (stamp == TURN_KERNELS)
        gt_kernels_go_on(m, number, m->gpus[number].freed_by_op);
    if (m->gpus[number].resident == 0 && m->gpus[number].alone == GT_NONE
        && m->gpus[number].alone_head != GT_NONE)
        start_next(m, number);
    return m->failed ? -1 : 0;
}

/* Kernels that wait have the next turn, then the next copy; a gap comes first, as between any two. */
void gt_alone_ended(struct gt_machine *m, uint32_t item)
{
    uint32_t op = m->items[item].index, number = m->streams[m->workload->ops[op].stream].gpu;

    m->gpus[number].alone = GT_NONE;
    m->gpus[number].freed_by_op = op;
    gt_engine_schedule(&m->engine, m->engine.now_ps + m->plan.copy_gap_ps, GT_PHASE_HOST, GT_HANDLE_ALONE,
                       number, TURN_KERNELS);
    gt_op_ended(m, item);
}
