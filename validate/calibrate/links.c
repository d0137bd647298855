/* links.c - what lies between the first two GPUs: gaps from one to the other, both directions at once, copies that are
 * pulled, copies without peer access.  Copies and kernels by CUPTI's times, which are on one clock for both GPUs. */
#include <math.h>
#include <stdlib.h>

#include "sim/devices/links.h"
#include "validate/calibrate/groups.h"

enum { TURNS = 24, ROUNDS = 9, SAMPLES = TURNS * ROUNDS, ROW = 20, MANY = 30, TRIES = 40 };
enum { PIECE_BYTES = 64 << 20, SMALL_BYTES = 1 << 20, TURN_BYTES = 256 << 10, STAGED_BYTES = 512 << 10 };
static const double hold_us = 20000, spin_us = 15,
                    traced_us = 0.6; /* a recorded kernel is so much longer than its blocks */

static const char *const keys[] = { "link.event_gap_us", "link.copy_event_gap_us", "link.engine_event_gap_us",
                                    "link.gap_us",       "link.pull_us",           "link.wait_us",
                                    "link.busy_us",      "link.duplex_gbps",       "link.host_latency_us",
                                    "link.host_gbps",    "link.host_duplex_gbps",  "link.call_us",
                                    "link.pull_call_us", "link.wait_call_us",      "link.line_gap_us",
                                    "link.host_call_us", "link.host_piece_call_us" };

/* Both GPUs, a stream and memory on each; GPU 1 has the bench's peer place of its own here. */
struct ends {
    struct gt_bench *bench;
    cudaStream_t streams[2];
    void *memory[2][2];
    cudaEvent_t marks[2][TURNS], times[2];
};

static int make(struct ends *ends)
{
    struct gt_bench *bench = ends->bench;

    for (int gpu = 0; gpu < 2; gpu++) {
        GT_TRY(cudaSetDevice(gpu));
        GT_TRY(cudaStreamCreateWithFlags(&ends->streams[gpu], cudaStreamNonBlocking));
        for (int i = 0; i < 2; i++)
            GT_TRY(cudaMalloc(&ends->memory[gpu][i], PIECE_BYTES));
        for (int i = 0; i < TURNS; i++)
            GT_TRY(cudaEventCreateWithFlags(&ends->marks[gpu][i], cudaEventDisableTiming));
        GT_TRY(cudaEventCreate(&ends->times[gpu]));
    }
    GT_TRY(cudaSetDevice(0));
    GT_TRY(cudaEventDestroy(ends->times[1])); /* both are of GPU 0 */
    GT_TRY(cudaEventCreate(&ends->times[1]));
    return 0;
}

static void drop(struct ends *ends)
{
    for (int gpu = 0; gpu < 2; gpu++) {
        cudaSetDevice(gpu);
        if (ends->streams[gpu] != NULL)
            cudaStreamDestroy(ends->streams[gpu]);
        for (int i = 0; i < 2; i++)
            cudaFree(ends->memory[gpu][i]);
        for (int i = 0; i < TURNS; i++)
            if (ends->marks[gpu][i] != NULL)
                cudaEventDestroy(ends->marks[gpu][i]);
        if (ends->times[gpu] != NULL)
            cudaEventDestroy(ends->times[gpu]);
    }
    cudaSetDevice(0);
}

/* From GPU `from` to the other one, in the stream of GPU `by`. */
static int copy(struct ends *ends, int from, int by, size_t bytes)
{
    struct gt_bench *bench = ends->bench;

    GT_TRY(cudaMemcpyPeerAsync(ends->memory[!from][1], !from, ends->memory[from][0], from, bytes, ends->streams[by]));
    return 0;
}

