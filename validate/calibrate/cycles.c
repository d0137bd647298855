/* cycles.c - kernels that read their SM's clock, run to their end. */
#include "validate/calibrate/cycles.h"

#include <stdlib.h>

#include "kernels/calibrate/memory.h"

enum { FLUSH_THREADS = 1024 };

int gt_bench_run(struct gt_bench *bench, const void *kernel, uint32_t blocks, uint32_t threads, void **arguments)
{
    GT_TRY(
        cudaLaunchKernel(kernel, (dim3){ blocks, 1, 1 }, (dim3){ threads, 1, 1 }, arguments, 0, bench->streams[0]));
    GT_TRY(cudaStreamSynchronize(bench->streams[0]));
    return 0;
}

int gt_bench_bring(struct gt_bench *bench, void *to, const void *from, size_t bytes)
{
    GT_TRY(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
    return 0;
}

double gt_bench_known(const struct gt_bench *bench, const char *key)
{
    const char *value = gt_finding_of(bench->found, key)->value;
    return value != NULL ? strtod(value, NULL) : 0;
}

int gt_bench_flush_l2(struct gt_bench *bench)
{
    struct gt_block_log *log = bench->log;
    const void *from = bench->device[0];
    void *to = bench->device[1];
    uint64_t bytes = GT_BENCH_BUFFER_BYTES;
    uint32_t rounds = 1;
    void *arguments[] = { &log, &from, &to, &bytes, &rounds };
    return gt_bench_run(bench, (const void *)gt_calibrate_read, (uint32_t)bench->gpu.multiProcessorCount,
                        FLUSH_THREADS, arguments);
}
