#include "validate/calibrate/timed.h"

#include <math.h>

/* A memset of so many bytes, which no library does, goes before each thing: CUPTI does not say what a kernel was launched for. */
enum { MARK_BYTES = 13 };

int gt_timed_next(struct gt_bench *bench)
{
    GT_TRY(cudaMemsetAsync(bench->log, 0, MARK_BYTES, bench->streams[0]));
    return 0;
}

static bool is_mark(const struct gt_gpu_record *record)
{
    return record->kind == GT_OP_MEMSET && record->bytes == MARK_BYTES;
}

/* The kernels among records first to last - 1 are `times` equal parts. */
static void add_up(const struct gt_gpu_record *records, size_t first, size_t last, uint32_t times, double *us)
{
    size_t kernels = 0, seen = 0;

    for (size_t i = first; i < last; i++)
        kernels += records[i].kind == GT_OP_KERNEL;
    for (uint32_t t = 0; t < times; t++)
        us[t] = kernels == 0 || kernels % times != 0 ? NAN : 0;
    for (size_t i = first; i < last && kernels > 0; i++)
        if (records[i].kind == GT_OP_KERNEL)
            us[seen++ * times / kernels] += gt_bench_us(records[i].start_ns, records[i].end_ns);
}

int gt_timed_read(struct gt_bench *bench, size_t things, uint32_t times, double *us)
{
    size_t thing = 0, next;

    if (gt_bench_take_records(bench) != 0)
        return -1;
    for (size_t i = 0; i < bench->record_count; i = next) {
        for (next = i + 1; next < bench->record_count && !is_mark(&bench->records[next]);)
            next++;
        if (is_mark(&bench->records[i]) && thing < things)
            add_up(bench->records, i + 1, next, times, us + thing++ * times);
    }
    if (thing < things)
        return gt_error_set(bench->error, "CUPTI recorded %zu of %zu marks between kernels", thing, things);
    return 0;
}
