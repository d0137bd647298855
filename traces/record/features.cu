/* features.cu - see features.cuh.  `features NAME`; without a name it lists them. */
#include "features.cuh"

#include <cstring>
#include <cwchar>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>

float *a, *b, *c, *host;
cudaStream_t s[3];
cudaEvent_t e[3];
__constant__ float table[1024];
__device__ float symbol[1024];

__global__ void spin(float *p, int n)
{
    float x = threadIdx.x;
    for (int i = 0; i < n; i++)
        x = x * 1.0001f + 0.5f;
    if (x == 1234.f)
        *p = x;
}

__global__ void scale(float *out, const float *in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = in[i] * 2;
}

struct in_structure {
    float *out;
    const float *in;
    int n;
};
__global__ void of_structure(in_structure p)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.n; i += gridDim.x * blockDim.x)
        p.out[i] = p.in[i] * 2;
}

static void begin()
{
    CHECK(cudaMalloc(&a, COUNT * sizeof(float)));
    CHECK(cudaMalloc(&b, COUNT * sizeof(float)));
    CHECK(cudaMalloc(&c, COUNT * sizeof(float)));
    CHECK(cudaMallocHost(&host, COUNT * sizeof(float)));
    memset(host, 0, COUNT * sizeof(float));
    for (cudaStream_t &stream : s)
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (cudaEvent_t &event : e)
        CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaDeviceSynchronize());
}

static void kernels(int count, cudaStream_t stream)
{
    for (int i = 0; i < count; i++)
        spin<<<66, 256, 0, stream>>>(a, 10000);
    CHECK(cudaStreamSynchronize(stream));
}

/* 3 kernels, 5 that are recorded, 2, 7 that are recorded, 4. */
static void by_signal()
{
    const int counts[] = { 3, 5, 2, 7, 4 };
    for (int i = 0; i < 5; i++) {
        kernels(counts[i], s[0]);
        if (i < 4)
            raise(SIGUSR2);
        usleep(300000);
    }
}

/* SIGUSR2 comes before the first CUDA call: all is recorded. */
static void early_signal()
{
    raise(SIGUSR2);
    begin();
    kernels(6, s[0]);
}

/* Runs until somebody else ends it, or for 20 s; a signal of somebody else switches recording on. */
static void long_runner()
{
    for (int i = 0; i < 200; i++) {
        kernels(10, s[0]);
        usleep(100000);
    }
}

static void killed()
{
    for (int i = 0; i < 12; i++) {
        kernels(10, s[0]);
        usleep(100000);
    }
    kill(getpid(), SIGKILL);
}

static nvtxEventAttributes_t message(nvtxMessageType_t type)
{
    nvtxEventAttributes_t attributes = {};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = type;
    return attributes;
}

static nvtxRangeId_t open_range;
static void *end_elsewhere(void *)
{
    nvtxRangeEnd(open_range);
    return NULL;
}

/* 1 kernel in each range: plain, wide, registered in a domain, started here and ended on another thread; and 1 in none. */
static void nvtx()
{
    nvtxDomainHandle_t domain = nvtxDomainCreateA("loader");
    nvtxDomainHandle_t wide_domain = nvtxDomainCreateW(L"größe");
    nvtxStringHandle_t string = nvtxDomainRegisterStringA(domain, "batch");
    nvtxEventAttributes_t registered = message(NVTX_MESSAGE_TYPE_REGISTERED),
                          unicode = message(NVTX_MESSAGE_TYPE_UNICODE);
    pthread_t thread;

    nvtxNameOsThreadA((uint32_t)gettid(), "the main one");
    registered.message.registered = string;
    unicode.message.unicode = L"Schritt №2 \U0001F30A";
    nvtxRangePushA("plain");
    kernels(1, s[0]);
    nvtxRangePop();
    nvtxRangePushW(L"größer");
    kernels(1, s[0]);
    nvtxRangePushEx(&unicode);
    kernels(1, s[0]);
    nvtxRangePop();
    nvtxRangePop();
    nvtxDomainRangePushEx(domain, &registered);
    kernels(1, s[0]);
    nvtxDomainRangePop(domain);
    nvtxDomainRangePushEx(wide_domain, &unicode);
    kernels(1, s[0]);
    nvtxDomainRangePop(wide_domain);
    open_range = nvtxRangeStartA("across threads");
    kernels(1, s[0]);
    pthread_create(&thread, NULL, end_elsewhere, NULL);
    pthread_join(thread, NULL);
    kernels(1, s[0]);
}

