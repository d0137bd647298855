/* graphs.c - what graph launches cost, and from node to node: all while CUPTI records, as traces are validated,
 * which is most of a node's cost. */
#include <stdlib.h>

#include "validate/calibrate/groups.h"

enum { ROUNDS = 15, FEW = 4, MANY = 20, NODES_MOST = MANY, CHILDREN = 6 };
static const double short_us = 5, long_us = 60;
/* CUPTI has a kernel last so much longer than its blocks (latency.traced_us), and gaps are from block to block. */
static const double traced_us = 0.6;

/* Node i of a graph comes after node i - 1, or after none, or all after the first, or the last after all. */
enum shape { CHAIN, APART, COPIES_APART, FORK, JOIN };

/* Sides of the call's cost that are measured, each with few nodes and with many. */
static const enum shape costly[] = { CHAIN, APART, COPIES_APART };
enum { COSTLY = sizeof(costly) / sizeof(costly[0]) };

/* One node behind `before`, captured as the validator's player does it. */
static int add_node(struct gt_bench *bench, cudaGraph_t graph, enum shape shape, double us, uint32_t number,
                    const cudaGraphNode_t *before, size_t count, cudaGraphNode_t *node)
{
    const struct gt_bench_spin spin = { 1, 32, 0, 0, us, 0, 0 };
    cudaStream_t stream = bench->streams[2];
    enum cudaStreamCaptureStatus status;
    const cudaGraphNode_t *captured;
    size_t captured_count;

    GT_TRY(cudaStreamBeginCaptureToGraph(stream, graph, before, NULL, count, cudaStreamCaptureModeThreadLocal));
    if (shape == COPIES_APART)
        GT_TRY(cudaMemcpyAsync(bench->device[0], bench->pinned, 4096, cudaMemcpyHostToDevice, stream));
    else if (gt_bench_launch(bench, &spin, number, stream) != 0)
        return -1;
    GT_TRY(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &captured, NULL, &captured_count));
    if (captured_count != 1)
        return gt_error_set(bench->error, "CUDA made %zu nodes of one operation of a graph", captured_count);
    *node = captured[0];
    GT_TRY(cudaStreamEndCapture(stream, &graph));
    return 0;
}

static int add_nodes(struct gt_bench *bench, cudaGraph_t graph, enum shape shape, uint32_t nodes)
{
    cudaGraphNode_t made[NODES_MOST];

    for (uint32_t i = 0; i < nodes; i++) {
        bool last = i + 1 == nodes;
        /* Of a join's nodes the last but one, a group of its own, ends last by far. */
        double us = shape == JOIN && i + 2 == nodes ? long_us : short_us;
        const cudaGraphNode_t *before = shape == CHAIN && i > 0 ? &made[i - 1] : made;
        size_t count = shape == JOIN ? (last ? i : 0) : (shape == CHAIN || shape == FORK) && i > 0;

        if (add_node(bench, graph, shape, us, i, before, count, &made[i]) != 0)
            return -1;
    }
    return 0;
}

/* Make such a graph, launch it once, and again when all is quiet; how long that took. What CUPTI writes the records
 * into is made on the first one, which takes 150 us: a kernel has that, the first record of all. */
static int launch(struct gt_bench *bench, enum shape shape, uint32_t nodes, double *us)
{
    const struct gt_bench_spin first = { 1, 32, 0, 0, short_us, 0, 0 };
    cudaGraph_t graph;
    uint64_t start_ns;

    if (bench->graph != NULL) /* of the time before, which has run */
        GT_TRY(cudaGraphExecDestroy(bench->graph));
    bench->graph = NULL;
    GT_TRY(cudaGraphCreate(&graph, 0));
    if (add_nodes(bench, graph, shape, nodes) != 0)
        return -1;
    GT_TRY(cudaGraphInstantiate(&bench->graph, graph, 0));
    GT_TRY(cudaGraphDestroy(graph));
    GT_TRY(cudaGraphLaunch(bench->graph, bench->streams[0]));
    if (gt_bench_take_records(bench) != 0)
        return -1;
    if (gt_bench_launch(bench, &first, 0, bench->streams[0]) != 0)
        return -1;
    GT_TRY(cudaStreamSynchronize(bench->streams[0]));
    start_ns = gt_clock_ns();
    GT_TRY(cudaGraphLaunch(bench->graph, bench->streams[0]));
    *us = ((double)(gt_clock_ns() - start_ns) - bench->clock_ns) / 1000;
    return gt_bench_take_records(bench);
}

