/* whatif.cu - CUDA programs that can be changed for real: whatif.py calls each function in its variants, with the
 * profiler and without.  Every call is checked.
 *
 *   nvcc -O2 -arch=sm_90 -shared -Xcompiler -fPIC -cudart static -o libwhatif.so whatif.cu
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                     \
    do {                                                                                                \
        cudaError_t status_ = (call);                                                                   \
        if (status_ != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
            exit(1);                                                                                    \
        }                                                                                               \
    } while (0)

static __device__ void turn(float us)
{
    unsigned long long start, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < (unsigned long long)(us * 1000));
}

/* Kernels of one body and several names, so that a change can name one of them. */
#define KERNEL(name)                            \
    extern "C" __global__ void name(float us)   \
    {                                           \
        turn(us);                               \
    }
KERNEL(chain_link)
KERNEL(layer_load)
KERNEL(layer_mix)
KERNEL(layer_norm)
KERNEL(background)
KERNEL(urgent_link)
KERNEL(consume)
KERNEL(first_kernel)
KERNEL(second_kernel)

extern "C" __global__ void empty_kernel()
{
}

extern "C" __global__ void __cluster_dims__(8, 1, 1) clustered(float us)
{
    turn(us);
}

enum { MOST_STREAMS = 64, MOST_BUFFERS = 16, MOST_GRAPHS = 16, SLOT = 16 << 20 };

static cudaStream_t free_streams[MOST_STREAMS], urgent_streams[8], blocking_streams[4];
static cudaEvent_t events[MOST_STREAMS], arrived[MOST_BUFFERS], consumed[MOST_BUFFERS];
static char *pageable, *pinned, *device_data;
static cudaGraphExec_t graphs[MOST_GRAPHS];

/* A stream that the legacy default stream does not hold up. */
static cudaStream_t stream(int i)
{
    if (free_streams[i] == NULL)
        CHECK(cudaStreamCreateWithFlags(&free_streams[i], cudaStreamNonBlocking));
    return free_streams[i];
}

extern "C" void setup(void)
{
    if (pinned != NULL)
        return;
    CHECK(cudaMallocHost(&pinned, (size_t)MOST_BUFFERS * SLOT));
    CHECK(cudaMalloc(&device_data, (size_t)MOST_BUFFERS * SLOT));
    pageable = (char *)malloc((size_t)MOST_BUFFERS * SLOT);
    memset(pageable, 1, (size_t)MOST_BUFFERS * SLOT);
    memset(pinned, 1, (size_t)MOST_BUFFERS * SLOT);
    for (int i = 0; i < MOST_STREAMS; i++)
        CHECK(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
    for (int i = 0; i < MOST_BUFFERS; i++) {
        CHECK(cudaEventCreateWithFlags(&arrived[i], cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&consumed[i], cudaEventDisableTiming));
    }
    CHECK(cudaDeviceSynchronize());
}

extern "C" void wait_for_all(void)
{
    CHECK(cudaDeviceSynchronize());
}

static void host_work(float us)
{
    struct timespec start, now;

    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start.tv_sec) * 1e6 + (now.tv_nsec - start.tv_nsec) / 1e3 < us);
}

/* `count` chains that do not need each other, dealt to so many streams. */
extern "C" void chains(int count, int length, int streams, int depth_first, int blocks, int threads, float us)
{
    for (int i = 0; i < count * length; i++) {
        int chain = depth_first ? i / length : i % count;

        chain_link<<<blocks, threads, 0, stream(chain % streams)>>>(us);
    }
    CHECK(cudaGetLastError());
}

/* One chain that goes from stream to stream, by an event each time. */
extern "C" void handoff(int length, int streams, int blocks, float us)
{
    for (int i = 0; i < length; i++) {
        if (i > 0 && streams > 1)
            CHECK(cudaStreamWaitEvent(stream(i % streams), events[(i - 1) % MOST_STREAMS], 0));
        chain_link<<<blocks, 256, 0, stream(i % streams)>>>(us);
        CHECK(cudaGetLastError());
        if (streams > 1)
            CHECK(cudaEventRecord(events[i % MOST_STREAMS], stream(i % streams)));
    }
}

/* Layers of three kernels; one of 0 us is left out. */
extern "C" void layers(int count, float load_us, float mix_us, float norm_us)
{
    for (int i = 0; i < count; i++) {
        if (load_us > 0)
            layer_load<<<264, 256, 0, stream(0)>>>(load_us);
        if (mix_us > 0)
            layer_mix<<<132, 512, 0, stream(0)>>>(mix_us);
        if (norm_us > 0)
            layer_norm<<<64, 128, 0, stream(0)>>>(norm_us);
    }
    CHECK(cudaGetLastError());
}

