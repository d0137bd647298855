/* calls.c - the CPU time of calls: a row a call, all of them made in turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/calibrate/groups.h"
#include "validate/calibrate/thread_team.h"

enum { BURSTS = 40, ROUNDS = 8, SAMPLES_MOST = BURSTS * ROUNDS };
enum { SMALL_BYTES = 4096, COPY_BYTES = 65536, FILL_BYTES = 1 << 20, KINDS_MOST = 4 };

/* What the calls work on; round by round they go to other streams. */
struct objects {
    struct gt_bench *bench;
    cudaStream_t stream, other, created_stream;
    cudaEvent_t mark, created_event;
    struct samples *samples; /* a row's each */
};

static cudaError_t launch(struct objects *objects)
{
    struct gt_block_log *log = NULL;
    uint64_t cycles = 0, step = 0;
    uint32_t kinds = 1;
    void *arguments[] = { &log, &cycles, &step, &kinds };
    return cudaLaunchKernel((const void *)gt_calibrate_spin, (dim3){ 1, 1, 1 }, (dim3){ 32, 1, 1 }, arguments, 0,
                            objects->stream);
}

static cudaError_t copy_up(struct objects *objects)
{
    return cudaMemcpyAsync(objects->bench->device[0], objects->bench->pinned, COPY_BYTES, cudaMemcpyHostToDevice,
                           objects->stream);
}

static cudaError_t copy_down(struct objects *objects)
{
    return cudaMemcpyAsync(objects->bench->pinned, objects->bench->device[0], COPY_BYTES, cudaMemcpyDeviceToHost,
                           objects->stream);
}

static cudaError_t fill_little(struct objects *objects)
{
    return cudaMemsetAsync(objects->bench->device[0], 0, SMALL_BYTES, objects->stream);
}

static cudaError_t fill(struct objects *objects)
{
    return cudaMemsetAsync(objects->bench->device[0], 0, FILL_BYTES, objects->stream);
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
 * once behind the rounds of a burst, when the GPU has nothing to do. */
struct timed_call {
    const char *key, *name; /* key NULL: it is there for the others */
    cudaError_t (*make)(struct objects *objects);
    bool idle;
};

static const struct timed_call timed_calls[] = {
    { NULL, "kernel", launch, false },
    { "host.copy_call_us", "up", copy_up, false },
    { "host.copy_call_us", "down", copy_down, false },
    { "host.memset_call_us", "4 KiB", fill_little, false },
    { "host.memset_call_us", "1 MiB", fill, false },
    { "host.event_call_us", "create", create_event, false },
    { "host.event_call_us", "record", record_event, false },
    { "host.event_call_us", "wait", wait_event, false },
    { "host.event_call_us", "query", query_event, false },
    { "host.other_call_us", "IsCapturing", ask_capture, false },
    { "host.other_call_us", "DeviceGetAttribute", ask_attribute, false },
    { "host.other_call_us", "PointerGetAttributes", ask_pointer, false },
    { "host.sync_call_us", "stream", sync_stream, true },
    { "host.sync_call_us", "event", sync_event, true },
    { "host.sync_call_us", "device", sync_device, true },
    { "host.stream_call_us", "create", create_stream, true },
};
enum { CALLS = sizeof(timed_calls) / sizeof(timed_calls[0]) };

struct samples {
    double us[SAMPLES_MOST];
    size_t count;
};

static cudaError_t time_call(struct objects *objects, int row, bool keep)
{
    struct samples *samples = &objects->samples[row];
    uint64_t start_ns = gt_clock_ns();
    cudaError_t status = timed_calls[row].make(objects);
    double us = ((double)(gt_clock_ns() - start_ns) - objects->bench->clock_ns) / 1000;
    if (keep)
        samples->us[samples->count++] = us > 0 ? us : 0;
    return status;
}

/* What a round created goes again. */
static cudaError_t end_round(struct objects *objects)
{
    cudaError_t status = cudaSuccess;
    if (objects->created_event != NULL)
        status = cudaEventDestroy(objects->created_event);
    if (objects->created_stream != NULL && status == cudaSuccess)
        status = cudaStreamDestroy(objects->created_stream);
    objects->created_event = NULL;
    objects->created_stream = NULL;
    return status;
}

static cudaError_t play_round(struct objects *objects, int round, bool idle, bool keep)
{
    const struct gt_bench *bench = objects->bench;
    cudaError_t status = cudaSuccess;
    objects->stream = bench->streams[round % 3];
    objects->other = bench->streams[(round + 1) % 3];
    objects->mark = bench->marks[round % GT_BENCH_MARKS];
    for (int i = 0; i < CALLS && status == cudaSuccess; i++)
        if (timed_calls[i].idle == idle)
            status = time_call(objects, i, keep);
    return status == cudaSuccess ? end_round(objects) : status;
}

/* A burst; its first round comes after a rest and is not kept. */
static cudaError_t play_burst(void *user, uint32_t number, bool counts)
{
    struct objects *objects = user;
    cudaError_t status = cudaSuccess;
    (void)number;
    for (int round = 0; round <= ROUNDS && status == cudaSuccess; round++)
        status = play_round(objects, round, false, counts && round > 0);
    if (status == cudaSuccess)
        status = cudaDeviceSynchronize();
    return status == cudaSuccess ? play_round(objects, 0, true, counts) : status;
}

static void state(struct gt_bench *bench, const struct timed_call *calls, const struct gt_bench_summary *parts,
                  size_t count)
{
    char each[GT_FINDING_METHOD_BYTES] = "";
    struct gt_bench_summary mean = gt_bench_mean(parts, count);
    for (size_t i = 0; i < count; i++)
        snprintf(each + strlen(each), sizeof(each) - strlen(each), "%s%s %.2f", i > 0 ? ", " : "", calls[i].name,
                 parts[i].median);
    gt_found(bench->found, calls[0].key, mean.median, mean, "%s%s", count > 1 ? "mean of " : "CPU time, ", each);
}

int gt_calibrate_calls(struct gt_bench *bench)
{
    struct objects objects = { .bench = bench, .stream = bench->streams[0] };
    struct gt_bench_summary parts[KINDS_MOST];
    size_t kinds = 0;
    int status = 0;
    objects.samples = gt_calloc(CALLS, sizeof(*objects.samples));
    for (int i = 0; status == 0 && i < BURSTS; i++)
        status = gt_thread_team_play(bench, 1, play_burst, &objects);
    for (int i = 0; status == 0 && i < CALLS; i++) {
        if (timed_calls[i].key == NULL)
            continue;
        parts[kinds++] = gt_summarise(objects.samples[i].us, objects.samples[i].count);
        if (i + 1 == CALLS || strcmp(timed_calls[i + 1].key, timed_calls[i].key) != 0) {
            state(bench, &timed_calls[i + 1 - (int)kinds], parts, kinds);
            kinds = 0;
        }
    }
    free(objects.samples);
    return status == 0 ? gt_bench_take_records(bench) : -1;
}
