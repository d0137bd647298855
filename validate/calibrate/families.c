/* families.c - what kernels of frameworks take at any size: those that move bytes, and matrix products (products.c). */
#include <math.h>
#include <stdlib.h>

#include "kernels/calibrate/streaming.h"
#include "validate/calibrate/groups.h"
#include "validate/calibrate/timed.h"

/* The first time loads code and fills L2.  Sizes are a quarter of a doubling apart. */
enum { TIMES = 6, SIZES = 9, KINDS = 3 };
#define LEAST_BYTES 1024.0
static const double size_step = 1.189207115002721; /* 2^(1/4) */
/* Bytes moved, in L2s: of the first size that comes from DRAM; of the last. */
enum { FIRST_L2S = 4, LAST_L2S = 16 };

/* What a kernel moves: arrays of equal size that it reads, and writes. */
struct kind {
    const void *kernel;
    uint32_t reads, writes, thread_parts;
};

enum { MAP }; /* the simplest one is first */
static struct kind kind_of(int number)
{
    const struct kind kinds[KINDS] = {
        [MAP] = { (const void *)gt_calibrate_map, 1, 1, 1 },
        { (const void *)gt_calibrate_add, 2, 1, 1 },
        { (const void *)gt_calibrate_sum, 1, 0, GT_SUM_PARTS },
    };
    return kinds[number];
}

/* 16-byte parts of each array, so that they are `bytes` in all, or a little less. */
static uint64_t parts_of(const struct kind *kind, double bytes)
{
    return (uint64_t)(bytes / (kind->reads + kind->writes)) / 16;
}

/* Its arrays lie one behind the other in `at`; the sums of blocks go elsewhere. */
static int launch(struct gt_bench *bench, const struct kind *kind, char *at, uint64_t parts)
{
    char *one = at, *other = at + (kind->reads - 1) * parts * 16;
    char *to = kind->writes > 0 ? other + parts * 16 : bench->device[1];
    uint64_t block_parts = (uint64_t)GT_STREAMING_THREADS * kind->thread_parts;
    uint32_t blocks = (uint32_t)((parts + block_parts - 1) / block_parts);
    void *arguments[] = { &one, &other, &to, &parts };

    if (gt_timed_next(bench) != 0)
        return -1;
    for (int i = 0; i < TIMES; i++)
        GT_TRY(cudaLaunchKernel(kind->kernel, (dim3){ blocks, 1, 1 }, (dim3){ GT_STREAMING_THREADS, 1, 1 }, arguments,
                                0, bench->streams[0]));
    return 0;
}

struct moved { /* by a kernel; the median of its times */
    double bytes, us;
};

/* The kind at all sizes from `first` bytes on.  Returns how many sizes were timed, or -1. */
static int measure(struct gt_bench *bench, int number, double first, char *at, struct moved moved[SIZES])
{
    struct kind kind = kind_of(number);
    double us[SIZES * TIMES];
    int count = 0;

    for (int i = 0; i < SIZES; i++)
        if (launch(bench, &kind, at, parts_of(&kind, first * pow(size_step, i))) != 0)
            return -1;
    if (gt_timed_read(bench, SIZES, TIMES, us) != 0)
        return -1;
    for (int i = 0; i < SIZES; i++) {
        double bytes = (double)parts_of(&kind, first * pow(size_step, i)) * 16 * (kind.reads + kind.writes);

        if (!isnan(us[i * TIMES]))
            moved[count++] = (struct moved){ bytes, gt_summarise(us + (size_t)i * TIMES + 1, TIMES - 1).median };
    }
    return count;
}

static int measure_least(struct gt_bench *bench, char *at, double *least_us)
{
    struct moved moved[SIZES];
    double us[SIZES];
    int count = measure(bench, MAP, LEAST_BYTES, at, moved);
    struct gt_bench_summary summary;

    for (int i = 0; i < count; i++)
        us[i] = moved[i].us;
    if (count <= 0)
        return count < 0 ? -1 : gt_error_set(bench->error, "CUPTI recorded no kernels");
    summary = gt_summarise(us, (size_t)count);
    *least_us = summary.median;
    gt_found(bench->found, "kernel.least_us", summary.median, summary, "maps of 1 to 4 KiB");
    return 0;
}

/* Beside the least time they take what DRAM, as it is known by now, needs for their bytes, divided by this part. */
static int measure_dram(struct gt_bench *bench, char *at, double least_us)
{
    double parts[KINDS * SIZES], first = (double)bench->gpu.l2CacheSize * FIRST_L2S, bytes_per_us;
    struct gt_device *device = gt_calloc(1, sizeof *device);
    struct gt_bench_summary summary;
    size_t count = 0;
    int status = gt_calibration_device(bench->found, device, bench->error);

    bytes_per_us = device->warp.dram_gbps * device->warp.dram_efficiency * 1e3;
    free(device);
    for (int k = 0; k < KINDS && status == 0; k++) {
        struct moved moved[SIZES];
        int measured = measure(bench, k, first, at, moved);

        for (int i = 0; i < measured; i++)
            parts[count++] = fmin(1, moved[i].bytes / (moved[i].us - least_us) / bytes_per_us);
        status = measured < 0 ? -1 : 0;
    }
    if (status != 0 || count == 0)
        return status;
    summary = gt_summarise(parts, count);
    gt_found(bench->found, "kernel.dram_part", summary.median, summary,
             "kernels that map, add and sum up %d to %d times as much as L2 holds", FIRST_L2S, LAST_L2S);
    return 0;
}

static int measure_streaming(struct gt_bench *bench)
{
    double least_us;
    char *at = NULL;
    int status;

    if (cudaMalloc((void **)&at, (size_t)bench->gpu.l2CacheSize * LAST_L2S) != cudaSuccess) {
        cudaGetLastError(); /* as if nobody had asked */
        gt_not_found(bench->found, "kernel.least_us", "no memory for %d times L2", LAST_L2S);
        gt_not_found(bench->found, "kernel.dram_part", "no memory for %d times L2", LAST_L2S);
        return 0;
    }
    status = measure_least(bench, at, &least_us);
    if (status == 0)
        status = measure_dram(bench, at, least_us);
    cudaFree(at);
    return status;
}

int gt_calibrate_families(struct gt_bench *bench)
{
    if (gt_bench_record_kernels(bench, true) != 0 || measure_streaming(bench) != 0 ||
        gt_calibrate_products(bench) != 0)
        return -1;
    return gt_bench_record_kernels(bench, false);
}
