/* grid_sync.c - blocks that meet: barriers over a grid by its size; cooperative launches; programmatic ones, which come before
 * the kernel ahead is over; and a thread that polls. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/library.h"
#include "validate/calibrate/cycles.h"
#include "validate/calibrate/groups.h"

enum { THREADS = 128, REGISTERS = 32, ROUNDS = 9, SIZES = 5, FEW = 10, MANY = 110, PAIRS = 16 };
enum { STARTS = 40 };
static const double phase_us = 0.3, kernel_us = 20, hold_us = 20000;

/* One launch of spin_phases. */
struct sync_launch {
    uint32_t blocks, shared_bytes, barriers, early_pct;
    bool cooperative, programmatic;
    double us, prologue_us;
};

static int launch(struct gt_bench *bench, const struct sync_launch *sync_launch, uint32_t first_record,
                  cudaStream_t stream)
{
    double cycles = sync_launch->us * bench->mhz;
    struct gt_gpu_launch what = {
        .grid = { sync_launch->blocks, 1, 1 },
        .block = { THREADS, 1, 1 },
        .cluster = { 1, 1, 1 },
        .dynamic_shared_bytes = sync_launch->shared_bytes,
        .registers_per_thread = REGISTERS,
        .stream = stream,
        .arguments = &cycles,
        .cooperative = sync_launch->cooperative,
        .programmatic = sync_launch->programmatic,
        .grid_barriers = sync_launch->barriers,
        .early_pct = sync_launch->early_pct,
        .prologue_cycles = (uint64_t)(sync_launch->prologue_us * bench->mhz),
        .log = bench->log + first_record,
        .scratch = bench->device[0],
    };
    const struct gt_library_kernel *kernel = gt_library_kernel_find("spin_phases", bench->error);

    if (kernel == NULL)
        return -1;
    GT_TRY(kernel->launch(&what));
    return 0;
}

/* The kernel may have its shared memory, and its counter is zero. */
static int prepare(struct gt_bench *bench)
{
    double cycles = 1;
    struct gt_gpu_launch what = {
        .grid = { 1, 1, 1 },
        .block = { THREADS, 1, 1 },
        .cluster = { 1, 1, 1 },
        .dynamic_shared_bytes = gt_bench_one_block_bytes(bench),
        .registers_per_thread = REGISTERS,
        .arguments = &cycles,
        .scratch = bench->device[0],
    };
    const struct gt_library_kernel *kernel = gt_library_kernel_find("spin_phases", bench->error);

    if (kernel == NULL)
        return -1;
    GT_TRY(gt_library_prepare(kernel, &what, 1));
    GT_TRY(cudaDeviceSynchronize());
    return 0;
}

/* How long a grid with so many barriers is there, from its first block's start to its last one's end. */
static int stay_us(struct gt_bench *bench, uint32_t blocks, uint32_t barriers, double *us)
{
    const struct sync_launch sync_launch = {
        .blocks = blocks, .barriers = barriers, .cooperative = true, .us = (barriers + 1) * phase_us
    };
    struct gt_stay stay;

    if (launch(bench, &sync_launch, 0, bench->streams[0]) != 0 || gt_bench_read(bench, blocks) != 0)
        return -1;
    stay = gt_bench_span(bench, 0, blocks);
    *us = gt_bench_us(stay.start_ns, stay.end_ns);
    return 0;
}

/* Of a block's part in a large barrier, this much is its seeing that it is open, the rest its being counted: blocks that come
 * one after the other have no more than that (random traces; sim/devices/h200.ini). */
static const double seeing_part = 0.6;

/* Barriers of many sizes, all blocks at once: a small one, and what each block adds to a large one; they overlap, so that
 * their squares add up (sim/gpu/grid_sync.c). */