static int spin(struct ends *ends, int gpu)
{
    const struct gt_bench_spin one = { 1, 32, 0, 0, spin_us, 0, 0 };
    struct gt_bench *bench = ends->bench;
    struct gt_bench_arguments arguments;

    gt_bench_arguments(bench, &one, 0, &arguments);
    arguments.log = NULL; /* it lies on GPU 0 */
    GT_TRY(cudaSetDevice(gpu));
    GT_TRY(cudaLaunchKernel((const void *)gt_calibrate_spin, (dim3){ 1, 1, 1 }, (dim3){ 32, 1, 1 },
                            arguments.pointers, 0, ends->streams[gpu]));
    return 0;
}

/* What the streams hold from now on begins when the gate opens. */
static int close_gate(struct ends *ends)
{
    struct gt_bench *bench = ends->bench;

    GT_TRY(cudaSetDevice(0));
    if (gt_bench_take_records(bench) != 0 || gt_bench_close_gate(bench, bench->streams[0], hold_us) != 0)
        return -1;
    GT_TRY(cudaEventRecord(bench->marks[0], bench->streams[0]));
    for (int gpu = 0; gpu < 2; gpu++)
        GT_TRY(cudaStreamWaitEvent(ends->streams[gpu], bench->marks[0], 0));
    return 0;
}

static int open_gate(struct ends *ends)
{
    struct gt_bench *bench = ends->bench;

    gt_bench_open_gate(bench);
    for (int gpu = 1; gpu >= 0; gpu--) {
        GT_TRY(cudaSetDevice(gpu));
        GT_TRY(cudaDeviceSynchronize());
    }
    return gt_bench_take_records(bench);
}

/* The records of kind `kind` (GT_OP_KINDS: all), without the gate's kernel, which comes first. */
static size_t keep(struct gt_bench *bench, bool kernels)
{
    size_t first = kernels && bench->record_count > 0 ? 1 : 0;

    for (size_t i = first; i < bench->record_count; i++)
        bench->records[i - first] = bench->records[i];
    return bench->record_count -= first;
}

/* Each waits for the one before, on the other GPU, by an event. 'k': a kernel, 'c': a copy to the other GPU. */
static int chain(struct ends *ends, const char *turns, size_t period)
{
    struct gt_bench *bench = ends->bench;

    for (int i = 0, gpu = 0; i < TURNS; i++) {
        char turn = turns[(size_t)i % period];

        if ((turn == 'c' ? copy(ends, gpu, gpu, TURN_BYTES) : spin(ends, gpu)) != 0)
            return -1;
        if (turn == 'K')
            continue; /* the next one is behind it in its stream */
        GT_TRY(cudaEventRecord(ends->marks[gpu][i], ends->streams[gpu]));
        GT_TRY(cudaStreamWaitEvent(ends->streams[!gpu], ends->marks[gpu][i], 0));
        gpu = !gpu;
    }
    return 0;
}

/* Gaps of such a chain before turns whose place in the period is `wanted`. */
static int measure_chain(struct ends *ends, const char *key, const char *turns, size_t period, size_t wanted,
                         double more_us, const char *text)
{
    struct gt_bench *bench = ends->bench;
    bool kernels = turns[0] != 'c';
    double gaps[SAMPLES];
    size_t count = 0;

    if (gt_bench_record_kernels(bench, kernels) != 0)
        return -1;
    for (int r = -1; r < ROUNDS; r++) { /* the first is not kept */
        if (close_gate(ends) != 0 || chain(ends, turns, period) != 0 || open_gate(ends) != 0)
            return -1;
        if (keep(bench, kernels) != TURNS)
            return gt_error_set(bench->error, "CUPTI told of %zu of %d operations", bench->record_count, TURNS);
        for (size_t i = 1; r >= 0 && i < TURNS; i++)
            if (i % period == wanted)
                gaps[count++] = gt_bench_us(bench->records[i - 1].end_ns, bench->records[i].start_ns) + more_us;
    }
    struct gt_bench_summary summary = gt_summarise(gaps, count);
    gt_found(bench->found, key, fmax(0, summary.median), summary, "%s, all asked for before", text);
    return gt_bench_record_kernels(bench, false);
}

