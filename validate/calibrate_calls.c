/* calibrate_calls.c - the CPU time of calls: a row a call, all of them made in turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/calibrate_groups.h"

enum { ROUNDS = 400, WARM_UP_ROUNDS = 16, IDLE_EVERY = 8, SAMPLES_MOST = 4 * ROUNDS };
enum { GRAPH_NODES = 20, COPY_BYTES = 65536, KINDS_MOST = 4 };

/* What the calls work on; round by round they go to other streams. */
struct objects {
    struct gt_bench *bench;
    cudaStream_t stream, other, created_stream;
    cudaEvent_t mark, created_event;
    cudaGraphExec_t graph;
    int round;
};

static cudaError_t launch(struct objects *objects)
{
    struct gt_block_log *log = NULL;
    uint64_t cycles = 0, step = 0;
    uint32_t kinds = 1;
    void *arguments[] = {&log, &cycles, &step, &kinds};
    return cudaLaunchKernel((const void *)gt_calibrate_spin, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 0,
                            objects->stream);
}

static cudaError_t copy_up(struct objects *objects)
{
    return cudaMemcpyAsync(objects->bench->device[0], objects->bench->pinned, COPY_BYTES,
                           cudaMemcpyHostToDevice, objects->stream);
}

static cudaError_t copy_down(struct objects *objects)
{
    return cudaMemcpyAsync(objects->bench->pinned, objects->bench->device[0], COPY_BYTES,
                           cudaMemcpyDeviceToHost, objects->stream);
}

static cudaError_t fill(struct objects *objects)
{
    return cudaMemsetAsync(objects->bench->device[0], 0, COPY_BYTES, objects->stream);
}

static cudaError_t create_event(struct objects *objects)
{
    return cudaEventCreateWithFlags(&objects->created_event, cudaEventDisableTiming);
}

static cudaError_t record_event(struct objects *objects)
{
    return cudaEventRecord(objects->mark, objects->stream);
}

static cudaError_t wait_event(struct objects *objects)
{
    return cudaStreamWaitEvent(objects->other, objects->mark, 0);
}

static cudaError_t query_event(struct objects *objects)
{
    cudaError_t status = cudaEventQuery(objects->mark);
    return status == cudaErrorNotReady ? cudaSuccess : status;
}

static cudaError_t sync_stream(struct objects *objects)
{
    return cudaStreamSynchronize(objects->stream);
}

static cudaError_t sync_event(struct objects *objects)
{
    return cudaEventSynchronize(objects->mark);
}

static cudaError_t sync_device(struct objects *objects)
{
    (void)objects;
    return cudaDeviceSynchronize();
}

static cudaError_t create_stream(struct objects *objects)
{
    return cudaStreamCreateWithFlags(&objects->created_stream, cudaStreamNonBlocking);
}

static cudaError_t launch_graph(struct objects *objects)
{
    return cudaGraphLaunch(objects->graph, objects->stream);
}

static cudaError_t ask_capture(struct objects *objects)
{
    enum cudaStreamCaptureStatus capture;
    return cudaStreamIsCapturing(objects->stream, &capture);
}

static cudaError_t ask_attribute(struct objects *objects)
{
    int value;
    (void)objects;
    return cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0);
}

static cudaError_t ask_pointer(struct objects *objects)
{
    struct cudaPointerAttributes attributes;
    return cudaPointerGetAttributes(&attributes, objects->bench->pinned);
}

/* The rows of one key stand together; its value is the mean of theirs. Each round makes every call, in this
 * order, so that they meet each other's traces in caches and queues as in a program; the idle ones
 * only now and then, when the GPU has nothing to do. */
struct timed_call {
    const char *key, *name;
    cudaError_t (*make)(struct objects *objects);
    int times;                /* one after the other */
    bool idle;
};

static const struct timed_call timed_calls[] = {
    {"host.launch_call_us", "kernel of four arguments", launch, 4, false},
    {"host.copy_call_us", "up", copy_up, 1, false},
    {"host.copy_call_us", "down", copy_down, 1, false},
    {"host.memset_call_us", "64 KiB", fill, 1, false},
    {"host.event_call_us", "create", create_event, 1, false},
    {"host.event_call_us", "record", record_event, 1, false},
    {"host.event_call_us", "wait", wait_event, 1, false},
    {"host.event_call_us", "query", query_event, 1, false},
    {"host.sync_call_us", "stream", sync_stream, 1, true},
    {"host.sync_call_us", "event", sync_event, 1, true},
    {"host.sync_call_us", "device", sync_device, 1, true},
    {"host.stream_call_us", "create", create_stream, 1, true},
    {"host.graph_call_us", "20 kernels in a row", launch_graph, 1, true},
    {"host.other_call_us", "IsCapturing", ask_capture, 1, false},
    {"host.other_call_us", "DeviceGetAttribute", ask_attribute, 1, false},
    {"host.other_call_us", "PointerGetAttributes", ask_pointer, 1, false},
};
enum { CALLS = sizeof(timed_calls) / sizeof(timed_calls[0]) };

