/* The GPUs of a trace on those of the machine: in the order of their numbers, so that a trace that names GPU 3 alone is
 * played on GPU 0.  Memory of one is within another's reach where the trace does not say otherwise. */
#include <stdlib.h>

#include "validate/player/internal.h"

static void need(struct gt_player *player, uint32_t gpu)
{
    player->gpus[gpu].used = true;
}

static void find_used(struct gt_player *player)
{
    const struct gt_workload *workload = player->workload;

    for (uint32_t i = 0; i < workload->stream_count; i++)
        need(player, workload->streams[i].gpu);
    for (uint32_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].peer_gpu != GT_NONE)
            need(player, workload->ops[i].peer_gpu);
    if (workload->stream_count == 0 && workload->gpu_count > 0)
        need(player, 0);
}

/* How many GPUs that are used have a lower number; of one number, stand before it. */
static int place_of(const struct gt_player *player, uint32_t gpu)
{
    const struct gt_gpu *gpus = player->workload->gpus;
    int place = 0;

    for (uint32_t i = 0; i < player->gpu_count; i++)
        place += player->gpus[i].used && i != gpu &&
                 (gpus[i].id < gpus[gpu].id || (i < gpu && gpus[i].id == gpus[gpu].id));
    return place;
}

int gt_player_find_gpus(struct gt_player *player, struct gt_error *error)
{
    int there = 0, wanted = 0;

    player->gpu_count = player->workload->gpu_count > 0 ? player->workload->gpu_count : 1;
    player->gpus = gt_calloc(player->gpu_count, sizeof *player->gpus);
    if (player->workload->gpu_count > 0)
        find_used(player);
    else
        need(player, 0);
    GT_CUDA(cudaGetDeviceCount(&there), error);
    for (uint32_t i = 0; i < player->gpu_count; i++) {
        if (!player->gpus[i].used)
            continue;
        player->gpus[i].device = player->workload->gpu_count > 0 ? place_of(player, i) : 0;
        wanted++;
    }
    player->several = wanted > 1;
    if (wanted > there)
        return gt_error_set(error, "its streams and copies are on %d GPUs; this machine has %d", wanted, there);
    return 0;
}

int gt_player_use(struct gt_player *player, uint32_t gpu, struct gt_error *error)
{
    player->gpu = &player->gpus[gpu];
    GT_CUDA(cudaSetDevice(player->gpu->device), error);
    return 0;
}

int gt_player_use_of_op(struct gt_player *player, uint32_t op, struct gt_error *error)
{
    return gt_player_use(player, player->workload->streams[player->workload->ops[op].stream].gpu, error);
}

int gt_player_each_gpu(struct gt_player *player, int (*act)(struct gt_player *player, struct gt_error *error),
                       struct gt_error *error)
{
    for (uint32_t i = 0; i < player->gpu_count; i++)
        if (player->gpus[i].used && (gt_player_use(player, i, error) != 0 || act(player, error) != 0))
            return -1;
    for (uint32_t i = 0; i < player->gpu_count; i++)
        if (player->gpus[i].used)
            return gt_player_use(player, i, error);
    return 0;
}

static bool reachable(const struct gt_player *player, uint32_t from, uint32_t to)
{
    int can = 0;

    return player->gpus[to].used && from != to && gt_gpus_are_peers(player->workload, from, to) &&
           cudaDeviceCanAccessPeer(&can, player->gpus[from].device, player->gpus[to].device) == cudaSuccess &&
           can != 0;
}

/* Of the GPU at hand to all others. */
static int open_ways(struct gt_player *player, struct gt_error *error)
{
    uint32_t from = (uint32_t)(player->gpu - player->gpus);

    for (uint32_t to = 0; to < player->gpu_count; to++) {
        cudaError_t code;

        if (!reachable(player, from, to))
            continue;
        code = cudaDeviceEnablePeerAccess(player->gpus[to].device, 0);
        if (code == cudaErrorPeerAccessAlreadyEnabled)
            cudaGetLastError();
        else if (code != cudaSuccess)
            return gt_cuda_fail("cudaDeviceEnablePeerAccess", code, error);
    }
    return 0;
}

int gt_player_open_ways(struct gt_player *player, struct gt_error *error)
{
    return player->several ? gt_player_each_gpu(player, open_ways, error) : 0;
}

/* So that the next trace begins without. */
void gt_player_close_ways(struct gt_player *player)
{
    for (uint32_t from = 0; player->several && !player->broken && from < player->gpu_count; from++) {
        if (!player->gpus[from].used || cudaSetDevice(player->gpus[from].device) != cudaSuccess)
            continue;
        for (uint32_t to = 0; to < player->gpu_count; to++)
            if (reachable(player, from, to) && cudaDeviceDisablePeerAccess(player->gpus[to].device) != cudaSuccess)
                cudaGetLastError();
    }
    if (player->several)
        cudaSetDevice(0);
}

uint32_t gt_player_gpu_of_call(const struct gt_player *player, uint32_t number)
{
    const struct gt_workload *workload = player->workload;
    const struct gt_call *call = &workload->calls[number];

    if (call->stream != GT_NONE)
        return workload->streams[call->stream].gpu;
    if (call->ops > 0)
        return workload->streams[workload->ops[call->first_op].stream].gpu;
    return call->buffer != GT_NONE ? workload->buffers[call->buffer].gpu : GT_NONE;
}

cudaError_t gt_player_turn_to(const struct gt_player *player, uint32_t gpu)
{
    if (!player->several || gpu == GT_NONE || !player->gpus[gpu].used)
        return cudaSuccess;
    return cudaSetDevice(player->gpus[gpu].device);
}

cudaError_t gt_player_sync_gpus(const struct gt_player *player, uint32_t gpu)
{
    cudaError_t code = cudaSuccess;

    if (!player->several || gpu != GT_NONE)
        return cudaDeviceSynchronize();
    for (uint32_t i = 0; i < player->gpu_count && code == cudaSuccess; i++) {
        if (!player->gpus[i].used)
            continue;
        code = cudaSetDevice(player->gpus[i].device);
        if (code == cudaSuccess)
            code = cudaDeviceSynchronize();
    }
    return code;
}

/* Processes are played as threads of one, where CUDA's own call would wait for the others' work, too: for ever, where that is a
 * collective which waits for this process. */
cudaError_t gt_player_sync_own(const struct gt_player *player, uint32_t call)
{
    const struct gt_workload *workload = player->workload;
    uint64_t process = workload->threads[workload->calls[call].thread].process;
    uint32_t gpu = gt_player_gpu_of_call(player, call);
    cudaError_t code = cudaSuccess;

    if (player->stream_processes == NULL)
        return gt_player_sync_gpus(player, gpu);
    for (uint32_t i = 0; i < workload->stream_count && code == cudaSuccess; i++) {
        if (player->stream_processes[i] != process || (gpu != GT_NONE && workload->streams[i].gpu != gpu))
            continue;
        code = gt_player_turn_to(player, workload->streams[i].gpu);
        if (code == cudaSuccess)
            code = cudaStreamSynchronize(player->streams[i]);
    }
    return code;
}