/* Gaps between copies in a row in GPU 0's stream: pushed, or pulled. */
static int row_gaps(struct ends *ends, bool pull, struct gt_bench_summary *summary)
{
    struct gt_bench *bench = ends->bench;
    double gaps[ROW * ROUNDS];
    size_t count = 0;

    for (int r = -1; r < ROUNDS; r++) {
        if (close_gate(ends) != 0)
            return -1;
        for (int i = 0; i < ROW; i++)
            if (copy(ends, pull, 0, TURN_BYTES) != 0)
                return -1;
        if (open_gate(ends) != 0)
            return -1;
        for (size_t i = 2; r >= 0 && i < bench->record_count && count < ROW * ROUNDS; i++)
            gaps[count++] = gt_bench_us(bench->records[i - 1].end_ns, bench->records[i].start_ns);
    }
    *summary = gt_summarise(gaps, count);
    return 0;
}

/* Copies that two streams of GPU 0 take in turn from GPU 1. */
static int measure_line(struct ends *ends)
{
    struct gt_bench *bench = ends->bench;
    double gaps[ROW * ROUNDS];
    size_t count = 0;

    for (int r = -1; r < ROUNDS; r++) {
        if (close_gate(ends) != 0)
            return -1;
        for (int i = 0; i < ROW; i++)
            GT_TRY(cudaMemcpyPeerAsync(ends->memory[0][i % 2], 0, ends->memory[1][i % 2], 1, TURN_BYTES,
                                       i % 2 == 0 ? ends->streams[0] : bench->streams[0]));
        if (open_gate(ends) != 0)
            return -1;
        for (size_t i = 2; r >= 0 && i < bench->record_count && count < ROW * ROUNDS; i++)
            gaps[count++] = gt_bench_us(bench->records[i - 1].end_ns, bench->records[i].start_ns);
    }
    struct gt_bench_summary summary = gt_summarise(gaps, count);
    gt_found(bench->found, "link.line_gap_us", fmax(0, summary.median), summary,
             "copies of 256 KiB that two streams take from the other GPU in turn");
    return 0;
}

static int measure_rows(struct ends *ends)
{
    struct gt_bench_summary push, pull;

    if (row_gaps(ends, false, &push) != 0 || row_gaps(ends, true, &pull) != 0)
        return -1;
    gt_found(ends->bench->found, "link.gap_us", push.median, push,
             "copies of 256 KiB in a row in a stream of the sender");
    gt_found(ends->bench->found, "link.pull_us", fmax(0, (pull.median - push.median) / 2), pull,
             "half of what copies in a row in a stream of the receiver are apart beyond those; these are apart by");
    return 0;
}

/* Kernels in a row in GPU 0's stream, with waits between for what GPU 1 has recorded meanwhile, behind a kernel of its own
 * that begins with the first of them; or without. What was recorded when the wait is asked for costs the GPU nothing. */
static int waited_gaps(struct ends *ends, bool waits, struct gt_bench_summary *summary)
{
    enum { FIRST = 4 }; /* GPU 1 is done by then */
    struct gt_bench *bench = ends->bench;
    double gaps[ROW * ROUNDS];
    size_t count = 0;

    for (int r = -1; r < ROUNDS; r++) {
        if (close_gate(ends) != 0 || spin(ends, 1) != 0)
            return -1;
        GT_TRY(cudaEventRecord(ends->marks[1][0], ends->streams[1]));
        for (int i = 0; i < ROW; i++) {
            if (waits && i >= FIRST)
                GT_TRY(cudaStreamWaitEvent(ends->streams[0], ends->marks[1][0], 0));
            if (spin(ends, 0) != 0)
                return -1;
        }
        if (open_gate(ends) != 0)
            return -1;
        keep(bench, true);
        for (size_t i = FIRST + 2; r >= 0 && i < bench->record_count && count < ROW * ROUNDS; i++)
            gaps[count++] = gt_bench_us(bench->records[i - 1].end_ns, bench->records[i].start_ns);
    }
    *summary = gt_summarise(gaps, count);
    return 0;
}

