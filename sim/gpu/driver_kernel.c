/* Kernels of the driver's.
 *
 * Seen on H200, November 2026, in 1,050 random traces: memsets of more than 4 KiB, and copies within the device
 * of any size, start beside kernels of other streams where an SM has room, and wait, for 600 us even, behind a
 * kernel that has blocks to hand out still; memsets of 4 KiB and less start at once beside a GPU that is full.
 * What room they find is how fast they are: 4 MiB took 2.1 us alone and 24 us on four free SMs, copied or set, 16 MiB 8.0 or
 * 4.6 and 94 us. A block of the copy's has 256 threads, of the memset's 512, each with 16 registers, and no shared memory,
 * not even what the driver keeps of it for kernels of others: with 8 such blocks on an SM, or 4, it moves 44 bytes a ns.
 * Blocks that are all resident at once share the memory's rate: the operation lasts as its latency and rate say, and
 * a large one fills the GPU meanwhile. */
#include "sim/gpu/driver_kernel.h"

#include "sim/machine/durations.h"

enum { REGISTERS_PER_THREAD = 16 };

static const struct gt_op *op_of(const struct gt_machine *m, gt_command_index command)
{
    return &m->workload->ops[m->commands[command].index];
}

static uint32_t threads_of(const struct gt_device *device, const struct gt_op *op)
{
    return op->kind == GT_OP_MEMSET ? device->memset_threads : device->within_threads;
}

bool gt_driver_kernel_runs(struct gt_machine *m, gt_command_index command)
{
    const struct gt_op *op = op_of(m, command);
    bool kernel = m->options->blocks && threads_of(m->device, op) > 0 &&
                  (op->kind != GT_OP_MEMSET || op->bytes > m->device->copied_memset_bytes);

    m->fired[GT_RULE_DRIVER_KERNEL] += kernel;
    return kernel;
}

static gt_time_ps latency_ps(const struct gt_machine *m, const struct gt_op *op)
{
    return op->kind == GT_OP_MEMSET ? m->device->memset_latency_ps : m->device->d2d.latency_ps;
}

/* No more blocks than the device holds at once: each does its part of the rest. */
bool gt_driver_kernel_describe(const struct gt_machine *m, struct gt_grid *grid)
{
    const struct gt_op *op = &m->workload->ops[grid->op];
    const struct gt_kernel kernel = {
        .grid = { 1, 1, 1 },
        .block = { threads_of(m->device, op), 1, 1 },
        .registers_per_thread = REGISTERS_PER_THREAD,
    };
    uint64_t piece_bytes = (uint64_t)threads_of(m->device, op) * m->device->driver_thread_bytes, most;
    uint64_t pieces = op->bytes / piece_bytes + (op->bytes % piece_bytes != 0);
    gt_time_ps duration_ps = gt_stated_ps(m, grid->op), first_ps = latency_ps(m, op);

    if (gt_occupancy_of(m->device, &kernel, &grid->occupancy, NULL) != 0)
        return false;
    grid->occupancy.need.shared_bytes = grid->occupancy.need.carveout_bytes = grid->occupancy.need.sets_bytes = 0;
    most = (uint64_t)m->device->sms * grid->occupancy.blocks_per_sm;
    grid->blocks = pieces == 0 ? 1 : pieces < most ? pieces : most;
    grid->remainder_ps = first_ps < duration_ps ? first_ps : duration_ps;
    grid->together_ps = grid->block_ps = duration_ps - grid->remainder_ps;
    grid->apart_ps = gt_whole_ps((double)pieces / (double)grid->blocks * (double)m->device->driver_block_ps);
    grid->inverted = true;
    return true;
}

void gt_driver_kernel_placed(struct gt_grid *grid, uint64_t blocks)
{
    grid->block_ps = blocks == grid->blocks ? grid->together_ps : grid->apart_ps;
}

/* What one has moved another cannot have moved at the same time. */
gt_time_ps gt_driver_kernel_remainder_ps(struct gt_machine *m, gt_gpu_index gpu, const struct gt_grid *grid)
{
    gt_time_ps *moved_ps = &m->gpus[gpu].driver_moved_ps, start_ps = m->commands[grid->command].start_ps;

    if (*moved_ps < start_ps)
        *moved_ps = start_ps;
    *moved_ps += grid->together_ps;
    if (*moved_ps < m->engine.now_ps)
        *moved_ps = m->engine.now_ps;
    return *moved_ps - m->engine.now_ps + grid->remainder_ps;
}
