/* random_program.cu - a CUDA program drawn from a seed, to be recorded: streams of both kinds, of priorities and by default,
 * events, graphs captured with branches and built by hand, copies of pinned and of pageable memory, memsets, pools, host
 * functions, waits of the host, threads.  Drawn once, it runs twice to warm up and once between cudaProfilerStart and Stop.
 *
 *   nvcc -O2 -arch=sm_90 -cudart static -o random_program random_program.cu
 *   gridtide record --from profiler -o 7.jsonl.gz -- ./random_program 7
 */
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <pthread.h>

#define CHECK(call)                                                                                     \
    do {                                                                                                \
        cudaError_t status_ = (call);                                                                   \
        if (status_ != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
            exit(1);                                                                                    \
        }                                                                                               \
    } while (0)

enum { FLOATS = 4 << 20, MOST_STREAMS = 6, MOST_THREADS = 4, MOST_ACTIONS = 16, MOST_NODES = 12, BRANCHES = 3 };

__global__ void reckon(float *out, int turns)
{
    float x = threadIdx.x;

    for (int i = 0; i < turns; i++)
        x = x * 1.0001f + 0.5f;
    if (x == 1234.f)
        *out = x;
}

__global__ void __cluster_dims__(4, 1, 1) reckon_in_clusters(float *out, int turns)
{
    float x = threadIdx.x;

    for (int i = 0; i < turns; i++)
        x = x * 1.0001f + 0.5f;
    if (x == 1234.f)
        *out = x;
}

__global__ void scale(float *out, const float *in, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        out[i] = in[i] * 2.f;
}

/* What a program may do beside launching kernels; each program does some of it. */
enum feature {
    KERNEL,
    FORK,
    PINNED,
    PAGEABLE,
    MEMSET,
    CAPTURED,
    BUILT,
    HOST_FUNCTION,
    POOL,
    WAIT,
    HOST_WORK,
    CLUSTER,
    FEATURES
};

struct kernel {
    enum { RECKON, CLUSTERED, SCALE } kind;
    int grid, block, amount;
};

struct action {
    enum feature kind;
    int stream, other; /* of the thread's streams */
    struct kernel kernel, second;
    size_t bytes;
    int way;
    cudaGraphExec_t graph;
    cudaEvent_t forked, joined;
};

struct worker {
    int stream_count, action_count, rounds;
    cudaStream_t streams[MOST_STREAMS + 1];
    struct action actions[MOST_ACTIONS];
};

static unsigned long long state;
static float *from, *to, *pinned;
static char *pageable;
static cudaStream_t branches[BRANCHES];
static struct worker workers[MOST_THREADS];

static unsigned below(unsigned bound)
{
    unsigned long long z = state += 0x9e3779b97f4a7c15ull;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (unsigned)((z ^ z >> 31) % bound);
}

static bool chance(unsigned percent)
{
    return below(100) < percent;
}

/* Powers of two times 4 to 7: every size is as likely as its double. */
static int spread(int least_power, int powers)
{
    return (4 + (int)below(4)) << (least_power + (int)below(powers));
}

static struct kernel draw_kernel(bool clusters)
{
    struct kernel kernel = { kernel::RECKON, 1 + (int)below(300), 32 << below(5), spread(7, 7) };

    if (clusters) {
        kernel.kind = kernel::CLUSTERED;
        kernel.grid = 4 * (1 + (int)below(60));
    } else if (chance(30)) {
        kernel.kind = kernel::SCALE;
        kernel.grid = 32 << below(5);
        kernel.amount = spread(12, 8);
    } else if (chance(10)) {
        kernel.grid *= 8;
    }
    return kernel;
}

static void launch(const struct kernel *kernel, cudaStream_t stream)
{
    if (kernel->kind == kernel::SCALE)
        scale<<<kernel->grid, kernel->block, 0, stream>>>(to, from, kernel->amount);
    else if (kernel->kind == kernel::CLUSTERED)
        reckon_in_clusters<<<kernel->grid, kernel->block, 0, stream>>>(to, kernel->amount);
    else
        reckon<<<kernel->grid, kernel->block, 0, stream>>>(to, kernel->amount);
    CHECK(cudaGetLastError());
}

