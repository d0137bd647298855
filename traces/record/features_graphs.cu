/* features_graphs.cu - see features.cuh: graphs. */
#include "features.cuh"

#include <pthread.h>

static int steps = 8000;

static cudaKernelNodeParams kernel_of(void *function, void **arguments)
{
    cudaKernelNodeParams parameters = {};

    parameters.func = function;
    parameters.gridDim = 66;
    parameters.blockDim = 256;
    parameters.kernelParams = arguments;
    return parameters;
}

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
    cudaGraphExec_t executable;

    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    return executable;
}

static void launch(cudaGraphExec_t executable, int times)
{
    for (int i = 0; i < times; i++)
        CHECK(cudaGraphLaunch(executable, s[0]));
    CHECK(cudaStreamSynchronize(s[0]));
}

static void CUDART_CB on_host(void *)
{
}

/* A node of each kind: memset, kernel, copy, host function, event record and wait, memory had and given back, empty. */
static void nodes()
{
    void *arguments[] = { &a, &steps };
    cudaKernelNodeParams kernel = kernel_of((void *)spin, arguments);
    cudaMemsetParams set = {};
    cudaMemcpy3DParms box = {};
    cudaHostNodeParams host_node = { on_host, NULL };
    cudaMemAllocNodeParams memory = {};
    cudaGraphNode_t n[10];
    cudaGraph_t graph;

    CHECK(cudaGraphCreate(&graph, 0));
    set.dst = b;
    set.elementSize = 4;
    set.width = 256;
    set.height = 16;
    set.pitch = 4096;
    CHECK(cudaGraphAddMemsetNode(&n[0], graph, NULL, 0, &set));
    CHECK(cudaGraphAddKernelNode(&n[1], graph, &n[0], 1, &kernel));
    box.srcPtr = make_cudaPitchedPtr(b, 4096, 1024, 16);
    box.dstPtr = make_cudaPitchedPtr(host, 1024, 1024, 16);
    box.extent = make_cudaExtent(1024, 16, 1);
    box.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaGraphAddMemcpyNode(&n[2], graph, &n[0], 1, &box));
    CHECK(cudaGraphAddHostNode(&n[3], graph, &n[1], 1, &host_node));
    CHECK(cudaGraphAddEventRecordNode(&n[4], graph, &n[3], 1, e[0]));
    CHECK(cudaGraphAddEventWaitNode(&n[5], graph, &n[4], 1, e[0]));
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location = { cudaMemLocationTypeDevice, 0 };
    memory.bytesize = 1 << 20;
    CHECK(cudaGraphAddMemAllocNode(&n[6], graph, &n[5], 1, &memory));
    set.dst = memory.dptr;
    set.height = 1;
    CHECK(cudaGraphAddMemsetNode(&n[7], graph, &n[6], 1, &set));
    CHECK(cudaGraphAddMemFreeNode(&n[8], graph, &n[7], 1, memory.dptr));
    cudaGraphNode_t last[] = { n[2], n[8] };
    CHECK(cudaGraphAddEmptyNode(&n[9], graph, last, 2));
    CHECK(cudaGraphAddKernelNode(&n[9], graph, &n[9], 1, &kernel));
    launch(instantiate(graph), 3);
}

/* Captured from streams of two priorities: launched without them, and with. */
static void priorities()
{
    cudaGraphExec_t executable;
    cudaStream_t urgent;
    cudaGraph_t graph;
    int low, high;

    CHECK(cudaDeviceGetStreamPriorityRange(&low, &high));
    CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, high));
    CHECK(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(e[0], s[0]));
    CHECK(cudaStreamWaitEvent(urgent, e[0], 0));
    spin<<<4000, 256, 0, s[0]>>>(a, 20000);
    spin<<<66, 256, 0, urgent>>>(b, 20000);
    spin<<<132, 256, 0, urgent>>>(b, 5000);
    CHECK(cudaEventRecord(e[1], urgent));
    CHECK(cudaStreamWaitEvent(s[0], e[1], 0));
    CHECK(cudaStreamEndCapture(s[0], &graph));
    launch(instantiate(graph), 3);
    CHECK(cudaGraphInstantiateWithFlags(&executable, graph, cudaGraphInstantiateFlagUseNodePriority));
    launch(executable, 3);
}

__global__ void choose(cudaGraphConditionalHandle handle, unsigned value)
{
    cudaGraphSetConditional(handle, value);
}

__device__ unsigned rounds;
__global__ void count_down(cudaGraphConditionalHandle handle)
{
    unsigned now = rounds == 0 ? 3 : rounds;
    rounds = now - 1;
    cudaGraphSetConditional(handle, rounds);
}

