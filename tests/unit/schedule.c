/* Compile-time scheduling: plans worked out by hand; and of random graphs by every policy, with both barriers, that what
 * is written holds the graph's order however long tasks take, by an oracle that knows nothing of how it was made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/schedule/form.h"
#include "sim/schedule/policy.h"
#include "sim/workload/task_graph.h"

enum { US = 1000000, GRAPHS = 300, MOST_OPERATORS = 24, MOST_TASKS = 12, MOST_WORKERS = 7 };

static const struct gt_plan_costs launch_only = { .launch_ps = US };

/* A kind with up to two implementations; tasks 0: there is no second one. */
static uint32_t add_kind(struct gt_operator_graph *graph, const char *name, uint32_t tasks, uint64_t us,
                         uint32_t thrifty_tasks, uint64_t thrifty_us)
{
    uint32_t kind = gt_operator_graph_add_kind(graph, name);
    struct gt_implementation *made = gt_operator_graph_add_implementation(graph, kind);

    made->tasks = tasks;
    made->task_ps = us * US;
    if (thrifty_tasks > 0) {
        made = gt_operator_graph_add_implementation(graph, kind);
        made->tasks = thrifty_tasks;
        made->task_ps = thrifty_us * US;
    }
    return kind;
}

static gt_operator_index add(struct gt_operator_graph *graph, const char *name, uint32_t kind, const char *after)
{
    gt_operator_index op = gt_operator_graph_add_operator(graph, name, kind);

    for (; *after != '\0'; after++)
        for (gt_operator_index before = 0; before < op; before++)
            if (graph->operators[before].name[0] == *after)
                gt_operator_graph_add_predecessor(graph, op, before);
    return op;
}

static struct gt_plan *plan_by(const char *policy, struct gt_operator_graph *graph, uint32_t workers,
                               enum gt_barriers barriers)
{
    struct gt_plan *plan = gt_plan_new(graph, workers, barriers, &launch_only);
    struct gt_error error;

    if (gt_schedule(plan, policy, &error) != 0)
        fail_msg("%s", error.text);
    return plan;
}

/* "a0 b1 ...": which operator's task goes to which worker, in the order of placing. */
static void assert_placed(const struct gt_plan *plan, const char *expected)
{
    char text[4096] = "";

    for (uint32_t i = 0; i < plan->task_count; i++)
        sprintf(text + strlen(text), "%s%s%u", i > 0 ? " " : "", plan->graph->operators[plan->tasks[i].op].name,
                plan->tasks[i].worker);
    assert_string_equal(text, expected);
}

/* a before b and c, these before d.  Fast: 4 tasks of 2 us; thrifty: 1 task of 5 us.  e: one task of 3 us beside all. */
static struct gt_operator_graph *diamond(void)
{
    struct gt_operator_graph *graph = gt_operator_graph_new();
    uint32_t product = add_kind(graph, "product", 4, 2, 1, 5), sum = add_kind(graph, "sum", 1, 3, 0, 0);

    add(graph, "a", product, "");
    add(graph, "b", product, "a");
    add(graph, "c", product, "a");
    add(graph, "d", sum, "bc");
    add(graph, "e", sum, "");
    assert_int_equal(gt_operator_graph_finish(graph, NULL), 0);
    assert_int_equal(graph->levels, 3);
    return graph;
}

/* Two workers.  Wave 0 is a and e: fast, 4 tasks + 1 fill two workers: a to 0 1 0 1 (until 4), e to 0 (4 to 7): ends at
 * 7.  Thrifty: a to 0 (0 to 5), e to 1 (0 to 3): ends at 5, kept.  Wave 1: fast, b waits for a until 5: worker 1 is free
 * at 3: b 1 (5 to 7), then 0 (5 to 7), 0 1 (to 9), c 0 1 0 1 (to 13); thrifty: b to 1 (5 to 10), c to 0 (5 to 10), kept.
 * Wave 2: d's one task does not fill two workers: to 0, 10 to 13. */