static void state_barrier(struct gt_bench *bench, const double *blocks, const double *us, const char *each)
{
    double empty[SIZES], block[SIZES], base = us[0], slope = us[SIZES - 1] / blocks[SIZES - 1];
    struct gt_bench_summary of_empty, of_block;

    for (int i = 0; i < SIZES; i++) {
        empty[i] = sqrt(fmax(0, us[i] * us[i] - slope * blocks[i] * slope * blocks[i]));
        block[i] = 1000 * sqrt(fmax(0, us[i] * us[i] - base * base)) / blocks[i];
    }
    base = empty[0];
    slope = 1000 * sqrt(fmax(0, us[SIZES - 1] * us[SIZES - 1] - base * base)) / blocks[SIZES - 1];
    of_empty = gt_summarise(empty, SIZES);
    of_block = gt_summarise(block, SIZES);
    gt_found(bench->found, "latency.barrier_us", base, of_empty, "barriers over grids, us by blocks: %s", each);
    gt_found(bench->found, "latency.barrier_block_ns", seeing_part * slope, gt_summary_times(of_block, seeing_part),
             "the same barriers: %.2f ns a block, %.1f of it", slope, seeing_part);
    gt_found(bench->found, "latency.barrier_arrival_ns", (1 - seeing_part) * slope,
             gt_summary_times(of_block, 1 - seeing_part), "the rest of it");
}

/* What each of many barriers takes more than the work between them. */
static int measure_barrier(struct gt_bench *bench)
{
    static const uint32_t an_sm[SIZES] = { 1, 2, 4, 8, 16 };
    double samples[ROUNDS], x[SIZES], y[SIZES], few, many;
    char each[GT_FINDING_METHOD_BYTES] = "";

    for (int i = 0; i < SIZES; i++) {
        uint32_t blocks = an_sm[i] * (uint32_t)bench->gpu.multiProcessorCount;

        for (int round = -1; round < ROUNDS; round++) {
            if (stay_us(bench, blocks, FEW, &few) != 0 || stay_us(bench, blocks, MANY, &many) != 0)
                return -1;
            samples[round < 0 ? 0 : round] = (many - few) / (MANY - FEW) - phase_us;
        }
        x[i] = blocks;
        y[i] = gt_summarise(samples, ROUNDS).median;
        snprintf(each + strlen(each), sizeof each - strlen(each), "%s%u: %.3f", i > 0 ? ", " : "", blocks, y[i]);
    }
    state_barrier(bench, x, y, each);
    return 0;
}

/* CPU time of launches of one sort on an idle GPU, and from their end to the start; and gaps of a chain of them. */
struct launches {
    struct gt_bench_summary call, start, gap;
};

static int measure_launches(struct gt_bench *bench, const struct sync_launch *sync_launch, struct launches *found)
{
    struct gt_clock_tie before, after;
    uint64_t began_ns[STARTS], called_ns[STARTS];
    double call[STARTS], start[STARTS], gap[PAIRS];

    if (gt_bench_tie(bench, &before) != 0)
        return -1;
    for (uint32_t i = 0; i < STARTS; i++) {
        gt_bench_idle_us(30);
        began_ns[i] = gt_clock_ns();
        if (launch(bench, sync_launch, i * sync_launch->blocks, bench->streams[0]) != 0)
            return -1;
        called_ns[i] = gt_clock_ns();
        GT_TRY(cudaStreamSynchronize(bench->streams[0]));
    }
    if (gt_bench_read(bench, STARTS * sync_launch->blocks) != 0 || gt_bench_tie(bench, &after) != 0)
        return -1;
    for (uint32_t i = 0; i < STARTS; i++) {
        uint64_t start_ns = gt_bench_span(bench, i * sync_launch->blocks, sync_launch->blocks).start_ns;

        call[i] = gt_bench_us(began_ns[i], called_ns[i]);
        start[i] = (gt_clock_host_ns(&before, &after, start_ns) - (double)called_ns[i]) / 1000;
    }
    if (gt_bench_close_gate(bench, bench->streams[0], hold_us) != 0)
        return -1;
    for (uint32_t i = 0; i <= PAIRS; i++)
        if (launch(bench, sync_launch, i * sync_launch->blocks, bench->streams[0]) != 0)
            return -1;
    gt_bench_open_gate(bench);
    if (gt_bench_read(bench, (PAIRS + 1) * sync_launch->blocks) != 0)
        return -1;
    for (uint32_t i = 0; i < PAIRS; i++)
        gap[i] = gt_bench_us(gt_bench_span(bench, i * sync_launch->blocks, sync_launch->blocks).end_ns,
                             gt_bench_span(bench, (i + 1) * sync_launch->blocks, sync_launch->blocks).start_ns);
    found->call = gt_summarise(call, STARTS);
    found->start = gt_summarise(start, STARTS);
    found->gap = gt_summarise(gap, PAIRS);
    return 0;
}

