/* Random task graphs against a simulation that plays everything one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/task_machine.h"
#include "tests/unit/task_oracle.h"

enum { MOST_STEPS = 1000000 };
static const char *const policies[POLICIES] = { "shared", "ready", "steal", "static", "mixed" };

static uint64_t draws;

static uint32_t draw(uint32_t below)
{
    return (uint32_t)(gt_random_bits(12, 34, draws++) % below);
}

/* A cost of so many picoseconds, and up to as many more. */
static gt_time_ps cost(gt_time_ps least_ps, uint32_t more_ps)
{
    return least_ps + draw(more_ps);
}

static struct gt_task_costs draw_costs(void)
{
    return (struct gt_task_costs){
        .start_ps = cost(0, US / 2),
        .end_ps = cost(0, US / 2),
        .found_ps = cost(0, US / 2),
        .load_ps = cost(0, US / 2),
        .flight_ps = cost(0, 1 * US),
        .fence_ps = cost(0, 1 * US),
        .overhead_ps = cost(0, 2 * US),
        .queue_ps = cost(0, 1 * US),
        .queue_serial_ps = cost(1, 200 * NS),
        .poll_ps = cost(100 * NS, 1 * US),
        .signal_ps = cost(0, 1 * US),
        .steal_ps = cost(4 * US, 4 * US), /* behind what it is made of */
        .look_ps = cost(100 * NS, 1 * US),
        .try_ps = cost(0, 1 * US),
        .operations_per_cycle = 1,
    };
}

/* Tasks wait for counters that earlier ones signal; those that are in lists come first, so that nobody waits for ever. */
static void make_graph(struct task_machine *m, int policy, uint32_t workers)
{
    uint32_t tasks = 1 + draw(TASKS), counters = 1 + draw(tasks), listed = policy == STATIC ? tasks : draw(tasks + 1);
    uint32_t producers[TASKS] = { 0 }, initial[TASKS] = { 0 }, maker[TASKS];
    gt_task_kind_index kind = machine_kind(m, 1 * US);

    for (uint32_t i = 0; i < counters; i++)
        gt_task_graph_add_counter(m->graph, GT_NONE, initial[i] = draw(8) == 0);
    for (uint32_t i = 0; i < tasks; i++)
        maker[i] = (policy == READY || policy == STEAL) && i > 0 && draw(4) == 0 ? draw(i) : GT_NONE;
    for (uint32_t i = 0; i < tasks; i++) {
        gt_task_index task = gt_task_graph_add_task(m->graph, kind);
        bool waits[TASKS] = { false };

        m->graph->tasks[task].time_ps = 1 + draw(6 * US);
        m->graph->tasks[task].worker = i < listed ? draw(workers) : GT_NONE;
        for (uint32_t j = draw(4); j > 0; j--) {
            uint32_t counter = draw(counters);

            if (waits[counter] || producers[counter] + initial[counter] == 0)
                continue;
            waits[counter] = true;
            gt_task_graph_add_wait(m->graph, counter, 1 + draw(producers[counter] + initial[counter]));
        }
        for (uint32_t j = draw(3); j > 0; j--) {
            uint32_t counter = draw(counters);

            gt_task_graph_add_signal(m->graph, counter);
            producers[counter]++;
        }
        for (uint32_t made = i + 1; made < tasks; made++)
            if (maker[made] == i)
                gt_task_graph_add_made(m->graph, made);
    }
}

static void compare(const struct task_machine *m, const struct oracle *o, int number)
{
    for (uint32_t i = 0; i < m->record_count; i++) {
        const struct gt_task_record *is = &m->records[i], *be = &o->records[is->task];

        if (is->worker != be->worker || is->asked_ps != be->asked_ps || is->taken_ps != be->taken_ps ||
            is->start_ps != be->start_ps || is->end_ps != be->end_ps || is->stolen != be->stolen)
            fail_msg("graph %d, %s, task %u: worker %u, %llu %llu %llu %llu, not worker %u, %llu %llu %llu %llu",
                     number, policies[o->policy], is->task, is->worker, (unsigned long long)is->asked_ps,
                     (unsigned long long)is->taken_ps, (unsigned long long)is->start_ps,
                     (unsigned long long)is->end_ps, be->worker, (unsigned long long)be->asked_ps,
                     (unsigned long long)be->taken_ps, (unsigned long long)be->start_ps,
                     (unsigned long long)be->end_ps);
    }
    assert_int_equal(m->record_count, o->graph->task_count);
    assert_int_equal(m->op_end_ps[0], o->end_ps);
}

static void try_graph(int number, int policy)
{
    static struct task_machine m;
    static struct oracle o;
    uint32_t workers = 1 + draw(policy == STATIC || policy == MIXED ? AT_ONCE : WORKERS);

    machine_make(&m);
    m.device.tasks = draw_costs();
    make_graph(&m, policy, workers);
    machine_launch(&m, policies[policy], workers, 256);
    if (machine_run(&m) != 0)
        fail_msg("graph %d, %s: %s", number, policies[policy], m.error.text);
    memset(&o, 0, sizeof o);
    o.graph = m.graph;
    o.costs = &m.device.tasks;
    o.policy = policy;
    o.seed = m.options.seed;
    o.workers = workers;
    begin(&o);
    for (int steps = 0; step(&o); steps++)
        if (steps == MOST_STEPS)
            fail_msg("graph %d, %s: the oracle goes on for ever", number, policies[policy]);
    compare(&m, &o, number);
    machine_free(&m);
}

static void test_random_graphs(void **state)
{
    (void)state;
    for (int number = 0; number < 400; number++)
        for (int policy = 0; policy < POLICIES; policy++)
            try_graph(number, policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
