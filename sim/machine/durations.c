/* How long an operation takes by itself: as stated or measured, moved from the device it was recorded on
 * to the one simulated. */
#include "sim/machine/durations.h"

#include <math.h>

#include "sim/devices/links.h"
#include "sim/machine/staging.h"
#include "sim/warp/kernel_model.h"
#include "sim/warp/l2_reuse.h"

/* From one GPU to another, over what lies between. */
static struct gt_copy_cost between_cost(const struct gt_workload *w, const struct gt_device *device,
                                        const struct gt_op *op)
{
    gt_gpu_index from, to;
    struct gt_link link;

    return gt_link_of_copy(w, device, op, &link, &from, &to) ? link.cost : device->p2p;
}

/* The device file's model for this direction and memory. */
static struct gt_copy_cost cost_of(const struct gt_workload *w, const struct gt_device *device,
                                   const struct gt_op *op)
{
    bool pageable = op->memory == GT_MEMORY_PAGEABLE;

    switch ((enum gt_direction)op->direction) {
    case GT_H2D:
        return pageable || op->bytes <= device->inline_pinned_bytes ? device->h2d_pageable : device->h2d_pinned;
    case GT_D2H: return pageable ? device->d2h_pageable : device->d2h_pinned;
    case GT_P2P: return between_cost(w, device, op);
    case GT_H2H: return device->h2d_pageable;
    default: return device->d2d;
    }
}

gt_time_ps gt_whole_ps(double time_ps)
{
    return time_ps < (double)GT_TIME_LIMIT_PS ? (gt_time_ps)(time_ps + 0.5) : GT_TIME_LIMIT_PS + 1;
}

static double line_ps(struct gt_copy_cost cost, uint64_t bytes)
{
    return (double)cost.latency_ps + (double)bytes * 1000.0 / cost.gbps;
}

gt_time_ps gt_with_commands_ps(const struct gt_device *device, uint64_t bytes)
{
    return gt_whole_ps(line_ps(device->h2d_pageable, bytes));
}

/* Seen on H200: of a large copy within the device what is not a multiple of 16 bytes is done behind the rest. */
static double rest_ps(const struct gt_device *device, const struct gt_op *op)
{
    enum { WHOLE_BYTES = 16 };

    return op->direction == GT_D2D && op->bytes % WHOLE_BYTES != 0 && op->bytes >= device->within_rest_bytes
               ? (double)device->within_rest_ps
               : 0;
}

/* By way of the host's memory the first piece is all there before it goes in; the others come meanwhile. */
static double piece_ps(const struct gt_workload *w, const struct gt_device *device, const struct gt_op *op)
{
    gt_gpu_index from, to;
    struct gt_link link;
    uint64_t bytes = op->bytes < device->link_host_piece_bytes ? op->bytes : device->link_host_piece_bytes;

    if (bytes == 0 || !gt_link_of_copy(w, device, op, &link, &from, &to) || link.kind != GT_LINK_HOST)
        return 0;
    return (double)bytes * 1000.0 / device->h2d_pinned.gbps;
}

static double copy_model_ps(const struct gt_machine *m, const struct gt_device *device, gt_op_index index)
{
    const struct gt_op *op = &m->workload->ops[index];

    return gt_copy_staged(device, op) ? gt_staging_duration_ps(m, device, index)
                                      : line_ps(cost_of(m->workload, device, op), op->bytes) + rest_ps(device, op) +
                                            piece_ps(m->workload, device, op);
}

static double memset_model_ps(const struct gt_device *device, const struct gt_op *op)
{
    return (double)device->memset_latency_ps + (double)op->bytes * 1000.0 / device->memset_gbps;
}

/* By how much the device simulated takes longer than the one recorded on. */
static double slower(const struct gt_machine *m, gt_op_index index)
{
    const struct gt_op *op = &m->workload->ops[index];
    double here, there;

    switch ((enum gt_op_kind)op->kind) {
    case GT_OP_KERNEL: return (double)m->recorded->clock_mhz / (double)m->device->clock_mhz;
    case GT_OP_COPY:
        here = copy_model_ps(m, m->device, index);
        there = copy_model_ps(m, m->recorded, index);
        break;
    case GT_OP_MEMSET:
        here = memset_model_ps(m->device, op);
        there = memset_model_ps(m->recorded, op);
        break;
    default: return 1.0;
    }
    return there > 0 ? here / there : 1.0;
}

