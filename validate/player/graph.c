/* Graphs: one of its own for every launch in the trace, instantiated before the clock starts.  Each node
 * is what a capture of its launch gives, put behind the nodes that it waits for. */
#include <stdlib.h>

#include "validate/player/internal.h"

/* The nodes of the same call that an operation waits for, into `out`. False where one is not made yet. */
static bool dependencies_of(const struct gt_player *player, const struct gt_call *call, uint32_t op,
                            const cudaGraphNode_t *nodes, cudaGraphNode_t *out, size_t *count)
{
    *count = 0;
    for (uint32_t i = player->edges_from[op]; i < player->edges_from[op + 1]; i++) {
        uint32_t before = player->edges[i];

        if (before < call->first_op) /* of an earlier call */
            continue;
        if (nodes[before - call->first_op] == NULL)
            return false;
        out[(*count)++] = nodes[before - call->first_op];
    }
    return true;
}

/* Capture one operation as a node behind `before`. */
static int add_node(struct gt_player *player, cudaGraph_t graph, uint32_t op, const cudaGraphNode_t *before,
                    size_t count, cudaGraphNode_t *node, struct gt_error *error)
{
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *captured = NULL;
    size_t captured_count = 0;

    if (gt_player_use_of_op(player, op, error) != 0)
        return -1;
    GT_CUDA(
        cudaStreamBeginCaptureToGraph(player->gpu->own, graph, before, NULL, count, cudaStreamCaptureModeThreadLocal),
        error);
    GT_CUDA(gt_player_issue(player, op, player->gpu->own), error);
    GT_CUDA(cudaStreamGetCaptureInfo(player->gpu->own, &status, NULL, NULL, &captured, NULL, &captured_count), error);
    if (captured_count != 1)
        return gt_error_set(error, "CUDA made %zu nodes of one operation of a graph", captured_count);
    *node = captured[0];
    GT_CUDA(cudaStreamEndCapture(player->gpu->own, &graph), error);
    return 0;
}

/* Nodes may stand in any order: pass after pass, those whose dependencies are there. */
static int fill_graph(struct gt_player *player, const struct gt_call *call, cudaGraph_t graph, cudaGraphNode_t *nodes,
                      cudaGraphNode_t *before, struct gt_error *error)
{
    uint32_t left = call->ops, left_before = 0;

    while (left > 0 && left != left_before) {
        left_before = left;
        for (uint32_t i = 0; i < call->ops; i++) {
            uint32_t op = call->first_op + i;
            size_t count;

            if (nodes[i] != NULL || !dependencies_of(player, call, op, nodes, before, &count))
                continue;
            if (add_node(player, graph, op, before, count, &nodes[i], error) != 0)
                return -1;
            player->ops[op].node = gt_cupti_node(nodes[i]);
            left--;
        }
    }
    return left == 0 ? 0 : gt_error_set(error, "line %u: nodes of the graph wait for each other", call->line);
}

static uint32_t most_edges(const struct gt_player *player, const struct gt_call *call)
{
    uint32_t most = 0;

    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++)
        if (player->edges_from[i + 1] - player->edges_from[i] > most)
            most = player->edges_from[i + 1] - player->edges_from[i];
    return most;
}

static int make_graph(struct gt_player *player, uint32_t number, struct gt_error *error)
{
    const struct gt_call *call = &player->workload->calls[number];
    cudaGraphNode_t *nodes = gt_calloc(call->ops + 1ull, sizeof *nodes);
    cudaGraphNode_t *before = gt_calloc(most_edges(player, call) + 1ull, sizeof *before);
    cudaGraph_t graph = NULL;
    cudaError_t code = cudaGraphCreate(&graph, 0);
    int result = code == cudaSuccess ? 0 : gt_cuda_fail("cudaGraphCreate", code, error);

    if (result == 0)
        result = fill_graph(player, call, graph, nodes, before, error);
    if (result == 0)
        result = gt_player_use_of_op(player, call->first_op, error);
    if (result == 0) {
        code = cudaGraphInstantiate(&player->calls[number].graph, graph, 0);
        if (code != cudaSuccess)
            result = gt_cuda_fail("cudaGraphInstantiate", code, error);
    }
    if (result == 0) {
        code = cudaGraphUpload(player->calls[number].graph, player->gpu->own);
        if (code != cudaSuccess)
            result = gt_cuda_fail("cudaGraphUpload", code, error);
    }
    if (graph != NULL)
        cudaGraphDestroy(graph);
    free(nodes);
    free(before);
    return result;
}

int gt_player_graphs(struct gt_player *player, struct gt_error *error)
{
    const struct gt_workload *workload = player->workload;

    for (uint32_t i = 0; i < workload->call_count; i++)
        if (workload->calls[i].kind == GT_CALL_GRAPH_LAUNCH && workload->calls[i].ops > 0 &&
            make_graph(player, i, error) != 0)
            return -1;
    return 0;
}

void gt_player_free_graphs(struct gt_player *player)
{
    for (uint32_t i = 0; i < player->workload->call_count && !player->broken; i++)
        if (player->calls[i].graph != NULL)
            cudaGraphExecDestroy(player->calls[i].graph);
}
