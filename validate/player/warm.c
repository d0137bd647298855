/* Work that means nothing, so that the first call that counts is not the first of its kind: a driver's way
 * through cold caches, and what CUPTI makes ready at first use, take a hundred times as long as a call in
 * a program that runs. */
#include <string.h>

#include "validate/player/internal.h"

enum { WARM_BYTES = 256 };

/* Until so long before the start a thread may begin another round. */
static const uint64_t round_ns = 400000;

static struct gt_gpu_launch nothing(struct gt_player *player)
{
    return (struct gt_gpu_launch){
        .grid = { 1, 1, 1 },
        .block = { 32, 1, 1 },
        .stream = player->own,
        .arguments = player->warm_arguments,
    };
}

static cudaError_t capture(struct gt_player *player, cudaGraph_t *graph)
{
    struct gt_gpu_launch launch = nothing(player);
    cudaError_t code = cudaStreamBeginCapture(player->own, cudaStreamCaptureModeThreadLocal);

    if (code == cudaSuccess)
        code = player->warm_kernel->launch(&launch);
    if (code == cudaSuccess)
        code = cudaMemcpyAsync(player->warm_gpu, player->warm_host, WARM_BYTES, cudaMemcpyHostToDevice, player->own);
    return code == cudaSuccess ? cudaStreamEndCapture(player->own, graph) : code;
}

int gt_player_make_warm(struct gt_player *player, struct gt_error *error)
{
    cudaGraph_t graph = NULL;

    player->warm_kernel = gt_library_kernel_find("empty", error);
    if (player->warm_kernel == NULL)
        return -1;
    gt_library_defaults(player->warm_kernel, player->warm_arguments);
    player->warm_gpu = gt_player_device_memory(player, 2 * WARM_BYTES, error);
    player->warm_host = gt_player_pinned_memory(player, WARM_BYTES, error);
    if (player->warm_gpu == NULL || player->warm_host == NULL)
        return -1;
    GT_CUDA(cudaEventCreateWithFlags(&player->warm_event, cudaEventDisableTiming), error);
    GT_CUDA(capture(player, &graph), error);
    GT_CUDA(cudaGraphInstantiate(&player->warm_graph, graph, 0), error);
    GT_CUDA(cudaGraphDestroy(graph), error);
    return 0;
}

void gt_player_free_warm(struct gt_player *player)
{
    if (player->broken)
        return;
    if (player->warm_event != NULL)
        cudaEventDestroy(player->warm_event);
    if (player->warm_graph != NULL)
        cudaGraphExecDestroy(player->warm_graph);
}

/* One of everything. */
static cudaError_t warm_round(struct gt_player *player)
{
    struct gt_gpu_launch launch = nothing(player);
    char *gpu = player->warm_gpu, pageable[WARM_BYTES] = { 0 };
    const cudaError_t codes[] = {
        player->warm_kernel->launch(&launch),
        cudaMemcpyAsync(gpu, player->warm_host, WARM_BYTES, cudaMemcpyHostToDevice, player->own),
        cudaMemcpyAsync(player->warm_host, gpu, WARM_BYTES, cudaMemcpyDeviceToHost, player->own),
        cudaMemcpyAsync(gpu + WARM_BYTES, gpu, WARM_BYTES, cudaMemcpyDeviceToDevice, player->own),
        cudaMemcpyAsync(gpu, pageable, WARM_BYTES, cudaMemcpyHostToDevice, player->own),
        cudaMemsetAsync(gpu, 0, WARM_BYTES, player->own),
        cudaEventRecord(player->warm_event, player->own),
        cudaStreamWaitEvent(player->own, player->warm_event, 0),
        cudaGraphLaunch(player->warm_graph, player->own),
        player->warm_kernel->launch(&launch),
        cudaStreamSynchronize(player->own),
    };

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i] != cudaSuccess)
            return codes[i];
    return cudaSuccess;
}

cudaError_t gt_player_warm(struct gt_player *player, uint64_t until_ns)
{
    cudaError_t code;

    do
        code = warm_round(player);
    while (code == cudaSuccess && gt_clock_ns() + round_ns < until_ns);
    return code;
}