static void copies()
{
    const size_t pitch = 4096, width = 1024, height = 64;
    cudaArray_t array, other;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMemcpy3DParms box = {};
    cudaPitchedPtr volume;
    float *pitched;
    size_t got;

    CHECK(cudaMemcpy2DAsync(a, pitch, host, width, width, height, cudaMemcpyHostToDevice, s[0]));
    CHECK(cudaMemcpy2D(b, width, a, pitch, width, height, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemset2DAsync(a, pitch, 0, width, height, s[0]));
    CHECK(cudaMallocPitch(&pitched, &got, width, height));
    CHECK(cudaMemset2D(pitched, got, 0, width, height));
    CHECK(cudaMalloc3D(&volume, make_cudaExtent(width, 16, 4)));
    CHECK(cudaMemset3DAsync(volume, 0, make_cudaExtent(width, 16, 4), s[0]));
    box.srcPtr = make_cudaPitchedPtr(host, width, width, 16);
    box.dstPtr = volume;
    box.extent = make_cudaExtent(width, 16, 4);
    box.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3DAsync(&box, s[0]));
    CHECK(cudaMallocArray(&array, &format, 256, 64));
    CHECK(cudaMallocArray(&other, &format, 256, 64));
    CHECK(cudaMemcpy2DToArrayAsync(array, 0, 0, host, 1024, 1024, 64, cudaMemcpyHostToDevice, s[0]));
    CHECK(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, 1024, 64, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2DFromArrayAsync(c, 1024, other, 0, 0, 1024, 64, cudaMemcpyDeviceToDevice, s[0]));
    CHECK(cudaStreamSynchronize(s[0]));
    CHECK(cudaMemcpyToSymbolAsync(table, host, sizeof table, 0, cudaMemcpyHostToDevice, s[0]));
    CHECK(cudaMemcpyToSymbol(symbol, host, 2048, 1024, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyFromSymbolAsync(host, symbol, sizeof symbol, 0, cudaMemcpyDeviceToHost, s[0]));
    CHECK(cudaStreamSynchronize(s[0]));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeArray(other));
}

static void batch()
{
    void *to[3] = { a, b, c };
    const void *from[3] = { host, host + 4096, host + 8192 };
    size_t sizes[3] = { 4096, 8192, 4096 }, first = 0;
    cudaMemcpyAttributes attributes = {};

    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 3, &attributes, &first, 1, s[0]));
    CHECK(cudaStreamSynchronize(s[0]));
}

/* One stream's launches, alternately less and more urgent, beside another stream's large kernel. */
static void launch_priorities()
{
    int low, high;
    cudaLaunchAttribute attribute[1];
    cudaLaunchConfig_t config = {};

    CHECK(cudaDeviceGetStreamPriorityRange(&low, &high));
    attribute[0].id = cudaLaunchAttributePriority;
    config.gridDim = 132;
    config.blockDim = 256;
    config.stream = s[1];
    config.attrs = attribute;
    config.numAttrs = 1;
    for (int i = 0; i < 6; i++) {
        attribute[0].val.priority = i % 2 == 0 ? low : high;
        spin<<<4000, 256, 0, s[0]>>>(a, 20000);
        CHECK(cudaLaunchKernelEx(&config, spin, b, 5000));
        CHECK(cudaDeviceSynchronize());
    }
}

/* What no name of a parameter tells: pointers in a structure, and into a piece of memory that is given out in parts. */
static void pointers()
{
    of_structure<<<66, 256, 0, s[0]>>>({ a, b, 4096 });
    of_structure<<<66, 256, 0, s[1]>>>({ a, b, 4096 });
    scale<<<66, 256, 0, s[0]>>>(c + 4096, c + 8192, 4096);
    scale<<<66, 256, 0, s[1]>>>(c + 12288, c + 8192, 4096);
    CHECK(cudaDeviceSynchronize());
}

/* Two kernels write the same memory, in two streams without an order. */
static void race()
{
    scale<<<66, 256, 0, s[0]>>>(a, b, 4096);
    scale<<<66, 256, 0, s[1]>>>(a, c, 4096);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy2DAsync(a, 4096, host, 1024, 1024, 64, cudaMemcpyHostToDevice, s[0]));
    CHECK(cudaMemcpy2DAsync(a + 512, 4096, host, 1024, 1024, 64, cudaMemcpyHostToDevice,
                            s[1])); /* beside it: no race */
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemset2DAsync(a, 4096, 0, 1024, 64, s[0]));
    CHECK(cudaMemcpy2DAsync(a, 4096, host, 1024, 1024, 64, cudaMemcpyHostToDevice, s[1])); /* the rows that the memset wrote */
    CHECK(cudaDeviceSynchronize());
}

/* The driver's interface: a function, launched in two ways. */
static void driver()
{
    cudaFunction_t function;
    CUdeviceptr memory;
    CUstream stream;
    CUevent event;
    CUlaunchAttribute attribute;
    CUlaunchConfig config = {};
    int n = 10000;

    CHECK(cudaGetFuncBySymbol(&function, (const void *)spin));
    cuMemAlloc(&memory, 1 << 20);
    cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1);
    cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    void *parameters[] = { &memory, &n };
    cuMemsetD32Async(memory, 0, 1 << 18, stream);
    cuMemsetD2D8Async(memory, 4096, 1, 1024, 64, stream);
    cuLaunchKernel(function, 66, 1, 1, 256, 1, 1, 0, stream, parameters, NULL);
    cuEventRecord(event, stream);
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    config.gridDimX = 66;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = 256;
    config.hStream = s[0];
    config.attrs = &attribute;
    config.numAttrs = 1;
    cuStreamWaitEvent(s[0], event, 0);
    cuLaunchKernelEx(&config, function, parameters, NULL);
    cuMemcpyDtoHAsync(host, memory, 1 << 20, s[0]);
    cuCtxSynchronize();
    cuMemFree(memory);
}

