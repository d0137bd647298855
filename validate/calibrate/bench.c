/* bench.c - the GPU at hand, made ready and asked. */
#include "validate/calibrate/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXCHANGES = 2000, CLOCK_READS = 1000, WARM_UP_LEAST = 12, WARM_UP_MOST = 60 };
static const double warm_up_us = 25000;

int gt_bench_check(struct gt_bench *bench, cudaError_t status, const char *call)
{
    if (status == cudaSuccess)
        return 0;
    return gt_error_set(bench->error, "%.*s: %s", (int)strcspn(call, "("), call, cudaGetErrorString(status));
}

void gt_bench_idle_us(double us)
{
    uint64_t until_ns = gt_clock_ns() + (uint64_t)(us * 1000);
    while (gt_clock_ns() < until_ns)
        ;
}

static double clock_cost_ns(void)
{
    double samples[CLOCK_READS];
    for (int i = 0; i < CLOCK_READS; i++) {
        uint64_t first_ns = gt_clock_ns();
        samples[i] = (double)(gt_clock_ns() - first_ns);
    }
    return gt_summarise(samples, CLOCK_READS).median;
}

/* No driver and no GPU are told apart from what fails later. */
static int find_gpu(struct gt_bench *bench)
{
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaErrorInsufficientDriver || status == cudaErrorNoDevice || (status == cudaSuccess && count == 0))
        return gt_error_set(bench->error, "there is no GPU to calibrate: %s",
                            status == cudaSuccess ? "CUDA shows none" : cudaGetErrorString(status));
    if (gt_bench_check(bench, status, "cudaGetDeviceCount()") != 0)
        return -1;
    if (gt_cupti_open(bench->error) != 0)
        return -1;
    GT_TRY(cudaSetDevice(0));
    GT_TRY(cudaGetDeviceProperties(&bench->gpu, 0));
    return 0;
}

static int make_things(struct gt_bench *bench)
{
    void *mail;
    for (int i = 0; i < GT_BENCH_STREAMS; i++)
        GT_TRY(cudaStreamCreate(&bench->streams[i])); /* as programs do that ask for nothing else */
    for (int i = 0; i < GT_BENCH_EVENTS; i++)
        GT_TRY(cudaEventCreate(&bench->events[i]));
    for (int i = 0; i < GT_BENCH_MARKS; i++)
        GT_TRY(cudaEventCreateWithFlags(&bench->marks[i], cudaEventDisableTiming));
    for (int i = 0; i < 2; i++)
        GT_TRY(cudaMalloc(&bench->device[i], GT_BENCH_BUFFER_BYTES));
    GT_TRY(cudaMalloc((void **)&bench->log, GT_BENCH_BLOCKS * sizeof(*bench->log)));
    GT_TRY(cudaMallocHost(&bench->pinned, GT_BENCH_BUFFER_BYTES));
    GT_TRY(cudaMallocHost(&mail, sizeof(*bench->mail)));
    GT_TRY(cudaFuncSetAttribute((const void *)gt_calibrate_spin, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                (int)bench->gpu.sharedMemPerBlockOptin));
    memset(mail, 0, sizeof(*bench->mail));
    memset(bench->pinned, 1, GT_BENCH_BUFFER_BYTES);
    bench->mail = mail;
    bench->pageable = gt_calloc(GT_BENCH_PAGEABLE_BYTES, 1);
    memset(bench->pageable, 1, GT_BENCH_PAGEABLE_BYTES); /* its pages are there from now on */
    bench->blocks = gt_calloc(GT_BENCH_BLOCKS, sizeof(*bench->blocks));
    return 0;
}

/* The SM clock now: cycles over time of one long spin on every SM. */
static int measure_mhz(struct gt_bench *bench, double *mhz)
{
    const struct gt_bench_spin spin = { (uint32_t)bench->gpu.multiProcessorCount, 32, 0, 0, warm_up_us, 0, 0 };
    if (gt_bench_launch(bench, &spin, 0, bench->streams[0]) != 0 || gt_bench_read(bench, 1) != 0)
        return -1;
    *mhz = (double)(bench->blocks[0].end_cycles - bench->blocks[0].start_cycles) * 1000.0 /
           (double)(bench->blocks[0].end_ns - bench->blocks[0].start_ns);
    return 0;
}

/* A GPU that has idled runs slowly at first: keep it busy until its clock stands. */
static int warm_up(struct gt_bench *bench)
{
    double before_mhz = 0;
    int still = 0;
    bench->mhz = 1000; /* for the lengths of spins until it is known */
    for (int i = 0; i < WARM_UP_MOST && (still < 5 || i < WARM_UP_LEAST); i++) {
        double mhz;
        if (measure_mhz(bench, &mhz) != 0)
            return -1;
        still = fabs(mhz - before_mhz) < 0.005 * mhz ? still + 1 : 0;
        before_mhz = bench->mhz = mhz;
    }
    return 0;
}