struct samples {
    double us[SAMPLES_MOST];
    size_t count;
};

static int make_graph(struct gt_bench *bench, struct objects *objects)
{
    cudaGraph_t graph;
    GT_TRY(cudaStreamBeginCapture(objects->stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < GRAPH_NODES; i++)
        GT_TRY(launch(objects));
    GT_TRY(cudaStreamEndCapture(objects->stream, &graph));
    GT_TRY(cudaGraphInstantiate(&objects->graph, graph, 0));
    GT_TRY(cudaGraphDestroy(graph));
    return 0;
}

static int time_call(struct gt_bench *bench, struct objects *objects, const struct timed_call *call,
                     struct samples *samples)
{
    for (int i = 0; i < call->times; i++) {
        uint64_t start_ns = gt_clock_ns();
        cudaError_t status = call->make(objects);
        double us = ((double)(gt_clock_ns() - start_ns) - bench->clock_ns) / 1000;
        if (gt_bench_check(bench, status, call->name) != 0)
            return -1;
        if (objects->round >= 0)
            samples->us[samples->count++] = us > 0 ? us : 0;
    }
    return 0;
}

/* What a round created goes again. */
static int end_round(struct gt_bench *bench, struct objects *objects)
{
    if (objects->created_event != NULL)
        GT_TRY(cudaEventDestroy(objects->created_event));
    if (objects->created_stream != NULL)
        GT_TRY(cudaStreamDestroy(objects->created_stream));
    objects->created_event = NULL;
    objects->created_stream = NULL;
    return 0;
}

static int play_round(struct gt_bench *bench, struct objects *objects, bool idle, struct samples *samples)
{
    unsigned turn = (unsigned)(objects->round + ROUNDS);
    objects->stream = bench->streams[turn % 3];
    objects->other = bench->streams[(turn + 1) % 3];
    objects->mark = bench->marks[turn % GT_BENCH_MARKS];
    for (int i = 0; i < CALLS; i++)
        if (timed_calls[i].idle == idle && time_call(bench, objects, &timed_calls[i], &samples[i]) != 0)
            return -1;
    return end_round(bench, objects);
}

static void state(struct gt_bench *bench, const struct timed_call *calls, const struct gt_summary *parts,
                  size_t count)
{
    char each[GT_FINDING_METHOD_BYTES] = "";
    struct gt_summary mean = gt_bench_mean(parts, count);
    for (size_t i = 0; i < count; i++)
        snprintf(each + strlen(each), sizeof(each) - strlen(each), "%s%s %.2f", i > 0 ? ", " : "",
                 calls[i].name, parts[i].median);
    gt_found(bench->found, calls[0].key, mean.median, mean, "%s%s", count > 1 ? "mean of " : "CPU time, ",
             each);
}

int gt_calibrate_calls(struct gt_bench *bench)
{
    struct objects objects = {.bench = bench, .stream = bench->streams[0]};
    struct samples *samples = gt_calloc(CALLS, sizeof(*samples));
    struct gt_summary parts[KINDS_MOST];
    size_t kinds = 0;
    int status = make_graph(bench, &objects);
    for (objects.round = -WARM_UP_ROUNDS; status == 0 && objects.round < ROUNDS; objects.round++) {
        status = play_round(bench, &objects, false, samples);
        if (status == 0 && objects.round % IDLE_EVERY == 0)
            status = gt_bench_check(bench, cudaDeviceSynchronize(), "cudaDeviceSynchronize()") == 0
                         ? play_round(bench, &objects, true, samples) : -1;
    }
    for (int i = 0; status == 0 && i < CALLS; i++) {
        parts[kinds++] = gt_summarise(samples[i].us, samples[i].count);
        if (i + 1 == CALLS || strcmp(timed_calls[i + 1].key, timed_calls[i].key) != 0) {
            state(bench, &timed_calls[i + 1 - (int)kinds], parts, kinds);
            kinds = 0;
        }
    }
    free(samples);
    if (objects.graph != NULL)
        cudaGraphExecDestroy(objects.graph);
    return status == 0 ? gt_bench_take_records(bench) : -1;
}