gt_time_ps gt_peer_access_ps(const struct gt_machine *m, gt_op_index op)
{
    const struct gt_op *o = &m->workload->ops[op];
    gt_time_ps access_ps = o->from_peer ? m->device->link_kernel_read_ps : m->device->link_kernel_write_ps;
    gt_gpu_index from, to;

    gt_link_of_kernel(m->workload, m->device, o, &from, &to);
    return access_ps + gt_whole_ps((1 - gt_l2_kept_part(m->device, (double)m->gpus[from].sent_bytes)) *
                                   (double)m->device->link_kernel_dram_ps);
}

/* A kernel of which no more is known than what it reads or writes of another GPU's memory. */
static gt_time_ps peer_kernel_ps(const struct gt_machine *m, const struct gt_op *op)
{
    const struct gt_kernel *kernel = &m->workload->kernels[op->kernel];
    uint64_t threads = gt_kernel_blocks(kernel) * gt_kernel_threads(kernel);
    uint64_t room = (uint64_t)m->device->sms * m->device->threads_per_sm;

    return gt_link_kernel_ps(m->workload, m->device, op, threads < room ? threads : room,
                             gt_peer_access_ps(m, (gt_op_index)(op - m->workload->ops)));
}

bool gt_peer_kernel_bare(const struct gt_machine *m, gt_op_index op)
{
    const struct gt_op *o = &m->workload->ops[op];
    bool isolated =
        m->isolated != NULL && m->isolated->duration_ps != NULL && m->isolated->duration_ps[op] != GT_TIME_NONE;

    return o->kind == GT_OP_KERNEL && o->peer_gpu != GT_NONE && o->bytes > 0 && o->duration_ps == GT_TIME_NONE &&
           !isolated && m->workload->kernels[o->kernel].duration_ps == GT_TIME_NONE &&
           m->workload->kernels[o->kernel].cost == GT_COST_NONE &&
           gt_kernel_model_launch(m->options->modelled, op) == NULL;
}

gt_time_ps gt_stated_ps(const struct gt_machine *m, gt_op_index op)
{
    const struct gt_op *o = &m->workload->ops[op];
    gt_time_ps duration_ps = o->duration_ps;
    double factor;

    if (m->isolated != NULL && m->isolated->duration_ps != NULL && m->isolated->duration_ps[op] != GT_TIME_NONE)
        duration_ps = m->isolated->duration_ps[op];
    if (duration_ps == GT_TIME_NONE && o->kind == GT_OP_KERNEL)
        duration_ps = m->workload->kernels[o->kernel].duration_ps;
    if (gt_peer_kernel_bare(m, op))
        return peer_kernel_ps(m, o);
    if (duration_ps == GT_TIME_NONE && o->kind == GT_OP_COPY)
        return gt_whole_ps(copy_model_ps(m, m->device, op));
    if (duration_ps == GT_TIME_NONE && o->kind == GT_OP_MEMSET)
        return gt_whole_ps(memset_model_ps(m->device, o));
    if (duration_ps == GT_TIME_NONE || m->device == m->recorded)
        return duration_ps;
    factor = slower(m, op);
    return factor == 1.0 ? duration_ps : gt_whole_ps((double)duration_ps * factor);
}

const struct gt_warp_result *gt_program_cost(const struct gt_machine *m, gt_op_index op)
{
    const struct gt_kernel_model_launch *launch = gt_kernel_model_launch(m->options->modelled, op);

    if (launch == NULL || launch->failure != NULL)
        return NULL;
    if (m->options->program_cost)
        return &launch->result;
    if (m->workload->kernels[m->workload->ops[op].kernel].cost != GT_COST_NONE || gt_stated_ps(m, op) != GT_TIME_NONE)
        return NULL;
    return &launch->result;
}

/* A clock that falls under tensor cores at work does so only after a while.  The profiler repeats a launch and
 * sees the fallen clock in short ones too. */
gt_time_ps gt_launch_run_ps(const struct gt_device *device, const struct gt_kernel_model_launch *launch)
{
    double share = launch->launch.clock_share > 0 ? launch->launch.clock_share : 1;
    double run_ps = launch->result.run_cycles * 1e6 / device->clock_mhz, holds_ps = (double)device->clock_holds_ps;

    return gt_whole_ps(fmin(run_ps, holds_ps) + fmax(0, run_ps - holds_ps) / share);
}

gt_time_ps gt_program_run_ps(const struct gt_machine *m, gt_op_index op)
{
    return gt_launch_run_ps(m->device, gt_kernel_model_launch(m->options->modelled, op));
}

gt_time_ps gt_program_ps(const struct gt_machine *m, gt_op_index op)
{
    bool recorded = m->workload->ops[op].start_ps != GT_TIME_NONE;

    return gt_program_run_ps(m, op) + (recorded ? m->device->traced_ps : 0);
}