int gt_bench_open(struct gt_bench *bench)
{
    bench->clock_ns = clock_cost_ns();
    const struct gt_activity *none;
    if (find_gpu(bench) != 0 || make_things(bench) != 0)
        return -1;
    /* Kernels are recorded first, as for traces: after that CUPTI times copies within the device
     * otherwise. */
    if (gt_cupti_begin(true, bench->error) != 0 || warm_up(bench) != 0 || gt_cupti_end(&none, bench->error) != 0)
        return -1;
    return gt_cupti_begin(bench->kernels, bench->error);
}

void gt_bench_close(struct gt_bench *bench)
{
    for (int i = 0; i < GT_BENCH_STREAMS; i++)
        if (bench->streams[i] != NULL)
            cudaStreamDestroy(bench->streams[i]);
    for (int i = 0; i < GT_BENCH_EVENTS; i++)
        if (bench->events[i] != NULL)
            cudaEventDestroy(bench->events[i]);
    for (int i = 0; i < GT_BENCH_MARKS; i++)
        if (bench->marks[i] != NULL)
            cudaEventDestroy(bench->marks[i]);
    if (bench->graph != NULL)
        cudaGraphExecDestroy(bench->graph);
    for (int i = 0; i < 2; i++)
        cudaFree(bench->device[i]);
    cudaFree(bench->peer);
    cudaFree(bench->log);
    cudaFreeHost(bench->pinned);
    cudaFreeHost((void *)bench->mail);
    free(bench->records);
    free(bench->pageable);
    free(bench->blocks);
}

void gt_bench_arguments(const struct gt_bench *bench, const struct gt_bench_spin *spin, uint32_t first_record,
                        struct gt_bench_arguments *arguments)
{
    arguments->log = bench->log + first_record;
    arguments->cycles = (uint64_t)(spin->us * bench->mhz);
    arguments->step = (uint64_t)(spin->step_us * bench->mhz);
    arguments->kinds = spin->kinds > 0 ? spin->kinds : 1;
    arguments->pointers[0] = &arguments->log;
    arguments->pointers[1] = &arguments->cycles;
    arguments->pointers[2] = &arguments->step;
    arguments->pointers[3] = &arguments->kinds;
}

int gt_bench_launch(struct gt_bench *bench, const struct gt_bench_spin *spin, uint32_t first_record,
                    cudaStream_t stream)
{
    struct gt_bench_arguments arguments;
    gt_bench_arguments(bench, spin, first_record, &arguments);
    if (spin->cluster == 0) {
        GT_TRY(cudaLaunchKernel((const void *)gt_calibrate_spin, (dim3){ spin->blocks, 1, 1 },
                                (dim3){ spin->threads, 1, 1 }, arguments.pointers, spin->shared_bytes, stream));
        return 0;
    }
    cudaLaunchAttribute attribute = { .id = cudaLaunchAttributeClusterDimension };
    attribute.val.clusterDim.x = spin->cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    /* clang-format off */
    const cudaLaunchConfig_t config = {
        .gridDim = {spin->blocks, 1, 1}, .blockDim = {spin->threads, 1, 1},
        .dynamicSmemBytes = spin->shared_bytes, .stream = stream, .attrs = &attribute, .numAttrs = 1,
    };
    /* clang-format on */
    GT_TRY(cudaLaunchKernelExC(&config, (const void *)gt_calibrate_spin, arguments.pointers));
    return 0;
}

uint32_t gt_bench_one_block_bytes(const struct gt_bench *bench)
{
    uint32_t more_than_half = (uint32_t)bench->gpu.sharedMemPerMultiprocessor / 2 + 1;
    uint32_t most = (uint32_t)bench->gpu.sharedMemPerBlockOptin;
    return more_than_half < most ? more_than_half : most;
}

int gt_bench_read(struct gt_bench *bench, uint32_t count)
{
    GT_TRY(cudaDeviceSynchronize());
    GT_TRY(cudaMemcpy(bench->blocks, bench->log, count * sizeof(*bench->log), cudaMemcpyDeviceToHost));
    return 0;
}