static void test_wavefront(void **state)
{
    struct gt_operator_graph *graph = diamond();
    struct gt_plan *plan = plan_by("wavefront", graph, 2, GT_BARRIERS_FINE);
    struct gt_plan_size size = gt_plan_measure(plan);

    (void)state;
    assert_placed(plan, "a0 e1 b1 c0 d0");
    assert_int_equal(plan->program_count, 1);
    assert_int_equal(size.end_ps, 13 * US);
    assert_int_equal(size.work_ps, (3 * 5 + 2 * 3) * US);
    assert_int_equal(size.critical_path_ps, (5 + 5 + 3) * US);
    gt_plan_free(plan);
    gt_operator_graph_free(graph);
}

/* Fastest on 2 workers: 4 tasks of 2 us take 4, one of 5 takes 5.  a 0 1 0 1 until 4; e to 0 until 7; then in turn from
 * 1 on: b 1 0 1 0, c 1 0 1 0: worker 1 4 to 6, 6 to 8, c to 12; worker 0 7 to 9, 9 to 11, c to 15; d to 1, 15 to 18. */
static void test_round_robin(void **state)
{
    struct gt_operator_graph *graph = diamond();
    struct gt_plan *plan = plan_by("round-robin", graph, 2, GT_BARRIERS_FINE);

    (void)state;
    assert_placed(plan, "a0 a1 a0 a1 e0 b1 b0 b1 b0 c1 c0 c1 c0 d1");
    assert_int_equal(plan->latest_ps, 18 * US);
    gt_plan_free(plan);
    gt_operator_graph_free(graph);
}

/* Fast: the way from a is 2 + 2 + 3 = 7 us, from b and c 5, from e 3: a 0 1 0 1 (until 4), b 0 1 0 1 (8), c 0 1 0 1 (12),
 * d 0 and e 1 (15).  Thriftiest where waves fill the workers (0 and 1): a 0 (5), e 1 (3), b 1 and c 0 (10), d 0 (13), which
 * is kept. */
static void test_list(void **state)
{
    struct gt_operator_graph *graph = diamond();
    struct gt_plan *plan = plan_by("list", graph, 2, GT_BARRIERS_FINE);

    (void)state;
    assert_int_equal(plan->latest_ps, 13 * US);
    assert_string_equal(plan->graph->operators[plan->tasks[0].op].name, "a");
    assert_placed(plan, "a0 e1 b1 c0 d0");
    gt_plan_free(plan);
    gt_operator_graph_free(graph);
}

/* What tasks cost beside their time, in us: 1 to take one, 1 to read what it waits for, 2 to wait, 3 to signal, and 4 of
 * flight.  Two tasks of a, 4 us each, on two workers, which are free at 1 + 4 + 3 = 8, and told at 12; b on worker 0:
 * known at 9, would look from 10 on, waits from 12 until 14, ends at 16 without a signal; c, of no predecessor and no
 * successor, on worker 1: 9 to 11. */
static void test_costs(void **state)
{
    static const struct gt_plan_costs costs = {
        .take_ps = 1 * US, .read_ps = 1 * US, .wait_ps = 2 * US, .signal_ps = 3 * US, .flight_ps = 4 * US
    };
    struct gt_operator_graph *graph = gt_operator_graph_new();
    uint32_t single = add_kind(graph, "single", 1, 2, 0, 0);
    struct gt_plan *plan;

    (void)state;
    add(graph, "a", add_kind(graph, "double", 2, 4, 0, 0), "");
    add(graph, "b", single, "a");
    add(graph, "c", single, "");
    assert_int_equal(gt_operator_graph_finish(graph, NULL), 0);
    plan = gt_plan_new(graph, 2, GT_BARRIERS_FINE, &costs);
    for (gt_operator_index op = 0; op < 3; op++)
        gt_plan_choose(plan, op, 0);
    gt_plan_place(plan, 0, 0);
    gt_plan_place(plan, 0, 1);
    gt_plan_place(plan, 1, 0);
    gt_plan_place(plan, 2, 1);
    assert_int_equal(plan->end_ps[0], 12 * US);
    assert_int_equal(plan->end_ps[1], 16 * US);
    assert_int_equal(plan->end_ps[2], 11 * US);
    gt_plan_free(plan);
    gt_operator_graph_free(graph);
}