static int measure_cooperative(struct gt_bench *bench)
{
    uint32_t blocks = (uint32_t)bench->gpu.multiProcessorCount;
    struct sync_launch plain = { .blocks = blocks, .us = 5 }, together = plain, early = plain;
    struct launches of_plain, of_together, of_early;
    struct gt_bench_summary more, gap;

    together.cooperative = true;
    early.programmatic = true;
    if (measure_launches(bench, &plain, &of_plain) != 0 || measure_launches(bench, &together, &of_together) != 0 ||
        measure_launches(bench, &early, &of_early) != 0)
        return -1;
    more = gt_summary_less(of_together.call, of_plain.call.median);
    more.median = fmax(0, (of_together.call.median + of_early.call.median) / 2 - of_plain.call.median);
    gap = gt_summary_less(of_together.gap, of_plain.gap.median);
    gt_found(bench->found, "host.attributes_call_us", more.median, more,
             "launches on an idle GPU: plain %.2f, cooperative %.2f, programmatic %.2f", of_plain.call.median,
             of_together.call.median, of_early.call.median);
    gt_found(bench->found, "latency.cooperative_us", fmax(0, gap.median), gap,
             "gaps: plain %.2f, cooperative %.2f, programmatic %.2f; call's end to start: %.2f, %.2f, %.2f",
             of_plain.gap.median, of_together.gap.median, of_early.gap.median, of_plain.start.median,
             of_together.start.median, of_early.start.median);
    return 0;
}

/* Half of the SMs are taken by a plain kernel when a cooperative one of a block an SM comes: does it wait for all? */
static int measure_at_once(struct gt_bench *bench)
{
    uint32_t sms = (uint32_t)bench->gpu.multiProcessorCount, early = 0, shared = gt_bench_one_block_bytes(bench);
    const struct sync_launch half = { .blocks = sms / 2, .shared_bytes = shared, .us = 200 };
    const struct sync_launch all = { .blocks = sms, .shared_bytes = shared, .us = 5, .cooperative = true };
    struct gt_bench_summary none = { 0 };

    for (int round = 0; round < ROUNDS; round++) {
        if (launch(bench, &half, 0, bench->streams[0]) != 0 || launch(bench, &all, sms, bench->streams[1]) != 0 ||
            gt_bench_read(bench, 2 * sms) != 0)
            return -1;
        early += gt_bench_span(bench, sms, sms).start_ns < gt_bench_span(bench, 0, sms / 2).end_ns;
    }
    gt_found(
        bench->found, "scheduling.cooperative_at_once", early > ROUNDS / 2 ? 0 : 1, none,
        "half of the SMs taken: in %u of %d times blocks of a cooperative launch of all began before they were free",
        early, ROUNDS);
    return 0;
}

/* Pairs in a stream: a kernel that lets the next one come after that part of its time, and one launched so. */
static int play_pairs(struct gt_bench *bench, uint32_t early_pct, double *come_us, double *wait_us)
{
    uint32_t blocks = (uint32_t)bench->gpu.multiProcessorCount;
    const struct sync_launch first = { .blocks = blocks, .us = kernel_us, .early_pct = early_pct };
    const struct sync_launch second = { .blocks = blocks, .us = 5, .programmatic = true };

    if (gt_bench_close_gate(bench, bench->streams[0], hold_us) != 0)
        return -1;
    for (uint32_t i = 0; i < PAIRS; i++)
        if (launch(bench, &first, 2 * i * blocks, bench->streams[0]) != 0 ||
            launch(bench, &second, (2 * i + 1) * blocks, bench->streams[0]) != 0)
            return -1;
    gt_bench_open_gate(bench);
    if (gt_bench_read(bench, 2 * PAIRS * blocks) != 0)
        return -1;
    for (uint32_t i = 0; i < PAIRS; i++) {
        struct gt_stay one = gt_bench_span(bench, 2 * i * blocks, blocks);
        struct gt_stay two = gt_bench_span(bench, (2 * i + 1) * blocks, blocks);
        uint64_t last_ns = 0;

        for (uint32_t b = 0; b < blocks; b++)
            if (bench->blocks[2 * i * blocks + b].start_ns > last_ns)
                last_ns = bench->blocks[2 * i * blocks + b].start_ns;
        come_us[i] = gt_bench_us(last_ns, two.start_ns) - kernel_us * (100 - early_pct) / 100;
        wait_us[i] = gt_bench_us(one.end_ns, two.end_ns) - second.us;
    }
    return 0;
}

