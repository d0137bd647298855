/* bench.h - what the groups of calibration measure with: one GPU, a few streams, kernels that
 * log, a gate that holds the GPU back until all is queued, clocks tied together.
 *
 * Functions return -1 with bench->error filled when a CUDA call fails; after that nothing else works.
 */
#ifndef GRIDTIDE_VALIDATE_CALIBRATE_BENCH_H
#define GRIDTIDE_VALIDATE_CALIBRATE_BENCH_H

#include <cuda_runtime_api.h>

#include "kernels/calibrate/calibrate.h"
#include "validate/calibrate/findings.h"
#include "validate/gpu/cupti.h"

enum {
    GT_BENCH_STREAMS = 4,
    GT_BENCH_EVENTS = 128,
    GT_BENCH_MARKS = 64,
    GT_BENCH_BLOCKS = 1 << 16, /* records of the log */
    GT_BENCH_BUFFER_BYTES = 256 << 20,
    GT_BENCH_PAGEABLE_BYTES = 64 << 20,
};

/* Words that host and GPU both see. */
struct gt_bench_mail {
    uint32_t gate, request;
    uint64_t reply;
};

struct gt_bench {
    struct gt_calibration *found;
    struct gt_error *error;
    uint32_t process; /* that measures, from 0 */
    bool no_tables;   /* no file can go beside the device file */
    bool kernels;     /* CUPTI records kernels too, not copies and memsets alone */
    struct cudaDeviceProp gpu;
    cudaStream_t streams[GT_BENCH_STREAMS];
    cudaEvent_t events[GT_BENCH_EVENTS]; /* with times, */
    cudaEvent_t marks[GT_BENCH_MARKS];   /* without: these cost the GPU nothing */
    cudaGraphExec_t graph;               /* the last one launched, if any */
    struct gt_block_log *log, *blocks;   /* on the device; as gt_bench_read() brought it here */
    volatile struct gt_bench_mail *mail;
    void *pinned, *device[2];      /* GT_BENCH_BUFFER_BYTES each */
    void *pageable;                /* GT_BENCH_PAGEABLE_BYTES */
    void *peer;                    /* GT_BENCH_BUFFER_BYTES on another GPU; NULL: none */
    uint32_t gates;                /* closed so far */
    double mhz;                    /* SM clock, after the warm-up */
    double clock_ns;               /* what two readings of the host's clock lie apart */
    struct gt_gpu_record *records; /* as gt_bench_take_records() left them */
    size_t record_count;
};

/* A CUDA call of a function that returns int and has `bench` in scope. */
#define GT_TRY(call)                                   \
    do {                                               \
        if (gt_bench_check(bench, (call), #call) != 0) \
            return -1;                                 \
    } while (0)
int gt_bench_check(struct gt_bench *bench, cudaError_t status, const char *call);

/* Make streams, buffers and all on GPU 0 and warm it up, with CUPTI recording copies and memsets as it does
 * when traces are played; -1 where there is no GPU or no CUPTI. gt_bench_close ends it either way. `bench`
 * holds found and error already, else zeros. */
int gt_bench_open(struct gt_bench *bench);
void gt_bench_close(struct gt_bench *bench);

/* Microseconds from one time to another, of one clock. */
static inline double gt_bench_us(uint64_t from_ns, uint64_t to_ns)
{
    return (double)(int64_t)(to_ns - from_ns) / 1000;
}
/* Let the host's core run for so long without calling anything. */
void gt_bench_idle_us(double us);

/* One launch of gt_calibrate_spin. */
struct gt_bench_spin {
    uint32_t blocks, threads, shared_bytes, cluster; /* cluster 0: none */
    double us, step_us;                              /* block b waits us + b % kinds * step_us */
    uint32_t kinds;                                  /* 0: 1 */
};
/* Its blocks write log records from `first_record` on. */
int gt_bench_launch(struct gt_bench *bench, const struct gt_bench_spin *spin, uint32_t first_record,
                    cudaStream_t stream);
/* Its arguments, as cudaLaunchKernel takes them. */
struct gt_bench_arguments {
    struct gt_block_log *log;
    uint64_t cycles, step;
    uint32_t kinds;
    void *pointers[4];
};
void gt_bench_arguments(const struct gt_bench *bench, const struct gt_bench_spin *spin, uint32_t first_record,
                        struct gt_bench_arguments *arguments);
/* Shared memory that leaves room for one block an SM. */
uint32_t gt_bench_one_block_bytes(const struct gt_bench *bench);
/* Wait for the GPU and copy the first `count` records of the log to bench->blocks. */
int gt_bench_read(struct gt_bench *bench, uint32_t count);
/* First start and last end of `count` blocks that were read. */
struct gt_stay gt_bench_span(const struct gt_bench *bench, uint32_t first_record, uint32_t count);

/* Hold `stream` back until gt_bench_open_gate, or until limit_us are over. */
int gt_bench_close_gate(struct gt_bench *bench, cudaStream_t stream, double limit_us);
void gt_bench_open_gate(struct gt_bench *bench);

/* Tie the clocks: the tightest of many exchanges. The GPU must be idle. */
int gt_bench_tie(struct gt_bench *bench, struct gt_clock_tie *tie);
/* Wait for the GPU; bench->records becomes what CUPTI recorded since the last time, by start, what one
 * call asked for as one. */
int gt_bench_take_records(struct gt_bench *bench);
/* gt_bench_take_records(), and record kernels too from now on, or no longer: memsets of more than a few KiB are kernels. */
int gt_bench_record_kernels(struct gt_bench *bench, bool kernels);
/* Microseconds between two events that have passed. */
int gt_bench_elapsed_us(struct gt_bench *bench, cudaEvent_t from, cudaEvent_t to, double *us);

/* The mean of several summaries of like things: value, quartiles; the counts are added. */
struct gt_bench_summary gt_bench_mean(const struct gt_bench_summary *parts, size_t count);

#endif
