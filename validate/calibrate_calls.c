/* calibrate_calls.c - the CPU time of calls: a row a call, its times taken in bursts. */
#include <stdio.h>
#include <string.h>

#include "validate/calibrate_groups.h"

enum { OBJECTS = 64, SAMPLES_MOST = 1024, GRAPH_NODES = 20, COPY_BYTES = 65536, KINDS_MOST = 4,
       HOLD_US = 1000 };

/* What the calls work on. */
struct objects {
    struct gt_bench *bench;
    cudaStream_t stream, streams[OBJECTS];
    cudaEvent_t events[OBJECTS];
    cudaGraphExec_t graph;
};

static cudaError_t launch(struct objects *objects, int i)
{
    struct gt_block_log *log = NULL;
    uint64_t cycles = 0, step = 0;
    uint32_t kinds = 1;
    void *arguments[] = {&log, &cycles, &step, &kinds};
    (void)i;
    return cudaLaunchKernel((const void *)gt_calibrate_spin, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 0,
                            objects->stream);
}

/* Events that have been recorded and do not pass before the burst is over: waiting for them is no empty call. */
static cudaError_t hold_events(struct objects *objects)
{
    const struct gt_bench_spin spin = {1, 32, 0, 0, HOLD_US, 0, 0};
    cudaError_t status = gt_bench_launch(objects->bench, &spin, 0, objects->stream) == 0 ? cudaSuccess
                                                                                        : cudaErrorUnknown;
    for (int i = 0; status == cudaSuccess && i < OBJECTS; i++)
        status = cudaEventRecord(objects->bench->events[i], objects->stream);
    return status;
}

static cudaError_t copy_up(struct objects *objects, int i)
{
    (void)i;
    return cudaMemcpyAsync(objects->bench->device[0], objects->bench->pinned, COPY_BYTES,
                           cudaMemcpyHostToDevice, objects->stream);
}

static cudaError_t copy_down(struct objects *objects, int i)
{
    (void)i;
    return cudaMemcpyAsync(objects->bench->pinned, objects->bench->device[0], COPY_BYTES,
                           cudaMemcpyDeviceToHost, objects->stream);
}

static cudaError_t fill(struct objects *objects, int i)
{
    return cudaMemsetAsync(objects->bench->device[0], i, COPY_BYTES, objects->stream);
}

static cudaError_t create_event(struct objects *objects, int i)
{
    return cudaEventCreateWithFlags(&objects->events[i], cudaEventDisableTiming);
}

static cudaError_t record_event(struct objects *objects, int i)
{
    return cudaEventRecord(objects->bench->events[i], objects->stream);
}

static cudaError_t wait_event(struct objects *objects, int i)
{
    return cudaStreamWaitEvent(objects->bench->streams[1], objects->bench->events[i], 0);
}

static cudaError_t query_event(struct objects *objects, int i)
{
    cudaError_t status = cudaEventQuery(objects->bench->events[i]);
    return status == cudaErrorNotReady ? cudaSuccess : status;
}

static cudaError_t sync_stream(struct objects *objects, int i)
{
    (void)i;
    return cudaStreamSynchronize(objects->stream);
}

static cudaError_t sync_event(struct objects *objects, int i)
{
    return cudaEventSynchronize(objects->bench->events[i]);
}

static cudaError_t sync_device(struct objects *objects, int i)
{
    (void)objects;
    (void)i;
    return cudaDeviceSynchronize();
}

static cudaError_t create_stream(struct objects *objects, int i)
{
    return cudaStreamCreateWithFlags(&objects->streams[i], cudaStreamNonBlocking);
}

static cudaError_t launch_graph(struct objects *objects, int i)
{
    (void)i;
    return cudaGraphLaunch(objects->graph, objects->stream);
}

static cudaError_t ask_capture(struct objects *objects, int i)
{
    enum cudaStreamCaptureStatus capture;
    (void)i;
    return cudaStreamIsCapturing(objects->stream, &capture);
}

static cudaError_t ask_attribute(struct objects *objects, int i)
{
    int value;
    (void)objects;
    (void)i;
    return cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0);
}

static cudaError_t ask_pointer(struct objects *objects, int i)
{
    struct cudaPointerAttributes attributes;
    (void)i;
    return cudaPointerGetAttributes(&attributes, objects->bench->pinned);
}

/* The rows of one key stand together; its value is the mean of theirs. */
struct timed_call {
    const char *key, *name;
    cudaError_t (*make)(struct objects *objects, int i); /* i counts within a burst */
    int burst, bursts;        /* the GPU has nothing to do before each burst */
    cudaError_t (*prepare)(struct objects *objects); /* before a burst, not timed; NULL: nothing */
};

