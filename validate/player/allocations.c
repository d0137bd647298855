/* The trace's own allocations: made and freed by its calls, besides the memory that copies and memsets work on. */
#include <stdlib.h>

#include "validate/player/internal.h"

/* Of one buffer: what is held, and whether it was had in a stream's order. */
static struct gt_play_buffer *held_by(struct gt_player *player, const struct gt_call *call)
{
    return &player->buffers[call->buffer];
}

static cudaStream_t stream_of(const struct gt_player *player, const struct gt_call *call)
{
    return player->streams[call->stream];
}

/* A buffer that is held already stays as it is. */
cudaError_t gt_player_allocate(struct gt_player *player, uint32_t number)
{
    const struct gt_call *call = &player->workload->calls[number];
    const struct gt_buffer *buffer = &player->workload->buffers[call->buffer];
    struct gt_play_buffer *held = held_by(player, call);

    if (held->memory != NULL || buffer->memory == GT_MEMORY_PAGEABLE || buffer->bytes == 0)
        return cudaSuccess;
    held->pinned = buffer->memory == GT_MEMORY_PINNED;
    held->ordered = !held->pinned && call->stream != GT_NONE;
    if (held->pinned)
        return cudaMallocHost(&held->memory, buffer->bytes);
    if (held->ordered)
        return cudaMallocAsync(&held->memory, buffer->bytes, stream_of(player, call));
    return buffer->memory == GT_MEMORY_MANAGED ? cudaMallocManaged(&held->memory, buffer->bytes, cudaMemAttachGlobal)
                                               : cudaMalloc(&held->memory, buffer->bytes);
}

static cudaError_t free_held(struct gt_play_buffer *held)
{
    void *memory = held->memory;

    held->memory = NULL;
    return held->pinned ? cudaFreeHost(memory) : cudaFree(memory);
}

cudaError_t gt_player_free(struct gt_player *player, uint32_t number)
{
    const struct gt_call *call = &player->workload->calls[number];
    struct gt_play_buffer *held = held_by(player, call);
    void *memory = held->memory;

    if (memory == NULL)
        return call->stream == GT_NONE ? cudaDeviceSynchronize() : cudaSuccess;
    if (!held->ordered || call->stream == GT_NONE)
        return free_held(held);
    held->memory = NULL;
    return cudaFreeAsync(memory, stream_of(player, call));
}

void gt_player_free_held(struct gt_player *player)
{
    for (uint32_t i = 0; i < player->workload->buffer_count && player->buffers != NULL; i++)
        if (player->buffers[i].memory != NULL)
            free_held(&player->buffers[i]);
}
