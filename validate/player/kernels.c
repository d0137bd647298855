/* Every kernel of the trace as a launch of a library kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_tree.h>

#include "validate/player/internal.h"

/* Logs take no more than this of the GPU's memory; kernels beyond have CUPTI's times and no blocks. */
static const uint64_t most_logs = (UINT64_C(2) << 30) / sizeof(struct gt_block_log);

static const char cycles_name[] = "cycles";

static int place(const struct gt_player *player, uint32_t op, struct gt_error *error)
{
    const struct gt_workload *workload = player->workload;
    const struct gt_kernel *kernel = &workload->kernels[workload->ops[op].kernel];

    return gt_error_prefix(error, "%.300s:%u: kernel '%.200s': ", workload->path != NULL ? workload->path : "trace",
                           kernel->line, gt_name_text(workload, kernel->name));
}

static const char places_name[] = "at"; /* of those that work in the trace's memory: where */

/* The trace's arguments over the kernel's own; *places is the caller's to free. */
static int read_arguments(struct gt_play_op *op, const char *json, char **places, struct gt_error *error)
{
    yajl_val object;
    int result = 0;

    gt_library_defaults(op->library, op->arguments);
    if (json == NULL)
        return 0;
    object = yajl_tree_parse(json, NULL, 0);
    if (!YAJL_IS_OBJECT(object)) {
        yajl_tree_free(object);
        return gt_error_set(error, "its arguments are no JSON object");
    }
    for (size_t i = 0; i < YAJL_GET_OBJECT(object)->len && result == 0; i++) {
        yajl_val value = YAJL_GET_OBJECT(object)->values[i];
        const char *text = YAJL_IS_NUMBER(value) ? YAJL_GET_NUMBER(value) : YAJL_GET_STRING(value);

        if (op->library == &gt_kernel_operator && strcmp(YAJL_GET_OBJECT(object)->keys[i], places_name) == 0 &&
            text != NULL) {
            *places = gt_strdup(text);
            continue;
        }
        result = gt_library_argument(op->library, YAJL_GET_OBJECT(object)->keys[i], text != NULL ? text : "",
                                     op->arguments, error);
    }
    yajl_tree_free(object);
    return result;
}

/* Cycles after which a block that is to take so long has ended. */
static uint64_t cycles_of(const struct gt_player *player, gt_time_ps block_ps)
{
    double cycles = (double)block_ps * player->gpu->clock_mhz * 1e-6 - player->gpu->overshoot_cycles;

    return cycles < 1 ? 1 : (uint64_t)(cycles + 0.5);
}

static int one_time(const struct gt_player *player, struct gt_play_op *op, gt_time_ps block_ps,
                    struct gt_error *error)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)cycles_of(player, block_ps));
    return gt_library_argument(op->library, cycles_name, text, op->arguments, error);
}

static int upload_block_cycles(struct gt_player *player, struct gt_play_op *op, const struct gt_part *part,
                               struct gt_error *error)
{
    uint64_t bytes = (uint64_t)part->block_count * sizeof(uint64_t), *cycles;
    void *memory = gt_player_device_memory(player, bytes, error);
    cudaError_t code;

    if (memory == NULL)
        return -1;
    cycles = gt_realloc(NULL, part->block_count, sizeof *cycles);
    for (uint32_t i = 0; i < part->block_count; i++)
        cycles[i] = cycles_of(player, part->block_ps[i]);
    code = cudaMemcpy(memory, cycles, bytes, cudaMemcpyHostToDevice);
    free(cycles);
    if (code != cudaSuccess)
        return gt_cuda_fail("block times to the GPU", code, error);
    op->launch.block_cycles = memory;
    op->launch.block_cycles_length = part->block_count;
    return 0;
}

/* The share of a block's time that is over at each barrier. */
static int upload_phases(struct gt_player *player, struct gt_play_op *op, const struct gt_kernel *kernel,
                         struct gt_error *error)
{
    uint64_t bytes = (uint64_t)kernel->grid_barriers * sizeof(double);
    double *shares, whole_ps;
    cudaError_t code;
    void *memory;

    if (kernel->phase_end_ps == NULL || bytes == 0)
        return 0;
    memory = gt_player_device_memory(player, bytes, error);
    if (memory == NULL)
        return -1;
    shares = gt_realloc(NULL, kernel->grid_barriers, sizeof *shares);
    whole_ps = (double)kernel->phase_end_ps[kernel->grid_barriers];
    for (uint32_t i = 0; i < kernel->grid_barriers; i++)
        shares[i] = (double)kernel->phase_end_ps[i] / whole_ps;
    code = cudaMemcpy(memory, shares, bytes, cudaMemcpyHostToDevice);
    free(shares);
    if (code != cudaSuccess)
        return gt_cuda_fail("phases to the GPU", code, error);
    op->launch.phase_shares = memory;
    return 0;
}

static int set_times(struct gt_player *player, struct gt_play_op *op, const struct gt_part *part,
                     struct gt_error *error)
{
    if (part->block_count == 0)
        return op->in_tree ? gt_error_set(error, "kernels that blocks launch are played by their block times") : 0;
    return part->block_count == 1 && !op->in_tree ? one_time(player, op, part->block_ps[0], error)
                                                  : upload_block_cycles(player, op, part, error);
}

/* Shape and resources as the trace says; what can have registers to order, spin, has no static shared memory
 * of its own and takes both as dynamic. */
