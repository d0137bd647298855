/* families.c - what kernels of frameworks take at any size: those that move bytes, and matrix products (products.c). */
#include <math.h>
#include <stdlib.h>

#include "kernels/calibrate/streaming.h"
#include "validate/calibrate/groups.h"
#include "validate/calibrate/streaming_fit.h"
#include "validate/calibrate/timed.h"

enum { TIMES = 6, SIZES_A_DOUBLING = 4, DOUBLINGS = 20, SIZES = SIZES_A_DOUBLING * DOUBLINGS + 1, KINDS = 3 };
#define LEAST_BYTES 1024.0
#define SMALL_BYTES 1048576.0 /* of kernels whose launches are compared with each other: they are short */
#define MOST_BYTES  (UINT64_C(1) << (10 + DOUBLINGS))

/* What a kernel moves: arrays of equal size that it reads, and writes. */
struct kind {
    const void *kernel;
    uint32_t reads, writes, thread_parts;
};

static struct kind kind_of(int number)
{
    const struct kind kinds[KINDS] = {
        { (const void *)gt_calibrate_map, 1, 1, 1 },
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

/* Times of every kind and size; how far those of small ones are from the time before.  Both arrays have room for all. */
struct streaming {
    struct gt_streaming kernels[KINDS * SIZES];
    double apart_us[KINDS * SIZES * TIMES];
    size_t count, apart;
};

/* One thing's times; the first one loads code and fills L2. */
static void take(struct streaming *s, double bytes, double *us)
{
    if (isnan(us[0]))
        return;
    for (int i = 2; i < TIMES && bytes <= SMALL_BYTES; i++)
        s->apart_us[s->apart++] = fabs(us[i] - us[i - 1]);
    s->kernels[s->count++] = (struct gt_streaming){ bytes, gt_summarise(us + 1, TIMES - 1).median };
}

static double bytes_of(int size)
{
    return LEAST_BYTES * pow(2, (double)size / SIZES_A_DOUBLING);
}

static int measure(struct gt_bench *bench, char *at, uint64_t room, struct streaming *s)
{
    double us[SIZES * TIMES];

    for (int k = 0; k < KINDS; k++) {
        struct kind kind = kind_of(k);
        int sizes = 0;

        for (; sizes < SIZES && bytes_of(sizes) <= (double)room; sizes++)
            if (launch(bench, &kind, at, parts_of(&kind, bytes_of(sizes))) != 0)
                return -1;
        if (gt_timed_read(bench, (size_t)sizes, TIMES, us) != 0)
            return -1;
        for (int i = 0; i < sizes; i++)
            take(s, (double)parts_of(&kind, bytes_of(i)) * 16 * (kind.reads + kind.writes), us + (size_t)i * TIMES);
    }
    return 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void state_found(struct gt_bench *bench, const char *key, double value, const struct streaming *s,
                        double error)
{
    gt_found(bench->found, key, value, (struct gt_bench_summary){ value, value, value, 1 },
             "fitted to %zu kernels that map, add and sum up 1 KB to 1 GB: median error %.1f %%", s->count,
             100 * error);
}

static int fit(struct gt_bench *bench, struct streaming *s)
{
    struct gt_device *device = gt_calloc(1, sizeof *device);
    double error = 0, unsure_us;
    int status = gt_calibration_device(bench->found, device, bench->error);

    if (status == 0) {
        error = gt_streaming_fit(device, s->kernels, s->count);
        state_found(bench, "kernel.least_us", (double)device->kernel.least_ps / 1e6, s, error);
        state_found(bench, "kernel.l2_part", device->kernel.l2_part, s, error);
        state_found(bench, "kernel.dram_part", device->kernel.dram_part, s, error);
        state_found(bench, "kernel.l2_holds_part", device->kernel.l2_holds_part, s, error);
        state_found(bench, "kernel.l2_spills_part", device->kernel.l2_spills_part, s, error);
        qsort(s->apart_us, s->apart, sizeof *s->apart_us, by_size);
        unsure_us = s->apart_us[s->apart * 95 / 100];
        gt_found(bench->found, "kernel.unsure_us", unsure_us,
                 (struct gt_bench_summary){ unsure_us, unsure_us, unsure_us, 1 },
                 "19 of 20 launches of those of up to 1 MiB differ by less from the next one");
    }
    free(device);
    return status;
}

static int measure_streaming(struct gt_bench *bench)
{
    struct streaming *s = gt_calloc(1, sizeof *s);
    uint64_t room = MOST_BYTES;
    char *at = NULL;
    int status;

    while (cudaMalloc((void **)&at, room) != cudaSuccess) {
        cudaGetLastError(); /* as if nobody had asked */
        room /= 2;
    }
    status = measure(bench, at, room, s);
    if (status == 0 && s->count > 0)
        status = fit(bench, s);
    cudaFree(at);
    free(s);
    return status;
}

int gt_calibrate_families(struct gt_bench *bench)
{
    if (gt_bench_record_kernels(bench, true) != 0 || measure_streaming(bench) != 0 ||
        gt_calibrate_products(bench) != 0)
        return -1;
    return gt_bench_record_kernels(bench, false);
}