static int measure_programmatic(struct gt_bench *bench)
{
    double come_us[PAIRS], wait_us[PAIRS], behind_us[PAIRS], unused[PAIRS];
    struct gt_bench_summary come, wait, behind;

    if (play_pairs(bench, 50, come_us, wait_us) != 0 || play_pairs(bench, 50, come_us, wait_us) != 0 ||
        play_pairs(bench, 0, behind_us, unused) != 0)
        return -1;
    come = gt_summarise(come_us, PAIRS);
    wait = gt_summarise(wait_us, PAIRS);
    behind = gt_summarise(behind_us, PAIRS);
    gt_found(bench->found, "latency.programmatic_us", fmax(0, come.median), come,
             "from the last block's trigger to the next kernel's first block; %.2f from its end without a trigger",
             behind.median);
    gt_found(bench->found, "latency.programmatic_wait_us", fmax(0, wait.median), wait,
             "from a kernel's end to its dependent's going on, whose blocks are there");
    return 0;
}

/* Queries while the answer is no, and from a kernel's end to the first that says yes. */
static int measure_poll(struct gt_bench *bench)
{
    const struct sync_launch kernel = { .blocks = 1, .us = 30 };
    struct gt_clock_tie before, after;
    uint64_t seen_ns[STARTS];
    double query[2], seen[STARTS], calls[STARTS];
    struct gt_bench_summary each, late;

    if (gt_bench_tie(bench, &before) != 0)
        return -1;
    for (uint32_t i = 0; i < STARTS; i++) {
        uint64_t began_ns, asked = 0;

        gt_bench_idle_us(20);
        if (launch(bench, &kernel, i, bench->streams[0]) != 0)
            return -1;
        GT_TRY(cudaEventRecord(bench->marks[0], bench->streams[0]));
        began_ns = gt_clock_ns();
        for (cudaError_t code = cudaErrorNotReady; code == cudaErrorNotReady; asked++) {
            code = i % 2 == 0 ? cudaEventQuery(bench->marks[0]) : cudaStreamQuery(bench->streams[0]);
            if (code != cudaErrorNotReady)
                GT_TRY(code);
        }
        seen_ns[i] = gt_clock_ns();
        calls[i] = gt_bench_us(began_ns, seen_ns[i]) / (double)asked;
    }
    if (gt_bench_read(bench, STARTS) != 0 || gt_bench_tie(bench, &after) != 0)
        return -1;
    query[0] = query[1] = 0;
    for (uint32_t i = 0; i < STARTS; i++) {
        query[i % 2] += calls[i] / (STARTS / 2);
        seen[i] =
            ((double)seen_ns[i] - gt_clock_host_ns(&before, &after, bench->blocks[i].end_ns)) / 1000 - calls[i] / 2;
    }
    each = gt_summarise(calls, STARTS);
    late = gt_summarise(seen, STARTS);
    gt_found(bench->found, "host.poll_query_us", each.median, each,
             "queries of a kernel that runs, the last one with them: event %.3f, stream %.3f", query[0], query[1]);
    gt_found(bench->found, "latency.poll_seen_us", fmax(0, late.median), late,
             "kernel's end to the answer of the query that says so, less half a query");
    return 0;
}

int gt_calibrate_grid_sync(struct gt_bench *bench)
{
    if (prepare(bench) != 0)
        return -1;
    return measure_barrier(bench) != 0 || measure_cooperative(bench) != 0 || measure_at_once(bench) != 0 ||
                   measure_programmatic(bench) != 0 || measure_poll(bench) != 0
               ? -1
               : 0;
}