static void set_shape(struct gt_play_op *op, const struct gt_kernel *kernel)
{
    memcpy(op->launch.grid, kernel->grid, sizeof op->launch.grid);
    memcpy(op->launch.block, kernel->block, sizeof op->launch.block);
    memcpy(op->launch.cluster, kernel->cluster, sizeof op->launch.cluster);
    op->launch.dynamic_shared_bytes =
        kernel->dynamic_shared_bytes + (op->library->registers_to_order ? kernel->static_shared_bytes : 0);
    op->launch.registers_per_thread = op->library->registers_to_order ? kernel->registers_per_thread : 0;
    op->launch.arguments = op->arguments;
    op->launch.cooperative = kernel->cooperative;
    op->launch.grid_barriers = kernel->grid_barriers;
    op->launch.early_pct = kernel->early_pct;
}

static int set_launch(struct gt_player *player, uint32_t number, const struct gt_part *part, struct gt_error *error)
{
    struct gt_play_op *op = &player->ops[number];
    const struct gt_kernel *kernel = &player->workload->kernels[player->workload->ops[number].kernel];
    size_t scratch_bytes;
    char *places = NULL;
    int result;

    op->library = gt_library_kernel_find(part->library, error);
    if (op->library == NULL)
        return -1;
    op->blocks = gt_kernel_blocks(kernel);
    result = read_arguments(op, part->arguments, &places, error);
    if (result == 0 && op->library == &gt_kernel_operator)
        result = gt_player_operator(player, number, places, error);
    free(places);
    if (result != 0 || gt_player_peer(player, number, error) != 0)
        return -1;
    if (player->tree_kernels[player->workload->ops[number].kernel] &&
        gt_player_tree_kernel(player, number, error) != 0)
        return -1;
    set_shape(op, kernel);
    op->launch.programmatic = player->workload->ops[number].programmatic;
    op->launch.has_priority = player->workload->ops[number].has_priority;
    op->launch.priority = player->workload->ops[number].priority;
    if (op->launch.programmatic && kernel->prologue_ps > 0)
        op->launch.prologue_cycles = cycles_of(player, kernel->prologue_ps);
    if (gt_player_tasks(player, number, error) != 0)
        return -1;
    if (upload_phases(player, op, kernel, error) != 0 || set_times(player, op, part, error) != 0 ||
        gt_library_accepts(op->library, &op->launch, error) != 0)
        return -1;
    scratch_bytes = gt_library_scratch_bytes(op->library, &op->launch);
    if (scratch_bytes > 0) {
        op->launch.scratch = gt_player_device_memory(player, scratch_bytes, error);
        if (op->launch.scratch == NULL)
            return -1;
    }
    GT_CUDA(gt_library_prepare(op->library, &op->launch, player->options.seed), error);
    return 0;
}

static int set_kernel(struct gt_player *player, uint32_t number, struct gt_error *error)
{
    struct gt_part part;
    int result;

    if (player->ops[number].collective != NULL) {
        player->ops[number].blocks = UINT64_MAX; /* no block writes a log */
        return 0;
    }
    if (gt_player_use_of_op(player, number, error) != 0)
        return -1;
    if (gt_part_of(player->workload, number, player->options.seed, &part, error) != 0)
        return -1;
    result = set_launch(player, number, &part, error);
    gt_part_free(&part);
    return result == 0 ? 0 : place(player, number, error);
}

/* Those of one GPU stand together. */
static int give_logs_of_gpu(struct gt_player *player, struct gt_error *error)
{
    const struct gt_workload *workload = player->workload;
    struct gt_play_gpu *gpu = player->gpu;

    gpu->first_log = player->log_count;
    for (uint32_t i = 0; i < workload->op_count; i++) {
        struct gt_play_op *op = &player->ops[i];

        if (workload->ops[i].kind != GT_OP_KERNEL || gt_player_gpu_of(player, i) != gpu)
            continue;
        op->first_log = GT_NO_LOG;
        if (op->blocks > most_logs - player->log_count) {
            player->kernels_recorded = true;
            continue;
        }
        op->first_log = player->log_count;
        player->log_count += op->blocks;
    }
    gpu->log_count = player->log_count - gpu->first_log;
    if (gpu->log_count == 0)
        return 0;
    gpu->logs = gt_player_device_memory(player, gpu->log_count * sizeof *gpu->logs, error);
    if (gpu->logs == NULL)
        return -1;
    for (uint32_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == GT_OP_KERNEL && gt_player_gpu_of(player, i) == gpu &&
            player->ops[i].first_log != GT_NO_LOG)
            player->ops[i].launch.log = gpu->logs + (player->ops[i].first_log - gpu->first_log);
    return 0;
}

static int give_logs(struct gt_player *player, struct gt_error *error)
{
    for (uint32_t i = 0; i < player->workload->op_count; i++)
        player->ops[i].first_log = GT_NO_LOG;
    if (gt_player_each_gpu(player, give_logs_of_gpu, error) != 0)
        return -1;
    if (player->log_count > 0)
        player->logs_here = gt_realloc(NULL, player->log_count, sizeof *player->logs_here);
    return 0;
}

int gt_player_kernels(struct gt_player *player, struct gt_error *error)
{
    player->tree_kernels = gt_proxy_kernels_in_trees(player->workload);
    for (uint32_t i = 0; i < player->workload->op_count; i++)
        if (player->workload->ops[i].kind == GT_OP_KERNEL && set_kernel(player, i, error) != 0)
            return -1;
    if (give_logs(player, error) != 0 || gt_player_network(player, error) != 0)
        return -1;
    return gt_player_trees(player, error);
}
