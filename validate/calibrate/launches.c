/* launches.c - the CPU time of kernel launches: one after the other into a stream, the first
 * into each of many streams, and by several threads at once. */
#include <math.h>

#include "validate/calibrate/groups.h"
#include "validate/calibrate/thread_team.h"

enum { LAUNCHES = 40, ROUNDS = 16, STREAMS = 64 };
static const double kernel_us = 1;

/* What threads launch into, and how long a launch took each of them, on average: now and then one takes
 * long. */
struct launches {
    const struct gt_bench *bench;
    cudaStream_t streams[STREAMS];
    bool many; /* one launch into every stream, where it counts */
    double us[GT_CREW_MOST];
};

/* One launch after the other into `stream`, or one into each of all; all but the first count, which comes
 * after a rest. */
static cudaError_t launch(const struct launches *launches, uint32_t stream, bool all, double *us)
{
    const struct gt_bench_spin spin = { 1, 32, 0, 0, kernel_us, 0, 0 };
    uint32_t count = all ? STREAMS : LAUNCHES;
    struct gt_bench_arguments arguments;
    cudaError_t status = cudaSuccess;
    uint64_t start_ns = 0;
    gt_bench_arguments(launches->bench, &spin, 0, &arguments);
    for (uint32_t i = 0; i < count && status == cudaSuccess; i++) {
        if (i == 1)
            start_ns = gt_clock_ns();
        status = cudaLaunchKernel((const void *)gt_calibrate_spin, (dim3){ 1, 1, 1 }, (dim3){ 32, 1, 1 },
                                  arguments.pointers, 0, launches->streams[all ? i : stream]);
    }
    *us = gt_bench_us(start_ns, gt_clock_ns()) / (count - 1);
    return status;
}

static cudaError_t part(void *user, uint32_t number, bool counts)
{
    struct launches *launches = user;
    return launch(launches, number, launches->many && counts, &launches->us[number]);
}

/* Launches of 1, 2, ... threads at once, in us[threads - 1][round]. */
static int measure_threads(struct gt_bench *bench, struct launches *launches, double us[][ROUNDS])
{
    for (uint32_t threads = 1; threads <= GT_CREW_MOST; threads++)
        for (int r = 0; r < ROUNDS; r++) {
            if (gt_thread_team_play(bench, threads, part, launches) != 0)
                return -1;
            us[threads - 1][r] = 0;
            for (uint32_t t = 0; t < threads; t++)
                us[threads - 1][r] += launches->us[t] / threads;
        }
    return 0;
}

/* The slope of us[n] - us[0] over n, through the origin. */
static double per_other(const double *us)
{
    double sum = 0, squares = 0;
    for (int others = 1; others < GT_CREW_MOST; others++) {
        sum += others * (us[others] - us[0]);
        squares += others * others;
    }
    return fmax(0, sum / squares);
}

static int measure_contention(struct gt_bench *bench, struct launches *launches)
{
    double us[GT_CREW_MOST][ROUNDS], slopes[ROUNDS], round[GT_CREW_MOST], medians[GT_CREW_MOST];
    if (measure_threads(bench, launches, us) != 0)
        return -1;
    for (int r = 0; r < ROUNDS; r++) {
        for (int t = 0; t < GT_CREW_MOST; t++)
            round[t] = us[t][r];
        slopes[r] = per_other(round);
    }
    struct gt_bench_summary alone = gt_summarise(us[0], ROUNDS), slope = gt_summarise(slopes, ROUNDS);
    for (int t = 0; t < GT_CREW_MOST; t++)
        medians[t] = gt_summarise(us[t], ROUNDS).median;
    gt_found(bench->found, "host.launch_call_us", alone.median, alone,
             "mean of %d launches of 1 us in a row into a stream", LAUNCHES - 1);
    gt_found(bench->found, "host.contention_us", slope.median, slope,
             "launches of 1, 2, 3, 4 threads at once, each into its stream: %.2f, %.2f, %.2f, %.2f", medians[0],
             medians[1], medians[2], medians[3]);
    return 0;
}

static int measure_first(struct gt_bench *bench, struct launches *launches)
{
    double us[2][ROUNDS], more_us[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        for (int many = 0; many < 2; many++) {
            launches->many = many;
            if (gt_thread_team_play(bench, 1, part, launches) != 0)
                return -1;
            us[many][r] = launches->us[0];
        }
        more_us[r] = fmax(0, us[1][r] - us[0][r]);
    }
    struct gt_bench_summary more = gt_summarise(more_us, ROUNDS);
    gt_found(bench->found, "host.first_launch_us", more.median, more,
             "one launch into each of %d streams %.2f, less those into one %.2f", STREAMS,
             gt_summarise(us[1], ROUNDS).median, gt_summarise(us[0], ROUNDS).median);
    return 0;
}

int gt_calibrate_launches(struct gt_bench *bench)
{
    struct launches launches = { .bench = bench };
    int status = 0;
    for (int i = 0; status == 0 && i < STREAMS; i++)
        status = gt_bench_check(bench, cudaStreamCreate(&launches.streams[i]), "cudaStreamCreate()");
    if (status == 0)
        status = measure_contention(bench, &launches);
    if (status == 0)
        status = measure_first(bench, &launches);
    for (int i = 0; i < STREAMS; i++)
        if (launches.streams[i] != NULL)
            cudaStreamDestroy(launches.streams[i]);
    return status;
}
