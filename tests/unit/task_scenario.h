/* task_scenario.h - scenarios of task graphs: their tasks and counters in a line each, and when a task of a run is to
 * have been done.  A test file includes it once, behind cmocka.h.
 */
#ifndef GRIDTIDE_TESTS_UNIT_TASK_SCENARIO_H
#define GRIDTIDE_TESTS_UNIT_TASK_SCENARIO_H

#include <stdio.h>

#include "tests/unit/task_machine.h"

/* A machine whose tasks cost nothing but those: keys of the device without "tasks.", as in "queue_us=1 poll_us=0.5". */
static inline void machine_costs(struct task_machine *m, const char *costs)
{
    char key[64] = "tasks.", value[32];
    int used;

    machine_make(m);
    for (; sscanf(costs, " %40[^= ]=%31s%n", key + 6, value, &used) == 2; costs += used)
        machine_set(m, key, value);
}

static inline gt_task_index add(struct task_machine *m, gt_time_ps cost_ps, gt_worker_index worker)
{
    gt_task_index task = gt_task_graph_add_task(m->graph, machine_kind(m, cost_ps));

    m->graph->tasks[task].worker = worker;
    return task;
}

static inline gt_task_counter_index counter(struct task_machine *m)
{
    return gt_task_graph_add_counter(m->graph, GT_NONE, 0);
}

/* The record of a task of an operation. */
static inline const struct gt_task_record *machine_record(const struct task_machine *m, gt_op_index op,
                                                          gt_task_index task)
{
    for (uint32_t i = 0; i < m->record_count; i++)
        if (m->records[i].task == task && m->records[i].op == op)
            return &m->records[i];
    gt_bug("task %u has no record", task);
}

/* When a task was asked for, known, started, ended, in ns. */
static inline void expect(const struct task_machine *m, gt_op_index op, gt_task_index task, gt_worker_index worker,
                          uint64_t asked_ns, uint64_t taken_ns, uint64_t start_ns, uint64_t end_ns)
{
    const struct gt_task_record *record = machine_record(m, op, task);

    assert_int_equal(record->worker, worker);
    assert_int_equal(record->asked_ps, asked_ns * NS);
    assert_int_equal(record->taken_ps, taken_ns * NS);
    assert_int_equal(record->start_ps, start_ns * NS);
    assert_int_equal(record->end_ps, end_ns * NS);
}

static inline void run(struct task_machine *m)
{
    if (machine_run(m) != 0)
        fail_msg("%s", m->error.text);
}

#endif
