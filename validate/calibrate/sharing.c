/* sharing.c - processes that share the GPU: time slices and their switches, SMs of MPS clients and green contexts.  Each process is
 * forked before CUDA is used; they meet, and leave what they saw in memory that all have. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/sort.h"
#include "validate/calibrate/groups.h"
#include "validate/gpu/green_driver.h"
#include "validate/gpu/mps.h"
#include "validate/gpu/together.h"

enum { PROCESSES = 2, STRETCHES = 128, ROUNDS = 21, SMS_MOST = 1024 };
static const uint64_t watched_ns = 120000000, pause_ns = 15000;
static const double long_us = 600, short_us = 20, later_us = 250, apart_us = 3000;

struct board {
    struct gt_together *together;
    struct gt_error error;     /* of a process that failed */
    bool fills;                /* two blocks on each SM, with most of its shared memory; else one block on one */
    double shared_kib;         /* of an SM, that they hold */
    struct gt_sharing sharing; /* of the process that counts its SMs */
    struct gt_block_log stretches[STRETCHES];
    struct gt_stay stays[PROCESSES][ROUNDS];
    uint32_t sms;
};

typedef int (*act)(struct gt_bench *bench, struct board *board, int number);

/* A process, from its beginning to its end. */
_Noreturn static void be_process(const struct gt_bench *bench, struct board *board, act what, int number)
{
    struct gt_error error = { "" };
    struct gt_bench own = { .found = bench->found, .error = &error };

    gt_mps_join(&board->sharing);
    if (gt_bench_open(&own) == 0 && what(&own, board, number) == 0)
        _exit(0);
    board->error = error;
    gt_together_fail(board->together);
    _exit(1);
}

/* So many processes do it at the same time; -1 with one's reason where it failed. */
static int let(struct gt_bench *bench, struct board *board, int processes, act what)
{
    pid_t children[PROCESSES];
    int status, failed = 0;

    board->together = gt_together_new((uint32_t)processes);
    board->error = (struct gt_error){ "" };
    if (board->together == NULL)
        gt_no_memory("processes that meet");
    fflush(NULL);
    for (int i = 0; i < processes; i++) {
        children[i] = fork();
        if (children[i] == 0)
            be_process(bench, board, what, i);
        if (children[i] < 0)
            gt_together_fail(board->together);
    }
    for (int left = processes; left > 0; left--) {
        if (wait(&status) >= 0 && status == 0)
            continue;
        failed++;
        gt_together_fail(board->together); /* for one that could not say so itself */
    }
    gt_together_free(board->together);
    if (failed == 0)
        return 0;
    return gt_error_set(bench->error, "%s",
                        board->error.text[0] != '\0' ? board->error.text : "a process for it ended early");
}

/* Both run all the time; the first one's stretches. */
static int take_turns(struct gt_bench *bench, struct board *board, int number)
{
    uint32_t bytes = board->fills ? (uint32_t)bench->gpu.sharedMemPerMultiprocessor * 7 / 16 : 0, most = STRETCHES;
    uint32_t blocks = bytes > 0 ? 2 * (uint32_t)bench->gpu.multiProcessorCount : 1;
    uint64_t ns = watched_ns, pause = pause_ns;
    void *arguments[] = { &bench->log, &ns, &pause, &most };

    GT_TRY(cudaFuncSetAttribute((const void *)gt_calibrate_stretches, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)bytes));
    board->shared_kib = 2 * bytes / 1024.0;
    gt_together_meet(board->together);
    GT_TRY(cudaLaunchKernel((const void *)gt_calibrate_stretches, (dim3){ blocks, 1, 1 }, (dim3){ 32, 1, 1 },
                            arguments, bytes, bench->streams[0]));
    if (gt_bench_read(bench, STRETCHES) != 0)
        return -1;
    if (number == 0)
        memcpy(board->stretches, bench->blocks, sizeof board->stretches);
    gt_together_meet(board->together);
    return 0;
}

/* How long the stretches and the pauses behind them are, without the first and the last. */
static size_t measure_turns(const struct board *board, double *runs_us, double *pauses_us)
{
    const struct gt_block_log *log = board->stretches;
    size_t count = 0;

    for (size_t i = 1; i + 1 < STRETCHES && log[i].start_ns != 0 && log[i + 1].start_ns != 0; i++) {
        runs_us[count] = gt_bench_us(log[i].start_ns, log[i].end_ns);
        pauses_us[count++] = gt_bench_us(log[i].end_ns, log[i + 1].start_ns);
    }
    return count;
}

static int measure_slices(struct gt_bench *bench, struct board *board)
{
    double runs_us[STRETCHES], pauses_us[STRETCHES], full_us[STRETCHES], switches_us[STRETCHES];
    struct gt_bench_summary slice, full;
    size_t count, full_count;

    if (let(bench, board, PROCESSES, take_turns) != 0)
        return -1;
    count = measure_turns(board, runs_us, pauses_us);
    if (count < 5) {
        gt_not_found(bench->found, "sharing.slice_us", "a process beside another was stopped %zu times in %.0f ms",
                     count, (double)watched_ns / 1e6);
        return 0;
    }
    slice = gt_summarise(runs_us, count);
    gt_found(bench->found, "sharing.slice_us", slice.median, slice,
             "stretches in which a block of one of two processes ran");
    for (size_t i = 0; i < count; i++)
        switches_us[i] = (pauses_us[i] - slice.median) / 2;
    gt_found(bench->found, "sharing.switch_us", gt_summarise(switches_us, count).median,
             gt_summarise(switches_us, count), "half of what the pauses between them are longer");
    board->fills = true;
    if (let(bench, board, PROCESSES, take_turns) != 0)
        return -1;
    board->fills = false;
    full_count = measure_turns(board, full_us, pauses_us);
    full = gt_summarise(full_us, full_count);
    for (size_t i = 0; i < full_count; i++)
        full_us[i] = (slice.median - full_us[i]) * 1e3 / board->shared_kib;
    if (full_count > 4)
        gt_found(bench->found, "sharing.restore_ns", fmax(0, (slice.median - full.median) * 1e3 / board->shared_kib),
                 gt_summarise(full_us, full_count), "stretches of %.0f us with %.0f KiB held on all SMs", full.median,
                 board->shared_kib);
    return 0;
}

