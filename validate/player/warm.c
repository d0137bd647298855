/* Work that means nothing, so that the first call that counts is not the first of its kind: a driver's way
 * through cold caches, and what CUPTI makes ready at first use, take a hundred times as long as a call in
 * a program that runs. */
#include <string.h>

#include "validate/player/internal.h"

enum { WARM_BYTES = 256 };

/* Until so long before the start a thread may begin another round. */
static const uint64_t round_ns = 400000;

static struct gt_gpu_launch nothing(struct gt_player *player, cudaStream_t stream)
{
    return (struct gt_gpu_launch){
        .grid = { 1, 1, 1 },
        .block = { 32, 1, 1 },
        .stream = stream,
        .arguments = player->warm_arguments,
    };
}

static cudaError_t capture(struct gt_player *player, cudaGraph_t *graph)
{
    struct gt_gpu_launch launch = nothing(player, player->gpu->own);
    cudaError_t code = cudaStreamBeginCapture(player->gpu->own, cudaStreamCaptureModeThreadLocal);

    if (code == cudaSuccess)
        code = player->warm_kernel->launch(&launch);
    if (code == cudaSuccess)
        code = cudaMemcpyAsync(player->gpu->warm_memory, player->warm_host, WARM_BYTES, cudaMemcpyHostToDevice,
                               player->gpu->own);
    return code == cudaSuccess ? cudaStreamEndCapture(player->gpu->own, graph) : code;
}

static int make_warm(struct gt_player *player, struct gt_error *error)
{
    struct gt_play_gpu *gpu = player->gpu;
    cudaGraph_t graph = NULL;

    gpu->warm_memory = gt_player_device_memory(player, 2 * WARM_BYTES, error);
    if (gpu->warm_memory == NULL)
        return -1;
    GT_CUDA(cudaEventCreateWithFlags(&gpu->warm_event, cudaEventDisableTiming), error);
    GT_CUDA(capture(player, &graph), error);
    GT_CUDA(cudaGraphInstantiate(&gpu->warm_graph, graph, 0), error);
    GT_CUDA(cudaGraphDestroy(graph), error);
    return 0;
}

int gt_player_make_warm(struct gt_player *player, struct gt_error *error)
{
    player->warm_kernel = gt_library_kernel_find("empty", error);
    if (player->warm_kernel == NULL)
        return -1;
    gt_library_defaults(player->warm_kernel, player->warm_arguments);
    player->warm_host = gt_player_pinned_memory(player, WARM_BYTES, error);
    return player->warm_host != NULL ? gt_player_each_gpu(player, make_warm, error) : -1;
}

void gt_player_free_warm(struct gt_player *player)
{
    for (uint32_t i = 0; i < player->gpu_count && !player->broken; i++) {
        if (player->gpus[i].warm_event != NULL)
            cudaEventDestroy(player->gpus[i].warm_event);
        if (player->gpus[i].warm_graph != NULL)
            cudaGraphExecDestroy(player->gpus[i].warm_graph);
    }
}

/* One of everything. */
static cudaError_t warm_gpu(struct gt_player *player, const struct gt_play_gpu *gpu)
{
    struct gt_gpu_launch launch = nothing(player, gpu->own);
    char *memory = gpu->warm_memory, pageable[WARM_BYTES] = { 0 };
    const cudaError_t codes[] = {
        player->warm_kernel->launch(&launch),
        cudaMemcpyAsync(memory, player->warm_host, WARM_BYTES, cudaMemcpyHostToDevice, gpu->own),
        cudaMemcpyAsync(player->warm_host, memory, WARM_BYTES, cudaMemcpyDeviceToHost, gpu->own),
        cudaMemcpyAsync(memory + WARM_BYTES, memory, WARM_BYTES, cudaMemcpyDeviceToDevice, gpu->own),
        cudaMemcpyAsync(memory, pageable, WARM_BYTES, cudaMemcpyHostToDevice, gpu->own),
        cudaMemsetAsync(memory, 0, WARM_BYTES, gpu->own),
        cudaEventRecord(gpu->warm_event, gpu->own),
        cudaStreamWaitEvent(gpu->own, gpu->warm_event, 0),
        cudaGraphLaunch(gpu->warm_graph, gpu->own),
        player->warm_kernel->launch(&launch),
        cudaStreamSynchronize(gpu->own),
    };

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i] != cudaSuccess)
            return codes[i];
    return cudaSuccess;
}

/* A copy from a GPU to each other one. */
static cudaError_t warm_ways(const struct gt_player *player, const struct gt_play_gpu *from)
{
    cudaError_t code = cudaSuccess;

    for (uint32_t i = 0; i < player->gpu_count && code == cudaSuccess; i++)
        if (player->gpus[i].used && &player->gpus[i] != from)
            code = cudaMemcpyPeerAsync(player->gpus[i].warm_memory, player->gpus[i].device, from->warm_memory,
                                       from->device, WARM_BYTES, from->own);
    return code;
}

static cudaError_t warm_round(struct gt_player *player)
{
    cudaError_t code = cudaSuccess;

    for (uint32_t i = 0; i < player->gpu_count && code == cudaSuccess; i++) {
        if (!player->gpus[i].used)
            continue;
        code = gt_player_turn_to(player, i);
        if (code == cudaSuccess)
            code = warm_ways(player, &player->gpus[i]);
        if (code == cudaSuccess)
            code = warm_gpu(player, &player->gpus[i]);
    }
    return code;
}

cudaError_t gt_player_warm(struct gt_player *player, uint64_t until_ns)
{
    cudaError_t code;

    do
        code = warm_round(player);
    while (code == cudaSuccess && gt_clock_ns() + round_ns < until_ns);
    return code;
}
