/* graphs.c - what an executable graph is made of, read from the graph that it was instantiated from. */
#include <stdlib.h>
#include <string.h>

#include "validate/record/internal.h"

enum { DEEPEST = 8 }; /* graphs in graphs */

/* 0: there is none. */
static uint64_t number_of(CUgraphNode node)
{
    uint64_t number = 0;

    return node != NULL && gt_api.cuptiGetGraphNodeId(node, &number) == CUPTI_SUCCESS ? number : 0;
}

/* `parameters` are the node's; those of an executable graph's may be others than the attributes' node has. */
static void write_kernel(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters,
                         const struct gt_recorded_giver *giver)
{
    struct gt_launch_view view = { .function = NULL };
    CUlaunchAttributeValue value;

    view.function = parameters->func != NULL ? (const void *)parameters->func : (const void *)parameters->kern;
    view.parameters = parameters->kernelParams;
    view.extra = parameters->extra;
    if (gt_api.cuGraphKernelNodeGetAttribute != NULL) {
        memset(&value, 0, sizeof value);
        if (gt_api.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value) == CUDA_SUCCESS)
            view.cooperative = value.cooperative != 0;
        memset(&value, 0, sizeof value);
        if (gt_api.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value) == CUDA_SUCCESS) {
            view.has_priority = true;
            view.priority = value.priority;
        }
    }
    if (view.function != NULL)
        gt_function_record(&view, giver);
}

static void record_kernel(CUgraphNode node, const struct gt_recorded_giver *giver)
{
    CUDA_KERNEL_NODE_PARAMS parameters;

    memset(&parameters, 0, sizeof parameters);
    if (gt_api.cuGraphKernelNodeGetParams != NULL &&
        gt_api.cuGraphKernelNodeGetParams(node, &parameters) == CUDA_SUCCESS)
        write_kernel(node, &parameters, giver);
}

static void record_copy(CUgraphNode node, const struct gt_recorded_giver *giver)
{
    CUDA_MEMCPY3D copy;

    memset(&copy, 0, sizeof copy);
    if (gt_api.cuGraphMemcpyNodeGetParams != NULL && gt_api.cuGraphMemcpyNodeGetParams(node, &copy) == CUDA_SUCCESS)
        gt_pieces_of_copy(&copy, giver);
}

static void record_memset(CUgraphNode node, const struct gt_recorded_giver *giver)
{
    CUDA_MEMSET_NODE_PARAMS set;

    memset(&set, 0, sizeof set);
    if (gt_api.cuGraphMemsetNodeGetParams != NULL && gt_api.cuGraphMemsetNodeGetParams(node, &set) == CUDA_SUCCESS)
        gt_pieces_of_memset(&set, giver);
}

static void (*const of_kind[])(CUgraphNode node, const struct gt_recorded_giver *giver) = {
    [CU_GRAPH_NODE_TYPE_KERNEL] = record_kernel,
    [CU_GRAPH_NODE_TYPE_MEMCPY] = record_copy,
    [CU_GRAPH_NODE_TYPE_MEMSET] = record_memset,
};

static void record_graph(CUgraph graph, const struct gt_recorded_giver *giver, int deep);

