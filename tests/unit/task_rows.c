/* Tasks in the store and what statistics say of them, worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/workload/task_graph.h"
#include "tests/unit/two_kernels.h"
#include "traces/stats/stats.h"
#include "traces/store/store.h"

enum { US = 1000000 };

static char path[64];
static struct gt_error error;

/* Kernel 0 of the two is made one of two workers that do three tasks of two kinds, c after b. */
static struct gt_workload *make_tasks(void)
{
    struct gt_workload *workload = make_workload();
    struct gt_task_graph *graph = gt_task_graph_new(gt_name(workload, "graph", 5));
    gt_task_kind_index tile = gt_task_graph_add_kind(graph, gt_name(workload, "tile", 4));
    gt_task_kind_index norm = gt_task_graph_add_kind(graph, gt_name(workload, "norm", 4));
    gt_task_counter_index counter = gt_task_graph_add_counter(graph, GT_NONE, 0);
    struct gt_kernel kernel = workload->kernels[0];

    gt_task_graph_add_task(graph, tile);
    gt_task_graph_add_task(graph, tile);
    gt_task_graph_add_signal(graph, counter);
    graph->tasks[gt_task_graph_add_task(graph, norm)].name = gt_name(workload, "c", 1);
    gt_task_graph_add_wait(graph, counter, 1);
    gt_workload_add_task_graph(workload, graph);
    kernel.tasks = graph;
    kernel.task_policy = gt_name(workload, "shared", 6);
    workload->ops[0].kernel = gt_workload_kernel(workload, &kernel);
    return workload;
}

/*   us        0 1 2     5 6 7      11 12      20
 *   worker 0  q a a a a a o q w...      c c c c   q: queue, w: waits for b's counter, o: other
 *   worker 1  q q b b b b b b b b b               the kernel ends at 20 */
static void send(const struct gt_probe *probe)
{
    static const struct gt_task_record tasks[] = {
        { .task = 0,
          .worker = 0,
          .asked_ps = 0,
          .taken_ps = US,
          .start_ps = US,
          .end_ps = 5 * US,
          .cause_task = GT_NONE },
        { .task = 1, .worker = 1, .taken_ps = 2 * US, .start_ps = 2 * US, .end_ps = 11 * US, .cause_task = GT_NONE },
        { .task = 2,
          .asked_ps = 6 * US,
          .taken_ps = 7 * US,
          .start_ps = 12 * US,
          .end_ps = 20 * US,
          .cause_task = 1 },
    };
    static const struct gt_op_record op = { .op = 0, .end_ps = 20 * US, .cause_index = GT_NONE };

    for (int i = 2; i >= 0; i--)
        assert_int_equal(probe->task(probe->user, &tasks[i], &error), 0);
    assert_int_equal(probe->op(probe->user, &op, &error), 0);
}

static struct gt_store *fill(const struct gt_workload *workload)
{
    struct gt_store *store = gt_store_create(path, &error);
    struct gt_run_writer *writer;
    struct gt_device device;
    int64_t device_id, trace_id;

    assert_non_null(store);
    gt_device_init(&device);
    device_id = gt_store_put_device(store, &device, &error);
    trace_id = gt_store_put_trace(store, workload, "tasks", &error);
    writer = gt_run_writer_begin(store, trace_id, device_id, "simulated", "", 0, workload);
    send(gt_run_writer_probe(writer));
    assert_int_equal(gt_run_writer_end(writer, &error), 1);
    return store;
}

