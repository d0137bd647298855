/* The recorder's callbacks, called as CUPTI calls them, with a driver that refuses what the real one would crash on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/recording.h"
#include "validate/record/internal.h"

enum { CAPTURED = 0xc000, DESTROYED = 0xd000, GRAPH = 0x6000, FIRST_NODE = 0x100 };

struct gt_recorder_api gt_api;
static char folder[] = "/tmp/gridtide-test-XXXXXX";
static bool destroyed, asked;
static int nodes_asked;

static CUresult CUDAAPI is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    assert_false(destroyed && stream == (CUstream)DESTROYED);
    assert_true(stream == (CUstream)CAPTURED || stream == (CUstream)DESTROYED);
    *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    asked = true;
    return CUDA_SUCCESS;
}

static CUptiResult CUPTIAPI get_node(CUgraphNode node, uint64_t *number)
{
    assert_non_null(node);
    *number = (uint64_t)(uintptr_t)node;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI get_graph(CUgraph graph, uint32_t *number)
{
    assert_non_null(graph);
    *number = (uint32_t)(uintptr_t)graph;
    return CUPTI_SUCCESS;
}

/* An executable graph's handle is its number here. */
static CUptiResult CUPTIAPI get_executable(CUgraphExec executable, uint32_t *number)
{
    assert_non_null(executable);
    *number = (uint32_t)(uintptr_t)executable;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI get_device(CUcontext context, uint32_t *device)
{
    (void)context;
    *device = 0;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI get_stream(CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *number)
{
    (void)context;
    (void)per_thread;
    *number = (uint32_t)(uintptr_t)stream;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI get_name(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
    (void)domain;
    (void)id;
    *name = "cudaSomething_v1";
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI enable_callback(uint32_t on, CUpti_SubscriberHandle subscriber,
                                            CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    (void)on;
    (void)subscriber;
    (void)domain;
    (void)id;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI switch_kind(CUpti_ActivityKind kind)
{
    (void)kind;
    return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI flush(uint32_t flags)
{
    (void)flags;
    return CUPTI_SUCCESS;
}

/* Nodes of kinds from 0 to beyond all that the recorder knows. */
enum { NODES = 20 };
static CUresult CUDAAPI get_nodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    (void)graph;
    for (size_t i = 0; nodes != NULL && i < NODES; i++)
        nodes[i] = (CUgraphNode)(uintptr_t)(FIRST_NODE + i);
    *count = NODES;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                                  size_t *count)
{
    (void)graph;
    (void)from;
    (void)to;
    (void)data;
    *count = 0;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI get_type(CUgraphNode node, CUgraphNodeType *type)
{
    *type = (CUgraphNodeType)((uintptr_t)node - FIRST_NODE);
    nodes_asked++;
    return CUDA_SUCCESS;
}

static int set_up(void **state)
{
    (void)state;
    gt_api.cuStreamIsCapturing = is_capturing;
    gt_api.cuptiGetGraphNodeId = get_node;
    gt_api.cuptiGetGraphId = get_graph;
    gt_api.cuptiGetGraphExecId = get_executable;
    gt_api.cuptiGetDeviceId = get_device;
    gt_api.cuptiGetStreamIdEx = get_stream;
    gt_api.cuptiGetCallbackName = get_name;
    gt_api.cuptiEnableCallback = enable_callback;
    gt_api.cuptiActivityEnable = switch_kind;
    gt_api.cuptiActivityDisable = switch_kind;
    gt_api.cuptiActivityFlushAll = flush;
    gt_api.cuGraphGetNodes = get_nodes;
    gt_api.cuGraphGetEdges = get_edges;
    gt_api.cuGraphNodeGetType = get_type;
    assert_non_null(mkdtemp(folder));
    setenv("GRIDTIDE_RECORD_DIR", folder, 1);
    assert_int_equal(gt_control_open(), 0);
    gt_calls_enable((CUpti_SubscriberHandle)1);
    return gt_control_begin();
}

static int end(void **state)
{
    char *file = only_file(folder);

    (void)state;
    unlink(file);
    rmdir(folder);
    free(file);
    return 0;
}

static void call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const char *name, void *parameters, int result)
{
    static uint32_t correlation;
    CUpti_CallbackData data = { .callbackSite = CUPTI_API_ENTER,
                                .functionName = name,
                                .functionParams = parameters,
                                .functionReturnValue = &result,
                                .context = (CUcontext)1,
                                .contextUid = 1,
                                .correlationId = ++correlation };

    gt_calls_take(NULL, domain, id, &data);
    data.callbackSite = CUPTI_API_EXIT;
    gt_calls_take(NULL, domain, id, &data);
}

#define RUNTIME(name, parameters, result) \
    call(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##name, #name, parameters, result)
#define DRIVER(name, parameters, result) \
    call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##name, #name, parameters, result)

/* As the CUDA sample graphMemoryNodes does: of the two streams of a capture one is destroyed before the capture ends. */
static void a_stream_is_destroyed_while_another_is_captured(void **state)
{
    cudaStreamBeginCapture_v10000_params begin = { .stream = (cudaStream_t)CAPTURED };
    cudaEventRecord_v3020_params event = { .event = (cudaEvent_t)EVENT, .stream = (cudaStream_t)DESTROYED };
    cudaStreamDestroy_v5050_params destroy = { .stream = (cudaStream_t)DESTROYED };
    cudaStreamSynchronize_v3020_params refused = { .stream = (cudaStream_t)DESTROYED };
    cudaStreamEndCapture_v10000_params end_capture = { .stream = (cudaStream_t)CAPTURED };

    (void)state;
    RUNTIME(cudaStreamBeginCapture_v10000, &begin, 0);
    RUNTIME(cudaEventRecord_v3020, &event, 0);
    assert_true(asked);
    destroyed = true;
    RUNTIME(cudaStreamDestroy_v5050, &destroy, 0);
    RUNTIME(cudaStreamSynchronize_v3020, &refused, cudaErrorInvalidResourceHandle);
    RUNTIME(cudaStreamEndCapture_v10000, &end_capture, 0);
}

/* What a program gave wrongly is CUDA's to refuse. */
static void arguments_of_failed_calls_are_not_read(void **state)
{
    cudaMallocArray_v3020_params runtime_array = { .desc = (const struct cudaChannelFormatDesc *)1 };
    cuArrayCreate_v2_params array = { .pHandle = NULL };
    cuArray3DCreate_v2_params array_3d = { .pHandle = NULL };
    cuMemcpy2D_v2_params copy = { .pCopy = NULL };
    cuMemcpy3D_v2_params copy_3d = { .pCopy = NULL };
    cuLaunchKernel_params launch = { .f = (CUfunction)1 };
    cuGraphLaunch_params graph = { .hGraph = NULL };
    cudaGraphInstantiate_v12000_params instantiate = { .pGraphExec = NULL };
    cudaGraphLaunch_v10000_params runtime_graph = { .graphExec = NULL };
    CUpti_GraphData nothing = { .graph = NULL };
    CUpti_ResourceData resource = { .resourceDescriptor = &nothing };

    (void)state;
    RUNTIME(cudaMallocArray_v3020, &runtime_array, cudaErrorInvalidValue);
    DRIVER(cuArrayCreate_v2, &array, CUDA_ERROR_INVALID_VALUE);
    DRIVER(cuArray3DCreate_v2, &array_3d, CUDA_ERROR_INVALID_VALUE);
    DRIVER(cuMemcpy2D_v2, &copy, CUDA_ERROR_INVALID_VALUE);
    DRIVER(cuMemcpy3D_v2, &copy_3d, CUDA_ERROR_INVALID_VALUE);
    DRIVER(cuLaunchKernel, &launch, CUDA_ERROR_INVALID_HANDLE);
    DRIVER(cuGraphLaunch, &graph, CUDA_ERROR_INVALID_VALUE);
    RUNTIME(cudaGraphInstantiate_v12000, &instantiate, cudaErrorInvalidValue);
    RUNTIME(cudaGraphLaunch_v10000, &runtime_graph, cudaErrorInvalidValue);
    gt_calls_take(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, &resource);
    gt_calls_take(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, &resource);
    resource.resourceDescriptor = NULL;
    gt_calls_take(NULL, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, &resource);
}

/* A graph of nodes of all kinds, those that the recorder does not know too. */
static void graphs_of_any_nodes_are_read(void **state)
{
    CUgraphExec made = (CUgraphExec)1;
    cuGraphInstantiateWithFlags_params parameters = { .phGraphExec = &made, .hGraph = (CUgraph)GRAPH };
    cuGraphExecUpdate_v2_params update = { .hGraphExec = made, .hGraph = (CUgraph)GRAPH };

    (void)state;
    DRIVER(cuGraphInstantiateWithFlags, &parameters, 0);
    DRIVER(cuGraphExecUpdate_v2, &update, 0);
    assert_int_equal(nodes_asked, 2 * NODES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_destroyed_while_another_is_captured),
        cmocka_unit_test(arguments_of_failed_calls_are_not_read),
        cmocka_unit_test(graphs_of_any_nodes_are_read),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, set_up, end);
}
