/* calibrate_between.c - kernels and copies in turn in one stream: what a copy costs between two kernels.
 * No key holds these; they are notes in the file's head. */
#include <stdio.h>

#include "validate/calibrate_groups.h"

enum { TURNS = 16, ROUNDS = 8, BYTES = 4096, SKIPPED = 2 };
static const double kernel_us = 5, hold_us = 20000;

struct turn {
    const char *name;
    enum cudaMemcpyKind kind; /* cudaMemcpyDefault: a memset */
};

static const struct turn turns[] = {
    {"copy up", cudaMemcpyHostToDevice},
    {"copy down", cudaMemcpyDeviceToHost},
    {"copy within", cudaMemcpyDeviceToDevice},
    {"memset", cudaMemcpyDefault},
};

static int queue(struct gt_bench *bench, const struct turn *turn)
{
    void *to = turn->kind == cudaMemcpyDeviceToHost ? bench->pinned : bench->device[0];
    void *from = turn->kind == cudaMemcpyHostToDevice ? bench->pinned : bench->device[1];
    if (turn->kind == cudaMemcpyDefault)
        GT_TRY(cudaMemsetAsync(to, 0, BYTES, bench->streams[0]));
    else
        GT_TRY(cudaMemcpyAsync(to, from, BYTES, turn->kind, bench->streams[0]));
    return 0;
}

/* Kernel, transfer, kernel, transfer, ..., kernel, all queued before the first may run. */
static int play(struct gt_bench *bench, const struct turn *turn)
{
    const struct gt_bench_spin spin = {1, 32, 0, 0, kernel_us, 0, 0};
    if (gt_bench_take_records(bench) != 0 || gt_bench_close_gate(bench, bench->streams[0], hold_us) != 0)
        return -1;
    for (uint32_t i = 0; i <= TURNS; i++)
        if (gt_bench_launch(bench, &spin, i, bench->streams[0]) != 0 ||
            (i < TURNS && queue(bench, turn) != 0))
            return -1;
    gt_bench_open_gate(bench);
    if (gt_bench_take_records(bench) != 0)
        return -1;
    return gt_bench_read(bench, TURNS + 1);
}

static int measure(struct gt_bench *bench, const struct turn *turn)
{
    double whole[ROUNDS * TURNS], before[ROUNDS * TURNS], itself[ROUNDS * TURNS], behind[ROUNDS * TURNS];
    size_t count = 0, recorded = 0;
    for (int r = 0; r < ROUNDS; r++) {
        if (play(bench, turn) != 0)
            return -1;
        const struct gt_gpu_record *records = NULL; /* the gate's kernel comes before these */
        if (bench->record_count >= 2 * TURNS + 1)
            records = bench->records + (bench->record_count - (2 * TURNS + 1));
        for (uint32_t i = SKIPPED; i < TURNS; i++) {
            whole[count++] = gt_bench_us(bench->blocks[i].end_ns, bench->blocks[i + 1].start_ns);
            if (records == NULL)
                continue;
            before[recorded] = gt_bench_us(records[2 * i].end_ns, records[2 * i + 1].start_ns);
            itself[recorded] = gt_bench_us(records[2 * i + 1].start_ns, records[2 * i + 1].end_ns);
            behind[recorded++] = gt_bench_us(records[2 * i + 1].end_ns, records[2 * i + 2].start_ns);
        }
    }
    struct gt_summary summary = gt_summarise(whole, count);
    if (recorded == 0)
        gt_found_note(bench->found,
                      "kernel, %s of 4 KiB, kernel: %.2f us between the blocks (quartiles %.2f to %.2f)",
                      turn->name, summary.median, summary.low, summary.high);
    else
        gt_found_note(bench->found, "kernel, %s of 4 KiB, kernel: %.2f us between the blocks; "
                      "by CUPTI's times %.2f + %.2f + %.2f",
                      turn->name, summary.median, gt_summarise(before, recorded).median,
                      gt_summarise(itself, recorded).median, gt_summarise(behind, recorded).median);
    return 0;
}

int gt_calibrate_between(struct gt_bench *bench)
{
    for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++)
        if (measure(bench, &turns[i]) != 0)
            return -1;
    return 0;
}
