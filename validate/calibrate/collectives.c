/* collectives.c - NCCL's collectives on all GPUs of the machine: a curve of times for each kind and protocol, and what one
 * channel moves.  Kernels by CUPTI's times; of one collective's that of the rank that waited least, which
 * is the sender where one only sends. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/calibrate/groups.h"
#include "validate/gpu/nccl.h"

enum {
    SIZES = 14,
    FIRST_BITS = 4,
    FIRST_BYTES = 1 << FIRST_BITS,
    BITS_A_SIZE = 2,
    LAUNCHES = 6,
    MOST_RANKS = 16,
    PROTOCOLS = 3
};
static const uint64_t most_bytes = UINT64_C(1) << 30;
static const double hold_us = 100000;

/* The curves of the device file; those of messages have no protocol. */
static const struct {
    enum gt_collective_kind kind;
    const char *name;
    bool by_protocol;
} kinds[] = {
    { GT_ALL_REDUCE, "all_reduce", true }, { GT_REDUCE_SCATTER, "reduce_scatter", true },
    { GT_ALL_GATHER, "all_gather", true }, { GT_BROADCAST, "broadcast", true },
    { GT_REDUCE, "reduce", true },         { GT_ALL_TO_ALL, "all_to_all", false },
    { GT_SEND_RECV, "send_recv", false },
};
/* As NCCL_PROTO has them, and the device file. */
static const struct {
    const char *nccl, *name;
    uint64_t channel_bytes; /* at which one channel's rate is measured */
} protocols[PROTOCOLS] = { { "LL", "ll", 4 << 20 },
                           { "LL128", "ll128", 16 << 20 },
                           { "Simple", "simple", 64 << 20 } };

struct ranks {
    struct gt_bench *bench;
    uint32_t count;
    int devices[MOST_RANKS];
    cudaStream_t streams[MOST_RANKS];
    void *memory[MOST_RANKS][2];
    gt_nccl_comm comms[MOST_RANKS];
};

static int make(struct ranks *ranks)
{
    struct gt_bench *bench = ranks->bench;

    for (uint32_t i = 0; i < ranks->count; i++) {
        ranks->devices[i] = (int)i;
        GT_TRY(cudaSetDevice((int)i));
        GT_TRY(cudaStreamCreateWithFlags(&ranks->streams[i], cudaStreamNonBlocking));
        for (int j = 0; j < 2; j++) {
            GT_TRY(cudaMalloc(&ranks->memory[i][j], most_bytes + 4096));
            GT_TRY(cudaMemset(ranks->memory[i][j], 0, most_bytes));
        }
    }
    return 0;
}

static void leave(struct ranks *ranks)
{
    for (uint32_t i = 0; i < ranks->count; i++) {
        gt_nccl_free(ranks->comms[i]);
        ranks->comms[i] = NULL;
    }
}

static void drop(struct ranks *ranks)
{
    leave(ranks);
    for (uint32_t i = 0; i < ranks->count; i++) {
        cudaSetDevice((int)i);
        if (ranks->streams[i] != NULL)
            cudaStreamDestroy(ranks->streams[i]);
        cudaFree(ranks->memory[i][0]);
        cudaFree(ranks->memory[i][1]);
    }
    cudaSetDevice(0);
}

/* NCCL reads the protocol when a communicator is made. */
static int join(struct ranks *ranks, const char *protocol, uint32_t most_channels)
{
    int status;

    leave(ranks);
    if (protocol != NULL)
        setenv("NCCL_PROTO", protocol, 1);
    status = gt_nccl_group(ranks->devices, ranks->count, most_channels, ranks->comms, ranks->bench->error);
    unsetenv("NCCL_PROTO");
    return status;
}

static int issue(struct ranks *ranks, enum gt_collective_kind kind, uint64_t bytes)
{
    struct gt_nccl_part parts[MOST_RANKS];
    uint32_t count = kind == GT_SEND_RECV ? 2 : ranks->count;

    for (uint32_t i = 0; i < count; i++) {
        parts[i] = (struct gt_nccl_part){
            .collective = gt_collective_of(kind, 0, bytes),
            .ranks = ranks->count,
            .give = ranks->memory[i][0],
            .get = ranks->memory[i][1],
            .comm = ranks->comms[i],
        };
        if (kind == GT_SEND_RECV) {
            parts[i].collective.to = i == 0 ? 1 : GT_NONE;
            parts[i].collective.from = i == 0 ? GT_NONE : 0;
        }
    }
    return gt_nccl_issue_all(parts, ranks->devices, ranks->streams, count, ranks->bench->error);
}

static int await(struct ranks *ranks)
{
    struct gt_bench *bench = ranks->bench;

    for (uint32_t i = ranks->count; i-- > 0;) {
        GT_TRY(cudaSetDevice((int)i));
        GT_TRY(cudaDeviceSynchronize());
    }
    return 0;
}

/* Where one rank only sends it would run ahead of the other, which then only fetches: a small all-reduce before each has both
 * set off at once. */
static bool runs_ahead(enum gt_collective_kind kind)
{
    return kind == GT_BROADCAST || kind == GT_REDUCE || kind == GT_SEND_RECV;
}

/* One behind the other, behind a gate: all ranks come to each but the first at once.  Records come by start, those of one
 * collective together. */