/* A background kernel of `waves` waves; a chain of small ones of priority `level` (0 to 5, 5 most urgent), on whose
 * end the host waits before it works for `host_us`. */
extern "C" void urgent(int level, int waves, float wave_us, int length, float small_us, float host_us)
{
    if (urgent_streams[level] == NULL)
        CHECK(cudaStreamCreateWithPriority(&urgent_streams[level], cudaStreamNonBlocking, -level));
    background<<<waves * 264, 1024, 0, stream(0)>>>(wave_us);
    for (int i = 0; i < length; i++)
        urgent_link<<<132, 256, 0, urgent_streams[level]>>>(small_us);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(urgent_streams[level]));
    host_work(host_us);
}

/* Batches: copy in, work, copy out.  `ahead`: 0 for copies in the stream of the kernels, else in one of their own and so
 * many batches ahead.  `readback`: 0 none, 1 waited for each, 2 waited for at the end. */
extern "C" void batches(int count, int in_kib, int from_pinned, int wait_in, int ahead, int kernels, float us, int out_kib,
                        int to_pinned, int readback)
{
    cudaStream_t work = stream(0), copies = ahead > 0 ? stream(1) : work;
    int copied = 0;

    for (int i = 0; i < count; i++) {
        for (; copied < count && copied <= i + ahead; copied++) {
            char *from = (from_pinned ? pinned : pageable) + (size_t)copied * SLOT;

            if (ahead > 0)
                CHECK(cudaStreamWaitEvent(copies, consumed[copied], 0));
            CHECK(cudaMemcpyAsync(device_data + (size_t)copied * SLOT, from, (size_t)in_kib << 10, cudaMemcpyHostToDevice,
                                  copies));
            if (wait_in)
                CHECK(cudaStreamSynchronize(copies));
            if (ahead > 0)
                CHECK(cudaEventRecord(arrived[copied], copies));
        }
        if (ahead > 0)
            CHECK(cudaStreamWaitEvent(work, arrived[i], 0));
        for (int k = 0; k < kernels; k++)
            consume<<<264, 256, 0, work>>>(us);
        CHECK(cudaGetLastError());
        if (ahead > 0)
            CHECK(cudaEventRecord(consumed[i], work));
        if (readback != 0)
            CHECK(cudaMemcpyAsync((to_pinned ? pinned : pageable) + (size_t)i * SLOT + SLOT / 2,
                                  device_data + (size_t)i * SLOT, (size_t)out_kib << 10, cudaMemcpyDeviceToHost, work));
        if (readback == 1)
            CHECK(cudaStreamSynchronize(work));
    }
    if (readback == 2)
        CHECK(cudaStreamSynchronize(work));
}

/* A graph of chains captured on so many streams. */
extern "C" void graph_make(int id, int count, int length, int streams, int blocks, float us)
{
    cudaGraph_t graph;

    CHECK(cudaStreamBeginCapture(stream(0), cudaStreamCaptureModeThreadLocal));
    CHECK(cudaEventRecord(events[0], stream(0)));
    for (int i = 1; i < streams; i++)
        CHECK(cudaStreamWaitEvent(stream(i), events[0], 0));
    for (int i = 0; i < count * length; i++)
        chain_link<<<blocks, 128, 0, stream(i % count % streams)>>>(us);
    for (int i = 1; i < streams; i++) {
        CHECK(cudaEventRecord(events[i], stream(i)));
        CHECK(cudaStreamWaitEvent(stream(0), events[i], 0));
    }
    CHECK(cudaStreamEndCapture(stream(0), &graph));
    CHECK(cudaGraphInstantiate(&graphs[id], graph, 0));
    CHECK(cudaGraphUpload(graphs[id], stream(0)));
    CHECK(cudaDeviceSynchronize());
}

extern "C" void graph_launch(int id, int times)
{
    for (int i = 0; i < times; i++)
        CHECK(cudaGraphLaunch(graphs[id], stream(0)));
}