/* A green context with some of the SMs, and a stream in it. */
static void green()
{
    CUdevice device;
    CUdevResource all, part, rest;
    CUdevResourceDesc description;
    CUgreenCtx context;
    CUstream stream;
    unsigned groups = 1;

    CHECK(cudaDeviceSynchronize());
    if (cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM) != CUDA_SUCCESS ||
        cuDevSmResourceSplitByCount(&part, &groups, &all, &rest, 0, 16) != CUDA_SUCCESS ||
        cuDevResourceGenerateDesc(&description, &part, 1) != CUDA_SUCCESS ||
        cuGreenCtxCreate(&context, description, device, CU_GREEN_CTX_DEFAULT_STREAM) != CUDA_SUCCESS ||
        cuGreenCtxStreamCreate(&stream, context, CU_STREAM_NON_BLOCKING, 0) != CUDA_SUCCESS) {
        printf("no green context\n");
        exit(4);
    }
    kernels(3, stream);
}

/* An event and memory of another process (which began before CUDA did). */
struct shared_handles {
    cudaIpcEventHandle_t event;
    cudaIpcMemHandle_t memory;
};
static int to_child[2], from_child[2];

static void in_child()
{
    shared_handles handles;
    cudaEvent_t event;
    float *memory;
    char word = 1;

    if (read(to_child[0], &handles, sizeof handles) != sizeof handles)
        _exit(5);
    begin();
    CHECK(cudaIpcOpenEventHandle(&event, handles.event));
    CHECK(cudaIpcOpenMemHandle((void **)&memory, handles.memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaStreamWaitEvent(s[0], event, 0));
    scale<<<66, 256, 0, s[0]>>>(b, memory, 4096);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaIpcCloseMemHandle(memory));
    if (write(from_child[1], &word, 1) != 1)
        _exit(6);
    exit(0);
}

static void ipc()
{
    shared_handles handles;
    cudaEvent_t event;
    char word;
    pid_t child;

    if (pipe(to_child) != 0 || pipe(from_child) != 0)
        exit(4);
    child = fork();
    if (child == 0)
        in_child();
    begin();
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
    CHECK(cudaIpcGetEventHandle(&handles.event, event));
    CHECK(cudaIpcGetMemHandle(&handles.memory, a));
    spin<<<66, 256, 0, s[0]>>>(a, 100000);
    CHECK(cudaEventRecord(event, s[0]));
    if (write(to_child[1], &handles, sizeof handles) != sizeof handles || read(from_child[0], &word, 1) != 1)
        exit(5);
    CHECK(cudaDeviceSynchronize());
    waitpid(child, NULL, 0);
}

/* Two GPUs: copies between them both ways, and a kernel of one that reads the memory of the other. */
static void peers()
{
    cudaStream_t stream;
    cudaEvent_t event;
    float *there;
    int count = 0;

    CHECK(cudaGetDeviceCount(&count));
    if (count < 2) {
        printf("one GPU\n");
        exit(4);
    }
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    CHECK(cudaMalloc(&there, COUNT * sizeof(float)));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaMemcpyPeerAsync(there, 1, a, 0, 1 << 20, stream));
    scale<<<66, 256, 0, stream>>>(there, b, 4096); /* reads GPU 0's */
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamWaitEvent(s[0], event, 0));
    CHECK(cudaMemcpyPeerAsync(c, 0, there, 1, 1 << 20, s[0]));
    CHECK(cudaStreamSynchronize(s[0])); /* a default stream knows nothing of it */
    CHECK(cudaMemcpyPeer(b, 0, there, 1, 4096));
    CHECK(cudaMemcpyAsync(c, there, 8192, cudaMemcpyDefault, s[0]));
    CHECK(cudaDeviceSynchronize());
}

static const feature features[] = {
    { "signal", by_signal },  { "early-signal", early_signal },
    { "long", long_runner },  { "killed", killed },
    { "nvtx", nvtx },         { "copies", copies },
    { "batch", batch },       { "launch-priorities", launch_priorities },
    { "pointers", pointers }, { "race", race },
    { "driver", driver },     { "green", green },
    { "ipc", ipc },           { "peers", peers },
    { NULL, NULL },
};

static bool run(const feature *table, const char *name)
{
    for (; table->name != NULL; table++)
        if (strcmp(table->name, name) == 0) {
            if (table->run != ipc && table->run != early_signal) /* these begin by themselves */
                begin();
            table->run();
            CHECK(cudaDeviceSynchronize());
            printf("%s done\n", name);
            return true;
        }
    return false;
}

int main(int argc, char **argv)
{
    const feature *const tables[] = { features, graph_features };

    for (const feature *table : tables) {
        if (argc > 1 && run(table, argv[1]))
            return 0;
        for (; argc < 2 && table->name != NULL; table++)
            printf("%s\n", table->name);
    }
    return argc > 1 ? 2 : 0;
}
