/* Kernels: bars, or grids of blocks; at most so many grids are resident at once. */
#include "sim/gpu/grid.h"

#include <math.h>
#include <stdio.h>

#include "sim/gpu/block_progress.h"
#include "sim/gpu/collective_kernel.h"
#include "sim/gpu/driver_kernel.h"
#include "sim/gpu/exclusive_copy.h"
#include "sim/gpu/grid_sync.h"
#include "sim/gpu/peer_kernel.h"
#include "sim/gpu/sm_partitions.h"
#include "sim/gpu/task_kernel.h"
#include "sim/gpu/time_slices.h"
#include "sim/gpu/work_distributor.h"
#include "sim/machine/durations.h"
#include "sim/machine/failure.h"
#include "sim/machine/free_lists.h"
#include "sim/machine/priority.h"
#include "sim/stream/child_launch.h"
#include "sim/stream/operation.h"
#include "sim/tasks/tasks.h"
#include "sim/warp/kernel_model.h"

static const struct gt_op *op_of(const struct gt_machine *m, gt_command_index command)
{
    return &m->workload->ops[m->commands[command].index];
}

static struct gt_gpu_state *gpu_of(struct gt_machine *m, gt_command_index command)
{
    return &m->gpus[m->streams[op_of(m, command)->stream].compute];
}

/* Seen on H200: what a block launches has no priority, whatever its parent's stream has. */
static uint32_t level_of(const struct gt_machine *m, gt_command_index command)
{
    return m->commands[command].kind == GT_COMMAND_CHILD ? m->plain_level : gt_op_level(m, op_of(m, command));
}

/* Where in the trace the kernel stands, for messages. */
static void fail_kernel(struct gt_machine *m, const struct gt_op *op, const char *what, const char *hint)
{
    const struct gt_kernel *kernel = &m->workload->kernels[op->kernel];
    uint32_t line = kernel->line != 0 ? kernel->line : m->workload->calls[op->call].line;
    char place[512];

    gt_machine_place(m, line, place, sizeof place);
    gt_machine_fail(m, "%.300s: kernel '%.200s': %s%s", place, gt_name_text(m->workload, kernel->name), what, hint);
}

/* Nothing says how long it takes, or the warp tier could not tell. */
static void fail_no_cost(struct gt_machine *m, gt_command_index command)
{
    const struct gt_kernel_model_launch *launch =
        gt_kernel_model_launch(m->options->modelled, m->commands[command].index);
    char what[GT_ERROR_TEXT_BYTES + 64] = "it has neither a duration nor a block cost";

    if (launch != NULL)
        snprintf(what, sizeof what,
                 "its program cannot be run (%s), and it has neither a duration nor a "
                 "block cost",
                 launch->failure);
    fail_kernel(m, op_of(m, command), what, "; add \"duration_us\" or \"block_us\", or a program");
}

static bool is_collective(const struct gt_machine *m, const struct gt_op *op)
{
    return gt_collective_is(m, (gt_op_index)(op - m->workload->ops));
}

/* The kernel with the shape that it has on this device. */
static struct gt_kernel shaped_kernel(const struct gt_machine *m, const struct gt_op *op)
{
    return is_collective(m, op) ? gt_collective_shaped(m, (gt_op_index)(op - m->workload->ops))
                                : m->workload->kernels[op->kernel];
}

static const struct gt_occupancy *occupancy_of(struct gt_machine *m, const struct gt_op *op)
{
    struct gt_occupancy *occupancy = &m->occupancies[op->kernel];
    struct gt_kernel shaped;
    struct gt_error error;

    if (occupancy->blocks_per_sm != 0)
        return occupancy;
    shaped = shaped_kernel(m, op);
    if (gt_occupancy_of(m->device, &shaped, occupancy, &error) != 0) {
        occupancy->blocks_per_sm = 0;
        fail_kernel(m, op, error.text,
                    m->workload->kernels[op->kernel].cost == GT_COST_NONE
                        ? "; choose a device where it fits with --device or --set (--blocks off plays every kernel "
                          "as a bar that shares SMs with nobody)"
                        : "");
        return NULL;
    }
    return occupancy;
}

