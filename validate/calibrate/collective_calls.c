/* collective_calls.c - the CPU time that NCCL's calls take: two threads, a GPU each, as a program of two ranks has them.  Both
 * are new and have launched kernels before, but nothing of NCCL's: their first call takes longer than all others. */
#include <math.h>

#include "validate/calibrate/groups.h"
#include "validate/calibrate/thread_team.h"
#include "validate/gpu/nccl.h"

enum { RANKS = 2, CALLS = 8, ROUNDS = 12 };
static const uint64_t bytes = 65536;

struct ranks {
    struct gt_bench *bench;
    cudaStream_t streams[RANKS];
    void *memory[RANKS][2];
    gt_nccl_comm comms[RANKS];
    double launch_us[RANKS], first_us[RANKS], later_us[RANKS]; /* of a round */
};

static int make(struct ranks *ranks)
{
    const int devices[RANKS] = { 0, 1 };
    struct gt_bench *bench = ranks->bench;

    for (int i = 0; i < RANKS; i++) {
        GT_TRY(cudaSetDevice(i));
        GT_TRY(cudaStreamCreateWithFlags(&ranks->streams[i], cudaStreamNonBlocking));
        GT_TRY(cudaMalloc(&ranks->memory[i][0], bytes));
        GT_TRY(cudaMalloc(&ranks->memory[i][1], bytes));
        GT_TRY(cudaMemset(ranks->memory[i][0], 0, bytes));
    }
    return gt_nccl_group(devices, RANKS, 0, ranks->comms, bench->error);
}

static void drop(struct ranks *ranks)
{
    for (int i = 0; i < RANKS; i++) {
        gt_nccl_free(ranks->comms[i]);
        cudaSetDevice(i);
        if (ranks->streams[i] != NULL)
            cudaStreamDestroy(ranks->streams[i]);
        cudaFree(ranks->memory[i][0]);
        cudaFree(ranks->memory[i][1]);
    }
    cudaSetDevice(0);
}

static struct gt_nccl_part part_of(const struct ranks *ranks, uint32_t rank)
{
    return (struct gt_nccl_part){
        .collective = gt_collective_of(GT_ALL_REDUCE, 0, bytes),
        .ranks = RANKS,
        .give = ranks->memory[rank][0],
        .get = ranks->memory[rank][1],
        .comm = ranks->comms[rank],
    };
}

/* So many launches of nothing, in us each. */
static cudaError_t launch(const struct ranks *ranks, uint32_t rank, double *us)
{
    struct gt_block_log *log = NULL;
    uint64_t cycles = 0, step = 0, start_ns = 0;
    uint32_t kinds = 1;
    void *arguments[] = { &log, &cycles, &step, &kinds };
    cudaError_t status = cudaSuccess;

    for (int i = 0; i <= CALLS && status == cudaSuccess; i++) { /* the first comes after a rest */
        if (i == 1)
            start_ns = gt_clock_ns();
        status = cudaLaunchKernel((const void *)gt_calibrate_spin, (dim3){ 1, 1, 1 }, (dim3){ 32, 1, 1 }, arguments,
                                  0, ranks->streams[rank]);
    }
    *us = gt_bench_us(start_ns, gt_clock_ns()) / CALLS;
    return status;
}

static cudaError_t play(void *user, uint32_t rank, bool counts)
{
    struct ranks *ranks = user;
    struct gt_nccl_part part = part_of(ranks, rank);
    struct gt_error unused;
    cudaError_t status = cudaSetDevice((int)rank);
    uint64_t start_ns;

    if (status == cudaSuccess)
        status = launch(ranks, rank, &ranks->launch_us[rank]);
    if (!counts || status != cudaSuccess)
        return status;
    start_ns = gt_clock_ns();
    status = gt_nccl_issue(&part, ranks->streams[rank], &unused);
    ranks->first_us[rank] = gt_bench_us(start_ns, gt_clock_ns());
    start_ns = gt_clock_ns();
    for (int i = 0; i < CALLS && status == cudaSuccess; i++)
        status = gt_nccl_issue(&part, ranks->streams[rank], &unused);
    ranks->later_us[rank] = gt_bench_us(start_ns, gt_clock_ns()) / CALLS;
    return status == cudaSuccess ? cudaStreamSynchronize(ranks->streams[rank]) : status;
}

static int connect(struct ranks *ranks)
{
    const int devices[RANKS] = { 0, 1 };
    struct gt_nccl_part parts[RANKS] = { part_of(ranks, 0), part_of(ranks, 1) };
    struct gt_bench *bench = ranks->bench;

    if (gt_nccl_issue_all(parts, devices, ranks->streams, RANKS, bench->error) != 0)
        return -1;
    for (int i = RANKS - 1; i >= 0; i--) {
        GT_TRY(cudaSetDevice(i));
        GT_TRY(cudaDeviceSynchronize());
    }
    return 0;
}

static int measure(struct ranks *ranks)
{
    double first_us[ROUNDS * RANKS], more_us[ROUNDS * RANKS];
    struct gt_bench_summary first, more;
    size_t count = 0;

    if (make(ranks) != 0 || connect(ranks) != 0)
        return -1;
    for (int r = 0; r < ROUNDS; r++) {
        if (gt_thread_team_play(ranks->bench, RANKS, play, ranks) != 0)
            return -1;
        for (int i = 0; i < RANKS; i++, count++) {
            first_us[count] = fmax(0, ranks->first_us[i] - ranks->later_us[i]);
            more_us[count] = fmax(0, ranks->later_us[i] - ranks->launch_us[i]);
        }
    }
    first = gt_summarise(first_us, count);
    more = gt_summarise(more_us, count);
    gt_found(ranks->bench->found, "collective.call_us", more.median, more,
             "%d calls in a row of each of two threads, beyond launches of kernels by them", CALLS);
    gt_found(ranks->bench->found, "collective.cold_us", first.median, first,
             "the first call of a new thread, beyond those behind it");
    return 0;
}

int gt_calibrate_collective_calls(struct gt_bench *bench)
{
    struct ranks ranks = { .bench = bench };
    int status = measure(&ranks);

    drop(&ranks);
    return status;
}