struct gt_stay gt_bench_span(const struct gt_bench *bench, uint32_t first_record, uint32_t count)
{
    const struct gt_block_log *block = &bench->blocks[first_record];
    struct gt_stay span = { block->sm, block->start_ns, block->end_ns };
    for (uint32_t i = 1; i < count; i++) {
        if (block[i].start_ns < span.start_ns)
            span.start_ns = block[i].start_ns;
        if (block[i].end_ns > span.end_ns)
            span.end_ns = block[i].end_ns;
    }
    return span;
}

int gt_bench_close_gate(struct gt_bench *bench, cudaStream_t stream, double limit_us)
{
    const volatile uint32_t *gate = &bench->mail->gate;
    uint32_t open = ++bench->gates;
    uint64_t limit_ns = (uint64_t)(limit_us * 1000);
    void *arguments[] = { &gate, &open, &limit_ns };
    GT_TRY(cudaLaunchKernel((const void *)gt_calibrate_gate, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, arguments, 0,
                            stream));
    return 0;
}

void gt_bench_open_gate(struct gt_bench *bench)
{
    bench->mail->gate = bench->gates;
}

int gt_bench_tie(struct gt_bench *bench, struct gt_clock_tie *tie)
{
    const volatile uint32_t *request = &bench->mail->request;
    volatile uint64_t *reply = &bench->mail->reply;
    uint32_t count = EXCHANGES;
    uint64_t limit_ns = 100000000, last = 0;
    void *arguments[] = { &request, &reply, &count, &limit_ns };
    bench->mail->request = 0;
    bench->mail->reply = 0;
    tie->residual_ns = INT64_MAX;
    GT_TRY(cudaLaunchKernel((const void *)gt_calibrate_ping, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, arguments, 0,
                            bench->streams[0]));
    for (uint32_t i = 1; i <= EXCHANGES; i++) {
        uint64_t sent_ns = gt_clock_ns(), received_ns, gpu_ns;
        bench->mail->request = i;
        do {
            gpu_ns = bench->mail->reply;
            received_ns = gt_clock_ns();
            if (received_ns - sent_ns > limit_ns)
                return gt_error_set(bench->error, "the GPU gave no answer when its clock was asked for");
        } while (gpu_ns == last);
        last = gpu_ns;
        struct gt_clock_tie one = gt_clock_tie_of(sent_ns, gpu_ns, received_ns);
        if (i > EXCHANGES / 10 && one.residual_ns < tie->residual_ns)
            *tie = one;
    }
    GT_TRY(cudaStreamSynchronize(bench->streams[0]));
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct gt_gpu_record *left = a, *right = b;
    return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

/* Some copies are done in parts, and CUPTI may tell of each. */
static void take_record(struct gt_bench *bench, const struct gt_gpu_record *record)
{
    struct gt_gpu_record *last = bench->record_count > 0 ? &bench->records[bench->record_count - 1] : NULL;
    if (last != NULL && last->correlation == record->correlation && record->kind != GT_OP_KERNEL) {
        last->start_ns = record->start_ns < last->start_ns ? record->start_ns : last->start_ns;
        last->end_ns = record->end_ns > last->end_ns ? record->end_ns : last->end_ns;
        last->bytes += record->bytes;
    } else {
        bench->records[bench->record_count++] = *record;
    }
}

int gt_bench_take_records(struct gt_bench *bench)
{
    const struct gt_activity *activity;
    bench->record_count = 0;
    GT_TRY(cudaDeviceSynchronize());
    if (gt_cupti_end(&activity, bench->error) != 0)
        return -1;
    if (activity->gpu_count > 0)
        bench->records = gt_realloc(bench->records, activity->gpu_count, sizeof(*bench->records));
    for (uint64_t i = 0; i < activity->gpu_count; i++)
        take_record(bench, &activity->gpu[i]);
    if (bench->record_count > 0)
        qsort(bench->records, bench->record_count, sizeof(*bench->records), by_start);
    return gt_cupti_begin(bench->kernels, bench->error);
}

int gt_bench_record_kernels(struct gt_bench *bench, bool kernels)
{
    bench->kernels = kernels;
    return gt_bench_take_records(bench);
}

int gt_bench_elapsed_us(struct gt_bench *bench, cudaEvent_t from, cudaEvent_t to, double *us)
{
    float ms;
    GT_TRY(cudaEventElapsedTime(&ms, from, to));
    *us = (double)ms * 1000.0;
    return 0;
}

struct gt_bench_summary gt_bench_mean(const struct gt_bench_summary *parts, size_t count)
{
    struct gt_bench_summary mean = { 0, 0, 0, 0 };
    for (size_t i = 0; i < count; i++) {
        mean.median += parts[i].median / (double)count;
        mean.low += parts[i].low / (double)count;
        mean.high += parts[i].high / (double)count;
        mean.count += parts[i].count;
    }
    return mean;
}