/* The duration alone: by the program, or as recorded; GT_TIME_NONE when block costs say more. */
static gt_time_ps stated_ps(const struct gt_machine *m, gt_command_index command)
{
    const struct gt_warp_result *program = gt_program_cost(m, m->commands[command].index);

    if (program != NULL)
        return gt_program_ps(m, m->commands[command].index);
    if (m->workload->kernels[op_of(m, command)->kernel].cost != GT_COST_NONE)
        return GT_TIME_NONE;
    return gt_stated_ps(m, m->commands[command].index);
}

/* Waves of the kernel alone on the device that its duration is from: what the duration is divided by.
 * Where it does not even fit there, the trace is from some other device: the one at hand must do. */
static uint64_t recorded_waves_of_gpu(struct gt_machine *m, gt_kernel_index kernel, const struct gt_occupancy *here)
{
    struct gt_occupancy there;

    if (m->device == m->recorded)
        return here->waves;
    if (m->recorded_waves[kernel] == 0) {
        bool fits = gt_occupancy_of(m->recorded, &m->workload->kernels[kernel], &there, NULL) == 0;

        m->recorded_waves[kernel] = fits ? there.waves : here->waves;
    }
    return m->recorded_waves[kernel];
}

/* The same, on the SMs that the kernel had there. */
static uint64_t recorded_waves(struct gt_machine *m, const struct gt_op *op, uint64_t blocks,
                               const struct gt_occupancy *here)
{
    uint64_t at_once = m->workload->streams[op->stream].sms;
    struct gt_occupancy there = *here;

    if (at_once == 0)
        return recorded_waves_of_gpu(m, op->kernel, here);
    if (m->device != m->recorded &&
        gt_occupancy_of(m->recorded, &m->workload->kernels[op->kernel], &there, NULL) != 0)
        there = *here;
    at_once *= there.blocks_per_sm;
    return (blocks + at_once - 1) / at_once;
}

static bool too_many_workers(struct gt_machine *m, const struct gt_op *op)
{
    if (gt_kernel_blocks(&m->workload->kernels[op->kernel]) <= GT_MOST_WORKERS)
        return false;
    fail_kernel(m, op, "its grid has more than 2^20 blocks, too many to execute a task graph", "");
    return true;
}

static gt_time_ps mean_block_ps(const struct gt_kernel *kernel)
{
    double sum = 0;

    if (kernel->cost != GT_COST_LIST)
        return kernel->block_min_ps + (kernel->block_max_ps - kernel->block_min_ps) / 2;
    for (uint32_t i = 0; i < kernel->block_list_length; i++)
        sum += (double)kernel->block_list_ps[i];
    return (gt_time_ps)(sum / kernel->block_list_length);
}

/* A bar for a kernel whose blocks execute a task graph: as long as that takes alone on the device. */
static bool task_bar_ps(struct gt_machine *m, gt_command_index command, gt_time_ps *duration_ps)
{
    const struct gt_op *op = op_of(m, command);
    const struct gt_kernel *kernel = &m->workload->kernels[op->kernel];
    const struct gt_occupancy *occupancy = occupancy_of(m, op);
    uint64_t at_once;
    struct gt_error error;

    if (occupancy == NULL)
        return false;
    at_once = (uint64_t)m->device->sms * occupancy->blocks_per_sm;
    if (too_many_workers(m, op))
        return false;
    if (gt_tasks_alone(m->device, m->workload, kernel, (gt_worker_index)at_once, m->options->seed, duration_ps,
                       &error) == 0)
        return true;
    fail_kernel(m, op, error.text, "");
    return false;
}

/* A bar for a kernel that has block costs only: its waves, one after the other. */
static bool bar_ps(struct gt_machine *m, gt_command_index command, gt_time_ps *duration_ps)
{
    const struct gt_op *op = op_of(m, command);
    const struct gt_occupancy *occupancy;
    double total;

    if (m->workload->kernels[op->kernel].tasks != NULL)
        return task_bar_ps(m, command, duration_ps);
    *duration_ps = stated_ps(m, command);
    if (*duration_ps != GT_TIME_NONE)
        return true;
    occupancy = occupancy_of(m, op);
    if (occupancy == NULL)
        return false;
    total = (double)occupancy->waves * (double)mean_block_ps(&m->workload->kernels[op->kernel]);
    if (total > (double)GT_TIME_LIMIT_PS) {
        fail_kernel(m, op, "its blocks take more than 53 days", "; look for an absurd block cost or grid");
        return false;
    }
    *duration_ps = (gt_time_ps)total;
    return true;
}