/* Global barriers: e's 9 us hold up b, which needs only a. */
static void test_global_barriers(void **state)
{
    struct gt_operator_graph *graph = gt_operator_graph_new();
    struct gt_plan *fine, *global;
    uint32_t kind = add_kind(graph, "short", 1, 2, 0, 0);

    (void)state;
    add(graph, "a", kind, "");
    add(graph, "e", add_kind(graph, "long", 1, 9, 0, 0), "");
    add(graph, "b", kind, "a");
    assert_int_equal(gt_operator_graph_finish(graph, NULL), 0);
    fine = plan_by("wavefront", graph, 2, GT_BARRIERS_FINE);
    global = plan_by("wavefront", graph, 2, GT_BARRIERS_GLOBAL);
    assert_placed(fine, "a0 e1 b0");
    assert_int_equal(fine->latest_ps, 9 * US);
    assert_int_equal(global->latest_ps, 11 * US);
    gt_plan_free(fine);
    gt_plan_free(global);
    gt_operator_graph_free(graph);
}

/* Programs are launched one after the other, 1 us apart, and need no counters between them. */
static void test_programs(void **state)
{
    struct gt_operator_graph *graph = diamond();
    struct gt_plan *plan = gt_plan_new(graph, 2, GT_BARRIERS_FINE, &launch_only);
    struct gt_form_input input = { .graph = graph, .plan = plan, .policy = "own", .workers = 2 };
    struct gt_form_size size;
    struct gt_workload *trace;

    (void)state;
    for (uint32_t i = 0; i < graph->operator_count; i++) {
        gt_plan_choose(plan, graph->by_level[i], graph->by_level[i] < 3 ? 1 : 0);
        gt_plan_place(plan, graph->by_level[i], i % 2);
        if (i == 1 || i == 3)
            gt_plan_next_program(plan);
    }
    assert_int_equal(gt_plan_check(plan, NULL), 0);
    assert_int_equal(plan->program_count, 3);
    assert_int_equal(plan->latest_ps, (5 + 1 + 5 + 1 + 3) * US);
    trace = gt_form_write(&gt_forms[0], &input, &size);
    assert_int_equal(size.launches, 3);
    assert_int_equal(size.counters, 0);
    assert_int_equal(size.waits, 0);
    assert_int_equal(trace->op_count, 3);
    gt_workload_free(trace);
    gt_plan_free(plan);
    gt_operator_graph_free(graph);
}

/* Workers with 100 registers a thread: one is resident; with fewer, four. */
static uint32_t resident(const void *user, uint32_t registers_per_thread, uint32_t shared_bytes)
{
    (void)user;
    (void)shared_bytes;
    return registers_per_thread >= 100 ? 1 : 4;
}

/* small, large, small in a row: 4 tasks of 2 us and 50 registers, 1 task of 3 us and 100, 4 tasks again.  Four workers: 2 us;
 * large leaves room for one worker and so begins a program, 1 us later, until 6; as does small again, since the program of
 * one worker would take 8 us, four of its own 1 + 2: until 9. */