/* The first has a long kernel; the second one's short kernel comes while that runs. */
static int hand_over(struct gt_bench *bench, struct board *board, int number)
{
    const struct gt_bench_spin spin = { 1, 32, 0, 0, number == 0 ? long_us : short_us, 0, 0 };

    for (int i = 0; i < ROUNDS; i++) {
        gt_together_meet(board->together);
        gt_bench_idle_us(number == 0 ? apart_us : apart_us + later_us);
        if (gt_bench_launch(bench, &spin, 0, bench->streams[0]) != 0 || gt_bench_read(bench, 1) != 0)
            return -1;
        board->stays[number][i] = gt_bench_span(bench, 0, 1);
    }
    gt_together_meet(board->together);
    return 0;
}

static int measure_switch(struct gt_bench *bench, struct board *board)
{
    double us[ROUNDS];
    struct gt_bench_summary summary;

    if (let(bench, board, PROCESSES, hand_over) != 0)
        return -1;
    for (int i = 0; i < ROUNDS; i++)
        us[i] = gt_bench_us(board->stays[0][i].end_ns, board->stays[1][i].start_ns);
    summary = gt_summarise(us, ROUNDS);
    gt_found(bench->found, "sharing.idle_switch_us", summary.median, summary,
             "from the end of one process's kernel to the start of one that another has waiting");
    return 0;
}

/* On how many SMs a block for each of them finds one. */
static int count_sms(struct gt_bench *bench, struct board *board, int number)
{
    uint32_t blocks = (uint32_t)bench->gpu.multiProcessorCount;
    const struct gt_bench_spin spin = { blocks, 32, gt_bench_one_block_bytes(bench), 0, 300, 0, 0 };
    bool seen[SMS_MOST] = { false };

    (void)number;
    if (gt_bench_launch(bench, &spin, 0, bench->streams[0]) != 0 || gt_bench_read(bench, blocks) != 0)
        return -1;
    board->sms = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        board->sms += bench->blocks[i].sm < SMS_MOST && !seen[bench->blocks[i].sm];
        seen[bench->blocks[i].sm % SMS_MOST] = true;
    }
    return 0;
}

static uint32_t common_part(uint32_t a, uint32_t b)
{
    return b == 0 ? a : common_part(b, a % b);
}

static int measure_percentages(struct gt_bench *bench, struct board *board)
{
    static const uint8_t percents[] = { 1, 8, 10, 15, 25, 33, 50, 66, 75, 90 };
    enum { COUNT = sizeof percents / sizeof percents[0] };
    uint32_t sms[COUNT], step = 0;
    struct gt_error why;
    char text[16];

    if (gt_mps_start(&why) != 0) {
        gt_not_found(bench->found, "sharing.mps_step_sms", "%s", why.text);
        gt_not_found(bench->found, "sharing.mps_least_sms", "%s", why.text);
        return 0;
    }
    for (int i = 0; i < COUNT; i++) {
        board->sharing = (struct gt_sharing){ .how = GT_SHARE_MPS, .percent = percents[i] };
        if (let(bench, board, 1, count_sms) != 0)
            return -1;
        sms[i] = board->sms;
        step = common_part(sms[i], step);
    }
    snprintf(text, sizeof text, "%u", step);
    gt_found_text(bench->found, "sharing.mps_step_sms", text,
                  "MPS clients with 10, 25, 50 and 75 %% of the threads had %u, %u, %u and %u SMs", sms[2], sms[4],
                  sms[6], sms[8]);
    snprintf(text, sizeof text, "%u", sms[0]);
    gt_found_text(bench->found, "sharing.mps_least_sms", text, "an MPS client with 1 %% of the threads");
    return 0;
}

/* What a green context that asks for one SM gets. */
static int split(struct gt_bench *bench, struct board *board, int number)
{
    CUdevResource whole, rest, group;
    unsigned count = 1;

    (void)number;
    if (gt_green_driver_find(bench->error) != 0)
        return -1;
    if (gt_green_driver.get_resource(0, &whole, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS ||
        gt_green_driver.split(&group, &count, &whole, &rest, 0, 1) != CUDA_SUCCESS)
        return gt_error_set(bench->error, "the driver does not split the SMs");
    board->sms = group.sm.smCount;
    return 0;
}

static int measure_green(struct gt_bench *bench, struct board *board)
{
    char text[16];

    if (let(bench, board, 1, split) != 0) {
        gt_not_found(bench->found, "sharing.green_step_sms", "%s", bench->error->text);
        return 0;
    }
    snprintf(text, sizeof text, "%u", board->sms);
    gt_found_text(bench->found, "sharing.green_step_sms", text, "a green context that asked for one SM");
    return 0;
}

int gt_calibrate_sharing(struct gt_bench *bench)
{
    struct board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;

    if (board == MAP_FAILED)
        return gt_error_set(bench->error, "no memory for processes: %s", strerror(errno));
    status = measure_slices(bench, board);
    if (status == 0)
        status = measure_switch(bench, board);
    if (status == 0)
        status = measure_green(bench, board);
    if (status == 0)
        status = measure_percentages(bench, board);
    gt_mps_stop();
    munmap(board, sizeof *board);
    return status;
}