/* More blocks than this are not simulated one by one: it would take hours. */
static const uint64_t most_blocks = UINT64_C(1) << 32;

/* By how much the first block of the last wave ends ahead of the last one, where the recording shows it: never so
 * much that it would take next to no time. */
static gt_time_ps early_ps(const struct gt_machine *m, const struct gt_grid *grid, gt_time_ps duration_ps)
{
    static const double most_part = 0.95;
    const double *learned = m->isolated != NULL ? m->isolated->ends.early_part : NULL;
    double part = learned != NULL ? learned[grid->kernel] : m->workload->kernels[grid->kernel].early_part;
    double early = part * (double)duration_ps;

    return gt_whole_ps(fmin(early, most_part * (double)grid->block_ps));
}

/* What a duration means for the blocks.  Alone, the grid runs in full waves one after the other, so that many
 * equal steps give its duration back; what does not divide passes after the last block, and so does what a
 * program's kernel lasts beyond its blocks. */
static void invert(struct gt_machine *m, struct gt_grid *grid, gt_time_ps duration_ps)
{
    const struct gt_warp_result *program = gt_program_cost(m, grid->op);
    gt_time_ps run_ps = program != NULL ? gt_program_run_ps(m, grid->op) : duration_ps;
    uint64_t waves = program != NULL ? grid->occupancy.waves
                                     : recorded_waves(m, &m->workload->ops[grid->op], grid->blocks, &grid->occupancy);

    grid->inverted = true;
    grid->launch = program != NULL ? gt_kernel_model_launch(m->options->modelled, grid->op) : NULL;
    if (grid->launch != NULL && m->kernels_apart)
        grid->at_once = gt_blocks_at_once(m, grid);
    m->fired[GT_RULE_BLOCK_TURNS] += grid->at_once > 0;
    grid->block_ps = (run_ps < duration_ps ? run_ps : duration_ps) / waves;
    grid->remainder_ps = duration_ps - grid->block_ps * waves;
    if (grid->launch == NULL)
        grid->early_ps = early_ps(m, grid, duration_ps);
}

/* Its blocks are workers of a task graph. */
static bool begin_tasks(struct gt_machine *m, gt_command_index command, gt_grid_index grid)
{
    const struct gt_op *op = op_of(m, command);
    struct gt_error error;

    if (too_many_workers(m, op))
        return false;
    if (gt_task_kernel_begin(m, m->streams[op->stream].compute, grid, &error))
        return true;
    fail_kernel(m, op, error.text, "");
    return false;
}

/* A recorded launch did fit where it was recorded, whatever we think of what it needs. */
static bool did_fit(const struct gt_machine *m, const struct gt_op *op)
{
    return m->device == m->recorded &&
           (op->start_ps != GT_TIME_NONE || m->workload->calls[op->call].flags & GT_CALL_STATED);
}

/* CUDA refuses a cooperative launch of more blocks than can be resident at once. */
static bool fits_at_once(struct gt_machine *m, const struct gt_op *op, const struct gt_occupancy *occupancy)
{
    const struct gt_kernel *kernel = &m->workload->kernels[op->kernel];
    uint32_t sms = gt_sm_partition_size(m, m->streams[op->stream].partition);
    uint64_t room = (uint64_t)occupancy->blocks_per_sm * sms;
    char what[256];

    if (!kernel->cooperative || gt_kernel_blocks(kernel) <= room || did_fit(m, op))
        return true;
    snprintf(what, sizeof what,
             "cudaErrorCooperativeLaunchTooLarge (720): line %u launches %llu blocks cooperatively, and %llu fit at "
             "once (%u on each of %u SMs)",
             m->workload->calls[op->call].line, (unsigned long long)gt_kernel_blocks(kernel),
             (unsigned long long)room, occupancy->blocks_per_sm, sms);
    fail_kernel(m, op, what, "; launch no more, or blocks that need less");
    return false;
}

