/* Memory of the player.  Copies of one direction and memory share a pair of buffers as large as the
 * largest of them: what they carry means nothing, and the GPU does not order copies by address. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/player/internal.h"

enum { PAGE_BYTES = 4096 };

static void keep(void ***list, uint32_t *count, void *memory)
{
    *list = gt_realloc(*list, *count + 1ull, sizeof **list);
    (*list)[(*count)++] = memory;
}

void *gt_player_device_memory(struct gt_player *player, uint64_t bytes, struct gt_error *error)
{
    void *memory = NULL;
    size_t free_bytes = 0, all_bytes = 0;
    cudaError_t code = cudaMalloc(&memory, bytes);

    if (code == cudaSuccess) {
        keep(&player->memory, &player->memory_count, memory);
        return memory;
    }
    cudaGetLastError();
    cudaMemGetInfo(&free_bytes, &all_bytes);
    gt_error_set(error, "out of device memory: %.3f GB are needed at once, %.3f GB are free (%s)",
                 (double)bytes / 1e9, (double)free_bytes / 1e9, cudaGetErrorString(code));
    return NULL;
}

/* A system that promises more than it has kills the program that uses it: so this is asked before. */
static int is_there(uint64_t bytes, struct gt_error *error)
{
    FILE *file = fopen("/proc/meminfo", "r");
    unsigned long long kib = 0;
    char line[128];
    bool known = false;

    while (file != NULL && !known && fgets(line, sizeof line, file) != NULL)
        known = sscanf(line, "MemAvailable: %llu kB", &kib) == 1;
    if (file != NULL)
        fclose(file);
    if (!known || bytes / 1024 < kib)
        return 0;
    return gt_error_set(error, "out of host memory: %.3f GB are needed at once, %.3f GB are free",
                        (double)bytes / 1e9, (double)kib * 1024 / 1e9);
}

void *gt_player_pinned_memory(struct gt_player *player, uint64_t bytes, struct gt_error *error)
{
    void *memory = NULL;
    cudaError_t code;

    if (is_there(bytes, error) != 0)
        return NULL;
    code = cudaMallocHost(&memory, bytes);
    if (code != cudaSuccess) {
        cudaGetLastError();
        gt_error_set(error, "out of host memory: %.3f GB cannot be pinned (%s)", (double)bytes / 1e9,
                     cudaGetErrorString(code));
        return NULL;
    }
    memset(memory, 1, bytes);
    keep(&player->pinned, &player->pinned_count, memory);
    return memory;
}

/* Every page is touched, so that no copy pays for that. */
static void *pageable_memory(struct gt_player *player, uint64_t bytes, struct gt_error *error)
{
    void *memory = NULL;

    if (is_there(bytes, error) != 0)
        return NULL;
    if (posix_memalign(&memory, PAGE_BYTES, bytes) != 0) {
        gt_error_set(error, "out of host memory: %.3f GB are needed at once", (double)bytes / 1e9);
        return NULL;
    }
    memset(memory, 1, bytes);
    keep(&player->pageable, &player->pageable_count, memory);
    return memory;
}

typedef void *allocate(struct gt_player *player, uint64_t bytes, struct gt_error *error);

/* The two ends of a copy, by direction; the host's end is pageable where the trace says so. */
static const struct ends {
    allocate *to, *from;
} ends[GT_DIRECTIONS] = {
    [GT_H2D] = { gt_player_device_memory, gt_player_pinned_memory },
    [GT_D2H] = { gt_player_pinned_memory, gt_player_device_memory },
    [GT_D2D] = { gt_player_device_memory, gt_player_device_memory },
    [GT_P2P] = { gt_player_device_memory, gt_player_device_memory },
    [GT_H2H] = { gt_player_pinned_memory, gt_player_pinned_memory },
};

static allocate *end_of(allocate *usual, const struct gt_op *op)
{
    return usual == gt_player_pinned_memory && op->memory == GT_MEMORY_PAGEABLE ? pageable_memory : usual;
}