/* A stretch of a graph under capture. */
static void capture_stretch(cudaStream_t stream)
{
    for (int left = 1 + (int)below(4); left > 0; left--) {
        struct kernel kernel = draw_kernel(false);

        if (chance(10))
            CHECK(cudaMemsetAsync(to, 0, spread(10, 9), stream));
        else if (chance(10))
            CHECK(cudaMemcpyAsync(from, pinned, spread(10, 9), cudaMemcpyHostToDevice, stream));
        else
            launch(&kernel, stream);
    }
}

static cudaGraphExec_t captured()
{
    cudaEvent_t forked, joined[BRANCHES];
    int used = (int)below(BRANCHES + 1);
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    cudaStream_t origin;

    CHECK(cudaStreamCreateWithFlags(&origin, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    CHECK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
    capture_stretch(origin);
    CHECK(cudaEventRecord(forked, origin));
    for (int i = 0; i < used; i++) {
        CHECK(cudaStreamWaitEvent(branches[i], forked, 0));
        capture_stretch(branches[i]);
        CHECK(cudaEventCreateWithFlags(&joined[i], cudaEventDisableTiming));
        CHECK(cudaEventRecord(joined[i], branches[i]));
    }
    capture_stretch(origin);
    for (int i = 0; i < used; i++)
        CHECK(cudaStreamWaitEvent(origin, joined[i], 0));
    capture_stretch(origin);
    CHECK(cudaStreamEndCapture(origin, &graph));
    CHECK(cudaGraphInstantiate(&instance, graph, 0));
    return instance;
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t *before, int count)
{
    struct kernel kernel = draw_kernel(false);
    void *arguments[] = { &to, &kernel.amount };
    cudaKernelNodeParams parameters = {};
    cudaGraphNode_t node;

    if (kernel.kind == kernel::SCALE)
        kernel.amount = 1000;
    parameters.func = (void *)reckon;
    parameters.gridDim = kernel.grid;
    parameters.blockDim = kernel.block;
    parameters.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&node, graph, before, count, &parameters));
    return node;
}

static cudaGraphNode_t add_child(cudaGraph_t graph, const cudaGraphNode_t *before, int count)
{
    cudaGraph_t child;
    cudaGraphNode_t node, first;

    CHECK(cudaGraphCreate(&child, 0));
    first = add_kernel(child, NULL, 0);
    add_kernel(child, &first, 1);
    CHECK(cudaGraphAddChildGraphNode(&node, graph, before, count, child));
    return node;
}

static cudaGraphNode_t add_node(cudaGraph_t graph, const cudaGraphNode_t *before, int count)
{
    cudaMemsetParams memset = {};
    cudaGraphNode_t node;
    unsigned kind = below(100);

    if (kind < 65)
        return add_kernel(graph, before, count);
    if (kind < 75)
        return add_child(graph, before, count);
    memset.dst = to;
    memset.elementSize = 4;
    memset.width = spread(8, 9);
    memset.height = 1;
    if (kind < 83)
        CHECK(cudaGraphAddEmptyNode(&node, graph, before, count));
    else if (kind < 91)
        CHECK(cudaGraphAddMemsetNode(&node, graph, before, count, &memset));
    else
        CHECK(cudaGraphAddMemcpyNode1D(&node, graph, before, count, pinned, from, spread(10, 9),
                                       cudaMemcpyDeviceToHost));
    return node;
}

static cudaGraphExec_t built()
{
    cudaGraphNode_t nodes[MOST_NODES], before[2];
    int count = 3 + (int)below(MOST_NODES - 2);
    cudaGraph_t graph;
    cudaGraphExec_t instance;

    CHECK(cudaGraphCreate(&graph, 0));
    for (int i = 0; i < count; i++) {
        int edges = i > 0 && !chance(15);

        if (edges == 1)
            before[0] = nodes[below(i)];
        if (edges == 1 && chance(40)) {
            before[1] = nodes[below(i)];
            edges += before[1] != before[0];
        }
        nodes[i] = add_node(graph, before, edges);
    }
    CHECK(cudaGraphInstantiate(&instance, graph, 0));
    return instance;
}