/* Blocks of a collective that never have an SM at once wait for each other for ever, on this rank and the others. */
static bool fits_whole(struct gt_machine *m, const struct gt_op *op, const struct gt_grid *grid)
{
    uint64_t room =
        (uint64_t)grid->occupancy.blocks_per_sm * gt_sm_partition_size(m, m->streams[op->stream].partition);
    char what[160];

    if (grid->blocks <= room)
        return true;
    snprintf(what, sizeof what, "its %llu blocks must all be on SMs at once, and %llu fit",
             (unsigned long long)grid->blocks, (unsigned long long)room);
    fail_kernel(m, op, what, "; give it fewer (collective.most_channels)");
    return false;
}

static bool start_grid(struct gt_machine *m, gt_command_index command)
{
    const struct gt_op *op = op_of(m, command);
    const struct gt_occupancy *occupancy = occupancy_of(m, op);
    const struct gt_kernel shaped = shaped_kernel(m, op);
    uint64_t blocks = gt_kernel_blocks(&shaped);
    gt_time_ps duration_ps = stated_ps(m, command);
    gt_grid_index grid;

    if (occupancy == NULL || !fits_at_once(m, op, occupancy))
        return false;
    if (blocks > most_blocks) {
        fail_kernel(m, op, "its grid has more than 2^32 blocks, too many to simulate one by one",
                    "; --blocks off plays every kernel as a bar, but bars share SMs with nobody");
        return false;
    }
    grid = gt_grid_new(m);
    m->grids[grid] = (struct gt_grid){
        .command = command,
        .op = m->commands[command].index,
        .kernel = op->kernel,
        .next = GT_NONE,
        .level = level_of(m, command),
        .occupancy = *occupancy,
        .blocks = blocks,
        .block_ps = GT_TIME_NONE,
        .launches = gt_child_launches_of(m, m->commands[command].index),
    };
    if (m->workload->kernels[op->kernel].tasks != NULL) {
        if (!begin_tasks(m, command, grid))
            return false;
    } else if (is_collective(m, op)) {
        if (!fits_whole(m, op, &m->grids[grid]))
            return false;
        gt_collective_begin(m, grid);
    } else if (duration_ps != GT_TIME_NONE) {
        invert(m, &m->grids[grid], duration_ps);
    } else if (m->workload->kernels[op->kernel].cost == GT_COST_FIXED) {
        m->grids[grid].block_ps = m->workload->kernels[op->kernel].block_min_ps;
    }
    gt_grid_sync_begin(m, grid);
    gt_peer_kernel_begin(m, grid);
    m->grids[grid].occupancy.need.partition = m->streams[op->stream].partition;
    if (gt_time_slices_kernel_begins(m, m->streams[op->stream].compute, grid))
        gt_distributor_add(m, m->streams[op->stream].compute, grid);
    return true;
}

static void start_driver_kernel(struct gt_machine *m, gt_command_index command)
{
    const struct gt_op *op = op_of(m, command);
    gt_grid_index grid = gt_grid_new(m);

    m->grids[grid] = (struct gt_grid){
        .command = command,
        .op = m->commands[command].index,
        .kernel = GT_NONE,
        .next = GT_NONE,
        .level = m->streams[op->stream].level,
        .copies = op->kind == GT_OP_COPY,
    };
    if (gt_driver_kernel_describe(m, &m->grids[grid])) {
        m->grids[grid].occupancy.need.partition = m->streams[op->stream].partition;
        if (gt_time_slices_kernel_begins(m, m->streams[op->stream].compute, grid))
            gt_distributor_add(m, m->streams[op->stream].compute, grid);
        return;
    }
    gt_grid_free(m, grid);
    gpu_of(m, command)->resident--;
    gt_timed_op_start(m, command, gt_stated_ps(m, m->commands[command].index));
}

static void start_bar(struct gt_machine *m, gt_command_index command, gt_time_ps duration_ps)
{
    gt_op_index op = m->commands[command].index;

    if (gt_child_launches_of(m, op))
        duration_ps += gt_child_bar_starts(m, op, duration_ps);
    gt_timed_op_start(m, command, duration_ps);
}