static void test_room(void **state)
{
    struct gt_operator_graph *graph = gt_operator_graph_new();
    uint32_t small = add_kind(graph, "small", 4, 2, 0, 0), large = add_kind(graph, "large", 1, 3, 0, 0);
    struct gt_plan *plan;

    (void)state;
    graph->kinds[small].implementations[0].registers_per_thread = 50;
    graph->kinds[large].implementations[0].registers_per_thread = 100;
    add(graph, "a", small, "");
    add(graph, "b", large, "a");
    add(graph, "c", small, "b");
    assert_int_equal(gt_operator_graph_finish(graph, NULL), 0);
    for (size_t policy = 0; policy < gt_schedule_policy_count; policy++) {
        const char *name = gt_schedule_policies[policy].named.name;

        plan = gt_plan_new(graph, 8, GT_BARRIERS_FINE, &launch_only);
        plan->room.resident = resident;
        assert_int_equal(gt_schedule(plan, name, NULL), 0);
        if (strcmp(name, "wavefront") == 0) {
            assert_placed(plan, "a0 a1 a2 a3 b0 c0 c1 c2 c3");
            assert_int_equal(plan->program_count, 3);
            assert_int_equal(plan->latest_ps, 9 * US);
            assert_int_equal(plan->programs[1].workers, 1);
            assert_int_equal(plan->programs[2].workers, 4);
            assert_int_equal(plan->programs[1].registers_per_thread, 100);
        } else {
            assert_int_equal(plan->program_count, 1);
            assert_int_equal(gt_plan_workers(plan), 1);
            assert_int_equal(plan->latest_ps, (8 + 3 + 8) * US);
        }
        gt_plan_free(plan);
    }
    gt_operator_graph_free(graph);
}

/* b and c have the same successors: one counter tells d of both; who did all of it himself does not ask. */
static void test_counters_are_shared(void **state)
{
    struct gt_operator_graph *graph = diamond();
    struct gt_plan *plan = plan_by("wavefront", graph, 2, GT_BARRIERS_FINE);
    struct gt_form_input input = { .graph = graph, .plan = plan, .policy = "own", .workers = 2 };
    struct gt_form_size size;
    struct gt_workload *trace = gt_form_write(&gt_forms[0], &input, &size);
    const struct gt_task_graph *tasks = trace->task_graphs[0];

    (void)state;
    assert_int_equal(size.counters, 2); /* a has ended, for b on worker 1; b and c have, for d */
    assert_int_equal(size.waits, 2);
    assert_int_equal(tasks->tasks[3].waits, 0); /* c, on worker 0 as a */
    assert_int_equal(tasks->waits[tasks->tasks[4].first_wait].threshold, 2);
    gt_workload_free(trace);
    gt_plan_free(plan);
    gt_operator_graph_free(graph);
}

static void test_mistakes(void **state)
{
    struct gt_operator_graph *graph = diamond(), *ring = gt_operator_graph_new();
    struct gt_plan *plan = gt_plan_new(graph, 2, GT_BARRIERS_FINE, &launch_only);
    struct gt_error error;

    (void)state;
    assert_int_equal(gt_schedule(plan, "best", &error), -1);
    assert_non_null(strstr(error.text, "wavefront"));
    for (gt_operator_index op = graph->operator_count; op-- > 0;) {
        gt_plan_choose(plan, op, 0);
        for (uint32_t i = 0; i < gt_plan_chosen(plan, op)->tasks; i++)
            gt_plan_place(plan, op, 0);
    }
    assert_int_equal(gt_plan_check(plan, &error), -1);
    assert_string_equal(error.text, "operator 'd' is placed before 'b', which it comes after");
    add(ring, "a", add_kind(ring, "k", 1, 1, 0, 0), "");
    add(ring, "b", 0, "a");
    add(ring, "c", 0, "b");
    gt_operator_graph_add_predecessor(ring, 0, 1);
    assert_int_equal(gt_operator_graph_finish(ring, &error), -1);
    assert_non_null(strstr(error.text, "comes after itself"));
    assert_null(strstr(error.text, "'c'"));
    gt_operator_graph_free(ring);
    gt_plan_free(plan);
    gt_operator_graph_free(graph);
}

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static struct gt_operator_graph *random_graph(uint64_t *seed)
{
    struct gt_operator_graph *graph = gt_operator_graph_new();
    uint32_t operators = 1 + draw(seed, MOST_OPERATORS), density = 1 + draw(seed, 8);
    char name[16];

    for (uint32_t i = 0; i < 3; i++)
        add_kind(graph, "kind", 1 + draw(seed, MOST_TASKS), 1 + draw(seed, 9), draw(seed, 4), 1 + draw(seed, 30));
    for (gt_operator_index op = 0; op < operators; op++) {
        sprintf(name, "%u", op);
        gt_operator_graph_add_operator(graph, name, draw(seed, 3));
        for (gt_operator_index before = 0; before < op; before++)
            if (draw(seed, 8) < density && draw(seed, op) < 4)
                gt_operator_graph_add_predecessor(graph, op, before);
    }
    assert_int_equal(gt_operator_graph_finish(graph, NULL), 0);
    return graph;
}

