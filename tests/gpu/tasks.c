/* tasks.c - the executor on the GPU at hand: random task graphs under every policy, each task done once, after what it
 * waits for, by whom it is for, for as long as it was to; and what tasks that work leave. Output: TAP. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/executor/executor.h"
#include "kernels/library.h"

enum { MOST_TASKS = 2000, MOST_EDGES = 3 * MOST_TASKS, SPIN_SLACK_CYCLES = 2000, TICK_NS = 100 };

static int tests_done, tests_failed;

static void report(bool good, const char *name, const char *detail)
{
    tests_done++;
    tests_failed += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", tests_done, name);
    if (!good && *detail)
        printf("# %s\n", detail);
    fflush(stdout);
}

static void require(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    printf("Bail out! %s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % limit);
}

/* A graph at random: each task waits for up to three before it, by counters of their own or one joined; where the
 * policy allows it some are made by others. */
struct graph {
    struct gt_executor_plan plan;
    struct gt_executor_task tasks[MOST_TASKS];
    struct gt_executor_wait waits[MOST_EDGES];
    uint32_t signals[MOST_EDGES], made[MOST_TASKS], workers[MOST_TASKS], initial[MOST_EDGES];
    uint32_t from[MOST_EDGES], to[MOST_EDGES]; /* edges */
    uint32_t counter_of[MOST_EDGES];           /* that it goes by; GT_EXECUTOR_ANY: `to` is made by `from` */
    uint32_t edges, counters;
};

static void add_edge(struct graph *g, uint32_t from, uint32_t to, uint32_t counter)
{
    g->from[g->edges] = from;
    g->to[g->edges] = to;
    g->counter_of[g->edges++] = counter;
}

static void draw_edges(struct graph *g, uint32_t task, bool made)
{
    uint32_t count = task == 0 ? 0 : below(4), joined = below(2), first = g->edges;

    for (uint32_t i = 0; i < count && g->edges + 1 < MOST_EDGES; i++) {
        uint32_t counter = joined && i > 0 ? g->counter_of[first] : g->counters++;

        g->initial[counter] = 0;
        add_edge(g, below(task), task, counter);
    }
    if (made && task > 0 && below(4) == 0 && g->edges + 1 < MOST_EDGES)
        add_edge(g, below(task), task, GT_EXECUTOR_ANY);
}

/* Edges into the lists that tasks point to. */
static void lay_out(struct graph *g, uint32_t tasks)
{
    uint32_t waits = 0, signals = 0, made = 0;

    for (uint32_t t = 0; t < tasks; t++) {
        struct gt_executor_task *task = &g->tasks[t];

        task->first_wait = waits;
        task->first_signal = signals;
        task->first_made = made;
        for (uint32_t e = 0; e < g->edges; e++) {
            if (g->from[e] == t && g->counter_of[e] == GT_EXECUTOR_ANY)
                g->made[made++] = g->to[e];
            else if (g->from[e] == t)
                g->signals[signals++] = g->counter_of[e];
            if (g->to[e] != t || g->counter_of[e] == GT_EXECUTOR_ANY)
                continue;
            if (waits > task->first_wait && g->waits[waits - 1].counter == g->counter_of[e])
                g->waits[waits - 1].threshold++;
            else
                g->waits[waits++] = (struct gt_executor_wait){ g->counter_of[e], 1 };
        }
        task->waits = (uint16_t)(waits - task->first_wait);
        task->signals = (uint16_t)(signals - task->first_signal);
        task->made = (uint16_t)(made - task->first_made);
    }
}