static void admit(struct gt_machine *m, gt_command_index command)
{
    gt_time_ps duration_ps;

    gpu_of(m, command)->resident++;
    if (op_of(m, command)->kind != GT_OP_KERNEL)
        start_driver_kernel(m, command);
    else if (m->options->blocks)
        start_grid(m, command);
    else if (is_collective(m, op_of(m, command)))
        gt_collective_bar(m, command);
    else if (bar_ps(m, command, &duration_ps))
        start_bar(m, command, duration_ps);
}

void gt_kernel_start(struct gt_machine *m, gt_command_index command)
{
    const struct gt_kernel *kernel = &m->workload->kernels[op_of(m, command)->kernel];

    if (stated_ps(m, command) == GT_TIME_NONE && kernel->cost == GT_COST_NONE && kernel->tasks == NULL &&
        kernel->collective.kind == GT_COLLECTIVE_NONE)
        fail_no_cost(m, command);
    else
        gt_grid_admit(m, command);
}

void gt_grid_admit(struct gt_machine *m, gt_command_index command)
{
    struct gt_gpu_state *gpu = gpu_of(m, command);
    uint32_t level = level_of(m, command);

    if (gpu->resident < m->device->resident_grids && !gt_exclusive_copy_holds(gpu)) {
        admit(m, command);
        return;
    }
    m->fired[gt_exclusive_copy_holds(gpu) ? GT_RULE_WITHIN_ALONE : GT_RULE_RESIDENT_GRIDS]++;
    m->commands[command].wait_next = GT_NONE;
    if (gpu->admits_used & UINT64_C(1) << level)
        m->commands[gpu->admit_tail[level]].wait_next = command;
    else
        gpu->admit_head[level] = command;
    gpu->admit_tail[level] = command;
    gpu->admits_used |= UINT64_C(1) << level;
}

/* The next kernel that waits, most urgent first, becomes resident. */
static void admit_next(struct gt_machine *m, struct gt_gpu_state *gpu, gt_op_index op)
{
    uint32_t level, command;

    level = (uint32_t)__builtin_ctzll(gpu->admits_used);
    command = gpu->admit_head[level];
    gpu->admit_head[level] = m->commands[command].wait_next;
    if (gpu->admit_head[level] == GT_NONE)
        gpu->admits_used &= ~(UINT64_C(1) << level);
    gt_stream_command_hold(m, command, GT_WAIT_QUEUE, m->engine.now_ps, GT_CAUSE_OP, op);
    admit(m, command);
}

/* A grid has gone: the next one waiting becomes resident, unless a copy has its turn first. */
void gt_kernel_left(struct gt_machine *m, gt_gpu_index gpu, gt_op_index op)
{
    struct gt_gpu_state *state = &m->gpus[gpu];

    state->resident--;
    if (gt_exclusive_copy_holds(state))
        gt_exclusive_copy_kernel_gone(m, gpu);
    else if (state->admits_used != 0)
        admit_next(m, state, op);
}

void gt_kernels_go_on(struct gt_machine *m, gt_gpu_index gpu, gt_op_index op)
{
    struct gt_gpu_state *state = &m->gpus[gpu];

    while (state->admits_used != 0 && state->exclusive == GT_NONE && state->resident < m->device->resident_grids &&
           !m->failed)
        admit_next(m, state, op);
}

void gt_kernel_ended(struct gt_machine *m, gt_command_index command)
{
    gt_op_index op = m->commands[command].index;
    gt_gpu_index gpu = m->streams[op_of(m, command)->stream].compute;

    if (m->programmatic)
        gt_grid_sync_kernel_over(m, command);
    gt_op_ended(m, command);
    if (!m->failed)
        gt_kernel_left(m, gpu, op);
}

int gt_grid_handler(void *machine, gt_grid_index grid, uint64_t stamp, struct gt_error *error)
{
    struct gt_machine *m = machine;
    gt_command_index command = m->grids[grid].command;

    (void)stamp;
    (void)error;
    if (m->grids[grid].copies)
        gt_block_progress_copy_within(m, m->streams[op_of(m, command)->stream].compute, -1);
    gt_peer_kernel_end(m, grid);
    gt_grid_free(m, grid);
    gt_time_slices_kernel_ends(m, m->streams[op_of(m, command)->stream].compute);
    gt_kernel_ended(m, command);
    return m->failed ? -1 : 0;
}