/* Launch a graph of kernels, of which CUPTI must have told one by one. */
static int launch_kernels(struct gt_bench *bench, enum shape shape, uint32_t nodes)
{
    double us;

    if (launch(bench, shape, nodes, &us) != 0)
        return -1;
    if (bench->record_count != nodes + 1)
        return gt_error_set(bench->error, "CUPTI told of %zu kernels, not of one and a graph of %u",
                            bench->record_count, nodes);
    return 0;
}

static void state(struct gt_bench *bench, const char *key, double *samples, size_t count, const char *how)
{
    struct gt_bench_summary summary = gt_summarise(samples, count);

    gt_found(bench->found, key, summary.median > 0 ? summary.median : 0, summary, "%s", how);
}

/* A chain is one group, nodes apart are a group each. */
static int measure_calls(struct gt_bench *bench)
{
    double call[ROUNDS], group[ROUNDS], node[ROUNDS], copy[ROUNDS];

    for (int r = -1; r < ROUNDS; r++) { /* the first is not kept */
        double few[COSTLY], slope[COSTLY];
        int round = r < 0 ? 0 : r;

        for (int i = 0; i < COSTLY; i++) {
            double many;

            if (launch(bench, costly[i], FEW, &few[i]) != 0 || launch(bench, costly[i], MANY, &many) != 0)
                return -1;
            slope[i] = (many - few[i]) / (MANY - FEW);
        }
        node[round] = slope[0];
        group[round] = slope[1] - slope[0];
        copy[round] = slope[2] - group[round];
        call[round] = few[0] - group[round] - FEW * node[round];
    }
    state(bench, "host.graph_call_us", call, ROUNDS, "chains of 4 and 20 kernels: without nodes and groups");
    state(bench, "host.graph_group_us", group, ROUNDS, "4 and 20 kernels apart, less host.graph_node_us");
    state(bench, "host.graph_node_us", node, ROUNDS, "chains of 4 and 20 kernels, the difference");
    state(bench, "host.graph_copy_us", copy, ROUNDS, "4 and 20 copies apart, less host.graph_group_us");
    return 0;
}

/* Between two nodes, by their numbers; the first record is that of the kernel before the graph. */
static double after_us(const struct gt_bench *bench, size_t before, size_t node)
{
    return gt_bench_us(bench->records[before + 1].end_ns, bench->records[node + 1].start_ns);
}

static int measure_gaps(struct gt_bench *bench)
{
    double gaps[ROUNDS * (MANY - 1)], next[ROUNDS], waits[ROUNDS], gap_us;
    size_t count = 0;

    for (int r = 0; r < ROUNDS; r++) {
        if (launch_kernels(bench, CHAIN, MANY) != 0)
            return -1;
        for (size_t i = 1; i < MANY; i++)
            gaps[count++] = after_us(bench, i - 1, i) + traced_us;
    }
    gap_us = gt_summarise(gaps, count).median;
    state(bench, "latency.graph_gap_us", gaps, count, "chain of 20 kernels, by CUPTI's times");
    for (int r = 0; r < ROUNDS; r++) {
        if (launch_kernels(bench, FORK, CHILDREN + 1) != 0)
            return -1;
        next[r] = (after_us(bench, 0, CHILDREN) - after_us(bench, 0, 1)) / (CHILDREN - 1);
        if (launch_kernels(bench, JOIN, 3) != 0)
            return -1;
        waits[r] = after_us(bench, 1, 2) + traced_us - gap_us;
    }
    state(bench, "latency.graph_next_us", next, ROUNDS, "6 kernels behind one, the first to the last");
    state(bench, "latency.graph_wait_us", waits, ROUNDS, "behind two kernels apart, less latency.graph_gap_us");
    return 0;
}

int gt_calibrate_graphs(struct gt_bench *bench)
{
    int status = gt_bench_record_kernels(bench, true);

    if (status == 0)
        status = measure_calls(bench);
    if (status == 0)
        status = measure_gaps(bench);
    return status == 0 ? gt_bench_record_kernels(bench, false) : -1;
}
