/* pageable.c - copies of pageable memory: small ones go with the commands, larger ones chunk by
 * chunk through pinned buffers. What a copy takes is told by when its call returns, rates by CUPTI. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "validate/calibrate/groups.h"

enum { TRIES = 3, BUFFERS_MOST = 32, ROUNDS = 9, SIZES = 7, SMALL_LEAST = 1024 };
static const double hold_us = 400;

/* Ask for copies of `bytes` to the device behind a kernel of hold_us, until one is not back before the
 * kernel's end, or `most` were: how many were. */
static int copies_back(struct gt_bench *bench, size_t bytes, uint32_t most, uint32_t *back)
{
    const struct gt_bench_spin spin = { 1, 32, 0, 0, hold_us, 0, 0 };
    cudaError_t status = cudaErrorNotReady;
    if (gt_bench_launch(bench, &spin, 0, bench->streams[0]) != 0)
        return -1;
    GT_TRY(cudaEventRecord(bench->marks[0], bench->streams[0]));
    for (*back = 0; *back < most; ++*back) {
        GT_TRY(cudaMemcpyAsync(bench->device[0], bench->pageable, bytes, cudaMemcpyHostToDevice, bench->streams[0]));
        status = cudaEventQuery(bench->marks[0]);
        if (status != cudaErrorNotReady)
            break;
    }
    if (status != cudaErrorNotReady && gt_bench_check(bench, status, "cudaEventQuery()") != 0)
        return -1;
    GT_TRY(cudaStreamSynchronize(bench->streams[0]));
    return 0;
}

/* The middle one of TRIES. */
static int usually_back(struct gt_bench *bench, size_t bytes, uint32_t most, uint32_t *back)
{
    double seen[TRIES];
    for (int i = 0; i < TRIES; i++) {
        if (copies_back(bench, bytes, most, back) != 0)
            return -1;
        seen[i] = *back;
    }
    *back = (uint32_t)gt_summarise(seen, TRIES).median;
    return 0;
}

/* The largest size, up to `high`, of which `copies` at once are back before a kernel ahead of them ends; 0:
 * not even a byte. */
static int largest_back(struct gt_bench *bench, uint32_t copies, size_t high, size_t *bytes)
{
    size_t low = 0;
    uint32_t back;
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;
        if (usually_back(bench, middle, copies, &back) != 0)
            return -1;
        if (back == copies)
            low = middle;
        else
            high = middle - 1;
    }
    *bytes = low;
    return 0;
}

static void state_bytes(struct gt_bench *bench, const char *key, size_t bytes, const char *how)
{
    char text[32];
    snprintf(text, sizeof(text), "%zu", bytes);
    gt_found_text(bench->found, key, text, "%s", how);
}

/* Buffers and their size, and what needs none. Leaves chunk 0 where there are no buffers to be seen. */
static int measure_buffers(struct gt_bench *bench, size_t *inlined, size_t *chunk)
{
    size_t whole;
    uint32_t buffers = 0;
    *inlined = *chunk = 0;
    if (largest_back(bench, 1, GT_BENCH_PAGEABLE_BYTES, &whole) != 0)
        return -1;
    state_bytes(bench, "copy.pageable_stage_bytes", whole,
                "the largest copy up that returned before the kernel before it had ended");
    if (whole >= 8 && usually_back(bench, whole / 8, BUFFERS_MOST, &buffers) != 0)
        return -1;
    if (buffers == 0 || buffers == BUFFERS_MOST) {
        gt_not_found(bench->found, "copy.staging_chunk_bytes",
                     "%u copies of %zu bytes returned before a kernel ahead", buffers, whole / 8);
        return 0;
    }
    *chunk = whole / buffers;
    char text[16];
    snprintf(text, sizeof(text), "%u", buffers);
    gt_found_text(bench->found, "copy.staging_buffers", text,
                  "so many copies up of %zu KiB returned before the kernel before them had ended", whole / 8 >> 10);
    state_bytes(bench, "copy.staging_chunk_bytes", *chunk, "pageable_stage_bytes by staging_buffers");
    if (largest_back(bench, buffers + 1, *chunk, inlined) != 0)
        return -1;
    state_bytes(bench, "copy.inline_bytes", *inlined,
                "the largest size of which one more than there are buffers returned before that");
    return 0;
}

/* CUPTI's times of copies of these sizes, each on an idle GPU. */
static int time_copies(struct gt_bench *bench, enum cudaMemcpyKind kind, const double *bytes, double *us)
{
    void *to = kind == cudaMemcpyHostToDevice ? bench->device[0] : bench->pageable;
    void *from = kind == cudaMemcpyHostToDevice ? bench->pageable : bench->device[0];
    if (gt_bench_take_records(bench) != 0)
        return -1;
    for (int i = 0; i < SIZES; i++) {
        GT_TRY(cudaMemcpyAsync(to, from, (size_t)bytes[i], kind, bench->streams[0]));
        GT_TRY(cudaStreamSynchronize(bench->streams[0]));
    }
    if (gt_bench_take_records(bench) != 0)
        return -1;
    if (bench->record_count != SIZES)
        return gt_error_set(bench->error, "CUPTI told of %zu of %d copies", bench->record_count, SIZES);
    for (int i = 0; i < SIZES; i++)
        us[i] = gt_bench_us(bench->records[i].start_ns, bench->records[i].end_ns);
    return 0;
}

