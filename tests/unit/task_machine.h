/* task_machine.h - task graphs made by hand, and a machine for them: two SMs of four blocks, nothing costs anything
 * unless a test says so. */
#ifndef GRIDTIDE_TESTS_UNIT_TASK_MACHINE_H
#define GRIDTIDE_TESTS_UNIT_TASK_MACHINE_H

#include <string.h>

#include "sim/simulate.h"
#include "sim/workload/task_graph.h"
#include "traces/io/device_file.h"

enum { US = 1000000, NS = 1000, MOST_TASKS = 4096 };

struct task_machine {
    struct gt_device device;
    struct gt_workload *workload;
    struct gt_task_graph *graph; /* of the launches to come */
    struct gt_options options;
    /* what a run told */
    struct gt_task_record records[MOST_TASKS]; /* in the order of their ends */
    uint32_t record_count;
    gt_time_ps op_start_ps[16], op_end_ps[16];
    struct gt_summary summary;
    struct gt_error error;
};

static void machine_set(struct task_machine *m, const char *key, const char *value)
{
    if (gt_device_set(&m->device, key, value, &m->error) != 0)
        gt_bug("%s", m->error.text);
}

static void machine_make(struct task_machine *m)
{
    memset(m, 0, sizeof *m);
    m->options = (struct gt_options)GT_OPTIONS_DEFAULT;
    if (gt_device_load("toy", &m->device, &m->error) != 0)
        gt_bug("%s", m->error.text);
    machine_set(m, "host.launch_call_us", "0");
    m->workload = gt_workload_new();
    gt_workload_add_gpu(m->workload);
    gt_workload_add_thread(m->workload);
    m->graph = gt_task_graph_new(gt_name(m->workload, "g", 1));
    gt_workload_add_task_graph(m->workload, m->graph);
}

static void machine_free(struct task_machine *m)
{
    gt_workload_free(m->workload);
}

static uint32_t machine_name(struct task_machine *m, const char *text)
{
    return gt_name(m->workload, text, strlen(text));
}

/* A kind of tasks that take `cost_ps`; GT_TIME_NONE: as bytes and operations say. */
static gt_task_kind_index machine_kind(struct task_machine *m, gt_time_ps cost_ps)
{
    gt_task_kind_index kind = gt_task_graph_add_kind(m->graph, machine_name(m, "k"));

    m->graph->kinds[kind].cost = cost_ps == GT_TIME_NONE ? GT_TASK_COST_NONE : GT_TASK_COST_FIXED;
    m->graph->kinds[kind].min_ps = m->graph->kinds[kind].max_ps = cost_ps == GT_TIME_NONE ? 0 : cost_ps;
    return kind;
}

/* `blocks` blocks of so many threads execute the graph, in a stream of their own. */
static void machine_launch(struct task_machine *m, const char *policy, uint32_t blocks, uint32_t threads)
{
    struct gt_workload *w = m->workload;
    /* clang-format off */
    struct gt_kernel kernel = {
        .name = machine_name(m, "mega"), .grid = { blocks, 1, 1 }, .block = { threads, 1, 1 },
        .runs = GT_NONE, .arguments = GT_NONE, .duration_ps = GT_TIME_NONE,
        .tasks = m->graph, .task_policy = machine_name(m, policy),
    };
    /* clang-format on */
    gt_stream_index stream = gt_workload_add_stream(w);
    gt_call_index call = gt_workload_add_call(w);
    gt_op_index op = gt_workload_add_op(w);

    w->streams[stream].flags = GT_STREAM_NON_BLOCKING;
    w->streams[stream].id = stream + 1u;
    w->calls[call].kind = GT_CALL_LAUNCH;
    w->calls[call].ops = 1;
    w->calls[call].first_op = op;
    w->calls[call].stream = w->ops[op].stream = stream;
    w->ops[op].call = call;
    w->ops[op].kind = GT_OP_KERNEL;
    w->ops[op].kernel = gt_workload_kernel(w, &kernel);
}

static int machine_task(void *user, const struct gt_task_record *record, struct gt_error *error)
{
    struct task_machine *m = user;

    (void)error;
    if (m->record_count < MOST_TASKS)
        m->records[m->record_count] = *record;
    m->record_count++;
    return 0;
}

static int machine_op(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    struct task_machine *m = user;

    (void)error;
    m->op_start_ps[record->op] = record->start_ps;
    m->op_end_ps[record->op] = record->end_ps;
    return 0;
}

/* 0, or -1 with m->error. */
static int machine_run(struct task_machine *m)
{
    const struct gt_probe probe = { .user = m, .op = machine_op, .task = machine_task };

    m->record_count = 0;
    return gt_simulate(m->workload, &m->device, &m->options, &probe, &m->summary, &m->error);
}

#endif
