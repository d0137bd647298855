/* How fast task graphs are simulated: made in memory, no file, no store.
 * Prints one line a case: tasks, workers, seconds of processor time, tasks a second of these, bytes of memory a task. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/array.h"
#include "sim/simulate.h"
#include "sim/workload/task_graph.h"

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Layers of `width` tasks of 2 to 6 us; each waits for two of the layer before, by a counter a task. */
static struct gt_task_graph *make_graph(struct gt_workload *w, uint32_t tasks, uint32_t width, uint32_t workers,
                                        bool priced)
{
    struct gt_task_graph *graph = gt_task_graph_new(gt_name(w, "g", 1));
    gt_task_kind_index kind = gt_task_graph_add_kind(graph, gt_name(w, "k", 1));

    graph->kinds[kind].cost = priced ? GT_TASK_COST_RANGE : GT_TASK_COST_NONE;
    graph->kinds[kind].min_ps = 2000000;
    graph->kinds[kind].max_ps = 6000000;
    graph->kinds[kind].bytes = 100000;
    graph->kinds[kind].operations = 1000000;
    for (uint32_t i = 0; i < tasks; i++) {
        gt_task_index task = gt_task_graph_add_task(graph, kind);

        graph->tasks[task].worker = i % width % workers;
        if (i >= width) {
            gt_task_graph_add_wait(graph, i - width, 1);
            gt_task_graph_add_wait(graph, (i - width) / width * width + (i + 1) % width, 1);
        }
        gt_task_graph_add_signal(graph, gt_task_graph_add_counter(graph, GT_NONE, 0));
    }
    gt_workload_add_task_graph(w, graph);
    return graph;
}

/* One task after the other, while all other workers have nothing to do. */
static struct gt_task_graph *make_chain(struct gt_workload *w, uint32_t tasks, uint32_t workers)
{
    struct gt_task_graph *graph = make_graph(w, tasks, tasks, workers, true);

    for (uint32_t i = 1; i < tasks; i++) {
        graph->tasks[i].first_wait = graph->wait_count;
        graph->tasks[i].waits = 1;
        gt_array_grow(graph->waits, graph->wait_count, graph->wait_room);
        graph->waits[graph->wait_count++] = (struct gt_task_wait){ i - 1, 1 };
    }
    return graph;
}

static struct gt_workload *make_workload(uint32_t tasks, uint32_t width, uint32_t workers, const char *policy,
                                         bool priced)
{
    struct gt_workload *w = gt_workload_new();
    /* clang-format off */
    struct gt_kernel kernel = {
        .name = gt_name(w, "k", 1), .grid = { workers, 1, 1 }, .block = { 128, 1, 1 }, .duration_ps = GT_TIME_NONE,
        .runs = GT_NONE, .arguments = GT_NONE, .task_policy = gt_name(w, policy, strlen(policy)),
        .tasks = width == 1 ? make_chain(w, tasks, workers) : make_graph(w, tasks, width, workers, priced),
    };
    /* clang-format on */
    uint32_t call, op;

    gt_workload_add_gpu(w);
    gt_workload_add_thread(w);
    gt_workload_add_stream(w);
    call = gt_workload_add_call(w);
    op = gt_workload_add_op(w);
    w->calls[call].kind = GT_CALL_LAUNCH;
    w->calls[call].stream = w->ops[op].stream = 0;
    w->calls[call].ops = 1;
    w->ops[op].call = call;
    w->ops[op].kind = GT_OP_KERNEL;
    w->ops[op].kernel = gt_workload_kernel(w, &kernel);
    return w;
}

static int ignore(void *user, const struct gt_task_record *record, struct gt_error *error)
{
    (void)user;
    (void)record;
    (void)error;
    return 0;
}

/* In a process of its own, whose memory is the case's. */
static void bench(const char *policy, uint32_t tasks, uint32_t width, uint32_t workers, bool priced)
{
    struct gt_workload *w;
    struct gt_device device;
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_probe probe = { .task = ignore };
    struct gt_summary summary;
    struct gt_error error;
    struct rusage usage;
    double start_s, seconds;

    fflush(stdout);
    if (fork() != 0) {
        wait(NULL);
        return;
    }
    w = make_workload(tasks, width, workers, policy, priced);
    gt_device_init(&device);
    gt_device_set(&device, "chip.sms", "132", &error);
    start_s = now_s();
    if (gt_simulate(w, &device, &options, &probe, &summary, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        _exit(1);
    }
    seconds = now_s() - start_s;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-7s %-10s %9u tasks %5u workers %8.3f s %10.0f tasks/s %6.0f bytes a task\n", policy,
           width == 1 ? "a chain"
           : !priced  ? "roofline"
                      : "layers",
           tasks, workers, seconds, tasks / seconds, (double)usage.ru_maxrss * 1024 / tasks);
    fflush(stdout);
    _exit(0);
}

int main(void)
{
    static const char *const policies[] = { "shared", "ready", "steal", "static" };

    for (int i = 0; i < 4; i++)
        bench(policies[i], 4098, 132, 132, true);
    for (int i = 0; i < 4; i++)
        bench(policies[i], 1000000, 528, 132, true);
    for (int i = 0; i < 4; i++)
        bench(policies[i], 1000000, 200, 1056, true);
    for (int i = 0; i < 4; i++)
        bench(policies[i], 300000, 1, 132, true);
    bench("ready", 1000000, 528, 132, false);
    for (int i = 0; i < 4; i++)
        bench(policies[i], 10000000, 528, 132, true);
    return 0;
}