enum { MOST_ALL = MOST_OPERATORS * MOST_TASKS };
struct order { /* task i is before task k whatever the times: before[i][k] */
    uint32_t count;
    uint32_t op[MOST_ALL];
    bool before[MOST_ALL][MOST_ALL];
};

/* What a program's lists and counters enforce: the one before in the same list; all who signal a counter that is waited
 * for, since the threshold is their number.  Each task has come up behind these, so that rows can be completed in turn. */
static void order_program(const struct gt_workload *trace, const struct gt_task_graph *graph, struct order *order)
{
    uint32_t base = order->count;

    for (gt_task_index i = 0; i < graph->task_count; i++) {
        const struct gt_task *task = &graph->tasks[i];
        uint32_t me = base + i;

        order->op[me] = (uint32_t)atoi(gt_name_text(trace, task->name));
        for (uint32_t k = 0; k < base; k++)
            order->before[k][me] = true;
        for (gt_task_index k = 0; k < graph->task_count; k++) {
            bool needs = k < i && graph->tasks[k].worker == task->worker;

            for (uint32_t w = 0; w < task->waits; w++) {
                const struct gt_task_wait *wait = &graph->waits[task->first_wait + w];
                uint32_t signals = 0;

                for (gt_task_index s = 0; s < graph->task_count; s++)
                    signals +=
                        graph->tasks[s].signals == 1 && graph->signals[graph->tasks[s].first_signal] == wait->counter;
                assert_int_equal(wait->threshold, signals);
                needs = needs || (graph->tasks[k].signals == 1 &&
                                  graph->signals[graph->tasks[k].first_signal] == wait->counter);
            }
            if (!needs)
                continue;
            assert_true(k < i); /* else it would be a deadlock, or a list against the order */
            order->before[base + k][me] = true;
            for (uint32_t j = base; j < base + k; j++)
                order->before[j][me] = order->before[j][me] || order->before[j][base + k];
        }
    }
    order->count += graph->task_count;
}

static void check_written(const struct gt_plan *plan, uint32_t workers)
{
    struct gt_form_input input = { .graph = plan->graph, .plan = plan, .policy = "own", .workers = workers };
    static struct order order;
    struct gt_form_size size;
    struct gt_workload *trace = gt_form_write(&gt_forms[0], &input, &size);
    const struct gt_operator_graph *graph = plan->graph;
    uint32_t placed[MOST_OPERATORS] = { 0 };

    memset(&order, 0, sizeof order);
    for (uint32_t i = 0; i < trace->task_graph_count; i++)
        order_program(trace, trace->task_graphs[i], &order);
    assert_int_equal(gt_workload_check(trace, NULL), 0);
    for (uint32_t i = 0; i < order.count; i++)
        placed[order.op[i]]++;
    for (gt_operator_index op = 0; op < graph->operator_count; op++)
        assert_int_equal(placed[op], gt_plan_chosen(plan, op)->tasks);
    for (uint32_t i = 0; i < order.count; i++)
        for (uint32_t b = 0; b < graph->operators[order.op[i]].predecessors; b++)
            for (uint32_t k = 0; k < order.count; k++)
                if (order.op[k] == graph->predecessors[graph->operators[order.op[i]].first_predecessor + b])
                    assert_true(order.before[k][i]);
    gt_workload_free(trace);
}