static void CUDART_CB host_function(void *sleep)
{
    timespec time = { 0, 20000 };

    if (sleep != NULL)
        nanosleep(&time, NULL);
}

static void host_work(int us)
{
    timespec now, begin;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

static void do_kernel(struct action *a, cudaStream_t stream, cudaStream_t)
{
    launch(&a->kernel, stream);
}

static void do_fork(struct action *a, cudaStream_t stream, cudaStream_t other)
{
    CHECK(cudaEventRecord(a->forked, stream));
    CHECK(cudaStreamWaitEvent(other, a->forked, 0));
    launch(&a->second, other);
    if (a->way % 2 == 0)
        launch(&a->kernel, stream);
    CHECK(cudaEventRecord(a->joined, other));
    CHECK(cudaStreamWaitEvent(stream, a->joined, 0));
}

static void do_pinned(struct action *a, cudaStream_t stream, cudaStream_t)
{
    if (a->way == 0)
        CHECK(cudaMemcpyAsync(from, pinned, a->bytes, cudaMemcpyHostToDevice, stream));
    else if (a->way == 1)
        CHECK(cudaMemcpyAsync(pinned, from, a->bytes, cudaMemcpyDeviceToHost, stream));
    else
        CHECK(cudaMemcpyAsync(to, from, a->bytes, cudaMemcpyDeviceToDevice, stream));
}

static void do_pageable(struct action *a, cudaStream_t stream, cudaStream_t)
{
    if (a->way == 0)
        CHECK(cudaMemcpyAsync(from, pageable, a->bytes, cudaMemcpyHostToDevice, stream));
    else if (a->way == 1)
        CHECK(cudaMemcpyAsync(pageable, from, a->bytes, cudaMemcpyDeviceToHost, stream));
    else
        CHECK(cudaMemcpy(from, pageable, a->bytes, cudaMemcpyHostToDevice));
}

static void do_memset(struct action *a, cudaStream_t stream, cudaStream_t)
{
    CHECK(cudaMemsetAsync(to, 0, a->bytes, stream));
}

static void do_graph(struct action *a, cudaStream_t stream, cudaStream_t)
{
    CHECK(cudaGraphLaunch(a->graph, stream));
}

static void do_host_function(struct action *a, cudaStream_t stream, cudaStream_t)
{
    CHECK(cudaLaunchHostFunc(stream, host_function, a->way == 0 ? a : NULL));
}

static void do_pool(struct action *a, cudaStream_t stream, cudaStream_t)
{
    float *memory;

    CHECK(cudaMallocAsync(&memory, a->bytes, stream));
    reckon<<<a->kernel.grid, a->kernel.block, 0, stream>>>(memory, 2000);
    CHECK(cudaFreeAsync(memory, stream));
}

static void do_wait(struct action *a, cudaStream_t stream, cudaStream_t)
{
    if (a->way == 0) {
        CHECK(cudaStreamSynchronize(stream));
    } else if (a->way == 1) {
        CHECK(cudaEventRecord(a->joined, stream));
        CHECK(cudaEventSynchronize(a->joined));
    } else {
        CHECK(cudaDeviceSynchronize());
    }
}

static void do_host_work(struct action *a, cudaStream_t, cudaStream_t)
{
    host_work(a->kernel.grid / 4);
}

static void (*const doings[FEATURES])(struct action *, cudaStream_t, cudaStream_t) = {
    do_kernel, do_fork,          do_pinned, do_pageable, do_memset,    do_graph,
    do_graph,  do_host_function, do_pool,   do_wait,     do_host_work, do_kernel,
};

static struct action draw_action(enum feature kind, int stream_count)
{
    struct action action = {};

    action.kind = kind;
    action.stream = (int)below(stream_count);
    action.other = (int)below(stream_count);
    action.kernel = draw_kernel(kind == CLUSTER);
    action.second = draw_kernel(false);
    action.bytes = spread(8, kind == PAGEABLE ? 9 : 13);
    action.way = (int)below(3);
    if (kind == CAPTURED)
        action.graph = captured();
    else if (kind == BUILT)
        action.graph = built();
    CHECK(cudaEventCreateWithFlags(&action.forked, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&action.joined, chance(70) ? cudaEventDisableTiming : cudaEventDefault));
    return action;
}

/* A thread's streams are its own or, one time in three, those of all. */
static void draw_worker(struct worker *worker, const cudaStream_t *streams, int stream_count, bool shared,
                        const bool *features)
{
    int own = 1 + (int)below(stream_count), first = shared ? 0 : (int)below(stream_count - own + 1);
    enum feature kinds[FEATURES + 2];
    int kind_count = 0;

    for (int i = 0; i < FEATURES; i++)
        if (features[i])
            kinds[kind_count++] = (enum feature)i;
    kinds[kind_count++] = KERNEL;
    kinds[kind_count++] = KERNEL;
    worker->stream_count = own;
    for (int i = 0; i < own; i++)
        worker->streams[i] = streams[first + i];
    worker->action_count = 3 + (int)below(MOST_ACTIONS - 2);
    for (int i = 0; i < worker->action_count; i++)
        worker->actions[i] = draw_action(kinds[below(kind_count)], own);
    worker->rounds = 20 + (int)below(20);
}

static int draw(unsigned seed)
{
    cudaStream_t streams[MOST_STREAMS + 2];
    int stream_count, least, greatest, threads;
    bool features[FEATURES] = { true }, priorities, shared;

    state = seed * 0x632be59bd9b4e019ull + 1;
    stream_count = 1 + (int)below(MOST_STREAMS);
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    priorities = chance(30);
    for (int i = 0; i < stream_count; i++)
        CHECK(cudaStreamCreateWithPriority(&streams[i], chance(60) ? cudaStreamNonBlocking : cudaStreamDefault,
                                           priorities ? greatest + (int)below(least - greatest + 1) : 0));
    if (chance(25))
        streams[stream_count++] = cudaStreamLegacy;
    else if (chance(25))
        streams[stream_count++] = cudaStreamPerThread;
    for (int i = 1; i < FEATURES; i++)
        features[i] = chance(30);
    threads = chance(65) ? 1 : 2 + (int)below(MOST_THREADS - 1);
    shared = chance(33);
    for (int i = 0; i < threads; i++)
        draw_worker(&workers[i], streams, stream_count, shared, features);
    return threads;
}

static void *work(void *argument)
{
    struct worker *worker = (struct worker *)argument;

    for (int round = 0; round < worker->rounds; round++)
        for (int i = 0; i < worker->action_count; i++) {
            struct action *action = &worker->actions[i];

            doings[action->kind](action, worker->streams[action->stream], worker->streams[action->other]);
        }
    return NULL;
}

static void run(int threads)
{
    pthread_t started[MOST_THREADS];

    if (threads == 1) {
        work(&workers[0]);
    } else {
        for (int i = 0; i < threads; i++)
            pthread_create(&started[i], NULL, work, &workers[i]);
        for (int i = 0; i < threads; i++)
            pthread_join(started[i], NULL);
    }
    CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
    int threads;

    CHECK(cudaMalloc(&from, FLOATS * sizeof *from));
    CHECK(cudaMalloc(&to, FLOATS * sizeof *to));
    CHECK(cudaMallocHost(&pinned, FLOATS * sizeof *pinned));
    pageable = (char *)calloc(FLOATS, sizeof(float));
    for (int i = 0; i < BRANCHES; i++)
        CHECK(cudaStreamCreateWithFlags(&branches[i], cudaStreamNonBlocking));
    threads = draw(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
    run(threads);
    run(threads);
    CHECK(cudaProfilerStart());
    run(threads);
    CHECK(cudaProfilerStop());
    return 0;
}