static const struct timed_call timed_calls[] = {
    {"host.launch_call_us", "kernel of four arguments", launch, 64, 16, NULL},
    {"host.copy_call_us", "up", copy_up, 32, 12, NULL},
    {"host.copy_call_us", "down", copy_down, 32, 12, NULL},
    {"host.memset_call_us", "64 KiB", fill, 32, 12, NULL},
    {"host.event_call_us", "create", create_event, 32, 8, NULL},
    {"host.event_call_us", "record", record_event, 32, 12, NULL},
    {"host.event_call_us", "wait", wait_event, 32, 12, hold_events},
    {"host.event_call_us", "query", query_event, 32, 12, NULL},
    {"host.sync_call_us", "stream", sync_stream, 32, 12, NULL},
    {"host.sync_call_us", "event", sync_event, 32, 12, NULL},
    {"host.sync_call_us", "device", sync_device, 32, 12, NULL},
    {"host.stream_call_us", "create", create_stream, 16, 4, NULL},
    {"host.graph_call_us", "20 kernels in a row", launch_graph, 1, 100, NULL},
    {"host.other_call_us", "StreamIsCapturing", ask_capture, 32, 12, NULL},
    {"host.other_call_us", "DeviceGetAttribute", ask_attribute, 32, 12, NULL},
    {"host.other_call_us", "PointerGetAttributes", ask_pointer, 32, 12, NULL},
};
enum { CALLS = sizeof(timed_calls) / sizeof(timed_calls[0]) };

static int make_graph(struct gt_bench *bench, struct objects *objects)
{
    cudaGraph_t graph;
    GT_TRY(cudaStreamBeginCapture(objects->stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < GRAPH_NODES; i++)
        GT_TRY(launch(objects, i));
    GT_TRY(cudaStreamEndCapture(objects->stream, &graph));
    GT_TRY(cudaGraphInstantiate(&objects->graph, graph, 0));
    GT_TRY(cudaGraphDestroy(graph));
    return 0;
}

/* Creation is measured, not what has piled up. */
static int end_objects(struct gt_bench *bench, struct objects *objects)
{
    for (int i = 0; i < OBJECTS; i++) {
        if (objects->streams[i] != NULL)
            GT_TRY(cudaStreamDestroy(objects->streams[i]));
        if (objects->events[i] != NULL)
            GT_TRY(cudaEventDestroy(objects->events[i]));
        objects->streams[i] = NULL;
        objects->events[i] = NULL;
    }
    return 0;
}

static int time_call(struct gt_bench *bench, struct objects *objects, const struct timed_call *call,
                     struct gt_summary *summary)
{
    double samples[SAMPLES_MOST];
    size_t count = 0;
    for (int burst = -1; burst < call->bursts; burst++) { /* the first loads and allocates, and is not kept */
        if (call->prepare != NULL && gt_bench_check(bench, call->prepare(objects), call->name) != 0)
            return -1;
        for (int i = 0; i < call->burst; i++) {
            uint64_t start_ns = gt_clock_ns();
            cudaError_t status = call->make(objects, i);
            double us = ((double)(gt_clock_ns() - start_ns) - bench->clock_ns) / 1000;
            if (gt_bench_check(bench, status, call->name) != 0)
                return -1;
            if (burst >= 0)
                samples[count++] = us > 0 ? us : 0;
        }
        GT_TRY(cudaDeviceSynchronize());
        if (end_objects(bench, objects) != 0)
            return -1;
    }
    *summary = gt_summarise(samples, count);
    return 0;
}

static void state(struct gt_bench *bench, const struct timed_call *calls, const struct gt_summary *parts,
                  size_t count)
{
    char each[GT_FINDING_METHOD_BYTES] = "";
    struct gt_summary mean = gt_bench_mean(parts, count);
    for (size_t i = 0; i < count; i++)
        snprintf(each + strlen(each), sizeof(each) - strlen(each), "%s%s %.2f", i > 0 ? ", " : "",
                 calls[i].name, parts[i].median);
    gt_found(bench->found, calls[0].key, mean.median, mean, "CPU time of %s: %s",
             count > 1 ? "each, and their mean" : "the call", each);
}

int gt_calibrate_calls(struct gt_bench *bench)
{
    struct objects objects = {.bench = bench, .stream = bench->streams[0]};
    struct gt_summary parts[KINDS_MOST];
    size_t kinds = 0;
    if (make_graph(bench, &objects) != 0)
        return -1;
    for (int i = 0; i < CALLS; i++) {
        if (time_call(bench, &objects, &timed_calls[i], &parts[kinds]) != 0)
            return -1;
        kinds++;
        if (i + 1 == CALLS || strcmp(timed_calls[i + 1].key, timed_calls[i].key) != 0) {
            state(bench, &timed_calls[i + 1 - (int)kinds], parts, kinds);
            kinds = 0;
        }
    }
    GT_TRY(cudaGraphExecDestroy(objects.graph));
    return gt_bench_take_records(bench);
}