static void draw_graph(struct graph *g, enum gt_executor_policy policy, uint32_t workers, uint32_t tasks, bool works)
{
    static const uint16_t own[] = { GT_EXECUTOR_SPIN, GT_EXECUTOR_TILE, GT_EXECUTOR_ELEMENTWISE,
                                    GT_EXECUTOR_REDUCTION, GT_EXECUTOR_MOVE };
    static const uint32_t amounts[GT_EXECUTOR_WORKS] = {
        [GT_EXECUTOR_SPIN] = 9000,       [GT_EXECUTOR_TILE] = 96,  [GT_EXECUTOR_ELEMENTWISE] = 5000,
        [GT_EXECUTOR_REDUCTION] = 10000, [GT_EXECUTOR_MOVE] = 100,
    };

    memset(g, 0, sizeof *g);
    for (uint32_t i = 0; i < tasks; i++) {
        g->tasks[i].work = works ? own[below(sizeof own / sizeof *own)] : GT_EXECUTOR_SPIN;
        g->tasks[i].amount = 1 + below(amounts[g->tasks[i].work]);
        if (g->tasks[i].work == GT_EXECUTOR_MOVE)
            g->tasks[i].amount = gt_executor_pair(below(64), (uint32_t)g->tasks[i].amount);
        /* Those in nobody's list come last: no list waits for them. */
        g->workers[i] = policy == GT_EXECUTOR_MIXED && i > tasks / 2 ? GT_EXECUTOR_ANY : below(workers);
        draw_edges(g, i, policy == GT_EXECUTOR_READY || policy == GT_EXECUTOR_STEAL);
    }
    lay_out(g, tasks);
    /* clang-format off */
    g->plan = (struct gt_executor_plan){
        .policy = policy, .workers = workers, .seed = 7, .tasks = g->tasks, .task_count = tasks,
        .task_workers = g->workers, .waits = g->waits, .signals = g->signals, .made = g->made,
        .initial = g->initial, .counter_count = g->counters,
    };
    /* clang-format on */
}

/* On the global timer; the block's record ties its clock to that to within a tick at both ends. */
static double when_ns(const struct gt_block_log *block, uint64_t cycles)
{
    double part = (double)(cycles - block->start_cycles) / (double)(block->end_cycles - block->start_cycles);

    return (double)block->start_ns + part * (double)(block->end_ns - block->start_ns);
}

static int check_records(const struct graph *g, const struct gt_executor_log *log, const struct gt_block_log *blocks,
                         struct gt_error *error)
{
    bool lists = g->plan.policy == GT_EXECUTOR_STATIC || g->plan.policy == GT_EXECUTOR_MIXED;

    for (uint32_t i = 0; i < g->plan.task_count; i++) {
        uint64_t took = log[i].end_cycles - log[i].start_cycles;

        if (log[i].asked_cycles > log[i].taken_cycles || log[i].taken_cycles > log[i].start_cycles)
            return gt_error_set(error, "task %u: asked, taken, started out of order", i);
        if (lists && g->workers[i] != GT_EXECUTOR_ANY && log[i].worker != g->workers[i])
            return gt_error_set(error, "task %u: worker %u did it, not %u", i, log[i].worker, g->workers[i]);
        if (g->tasks[i].work == GT_EXECUTOR_SPIN &&
            (took < g->tasks[i].amount || took > g->tasks[i].amount + SPIN_SLACK_CYCLES))
            return gt_error_set(error, "task %u: %" PRIu64 " cycles, not %" PRIu64, i, took, g->tasks[i].amount);
    }
    for (uint32_t e = 0; e < g->edges; e++) {
        const struct gt_executor_log *from = &log[g->from[e]], *to = &log[g->to[e]];
        double early_ns =
            when_ns(&blocks[from->worker], from->end_cycles) - when_ns(&blocks[to->worker], to->start_cycles);

        if (early_ns > TICK_NS)
            return gt_error_set(
                error, "task %u started %.0f ns before the end of task %u, of blocks of %" PRIu64 " ns", g->to[e],
                early_ns, g->from[e], blocks[from->worker].end_ns - blocks[from->worker].start_ns);
    }
    return 0;
}

