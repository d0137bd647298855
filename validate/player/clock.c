/* Clocks: how fast the SMs' one runs now, and the GPU's timer against the host's clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "validate/player/internal.h"

enum { CLOCK_CYCLES = 4000000, CLOCK_BLOCKS = 132, ALIGN_CYCLES = 10000, ALIGNMENTS = 24, WARM = 8 };

/* Launch `blocks` spinning blocks with a log and wait for them; *log is on the GPU. */
static int spin(struct gt_player *player, const char *cycles, uint32_t blocks, struct gt_block_log *log,
                struct gt_error *error)
{
    const struct gt_library_kernel *kernel = gt_library_kernel_find("spin", error);
    double arguments[GT_LIBRARY_PARAMETERS];
    /* clang-format off */
    struct gt_gpu_launch launch = {
        .grid = { blocks, 1, 1 }, .block = { 32, 1, 1 }, .stream = player->gpu->own, .arguments = arguments, .log = log,
    };
    /* clang-format on */

    if (kernel == NULL)
        return -1;
    gt_library_defaults(kernel, arguments);
    if (gt_library_argument(kernel, "cycles", cycles, arguments, error) != 0)
        return -1;
    GT_CUDA(kernel->launch(&launch), error);
    GT_CUDA(cudaStreamSynchronize(player->gpu->own), error);
    return 0;
}

/* The log of `count` blocks, fetched. */
static int fetch(struct gt_block_log *here, const struct gt_block_log *log, uint32_t count, struct gt_error *error)
{
    GT_CUDA(cudaMemcpy(here, log, count * sizeof *here, cudaMemcpyDeviceToHost), error);
    return 0;
}

/* Every SM spins for two milliseconds: cycles over nanoseconds, and what the loop takes beyond. */
int gt_player_measure_clock(struct gt_player *player, struct gt_error *error)
{
    struct gt_block_log here[CLOCK_BLOCKS], *log = NULL;
    double mhz[CLOCK_BLOCKS], overshoot[CLOCK_BLOCKS];
    char cycles[32];
    int result;

    GT_CUDA(cudaMalloc((void **)&log, sizeof here), error);
    snprintf(cycles, sizeof cycles, "%d", CLOCK_CYCLES);
    result = spin(player, cycles, CLOCK_BLOCKS, log, error);
    if (result == 0)
        result = fetch(here, log, CLOCK_BLOCKS, error);
    cudaFree(log);
    if (result != 0)
        return -1;
    for (int i = 0; i < CLOCK_BLOCKS; i++) {
        double spent = (double)(here[i].end_cycles - here[i].start_cycles);

        mhz[i] = spent * 1e3 / (double)(here[i].end_ns - here[i].start_ns);
        overshoot[i] = spent - CLOCK_CYCLES;
    }
    player->gpu->clock_mhz = gt_median(mhz, CLOCK_BLOCKS);
    player->gpu->overshoot_cycles = gt_median(overshoot, CLOCK_BLOCKS);
    return 0;
}

/* CUPTI's record of a kernel, on the host's clock, holds the kernel's blocks, on the GPU's timer. */
static void narrow(struct gt_alignment *alignment, const struct gt_gpu_record *record, const struct gt_block_log *log)
{
    int64_t low_ns = (int64_t)(record->start_ns - log->start_ns), high_ns = (int64_t)(record->end_ns - log->end_ns);

    if (low_ns > alignment->low_ns)
        alignment->low_ns = low_ns;
    if (high_ns < alignment->high_ns)
        alignment->high_ns = high_ns;
}

static int by_start(const void *left, const void *right)
{
    const struct gt_gpu_record *a = left, *b = right;

    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* The kernels alone, to the front: the player's own copies from before may be among the records. */
static uint64_t keep_kernels(const struct gt_activity *activity)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < activity->gpu_count; i++)
        if (activity->gpu[i].kind == GT_OP_KERNEL)
            activity->gpu[count++] = activity->gpu[i];
    return count;
}

static int bracket(const struct gt_activity *activity, const struct gt_block_log *logs,
                   struct gt_alignment *alignment, struct gt_error *error)
{
    uint64_t count = keep_kernels(activity);

    if (count != ALIGNMENTS)
        return gt_error_set(error, "CUPTI recorded %llu of %d kernels; is another profiler at work?",
                            (unsigned long long)count, ALIGNMENTS);
    qsort(activity->gpu, count, sizeof *activity->gpu, by_start);
    *alignment = (struct gt_alignment){ .gpu_ns = (int64_t)logs[ALIGNMENTS / 2].start_ns,
                                        .low_ns = INT64_MIN,
                                        .high_ns = INT64_MAX };
    for (int i = WARM; i < ALIGNMENTS; i++)
        narrow(alignment, &activity->gpu[i], &logs[i]);
    return 0;
}

static int align(struct gt_player *player, struct gt_alignment *alignment, struct gt_error *error)
{
    struct gt_block_log here[ALIGNMENTS], *log = NULL;
    const struct gt_activity *activity = NULL;
    char cycles[32];
    int result;

    GT_CUDA(cudaMalloc((void **)&log, sizeof here), error);
    snprintf(cycles, sizeof cycles, "%d", ALIGN_CYCLES);
    result = gt_cupti_begin(true, error);
    for (int i = 0; i < ALIGNMENTS && result == 0; i++)
        result = spin(player, cycles, 1, log + i, error);
    if (result == 0)
        result = gt_cupti_end(&activity, error);
    if (result == 0)
        result = fetch(here, log, ALIGNMENTS, error);
    cudaFree(log);
    return result == 0 ? bracket(activity, here, alignment, error) : -1;
}

int gt_player_align_before(struct gt_player *player, struct gt_error *error)
{
    return align(player, &player->gpu->before, error);
}

int gt_player_align_after(struct gt_player *player, struct gt_error *error)
{
    return align(player, &player->gpu->after, error);
}

static int64_t middle(const struct gt_alignment *alignment, int64_t base_ns)
{
    return alignment->low_ns - base_ns + (alignment->high_ns - alignment->low_ns) / 2;
}

/* The clocks drift: between the two alignments the offset changes evenly. Offsets count from the first
 * one's, so that the large numbers stay whole. */
uint64_t gt_player_host_ns(const struct gt_play_gpu *gpu, uint64_t gpu_ns)
{
    int64_t base_ns = gpu->before.low_ns, since_ns = (int64_t)gpu_ns - gpu->before.gpu_ns;
    int64_t first_ns = middle(&gpu->before, base_ns), last_ns = middle(&gpu->after, base_ns);
    double span_ns = (double)(gpu->after.gpu_ns - gpu->before.gpu_ns);
    double part = span_ns > 0 ? (double)since_ns / span_ns : 0;

    return gpu_ns + (uint64_t)(base_ns + first_ns + (int64_t)(part * (double)(last_ns - first_ns)));
}