/* Copies of sizes from `least` up by `factor`, ROUNDS times: each round's times, and the medians. */
struct series {
    double bytes[SIZES], us[ROUNDS][SIZES], medians[SIZES];
    char each[GT_CALIBRATION_LINE_BYTES];
};

static int time_series(struct gt_bench *bench, enum cudaMemcpyKind kind, double least, double factor,
                       struct series *series)
{
    double of_size[ROUNDS], unused[SIZES];
    for (int s = 0; s < SIZES; s++)
        series->bytes[s] = least * pow(factor, s);
    if (time_copies(bench, kind, series->bytes, unused) != 0)
        return -1;
    for (int r = 0; r < ROUNDS; r++)
        if (time_copies(bench, kind, series->bytes, series->us[r]) != 0)
            return -1;
    series->each[0] = '\0';
    for (int s = 0; s < SIZES; s++) {
        for (int r = 0; r < ROUNDS; r++)
            of_size[r] = series->us[r][s];
        series->medians[s] = gt_summarise(of_size, ROUNDS).median;
        snprintf(series->each + strlen(series->each), sizeof(series->each) - strlen(series->each), "%s%.*f",
                 s > 0 ? "," : "", series->medians[s] < 99.95, series->medians[s]);
    }
    return 0;
}

static void state_line(struct gt_bench *bench, const struct series *series, const char *latency_key,
                       const char *rate_key, const char *what)
{
    double latencies[ROUNDS], rates[ROUNDS];
    struct gt_line line = gt_fit_line(series->bytes, series->medians, SIZES, true);
    for (int r = 0; r < ROUNDS; r++) {
        struct gt_line one = gt_fit_line(series->bytes, series->us[r], SIZES, true);
        latencies[r] = one.base;
        rates[r] = 1 / (one.slope * 1000);
    }
    gt_found(bench->found, latency_key, line.base, gt_summarise(latencies, ROUNDS), "%s, off by up to %.0f%%", what,
             line.worst * 100);
    gt_found(bench->found, rate_key, 1 / (line.slope * 1000), gt_summarise(rates, ROUNDS), "same fit; us: %s",
             series->each);
}

/* The rate of what comes behind the first chunk, whose time is the first of the series. */
static void state_staging(struct gt_bench *bench, const struct series *series, const char *key)
{
    double rates[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        double of_size[SIZES];
        for (int s = 1; s < SIZES; s++)
            of_size[s] = (series->bytes[s] - series->bytes[0]) / (series->us[r][s] - series->us[r][0]) / 1000;
        rates[r] = gt_summarise(of_size + 1, SIZES - 1).median;
    }
    struct gt_bench_summary summary = gt_summarise(rates, ROUNDS);
    gt_found(bench->found, key, summary.median, summary,
             "bytes behind the first chunk; us of 1, 2, 4, ... chunks: %s", series->each);
}

int gt_calibrate_pageable(struct gt_bench *bench)
{
    struct series series;
    size_t inlined, chunk;
    if (measure_buffers(bench, &inlined, &chunk) != 0)
        return -1;
    double small_most = inlined > 2 * SMALL_LEAST ? (double)inlined : GT_BENCH_PAGEABLE_BYTES;
    if (time_series(bench, cudaMemcpyHostToDevice, SMALL_LEAST, pow(small_most / SMALL_LEAST, 1.0 / (SIZES - 1)),
                    &series) != 0)
        return -1;
    state_line(bench, &series, "copy.h2d_pageable_latency_us", "copy.h2d_pageable_gbps",
               inlined > 2 * SMALL_LEAST ? "fit to 1 KiB to inline_bytes" : "fit to 1 KiB to 64 MiB");
    if (time_series(bench, cudaMemcpyDeviceToHost, 4096, 4, &series) != 0)
        return -1;
    state_line(bench, &series, "copy.d2h_pageable_latency_us", "copy.d2h_pageable_gbps",
               "fit to 4 KiB to 16 MiB; holds without staging_chunk_bytes");
    if (chunk == 0 || chunk * (1 << (SIZES - 1)) > GT_BENCH_PAGEABLE_BYTES)
        return 0;
    if (time_series(bench, cudaMemcpyHostToDevice, (double)chunk, 2, &series) != 0)
        return -1;
    state_staging(bench, &series, "copy.staging_in_gbps");
    if (time_series(bench, cudaMemcpyDeviceToHost, (double)chunk, 2, &series) != 0)
        return -1;
    state_staging(bench, &series, "copy.staging_out_gbps");
    return 0;
}