/* Lists played by the tasks' own times: what the plan's clocks said; and Graham's bound, where nobody is idle without
 * need. */
static void check_times(const struct gt_plan *plan, bool greedy)
{
    struct gt_plan_size size = gt_plan_measure(plan);
    gt_time_ps free_ps[MOST_WORKERS] = { 0 }, end_ps[MOST_OPERATORS] = { 0 }, latest_ps = 0;

    assert_int_equal(plan->program_count, 1);
    for (uint32_t i = 0; i < plan->task_count; i++) {
        const struct gt_operator *op = &plan->graph->operators[plan->tasks[i].op];
        gt_time_ps at_ps = free_ps[plan->tasks[i].worker];

        for (uint32_t b = 0; b < op->predecessors; b++) {
            gt_time_ps before_ps = end_ps[plan->graph->predecessors[op->first_predecessor + b]];

            at_ps = before_ps > at_ps ? before_ps : at_ps;
        }
        at_ps += gt_plan_chosen(plan, plan->tasks[i].op)->task_ps;
        free_ps[plan->tasks[i].worker] = at_ps;
        if (at_ps > end_ps[plan->tasks[i].op])
            end_ps[plan->tasks[i].op] = at_ps;
        latest_ps = at_ps > latest_ps ? at_ps : latest_ps;
    }
    assert_int_equal(size.end_ps, latest_ps);
    assert_true(size.end_ps >= size.critical_path_ps);
    assert_true(size.end_ps * plan->workers >= size.work_ps);
    if (greedy)
        assert_true(size.end_ps * plan->workers <= size.work_ps + (plan->workers - 1) * size.critical_path_ps);
}

static void test_random_graphs(void **state)
{
    uint64_t seed = 20260;

    (void)state;
    for (int i = 0; i < GRAPHS; i++) {
        struct gt_operator_graph *graph = random_graph(&seed);
        uint32_t workers = 1 + draw(&seed, MOST_WORKERS);

        for (size_t policy = 0; policy < gt_schedule_policy_count; policy++)
            for (enum gt_barriers barriers = 0; barriers < GT_BARRIERS; barriers++) {
                const char *name = gt_schedule_policies[policy].named.name;
                struct gt_plan *plan = plan_by(name, graph, workers, barriers);

                check_written(plan, workers);
                if (barriers == GT_BARRIERS_FINE)
                    check_times(plan, strcmp(name, "list") == 0);
                gt_plan_free(plan);
            }
        gt_operator_graph_free(graph);
    }
}

/* Plain launches hold the order too: by stream order and events, or by the edges of the graph. */
static void test_launches(void **state)
{
    struct gt_operator_graph *graph = diamond();

    (void)state;
    for (size_t form = 1; form < gt_form_count; form++) {
        struct gt_form_input input = { .graph = graph, .workers = 2, .streams = 2 };
        struct gt_form_size size;
        struct gt_workload *trace = gt_form_write(&gt_forms[form], &input, &size);

        assert_int_equal(gt_workload_check(trace, NULL), 0);
        assert_int_equal(trace->op_count, 5);
        assert_int_equal(size.tasks, 3 * 4 + 2);
        assert_int_equal(size.work_ps, (3 * 8 + 2 * 3) * US);
        gt_workload_free(trace);
    }
    gt_operator_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wavefront), cmocka_unit_test(test_round_robin),
        cmocka_unit_test(test_list),      cmocka_unit_test(test_global_barriers),
        cmocka_unit_test(test_costs),     cmocka_unit_test(test_programs),
        cmocka_unit_test(test_room),      cmocka_unit_test(test_counters_are_shared),
        cmocka_unit_test(test_mistakes),  cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_launches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