/* Calls of one kind in a row: what the profiler adds to each. */
extern "C" void calls(int kind, int count)
{
    cudaStreamCaptureStatus status;

    for (int i = 0; i < count; i++) {
        switch (kind) {
        case 0: empty_kernel<<<1, 32, 0, stream(0)>>>(); break;
        case 1: CHECK(cudaEventRecord(events[i % MOST_STREAMS], stream(0))); break;
        case 2: CHECK(cudaStreamWaitEvent(stream(1), events[i % MOST_STREAMS], 0)); break;
        case 3: CHECK(cudaMemcpyAsync(device_data, pinned, 4096, cudaMemcpyHostToDevice, stream(0))); break;
        case 4: CHECK(cudaMemcpyAsync(pinned, device_data, 4096, cudaMemcpyDeviceToHost, stream(0))); break;
        case 5: CHECK(cudaMemcpyAsync(device_data, device_data + SLOT, 4096, cudaMemcpyDeviceToDevice, stream(0))); break;
        case 6: CHECK(cudaMemsetAsync(device_data, 0, 65536, stream(0))); break;
        case 7: CHECK(cudaStreamSynchronize(stream(0))); break;
        case 8: CHECK(cudaStreamIsCapturing(stream(0), &status)); break;
        case 9: (void)cudaEventQuery(events[i % MOST_STREAMS]); break;
        case 10: CHECK(cudaMemcpyAsync(device_data, pageable, 4096, cudaMemcpyHostToDevice, stream(0))); break;
        case 11: CHECK(cudaStreamWaitEvent(stream(0), events[i % MOST_STREAMS], 0));
            empty_kernel<<<1, 32, 0, stream(i % 2)>>>();
            CHECK(cudaEventRecord(events[i % MOST_STREAMS], stream(i % 2)));
            break;
        }
    }
    CHECK(cudaGetLastError());
}

/* Operations in turn, long enough that the GPU sets the pace: what the profiler adds between them. */
extern "C" void in_turn(int kind, int count, float us)
{
    cudaStream_t one = stream(0), two = stream(1);

    for (int i = 0; i < count; i++) {
        switch (kind) {
        case 0: break; /* kernels alone */
        case 1: CHECK(cudaMemcpyAsync(device_data, pinned, 1 << 20, cudaMemcpyHostToDevice, one)); break;
        case 2: CHECK(cudaMemcpyAsync(pinned, device_data, 1 << 20, cudaMemcpyDeviceToHost, one)); break;
        case 3: CHECK(cudaMemcpyAsync(device_data, device_data + SLOT, 1 << 20, cudaMemcpyDeviceToDevice, one)); break;
        case 4: CHECK(cudaMemsetAsync(device_data, 0, 1 << 20, one)); break;
        case 5:
            CHECK(cudaMemcpyAsync(device_data, pinned, 1 << 20, cudaMemcpyHostToDevice, one));
            CHECK(cudaMemcpyAsync(pinned, device_data, 1 << 20, cudaMemcpyDeviceToHost, one));
            continue;
        case 6: CHECK(cudaMemcpyAsync(device_data, pinned, 1 << 20, cudaMemcpyHostToDevice, one)); continue;
        case 7: CHECK(cudaMemcpyAsync(pinned, device_data, 1 << 20, cudaMemcpyDeviceToHost, one)); continue;
        case 8: /* from stream to stream */
            CHECK(cudaEventRecord(events[0], i % 2 ? two : one));
            CHECK(cudaStreamWaitEvent(i % 2 ? one : two, events[0], 0));
            chain_link<<<16, 256, 0, i % 2 ? one : two>>>(us);
            continue;
        case 9:
            chain_link<<<16, 256, 0, one>>>(us);
            CHECK(cudaStreamSynchronize(one));
            continue;
        case 10:
            chain_link<<<16, 256, 0, one>>>(us);
            CHECK(cudaMemcpyAsync(pinned, device_data, 4, cudaMemcpyDeviceToHost, one));
            CHECK(cudaStreamSynchronize(one));
            continue;
        case 11: chain_link<<<16, 256, 0, two>>>(us); break; /* two chains side by side */
        }
        chain_link<<<16, 256, 0, one>>>(us);
    }
    CHECK(cudaGetLastError());
}

/* Two kernels, or copies, on two streams that do not overlap, or not as hoped; `reason` says why. */
enum reason {
    DEFAULT_STREAM, BY_EVENT, CONNECTION, SM_THREADS, SM_SHARED, SM_BLOCKS, NOTHING, LATE_PRIORITY, COPIES_ONE_ENGINE,
    COPY_PAGEABLE, COPY_SAME_STREAM, COPY_DEFAULT_STREAM, COPIES_BOTH_WAYS, FULL_QUEUE, CLUSTERS,
};