static void record_node(CUgraphNode node, uint32_t graph, const struct gt_recorded_giver *of_graph, int deep)
{
    struct gt_recorded_giver giver = *of_graph;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    struct gt_record_node *record;
    uint32_t inner = 0;
    CUgraph child = NULL;

    giver.node = number_of(node);
    if (gt_api.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
        return;
    if ((size_t)type < sizeof of_kind / sizeof of_kind[0] && of_kind[type] != NULL)
        of_kind[type](node, &giver);
    if (type == CU_GRAPH_NODE_TYPE_GRAPH && deep < DEEPEST && gt_api.cuGraphChildGraphNodeGetGraph != NULL &&
        gt_api.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS && child != NULL) {
        gt_api.cuptiGetGraphId(child, &inner);
        record_graph(child, of_graph, deep + 1);
    }
    record = gt_writer_begin(GT_RECORDED_NODE, sizeof *record);
    if (record == NULL)
        return;
    record->node = giver.node;
    record->graph = graph;
    record->kind = type;
    record->child = inner;
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

static void record_graph(CUgraph graph, const struct gt_recorded_giver *giver, int deep)
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
        record_node(nodes[i], number, giver, deep);
    free(nodes);
    if (count > 0)
        record_edges(graph, number);
}

void gt_graph_made(CUgraphExec executable, CUgraph graph, uint64_t flags, uint32_t correlation)
{
    struct gt_recorded_giver giver = { .correlation = correlation };
    struct gt_record_graph *record;
    uint32_t of = 0;

    if (gt_api.cuGraphGetNodes == NULL || gt_api.cuGraphGetEdges == NULL || gt_api.cuGraphNodeGetType == NULL ||
        graph == NULL || executable == NULL ||
        gt_api.cuptiGetGraphExecId(executable, &giver.executable) != CUPTI_SUCCESS ||
        gt_api.cuptiGetGraphId(graph, &of) != CUPTI_SUCCESS)
        return;
    record_graph(graph, &giver, 0);
    record = gt_writer_begin(GT_RECORDED_GRAPH, sizeof *record);
    if (record == NULL)
        return;
    record->executable = giver.executable;
    record->graph = of;
    record->correlation = correlation;
    record->flags = flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY ? GT_RECORDED_NODE_PRIORITIES : 0;
    gt_writer_end(record);
}

/* In front of the parameters of all functions that change a node. */
struct change {
    CUgraphExec executable;
    CUgraphNode node;
    const void *parameters;
};

static void change_kernel(const struct change *change, const struct gt_recorded_giver *giver)
{
    write_kernel(change->node, change->parameters, giver);
}

static void change_copy(const struct change *change, const struct gt_recorded_giver *giver)
{
    gt_pieces_of_copy(change->parameters, giver);
}

static void change_memset(const struct change *change, const struct gt_recorded_giver *giver)
{
    gt_pieces_of_memset(change->parameters, giver);
}

/* Of a kind that the parameters say; kernels' and memsets' begin as those of the functions above. */
static void change_any(const struct change *change, const struct gt_recorded_giver *giver)
{
    const CUgraphNodeParams *parameters = change->parameters;

    if (parameters->type == CU_GRAPH_NODE_TYPE_KERNEL)
        write_kernel(change->node, (const CUDA_KERNEL_NODE_PARAMS *)&parameters->kernel, giver);
    else if (parameters->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        gt_pieces_of_copy(&parameters->memcpy.copyParams, giver);
    else if (parameters->type == CU_GRAPH_NODE_TYPE_MEMSET)
        gt_pieces_of_memset((const CUDA_MEMSET_NODE_PARAMS *)&parameters->memset, giver);
}

static const struct {
    CUpti_CallbackId id;
    void (*record)(const struct change *change, const struct gt_recorded_giver *giver);
} changes[] = {
    { CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2, change_kernel },
    { CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemcpyNodeSetParams, change_copy },
    { CUPTI_DRIVER_TRACE_CBID_cuGraphExecMemsetNodeSetParams, change_memset },
    { CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams, change_any },
};

void gt_graph_changed(CUpti_CallbackId id, const void *parameters, uint32_t correlation)
{
    struct gt_recorded_giver giver = { .correlation = correlation };
    const cuGraphExecUpdate_v2_params *update = parameters;
    const struct change *change = parameters;

    if (id == CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2) {
        gt_graph_made(update->hGraphExec, update->hGraph, 0, correlation);
        return;
    }
    if (change->executable == NULL ||
        gt_api.cuptiGetGraphExecId(change->executable, &giver.executable) != CUPTI_SUCCESS)
        return;
    giver.node = number_of(change->node);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        if (changes[i].id == id && change->parameters != NULL && giver.node != 0)
            changes[i].record(change, &giver);
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