static void workers_time_is_divided(void **state)
{
    struct gt_workload *workload = make_tasks();
    struct gt_store *store = fill(workload);
    struct gt_stats *stats = gt_stats_compute(gt_store_database(store), 1, NULL, &error);

    (void)state;
    assert_non_null(stats);
    assert_int_equal(stats->tasks.count, 3);
    assert_int_equal(stats->tasks.workers, 2);
    assert_int_equal(stats->tasks.worker_ps, 40 * US);
    assert_int_equal(stats->tasks.work_ps, (4 + 9 + 8) * US);
    assert_int_equal(stats->tasks.queue_ps, (1 + 2 + 1) * US);
    assert_int_equal(stats->tasks.counter_ps, 5 * US);
    assert_int_equal(stats->tasks.other_ps, 1 * US);
    assert_int_equal(stats->tasks.path_ps, (9 + 8) * US); /* c waited for b, which ended after a */
    assert_int_equal(stats->task_kind_count, 2);
    assert_string_equal(stats->task_kinds[0].name, "tile");
    assert_int_equal(stats->task_kinds[0].count, 2);
    assert_int_equal(stats->task_kinds[1].wait_ps, 5 * US);
    gt_stats_free(stats);
    assert_int_equal(gt_store_commit(store, &error), 0);
    gt_workload_free(workload);
}

static void a_copy_shares_the_graph(void **state)
{
    struct gt_workload *workload = make_tasks(), *copy = gt_workload_copy(workload);

    (void)state;
    assert_ptr_equal(copy->kernels[workload->ops[0].kernel].tasks, workload->task_graphs[0]);
    gt_workload_free(workload);
    assert_int_equal(copy->task_graphs[0]->task_count, 3);
    gt_workload_free(copy);
}

/* A fixed time, one of a range by the seed, of a list by the number, a heavy tail within its limits, the task's own. */
static void a_task_costs_what_its_kind_says(void **state)
{
    struct gt_task_graph *graph = gt_task_graph_new(7);
    gt_task_kind_index kind = gt_task_graph_add_kind(graph, 0);

    (void)state;
    for (int i = 0; i < 1000; i++)
        gt_task_graph_add_task(graph, kind);
    graph->tasks[5].time_ps = 42;
    graph->tasks[5].bytes = 8;
    graph->kinds[kind].bytes = 4;
    assert_int_equal(gt_task_cost_ps(graph, 0, 1), GT_TIME_NONE);
    assert_int_equal(gt_task_cost_ps(graph, 5, 1), 42);
    assert_int_equal(gt_task_bytes(graph, 5), 8);
    assert_int_equal(gt_task_bytes(graph, 6), 4);
    graph->kinds[kind].min_ps = 10 * US;
    graph->kinds[kind].max_ps = 20 * US;
    graph->kinds[kind].cost = GT_TASK_COST_FIXED;
    assert_int_equal(gt_task_cost_ps(graph, 0, 1), 10 * US);
    graph->kinds[kind].cost = GT_TASK_COST_RANGE;
    for (uint32_t i = 6; i < 1000; i++)
        assert_in_range(gt_task_cost_ps(graph, i, 1), 10 * US, 20 * US);
    assert_int_not_equal(gt_task_cost_ps(graph, 6, 1), gt_task_cost_ps(graph, 6, 2));
    graph->kinds[kind].cost = GT_TASK_COST_HEAVY;
    graph->kinds[kind].tail = 1.5;
    for (uint32_t i = 6; i < 1000; i++)
        assert_in_range(gt_task_cost_ps(graph, i, 1), 10 * US, 20 * US);
    graph->kinds[kind].cost = GT_TASK_COST_LIST;
    graph->kinds[kind].list_ps = gt_calloc(2, sizeof(gt_time_ps));
    graph->kinds[kind].list_ps[1] = 3;
    graph->kinds[kind].list_length = 2;
    assert_int_equal(gt_task_cost_ps(graph, 7, 1), 3);
    gt_task_graph_free(graph);
}

static int remove_store(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(workers_time_is_divided, remove_store),
        cmocka_unit_test(a_copy_shares_the_graph),
        cmocka_unit_test(a_task_costs_what_its_kind_says),
    };

    snprintf(path, sizeof path, "/tmp/gridtide-tasks-%d.db", (int)getpid());
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