static int measure_waits(struct ends *ends)
{
    struct gt_bench_summary with, without;

    if (gt_bench_record_kernels(ends->bench, true) != 0 || waited_gaps(ends, true, &with) != 0 ||
        waited_gaps(ends, false, &without) != 0)
        return -1;
    gt_found(ends->bench->found, "link.wait_us", fmax(0, with.median - without.median), with,
             "kernels in a row %.2f apart, with a wait for the other GPU's event between by", without.median);
    return gt_bench_record_kernels(ends->bench, false);
}

/* What copies of `bytes` from GPU 0 take, and those of GPU 1 that run meanwhile, if any. */
static int both_ways(struct ends *ends, size_t bytes, int pieces, size_t back_bytes, int back_pieces, double us[2])
{
    struct gt_bench *bench = ends->bench;
    double each[2][MANY];
    size_t count[2] = { 0, 0 };

    if (close_gate(ends) != 0)
        return -1;
    for (int i = 0; i < back_pieces; i++)
        if (copy(ends, 1, 1, back_bytes) != 0)
            return -1;
    for (int i = 0; i < pieces; i++)
        if (copy(ends, 0, 0, bytes) != 0)
            return -1;
    if (open_gate(ends) != 0)
        return -1;
    for (size_t i = 0; i < bench->record_count; i++) {
        int way = bench->records[i].bytes == bytes ? 0 : 1;

        if (count[way] < MANY)
            each[way][count[way]++] = gt_bench_us(bench->records[i].start_ns, bench->records[i].end_ns);
    }
    for (int way = 0; way < 2; way++)
        us[way] = count[way] > 2 ? gt_summarise(&each[way][1], count[way] - 2).median : 0;
    return 0;
}

static int measure_both_ways(struct ends *ends)
{
    const size_t less = PIECE_BYTES - 4096; /* to be told apart */
    double sums[ROUNDS], longer[ROUNDS], us[2], alone[2];

    for (int r = 0; r < ROUNDS; r++) {
        if (both_ways(ends, PIECE_BYTES, 6, less, 6, us) != 0)
            return -1;
        sums[r] = PIECE_BYTES / us[0] / 1000 + (double)less / us[1] / 1000;
        if (both_ways(ends, SMALL_BYTES, MANY, 0, 0, alone) != 0 ||
            both_ways(ends, SMALL_BYTES, MANY, less, 6, us) != 0)
            return -1;
        longer[r] = us[0] - alone[0];
    }
    struct gt_bench_summary sum = gt_summarise(sums, ROUNDS), more = gt_summarise(longer, ROUNDS);
    gt_found(ends->bench->found, "link.duplex_gbps", sum.median, sum, "copies of 64 MiB each way at once");
    gt_found(ends->bench->found, "link.busy_us", fmax(0, more.median), more,
             "copies of 1 MiB while the other GPU sends 64 MiB, beyond the same alone");
    return 0;
}

/* Without peer access, by events of GPU 0 around them: CUPTI tells of their last part only. */
static int staged_us(struct ends *ends, size_t bytes, bool back, double *us)
{
    struct gt_bench *bench = ends->bench;

    if (close_gate(ends) != 0)
        return -1;
    GT_TRY(cudaEventRecord(ends->times[0], ends->streams[0]));
    if ((back && copy(ends, 1, 1, bytes) != 0) || copy(ends, 0, 0, bytes) != 0)
        return -1;
    GT_TRY(cudaEventRecord(ends->times[1], ends->streams[0]));
    if (open_gate(ends) != 0)
        return -1;
    return gt_bench_elapsed_us(bench, ends->times[0], ends->times[1], us);
}