/* The GPUs that an operation's buffers are of. */
struct places {
    gt_gpu_index to, from;
};

static struct places places_of(const struct gt_workload *workload, const struct gt_op *op)
{
    gt_gpu_index gpu = workload->streams[op->stream].gpu;
    struct places places = { gpu, gpu };

    gt_copy_between(workload, op, &places.from, &places.to);
    return places;
}

/* Do two operations share their buffers? */
static bool alike(const struct gt_workload *workload, const struct gt_op *a, const struct gt_op *b)
{
    struct places one = places_of(workload, a), other = places_of(workload, b);

    if (a->kind != b->kind || one.to != other.to || one.from != other.from)
        return false;
    return a->kind == GT_OP_MEMSET ||
           (a->direction == b->direction && (a->memory == GT_MEMORY_PAGEABLE) == (b->memory == GT_MEMORY_PAGEABLE));
}

static bool needs_buffer(const struct gt_op *op)
{
    return (op->kind == GT_OP_COPY || op->kind == GT_OP_MEMSET) && op->bytes > 0;
}

static void *make_end(struct gt_player *player, gt_gpu_index gpu, allocate *end, uint64_t bytes,
                      struct gt_error *error)
{
    return gt_player_use(player, gpu, error) == 0 ? end(player, bytes, error) : NULL;
}

/* Both ends of an operation's buffers; a memset has one. */
static int make_ends(struct gt_player *player, const struct gt_op *op, uint64_t bytes, void **to, void **from,
                     struct gt_error *error)
{
    struct places places = places_of(player->workload, op);

    *from = NULL;
    if (op->kind == GT_OP_MEMSET) {
        *to = make_end(player, places.to, gt_player_device_memory, bytes, error);
        return *to == NULL ? -1 : 0;
    }
    *to = make_end(player, places.to, end_of(ends[op->direction].to, op), bytes, error);
    if (*to != NULL)
        *from = make_end(player, places.from, end_of(ends[op->direction].from, op), bytes, error);
    return *from == NULL ? -1 : 0;
}

/* Buffers for operation `first` and all that share them. */
static int share_buffers(struct gt_player *player, uint32_t first, struct gt_error *error)
{
    const struct gt_workload *workload = player->workload;
    const struct gt_op *op = &workload->ops[first];
    uint64_t bytes = op->bytes;
    void *to, *from;

    for (uint32_t i = first + 1; i < workload->op_count; i++)
        if (alike(workload, op, &workload->ops[i]) && workload->ops[i].bytes > bytes)
            bytes = workload->ops[i].bytes;
    if (make_ends(player, op, bytes, &to, &from, error) != 0)
        return -1;
    for (uint32_t i = first; i < workload->op_count; i++) {
        if (needs_buffer(&workload->ops[i]) && alike(workload, op, &workload->ops[i])) {
            player->ops[i].to = to;
            player->ops[i].from = from;
        }
    }
    return 0;
}

int gt_player_buffers(struct gt_player *player, struct gt_error *error)
{
    for (uint32_t i = 0; i < player->workload->op_count; i++) {
        const struct gt_op *op = &player->workload->ops[i];

        if (!needs_buffer(op) || player->ops[i].to != NULL)
            continue;
        if (op->kind == GT_OP_COPY && op->direction == GT_P2P && op->peer_gpu == GT_NONE)
            return gt_error_set(error, "line %u: a copy between GPUs does not say which the other one is (peer_gpu)",
                                player->workload->calls[op->call].line);
        if (share_buffers(player, i, error) != 0)
            return -1;
    }
    return 0;
}

void gt_player_free_memory(struct gt_player *player)
{
    for (uint32_t i = 0; i < player->memory_count && !player->broken; i++)
        cudaFree(player->memory[i]);
    for (uint32_t i = 0; i < player->pinned_count && !player->broken; i++)
        cudaFreeHost(player->pinned[i]);
    for (uint32_t i = 0; i < player->pageable_count; i++)
        free(player->pageable[i]);
    free(player->memory);
    free(player->pinned);
    free(player->pageable);
}