static int measure_ns(struct ranks *ranks, enum gt_collective_kind kind, uint64_t bytes, double *ns)
{
    struct gt_bench *bench = ranks->bench;
    uint32_t each = kind == GT_SEND_RECV ? 2 : ranks->count, before = runs_ahead(kind) ? ranks->count : 0;
    double least[LAUNCHES];
    size_t count = 0;

    if (issue(ranks, kind, bytes) != 0 || await(ranks) != 0 || gt_bench_take_records(bench) != 0 ||
        gt_bench_close_gate(bench, bench->streams[0], hold_us) != 0)
        return -1;
    GT_TRY(cudaEventRecord(bench->marks[0], bench->streams[0]));
    for (uint32_t i = 0; i < ranks->count; i++)
        GT_TRY(cudaStreamWaitEvent(ranks->streams[i], bench->marks[0], 0));
    for (int i = 0; i < LAUNCHES; i++)
        if ((before > 0 && issue(ranks, GT_ALL_REDUCE, FIRST_BYTES) != 0) || issue(ranks, kind, bytes) != 0)
            return -1;
    gt_bench_open_gate(bench);
    if (await(ranks) != 0 || gt_bench_take_records(bench) != 0)
        return -1;
    /* The gate's own kernel comes first; then each collective's. */
    for (size_t i = 1 + 2 * before + each; i + each <= bench->record_count && count < LAUNCHES; i += before + each) {
        least[count] = INFINITY;
        for (size_t j = i; j < i + each; j++)
            least[count] = fmin(least[count], (double)(bench->records[j].end_ns - bench->records[j].start_ns));
        count++;
    }
    if (count == 0)
        return gt_error_set(bench->error, "CUPTI recorded no kernel of NCCL");
    *ns = gt_summarise(least, count).median;
    return 0;
}

/* A key's name: "collective.all_reduce_ll" and the ending. */
static const char *key_of(char text[64], size_t kind, int protocol, const char *ending)
{
    snprintf(text, 64, "collective.%s%s%s%s", kinds[kind].name, kinds[kind].by_protocol ? "_" : "",
             kinds[kind].by_protocol ? protocols[protocol].name : "", ending);
    return text;
}

static int measure_curve(struct ranks *ranks, size_t kind, int protocol, double *first_ns)
{
    char list[SIZES * 12 + 1] = "", key[64];

    for (int i = 0; i < SIZES; i++) {
        double ns;

        if (measure_ns(ranks, kinds[kind].kind, UINT64_C(1) << (FIRST_BITS + i * BITS_A_SIZE), &ns) != 0)
            return -1;
        if (i == 0)
            *first_ns = ns;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.0f", i > 0 ? "," : "", ns);
    }
    gt_found_text(ranks->bench->found, key_of(key, kind, protocol, "_ns"), list,
                  "NCCL on %u GPUs, NVLS off: the rank that waits least, median of %d in a row", ranks->count,
                  LAUNCHES - 1);
    return 0;
}

static int measure_channel(struct ranks *ranks, size_t kind, int protocol, double first_ns)
{
    struct gt_bench_summary none = { 0 };
    uint64_t bytes = protocols[protocol].channel_bytes;
    char key[64];
    double ns;

    if (measure_ns(ranks, kinds[kind].kind, bytes, &ns) != 0)
        return -1;
    gt_found(ranks->bench->found, key_of(key, kind, protocol, "_channel_gbps"),
             (double)bytes / fmax(1, ns - first_ns), none, "%llu MiB with one channel, beyond an empty one",
             (unsigned long long)(bytes >> 20));
    return 0;
}

static int measure_protocol(struct ranks *ranks, int protocol)
{
    const size_t count = sizeof kinds / sizeof kinds[0];
    double first_ns[sizeof kinds / sizeof kinds[0]] = { 0 };
    bool last = protocol == PROTOCOLS - 1; /* messages go with it */

    if (join(ranks, protocols[protocol].nccl, 0) != 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if ((kinds[i].by_protocol || last) && measure_curve(ranks, i, protocol, &first_ns[i]) != 0)
            return -1;
    if (join(ranks, protocols[protocol].nccl, 1) != 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if ((kinds[i].by_protocol || last) && measure_channel(ranks, i, protocol, first_ns[i]) != 0)
            return -1;
    return 0;
}

static int measure(struct ranks *ranks)
{
    char count[16];

    if (make(ranks) != 0 || gt_bench_record_kernels(ranks->bench, true) != 0)
        return -1;
    for (int i = 0; i < PROTOCOLS; i++)
        if (measure_protocol(ranks, i) != 0)
            return -1;
    snprintf(count, sizeof count, "%u", ranks->count);
    gt_found_text(ranks->bench->found, "collective.measured_ranks", count, "all GPUs of the machine");
    return 0;
}

int gt_calibrate_collectives(struct gt_bench *bench)
{
    struct ranks ranks = { .bench = bench };
    struct gt_error missing;
    int gpus = 0, status;

    GT_TRY(cudaGetDeviceCount(&gpus));
    if (gpus < 2) {
        gt_not_found(bench->found, "collective.measured_ranks", "needs two GPUs");
        return 0;
    }
    if (gt_nccl_open(&missing) != 0) {
        gt_not_found(bench->found, "collective.measured_ranks", "%.100s", missing.text);
        return 0;
    }
    ranks.count = gpus < MOST_RANKS ? (uint32_t)gpus : MOST_RANKS;
    status = measure(&ranks);
    drop(&ranks);
    if (status == 0)
        status = gt_bench_record_kernels(bench, false);
    if (status == 0)
        status = gt_calibrate_collective_calls(bench);
    return status;
}