static void two_copies(int reason)
{
    size_t bytes = 8 << 20;
    bool out = reason == COPIES_BOTH_WAYS;

    if (reason == COPIES_ONE_ENGINE || out) {
        CHECK(cudaMemcpyAsync(device_data, pinned, bytes, cudaMemcpyHostToDevice, stream(0)));
        if (out)
            CHECK(cudaMemcpyAsync(pinned + SLOT, device_data + SLOT, bytes, cudaMemcpyDeviceToHost, stream(1)));
        else
            CHECK(cudaMemcpyAsync(device_data + SLOT, pinned + SLOT, bytes, cudaMemcpyHostToDevice, stream(1)));
        return;
    }
    for (int i = 0; i < 2 && blocking_streams[i] == NULL; i++)
        CHECK(cudaStreamCreate(&blocking_streams[i]));
    if (reason == COPY_DEFAULT_STREAM) {
        first_kernel<<<132, 256, 0, blocking_streams[0]>>>(200);
        CHECK(cudaMemcpyAsync(device_data, pinned, bytes, cudaMemcpyHostToDevice, 0));
        second_kernel<<<132, 256, 0, blocking_streams[1]>>>(200);
    } else {
        cudaStream_t there = reason == COPY_SAME_STREAM ? stream(0) : stream(1);

        first_kernel<<<132, 256, 0, stream(0)>>>(200);
        CHECK(cudaMemcpyAsync(device_data, reason == COPY_PAGEABLE ? pageable : pinned, bytes, cudaMemcpyHostToDevice,
                              there));
        second_kernel<<<132, 256, 0, stream(0)>>>(200);
    }
    CHECK(cudaGetLastError());
}

extern "C" void serialised(int reason)
{
    int shared = 150 << 10;

    switch (reason) {
    case DEFAULT_STREAM:
        for (int i = 0; i < 2 && blocking_streams[i] == NULL; i++)
            CHECK(cudaStreamCreate(&blocking_streams[i]));
        first_kernel<<<16, 256, 0, blocking_streams[0]>>>(150);
        layer_norm<<<1, 32>>>(5);
        second_kernel<<<16, 256, 0, blocking_streams[1]>>>(150);
        break;
    case BY_EVENT:
        first_kernel<<<16, 256, 0, stream(0)>>>(150);
        CHECK(cudaEventRecord(events[0], stream(0)));
        CHECK(cudaStreamWaitEvent(stream(1), events[0], 0));
        second_kernel<<<16, 256, 0, stream(1)>>>(150);
        break;
    case CONNECTION: /* with CUDA_DEVICE_MAX_CONNECTIONS=1 the third is behind the second, which waits for the first */
        first_kernel<<<16, 256, 0, stream(0)>>>(150);
        layer_norm<<<16, 256, 0, stream(0)>>>(50);
        second_kernel<<<16, 256, 0, stream(1)>>>(150);
        break;
    case SM_THREADS:
        first_kernel<<<264, 1024, 0, stream(0)>>>(150);
        second_kernel<<<64, 256, 0, stream(1)>>>(150);
        break;
    case SM_SHARED:
        CHECK(cudaFuncSetAttribute(first_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
        CHECK(cudaFuncSetAttribute(second_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
        first_kernel<<<132, 128, shared, stream(0)>>>(150);
        second_kernel<<<132, 128, shared, stream(1)>>>(150);
        break;
    case SM_BLOCKS:
        first_kernel<<<132 * 32, 32, 0, stream(0)>>>(150);
        second_kernel<<<132, 32, 0, stream(1)>>>(150);
        break;
    case NOTHING:
        first_kernel<<<64, 256, 0, stream(0)>>>(150);
        second_kernel<<<64, 256, 0, stream(1)>>>(150);
        break;
    case LATE_PRIORITY:
        if (urgent_streams[5] == NULL)
            CHECK(cudaStreamCreateWithPriority(&urgent_streams[5], cudaStreamNonBlocking, -5));
        first_kernel<<<264, 1024, 0, stream(0)>>>(300);
        host_work(30);
        urgent_link<<<16, 256, 0, urgent_streams[5]>>>(20);
        break;
    case FULL_QUEUE:
        first_kernel<<<16, 256, 0, stream(0)>>>(8000);
        for (int i = 0; i < 1100; i++)
            empty_kernel<<<1, 32, 0, stream(0)>>>();
        CHECK(cudaMemcpyAsync(device_data, pinned, 1 << 20, cudaMemcpyHostToDevice, stream(0)));
        break;
    case CLUSTERS:
        first_kernel<<<96, 1024, 0, stream(0)>>>(150);
        clustered<<<256, 1024, 0, stream(1)>>>(60);
        break;
    default:
        two_copies(reason);
    }
    CHECK(cudaGetLastError());
}
