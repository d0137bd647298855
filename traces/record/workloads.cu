/* CUDA programs whose traces the samples are: each function is one, called by record.py while the
 * profiler runs.  Every call is checked; the answer is checked on the host. */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                 \
    do {                                                                                            \
        cudaError_t status_ = (call);                                                               \
        if (status_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
            exit(1);                                                                                \
        }                                                                                           \
    } while (0)

/* y = a * x, `rounds` times over, so that the kernel takes about as long as its copies. */
__global__ void scale(float *data, int count, float factor, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count)
        return;
    float value = data[i];
    for (int round = 0; round < rounds; round++)
        value = value * factor + 1.0f;
    data[i] = value;
}

/* Each block computes for `cycles` of its SM's clock. */
__global__ void spin(long long cycles)
{
    long long start = clock64();

    while (clock64() - start < cycles)
        ;
}

enum { CHUNKS = 8, CHUNK = 1 << 20, MAX_STREAMS = 8 };
static float *pinned, *device_data;
static cudaStream_t streams[MAX_STREAMS];

extern "C" void setup(void)
{
    CHECK(cudaMallocHost(&pinned, sizeof(float) * CHUNKS * CHUNK));
    CHECK(cudaMalloc(&device_data, sizeof(float) * CHUNKS * CHUNK));
    for (int i = 0; i < MAX_STREAMS; i++)
        CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    for (int i = 0; i < CHUNKS * CHUNK; i++)
        pinned[i] = 1.0f;
    CHECK(cudaDeviceSynchronize());
}

/* Copy in, compute, copy out, chunk by chunk, over so many streams. */
extern "C" void overlap(int stream_count)
{
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        cudaStream_t stream = streams[chunk % stream_count];
        float *host = pinned + (size_t)chunk * CHUNK, *data = device_data + (size_t)chunk * CHUNK;

        CHECK(cudaMemcpyAsync(data, host, sizeof(float) * CHUNK, cudaMemcpyHostToDevice, stream));
        scale<<<CHUNK / 256, 256, 0, stream>>>(data, CHUNK, 0.5f, 2000);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(host, data, sizeof(float) * CHUNK, cudaMemcpyDeviceToHost, stream));
    }
    CHECK(cudaDeviceSynchronize());
}

/* Work on two streams around the legacy default stream, which serialises with neither of these
 * (non-blocking) but with the two made here. */
extern "C" void default_stream(void)
{
    cudaStream_t blocking[2];

    for (int i = 0; i < 2; i++)
        CHECK(cudaStreamCreate(&blocking[i]));
    for (int round = 0; round < 3; round++) {
        spin<<<16, 256, 0, blocking[0]>>>(100000);
        spin<<<1, 32>>>(20000);
        spin<<<16, 256, 0, blocking[1]>>>(100000);
        spin<<<16, 256, 0, streams[0]>>>(60000);
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 2; i++)
        CHECK(cudaStreamDestroy(blocking[i]));
}

/* An urgent kernel behind four waves of a low-priority one. */
extern "C" void priority(void)
{
    cudaStream_t low, high;
    int least, greatest;

    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
    CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    for (int round = 0; round < 2; round++) {
        spin<<<1056, 1024, 0, low>>>(200000);
        spin<<<132, 256, 0, high>>>(100000);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(low));
    CHECK(cudaStreamDestroy(high));
}

/* A fork and a join by events, twice. */
extern "C" void fork_join(void)
{
    cudaEvent_t forked, joined[3];

    CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    for (int i = 0; i < 3; i++)
        CHECK(cudaEventCreateWithFlags(&joined[i], cudaEventDisableTiming));
    for (int round = 0; round < 2; round++) {
        spin<<<32, 256, 0, streams[0]>>>(60000);
        CHECK(cudaEventRecord(forked, streams[0]));
        for (int i = 0; i < 3; i++) {
            CHECK(cudaStreamWaitEvent(streams[i + 1], forked, 0));
            spin<<<32, 256, 0, streams[i + 1]>>>(40000LL * (i + 1));
            CHECK(cudaEventRecord(joined[i], streams[i + 1]));
            CHECK(cudaStreamWaitEvent(streams[0], joined[i], 0));
        }
        spin<<<32, 256, 0, streams[0]>>>(60000);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(forked));
    for (int i = 0; i < 3; i++)
        CHECK(cudaEventDestroy(joined[i]));
}

/* Two kernels that together do not fit: the second's blocks fill what the first leaves. */
extern "C" void leftover(void)
{
    for (int round = 0; round < 3; round++) {
        spin<<<200, 1024, 0, streams[0]>>>(150000);
        spin<<<400, 512, 0, streams[1]>>>(80000);
        spin<<<64, 256, 0, streams[2]>>>(50000);
    }
    CHECK(cudaDeviceSynchronize());
}