/* A conditional node behind a kernel that sets it; bodies of one kernel each. */
static cudaGraph_t conditional(cudaGraphConditionalNodeType type, unsigned bodies, unsigned value, unsigned begin)
{
    cudaGraph_t graph;
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t first, node, after, inner;
    cudaGraphNodeParams parameters = { cudaGraphNodeTypeConditional };

    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, begin, cudaGraphCondAssignDefault));
    void *chosen[] = { &handle, &value }, *counted[] = { &handle }, *arguments[] = { &a, &steps };
    cudaKernelNodeParams setter = kernel_of((void *)choose, chosen), counter = kernel_of((void *)count_down, counted);
    cudaKernelNodeParams work = kernel_of((void *)spin, arguments);
    setter.gridDim = setter.blockDim = counter.gridDim = counter.blockDim = 1;
    bool loops = type == cudaGraphCondTypeWhile;
    CHECK(cudaGraphAddKernelNode(&first, graph, NULL, 0, loops ? &work : &setter));
    parameters.conditional.handle = handle;
    parameters.conditional.type = type;
    parameters.conditional.size = bodies;
    CHECK(cudaGraphAddNode(&node, graph, &first, NULL, 1, &parameters));
    for (unsigned i = 0; i < bodies; i++) {
        work.gridDim = 10 * (i + 1);
        CHECK(cudaGraphAddKernelNode(&inner, parameters.conditional.phGraph_out[i], NULL, 0, &work));
        if (loops)
            CHECK(cudaGraphAddKernelNode(&after, parameters.conditional.phGraph_out[i], &inner, 1, &counter));
    }
    work.gridDim = 132;
    CHECK(cudaGraphAddKernelNode(&after, graph, &node, 1, &work));
    return graph;
}

static void conditions_if()
{
    launch(instantiate(conditional(cudaGraphCondTypeIf, 1, 1, 0)), 2);
    launch(instantiate(conditional(cudaGraphCondTypeIf, 1, 0, 0)), 2);
}

static void conditions_while()
{
    launch(instantiate(conditional(cudaGraphCondTypeWhile, 1, 1, 1)), 2);
}

static void conditions_switch()
{
    launch(instantiate(conditional(cudaGraphCondTypeSwitch, 3, 2, 0)), 2);
}

static cudaGraph_t two_kernels(float **first, float **second, int *n, cudaGraphNode_t *node)
{
    cudaGraph_t graph;
    void *one[] = { first, n }, *two[] = { second, n };
    cudaKernelNodeParams kernel = kernel_of((void *)spin, one);

    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&node[0], graph, NULL, 0, &kernel));
    kernel.kernelParams = two;
    CHECK(cudaGraphAddKernelNode(&node[1], graph, &node[0], 1, &kernel));
    return graph;
}

/* Kernels of a and b; then the second one of c (its node's parameters), then of c and a (the whole graph). */
static void updates()
{
    cudaGraphNode_t node[2], other[2];
    cudaGraph_t graph = two_kernels(&a, &b, &steps, node), changed = two_kernels(&c, &a, &steps, other);
    cudaGraphExec_t executable = instantiate(graph);
    void *arguments[] = { &c, &steps };
    cudaKernelNodeParams kernel = kernel_of((void *)spin, arguments);
    cudaGraphExecUpdateResultInfo result;

    launch(executable, 2);
    kernel.gridDim = 33;
    CHECK(cudaGraphExecKernelNodeSetParams(executable, node[1], &kernel));
    launch(executable, 2);
    CHECK(cudaGraphExecUpdate(executable, changed, &result));
    launch(executable, 2);
}

/* One thread captures, another launches into the captured streams. */
static void *launch_elsewhere(void *)
{
    spin<<<66, 256, 0, s[1]>>>(b, 8000);
    spin<<<66, 256, 0, s[2]>>>(c, 8000); /* in no capture */
    return NULL;
}

static void capture_threads()
{
    cudaGraph_t graph;
    pthread_t thread;

    CHECK(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeRelaxed));
    spin<<<66, 256, 0, s[0]>>>(a, 8000);
    CHECK(cudaEventRecord(e[0], s[0]));
    CHECK(cudaStreamWaitEvent(s[1], e[0], 0));
    pthread_create(&thread, NULL, launch_elsewhere, NULL);
    pthread_join(thread, NULL);
    CHECK(cudaEventRecord(e[1], s[1]));
    CHECK(cudaStreamWaitEvent(s[0], e[1], 0));
    CHECK(cudaStreamEndCapture(s[0], &graph));
    launch(instantiate(graph), 3);
}

const feature graph_features[] = {
    { "graph-nodes", nodes },
    { "graph-priorities", priorities },
    { "graph-if", conditions_if },
    { "graph-while", conditions_while },
    { "graph-switch", conditions_switch },
    { "graph-updates", updates },
    { "capture-threads", capture_threads },
    { NULL, NULL },
};