/* What the executor needs on the GPU, from one graph's launch to its end. */
static int run(const struct graph *g, uint32_t threads, struct gt_error *error)
{
    const struct gt_library_kernel *kernel = gt_library_kernel_find("executor", error);
    uint32_t workers = g->plan.workers, tasks = g->plan.task_count;
    struct gt_executor_log *log = gt_calloc(tasks, sizeof *log);
    struct gt_block_log *blocks = gt_calloc(workers, sizeof *blocks);
    struct gt_executor_image image;
    struct gt_gpu_launch launch = { .grid = { workers, 1, 1 }, .block = { threads, 1, 1 } };
    void *graph, *walked;
    int result = kernel != NULL ? gt_executor_image_make(&g->plan, &image, error) : -1;

    if (result != 0)
        return -1;
    require(cudaMalloc(&graph, image.graph_bytes), "the graph");
    require(cudaMalloc(&walked, image.state_bytes), "its state");
    require(cudaMemcpy(graph, image.graph, image.graph_bytes, cudaMemcpyHostToDevice), "the graph");
    require(cudaMemcpy(walked, image.state, image.state_bytes, cudaMemcpyHostToDevice), "its state");
    struct gt_executor executor = gt_executor_place(&image, graph, walked);
    executor.task_output_bytes = gt_executor_output_bytes(g->tasks, tasks);
    executor.works = gt_executor_works(g->tasks, tasks);
    executor.moves = gt_executor_moves(g->tasks, tasks);
    require(cudaMalloc((void **)&executor.log, tasks * sizeof *log), "the tasks' records");
    require(cudaMemset(executor.log, 0, tasks * sizeof *log), "the tasks' records");
    require(cudaMalloc((void **)&launch.log, workers * sizeof *blocks), "the blocks' records");
    launch.tasks = &executor;
    require(cudaMalloc(&launch.scratch, gt_library_scratch_bytes(kernel, &launch) + 1), "numbers");
    result = gt_library_accepts(kernel, &launch, error);
    if (result == 0)
        result = gt_library_check(kernel, &launch, 3, error);
    require(cudaMemcpy(log, executor.log, tasks * sizeof *log, cudaMemcpyDeviceToHost), "the tasks' records");
    require(cudaMemcpy(blocks, launch.log, workers * sizeof *blocks, cudaMemcpyDeviceToHost), "the blocks' records");
    if (result == 0)
        result = check_records(g, log, blocks, error);
    cudaFree(graph);
    cudaFree(walked);
    cudaFree(executor.log);
    cudaFree(launch.log);
    cudaFree(launch.scratch);
    gt_executor_image_free(&image);
    free(log);
    free(blocks);
    return result;
}

static void test_policy(enum gt_executor_policy policy, bool works)
{
    static const uint32_t workers[] = { 1, 2, 33, 132, 264 }, threads[] = { 1, 31, 32, 96, 256 };
    static struct graph graph;
    char name[128];

    for (int i = 0; i < 5; i++) {
        struct gt_error error = { "" };
        uint32_t tasks = i == 0 ? 1 : 10 + below(MOST_TASKS / (works ? 4 : 1) - 10);

        draw_graph(&graph, policy, workers[i], tasks, works);
        snprintf(name, sizeof name, "executor, %s: %u tasks that %s, %u edges, %u workers of %u threads",
                 gt_executor_policy_names[policy], tasks, works ? "work" : "spin", graph.edges, workers[i],
                 threads[(i + policy) % 5]);
        bool good = run(&graph, threads[(i + policy) % 5], &error) == 0;
        report(good, name, error.text);
    }
}

int main(void)
{
    int devices = 0;
    cudaError_t status = cudaGetDeviceCount(&devices);

    if (status != cudaSuccess || devices == 0) {
        printf("1..0 # SKIP no GPU, or no driver for it: %s\n", cudaGetErrorString(status));
        return 0;
    }
    state = 2026;
    for (int policy = 0; policy < GT_EXECUTOR_POLICIES; policy++) {
        test_policy((enum gt_executor_policy)policy, false);
        test_policy((enum gt_executor_policy)policy, true);
    }
    printf("1..%d\n", tests_done);
    return tests_failed ? 1 : 0;
}
