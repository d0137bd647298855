/* queues.c - how many grids run at once, how many launches may wait. */
#include <stdio.h>
#include <stdlib.h>

#include "validate/calibrate/groups.h"

enum { GRIDS_MOST = 256, GRID_ROUNDS = 2, DEPTH_MOST = 16384, DEPTH_ROUNDS = 3 };
static const double grid_us = 6000, hold_us = 150000, blocked_us = 20000;

/* The most grids of one block that ran at once when `grids` were asked for, a stream each. */
static int most_grids(struct gt_bench *bench, cudaStream_t *streams, uint32_t grids, size_t *most)
{
    const struct gt_bench_spin spin = { 1, 32, 0, 0, grid_us, 0, 0 };
    struct gt_stay stays[GRIDS_MOST];
    for (uint32_t i = 0; i < grids; i++)
        if (gt_bench_launch(bench, &spin, i, streams[i]) != 0)
            return -1;
    if (gt_bench_read(bench, grids) != 0)
        return -1;
    for (uint32_t i = 0; i < grids; i++)
        stays[i] = gt_bench_span(bench, i, 1);
    *most = gt_most_at_once(stays, grids);
    return 0;
}

static int measure_grids(struct gt_bench *bench)
{
    static const uint32_t asked[] = { 160, GRIDS_MOST };
    cudaStream_t streams[GRIDS_MOST];
    double most[2 * GRID_ROUNDS];
    for (int i = 0; i < GRIDS_MOST; i++)
        GT_TRY(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    for (int i = 0; i < 2 * GRID_ROUNDS; i++) {
        size_t seen;
        if (most_grids(bench, streams, asked[i % 2], &seen) != 0)
            return -1;
        most[i] = (double)seen;
    }
    for (int i = 0; i < GRIDS_MOST; i++)
        GT_TRY(cudaStreamDestroy(streams[i]));
    struct gt_bench_summary summary = gt_summarise(most, 2 * GRID_ROUNDS);
    gt_found(bench->found, "scheduling.resident_grids", summary.median, summary,
             "one-block spins of %.0f ms on %u and %u streams, the most at once", grid_us / 1000, asked[0], asked[1]);
    return 0;
}

/* Launches behind a held stream until one blocks; all before it, and what holds, are in flight. */
static int launches_in_flight(struct gt_bench *bench, double *depth)
{
    cudaStream_t stream = bench->streams[0];
    uint32_t launched = 0;
    double call_us = 0;
    if (gt_bench_close_gate(bench, stream, hold_us) != 0)
        return -1;
    while (launched < DEPTH_MOST && call_us < blocked_us) {
        uint64_t start_ns = gt_clock_ns();
        GT_TRY(cudaLaunchKernel((const void *)gt_calibrate_empty, (dim3){ 1, 1, 1 }, (dim3){ 32, 1, 1 }, NULL, 0,
                                stream));
        call_us = (double)(gt_clock_ns() - start_ns) / 1000;
        launched++;
    }
    gt_bench_open_gate(bench);
    GT_TRY(cudaStreamSynchronize(stream));
    *depth = call_us < blocked_us ? 0 : (double)launched; /* the blocked one was not in, the gate was */
    return 0;
}

static int measure_depth(struct gt_bench *bench)
{
    double depths[DEPTH_ROUNDS];
    for (int i = 0; i < DEPTH_ROUNDS; i++) {
        if (launches_in_flight(bench, &depths[i]) != 0)
            return -1;
        if (depths[i] == 0) {
            gt_not_found(bench->found, "scheduling.launch_queue_depth", "%d launches did not block", DEPTH_MOST);
            return 0;
        }
    }
    struct gt_bench_summary summary = gt_summarise(depths, DEPTH_ROUNDS);
    gt_found(bench->found, "scheduling.launch_queue_depth", summary.median, summary,
             "empty kernels launched behind a long one until a call blocks");
    return 0;
}

int gt_calibrate_queues(struct gt_bench *bench)
{
    return measure_grids(bench) != 0 || measure_depth(bench) != 0 ? -1 : 0;
}