/* What calls that copy so much without peer access take on idle GPUs. */
static int staged_call_us(struct ends *ends, size_t bytes, struct gt_bench_summary *summary)
{
    struct gt_bench *bench = ends->bench;
    double us[ROUNDS];

    for (int r = 0; r < ROUNDS; r++) {
        uint64_t begin_ns = gt_clock_ns();

        if (copy(ends, 0, 0, bytes) != 0)
            return -1;
        us[r] = gt_bench_us(begin_ns, gt_clock_ns());
        GT_TRY(cudaStreamSynchronize(ends->streams[0]));
    }
    *summary = gt_summarise(us, ROUNDS);
    return 0;
}

/* Until access is given, what that costs beyond a copy that has it is found by measure_calls(). */
static int measure_staged_calls(struct ends *ends, double *short_us)
{
    struct gt_bench_summary few, many;

    if (staged_call_us(ends, 4096, &few) != 0 || staged_call_us(ends, PIECE_BYTES, &many) != 0)
        return -1;
    *short_us = few.median;
    gt_found(ends->bench->found, "link.host_piece_call_us",
             fmax(0, many.median - few.median) / (PIECE_BYTES / STAGED_BYTES - GT_LINK_FIRST_PIECES), many,
             "without peer access, a call that copies 64 MiB against one of 4 KiB, a piece of 512 KiB; in all");
    return 0;
}

/* A piece goes out before it goes in, so that a short copy takes longer than by its bytes: latency by the shortest, rate
 * by the two longest. */
static int measure_staged(struct ends *ends)
{
    static const size_t sizes[] = { 4096, PIECE_BYTES / 4, PIECE_BYTES };
    double medians[3], us[ROUNDS], both[ROUNDS], gbps;

    for (int s = 0; s < 3; s++) {
        for (int r = 0; r < ROUNDS; r++)
            if (staged_us(ends, sizes[s], false, &us[r]) != 0)
                return -1;
        medians[s] = gt_summarise(us, ROUNDS).median;
    }
    for (int r = 0; r < ROUNDS; r++) {
        if (staged_us(ends, PIECE_BYTES, true, &us[0]) != 0)
            return -1;
        both[r] = 2 * PIECE_BYTES / us[0] / 1000;
    }
    struct gt_bench_summary none = { 0 }, sum = gt_summarise(both, ROUNDS);
    gbps = (double)(sizes[2] - sizes[1]) / (medians[2] - medians[1]) / 1000;
    gt_found(ends->bench->found, "link.host_latency_us", fmax(0, medians[0] - (double)sizes[0] / gbps / 1000), none,
             "without peer access, 4 KiB by events");
    gt_found(ends->bench->found, "link.host_gbps", gbps, none,
             "without peer access, 64 MiB (%.1f us) against 16 MiB (%.1f us)", medians[2], medians[1]);
    gt_found(ends->bench->found, "link.host_duplex_gbps", sum.median, sum,
             "64 MiB each way at once, without peer access");
    return 0;
}

/* CPU time of a call on idle GPUs. */
enum call { PUSH, PULL, WAIT_HERE, WAIT_THERE };
static int call_us(struct ends *ends, enum call call, struct gt_bench_summary *summary)
{
    struct gt_bench *bench = ends->bench;
    double us[TRIES];

    for (int i = 0; i < TRIES; i++) {
        uint64_t begin_ns = gt_clock_ns();

        if (call == PUSH || call == PULL) {
            if (copy(ends, call == PULL, 0, TURN_BYTES) != 0)
                return -1;
        } else {
            GT_TRY(cudaStreamWaitEvent(ends->streams[0], ends->marks[call == WAIT_THERE][1], 0));
        }
        us[i] = gt_bench_us(begin_ns, gt_clock_ns());
        GT_TRY(cudaStreamSynchronize(ends->streams[0]));
    }
    *summary = gt_summarise(us, TRIES);
    return 0;
}

