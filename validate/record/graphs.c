/* graphs.c - what an executable graph is made of, read from the graph that it was instantiated from. */
#include <stdlib.h>
#include <string.h>

#include "validate/record/internal.h"

enum { DEEPEST = 8 }; /* graphs in graphs */

static uint64_t number_of(CUgraphNode node)
{
    uint64_t number = 0;

    return gt_api.cuptiGetGraphNodeId(node, &number) == CUPTI_SUCCESS ? number : 0;
}

static void record_kernel(CUgraphNode node, uint64_t number)
{
    CUDA_KERNEL_NODE_PARAMS parameters;
    CUlaunchAttribute attribute = { .id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE };
    struct gt_launch_view view = { .function = NULL };

    memset(&parameters, 0, sizeof parameters);
    if (gt_api.cuGraphKernelNodeGetParams == NULL ||
        gt_api.cuGraphKernelNodeGetParams(node, &parameters) != CUDA_SUCCESS)
        return;
    view.function = parameters.func != NULL ? (const void *)parameters.func : (const void *)parameters.kern;
    view.parameters = parameters.kernelParams;
    view.extra = parameters.extra;
    if (gt_api.cuGraphKernelNodeGetAttribute != NULL &&
        gt_api.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &attribute.value) == CUDA_SUCCESS)
        view.cooperative = attribute.value.cooperative != 0;
    if (view.function != NULL)
        gt_function_record(&view, number, 0);
}

static uint64_t end_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
    return type == CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)host : type == CU_MEMORYTYPE_ARRAY ? 0 : device;
}

/* Of one row: a piece of memory; others are left without addresses. */
static void read_copy(CUgraphNode node, struct gt_record_node *record)
{
    CUDA_MEMCPY3D copy;

    memset(&copy, 0, sizeof copy);
    if (gt_api.cuGraphMemcpyNodeGetParams == NULL || gt_api.cuGraphMemcpyNodeGetParams(node, &copy) != CUDA_SUCCESS ||
        copy.Height > 1 || copy.Depth > 1)
        return;
    record->a = end_of(copy.dstMemoryType, copy.dstHost, copy.dstDevice);
    record->b = end_of(copy.srcMemoryType, copy.srcHost, copy.srcDevice);
    record->a += record->a != 0 ? copy.dstXInBytes : 0;
    record->b += record->b != 0 ? copy.srcXInBytes : 0;
    record->bytes = copy.WidthInBytes;
}

static void read_memset(CUgraphNode node, struct gt_record_node *record)
{
    CUDA_MEMSET_NODE_PARAMS set;

    memset(&set, 0, sizeof set);
    if (gt_api.cuGraphMemsetNodeGetParams == NULL || gt_api.cuGraphMemsetNodeGetParams(node, &set) != CUDA_SUCCESS ||
        set.height > 1)
        return;
    record->a = set.dst;
    record->bytes = set.width * set.elementSize;
}

static void record_graph(CUgraph graph, int deep);

static void record_node(CUgraphNode node, uint32_t graph, int deep)
{
    struct gt_record_node node_record = { .node = number_of(node), .graph = graph }, *record;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    CUgraph child = NULL;

    if (gt_api.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
        return;
    node_record.kind = type;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL)
        record_kernel(node, node_record.node);
    else if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
        read_copy(node, &node_record);
    else if (type == CU_GRAPH_NODE_TYPE_MEMSET)
        read_memset(node, &node_record);
    else if (type == CU_GRAPH_NODE_TYPE_GRAPH && deep < DEEPEST && gt_api.cuGraphChildGraphNodeGetGraph != NULL &&
             gt_api.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS && child != NULL) {
        gt_api.cuptiGetGraphId(child, &node_record.child);
        record_graph(child, deep + 1);
    }
    record = gt_writer_begin(GT_RECORDED_NODE, sizeof *record);
    if (record == NULL)
        return;
    node_record.head = (struct gt_record_head){ 0, GT_RECORDED_NODE, 0 };
    memcpy(record, &node_record, sizeof node_record);
    gt_writer_end(record);
}

static void record_edge(uint64_t from, uint64_t to, uint32_t graph, uint32_t type)
{
    struct gt_record_edge *record = gt_writer_begin(GT_RECORDED_EDGE, sizeof *record);

    if (record == NULL)
        return;
    record->from = from;
    record->to = to;
    record->graph = graph;
    record->type = type;
    gt_writer_end(record);
}

static void record_edges(CUgraph graph, uint32_t number)
{
    CUgraphNode *from, *to;
    CUgraphEdgeData *data;
    size_t count = 0;

    if (gt_api.cuGraphGetEdges(graph, NULL, NULL, NULL, &count) != CUDA_SUCCESS || count == 0)
        return;
    from = calloc(count, sizeof *from);
    to = calloc(count, sizeof *to);
    data = calloc(count, sizeof *data);
    if (from != NULL && to != NULL && data != NULL &&
        gt_api.cuGraphGetEdges(graph, from, to, data, &count) == CUDA_SUCCESS)
        for (size_t i = 0; i < count; i++)
            record_edge(number_of(from[i]), number_of(to[i]), number, data[i].type);
    free(from);
    free(to);
    free(data);
}

static void record_graph(CUgraph graph, int deep)
{
    CUgraphNode *nodes;
    uint32_t number = 0;
    size_t count = 0;

    if (gt_api.cuptiGetGraphId(graph, &number) != CUPTI_SUCCESS ||
        gt_api.cuGraphGetNodes(graph, NULL, &count) != CUDA_SUCCESS || count == 0)
        return;
    nodes = calloc(count, sizeof *nodes);
    if (nodes == NULL || gt_api.cuGraphGetNodes(graph, nodes, &count) != CUDA_SUCCESS)
        count = 0;
    for (size_t i = 0; i < count; i++)
        record_node(nodes[i], number, deep);
    free(nodes);
    if (count > 0)
        record_edges(graph, number);
}

void gt_graph_made(CUgraphExec executable, CUgraph graph)
{
    struct gt_record_graph *record;
    uint32_t number = 0, of = 0;

    if (gt_api.cuGraphGetNodes == NULL || gt_api.cuGraphGetEdges == NULL || gt_api.cuGraphNodeGetType == NULL ||
        graph == NULL || gt_api.cuptiGetGraphExecId(executable, &number) != CUPTI_SUCCESS ||
        gt_api.cuptiGetGraphId(graph, &of) != CUPTI_SUCCESS)
        return;
    record_graph(graph, 0);
    record = gt_writer_begin(GT_RECORDED_GRAPH, sizeof *record);
    if (record == NULL)
        return;
    record->executable = number;
    record->graph = of;
    gt_writer_end(record);
}

void gt_graph_joined(const CUpti_GraphData *data)
{
    uint64_t to = data != NULL ? number_of(data->node) : 0, from = to != 0 ? number_of(data->dependency) : 0;

    if (from != 0)
        record_edge(from, to, 0, 0);
}

void gt_graph_cloned(const CUpti_GraphData *data)
{
    uint64_t copy = data != NULL ? number_of(data->node) : 0,
             original = copy != 0 ? number_of(data->originalNode) : 0;
    struct gt_record_clone *record;

    if (original == 0)
        return;
    record = gt_writer_begin(GT_RECORDED_CLONE, sizeof *record);
    if (record == NULL)
        return;
    record->copy = copy;
    record->original = original;
    gt_writer_end(record);
}