static int measure_calls(struct ends *ends, double staged_us)
{
    struct gt_bench *bench = ends->bench;
    struct gt_bench_summary push, pull, here, there;

    for (int gpu = 1; gpu >= 0; gpu--) {
        GT_TRY(cudaSetDevice(gpu));
        GT_TRY(cudaEventRecord(ends->marks[gpu][1], ends->streams[gpu]));
        GT_TRY(cudaDeviceSynchronize());
    }
    if (call_us(ends, PUSH, &push) != 0 || call_us(ends, PULL, &pull) != 0 || call_us(ends, WAIT_HERE, &here) != 0 ||
        call_us(ends, WAIT_THERE, &there) != 0)
        return -1;
    gt_found(bench->found, "link.call_us", push.median, push,
             "cudaMemcpyPeerAsync in a stream of the sender, idle GPUs");
    gt_found(bench->found, "link.host_call_us", fmax(0, staged_us - push.median), push,
             "4 KiB without peer access took %.2f; with it", staged_us);
    gt_found(bench->found, "link.pull_call_us", fmax(0, pull.median - push.median), pull,
             "beyond that in a stream of the receiver, where it takes");
    gt_found(bench->found, "link.wait_call_us", fmax(0, there.median - here.median), there,
             "cudaStreamWaitEvent of the other GPU's event beyond %.2f of its own, takes", here.median);
    return 0;
}

/* Peer access both ways, or none; `can` says whether there is any. */
static int set_access(struct gt_bench *bench, bool on, bool *can)
{
    for (int gpu = 1; gpu >= 0; gpu--) {
        int able = 0;
        cudaError_t status;

        GT_TRY(cudaSetDevice(gpu));
        GT_TRY(cudaDeviceCanAccessPeer(&able, gpu, !gpu));
        *can = able != 0;
        if (!able)
            continue;
        status = on ? cudaDeviceEnablePeerAccess(!gpu, 0) : cudaDeviceDisablePeerAccess(!gpu);
        if (status != cudaErrorPeerAccessAlreadyEnabled && status != cudaErrorPeerAccessNotEnabled)
            GT_TRY(status);
        cudaGetLastError();
    }
    return 0;
}

static int measure(struct ends *ends)
{
    double staged_us = 0;
    bool can = false;

    if (set_access(ends->bench, false, &can) != 0 || measure_staged(ends) != 0 ||
        measure_staged_calls(ends, &staged_us) != 0)
        return -1;
    if (!can || set_access(ends->bench, true, &can) != 0)
        return can ? -1 : 0;
    return measure_chain(ends, "link.event_gap_us", "k", 1, 0, traced_us,
                         "kernels on both GPUs in turn, through events, with what CUPTI makes them longer") != 0 ||
                   measure_chain(ends, "link.copy_event_gap_us", "c", 1, 0, 0,
                                 "copies of 256 KiB both ways in turn, through events") != 0 ||
                   measure_chain(
                       ends, "link.engine_event_gap_us", "Kc", 2, 0, traced_us / 2,
                       "a kernel, a copy to the other GPU, a kernel there and so on: from copy to kernel") != 0 ||
                   measure_rows(ends) != 0 || measure_line(ends) != 0 || measure_waits(ends) != 0 ||
                   measure_both_ways(ends) != 0 || measure_calls(ends, staged_us) != 0
               ? -1
               : 0;
}

int gt_calibrate_links(struct gt_bench *bench)
{
    struct ends ends = { .bench = bench };
    int gpus, status;

    GT_TRY(cudaGetDeviceCount(&gpus));
    for (size_t i = 0; gpus < 2 && i < sizeof keys / sizeof keys[0]; i++)
        gt_not_found(bench->found, keys[i], "there is one GPU; the group links takes two");
    if (gpus < 2)
        return 0;
    status = make(&ends);
    if (status == 0)
        status = measure(&ends);
    drop(&ends);
    return status;
}
