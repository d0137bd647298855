/* Task graphs that are not safe: the check against an oracle that knows no shortcut, over graphs broken at random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/workload/task_check.h"

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % limit);
}

static uint32_t name_of(struct gt_workload *workload, const char *text)
{
    return gt_name(workload, text, strlen(text));
}

/* The oracle: who comes before whom, as a matrix of bits closed by brute force. */
struct matrix {
    uint32_t side, words;
    uint64_t *bits; /* row a, bit b: b comes before a */
};

static bool before(const struct matrix *matrix, uint32_t task, uint32_t other)
{
    return matrix->bits[(size_t)task * matrix->words + other / 64] >> other % 64 & 1;
}

static void put_before(struct matrix *matrix, uint32_t task, uint32_t other)
{
    matrix->bits[(size_t)task * matrix->words + other / 64] |= UINT64_C(1) << other % 64;
}

/* Rows take the rows of those before them until nothing changes. */
static void close_matrix(struct matrix *matrix)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t a = 0; a < matrix->side; a++) {
            for (uint32_t b = 0; b < matrix->side; b++) {
                if (!before(matrix, a, b))
                    continue;
                for (uint32_t w = 0; w < matrix->words; w++) {
                    uint64_t *into = &matrix->bits[(size_t)a * matrix->words + w], old = *into;

                    *into |= matrix->bits[(size_t)b * matrix->words + w];
                    changed |= *into != old;
                }
            }
        }
    }
}

static bool signals(const struct gt_task_graph *graph, uint32_t task, uint32_t counter)
{
    for (uint32_t i = 0; i < graph->tasks[task].signals; i++)
        if (graph->signals[graph->tasks[task].first_signal + i] == counter)
            return true;
    return false;
}

/* Waits and makers into the matrix; false: a rule of counters or of making is broken. */
static bool relate(const struct gt_task_graph *graph, struct matrix *matrix)
{
    for (uint32_t t = 0; t < graph->task_count; t++) {
        const struct gt_task *task = &graph->tasks[t];

        for (uint32_t w = task->first_wait; w < task->first_wait + task->waits; w++) {
            uint32_t counter = graph->waits[w].counter, total = 0, tasks = 0;
            uint64_t threshold = graph->waits[w].threshold, initial = graph->counters[counter].initial;

            for (uint32_t p = 0; p < graph->task_count; p++) {
                tasks += signals(graph, p, counter);
                for (uint32_t s = 0; s < graph->tasks[p].signals; s++)
                    total += graph->signals[graph->tasks[p].first_signal + s] == counter;
                if (signals(graph, p, counter))
                    put_before(matrix, t, p);
            }
            if (threshold < initial + 1 || threshold > initial + total || (tasks > 1 && threshold != initial + total))
                return false;
        }
        for (uint32_t m = task->first_made; m < task->first_made + task->made; m++) {
            for (uint32_t n = 0; n < graph->made_count; n++)
                if (n != m && graph->made[n] == graph->made[m])
                    return false;
            put_before(matrix, graph->made[m], t);
        }
    }
    return true;
}

static bool in_circle(const struct matrix *matrix)
{
    for (uint32_t t = 0; t < matrix->side; t++)
        if (before(matrix, t, t))
            return true;
    return false;
}

static bool reads_written(const struct gt_task_graph *graph, const struct matrix *matrix)
{
    for (uint32_t t = 0; t < graph->task_count; t++) {
        for (uint32_t a = 0; a < graph->tasks[t].accesses; a++) {
            const struct gt_task_access *read = &graph->accesses[graph->tasks[t].first_access + a];
            bool written = read->writes || graph->buffers[read->buffer].given;

            for (uint32_t p = 0; p < graph->task_count && !written; p++)
                for (uint32_t b = 0; before(matrix, t, p) && b < graph->tasks[p].accesses; b++) {
                    const struct gt_task_access *write = &graph->accesses[graph->tasks[p].first_access + b];

                    written |= write->writes && write->buffer == read->buffer;
                }
            if (!written)
                return false;
        }
    }
    return true;
}

static bool lists_hold(const struct gt_kernel *kernel, const char *policy, struct matrix *matrix)
{
    const struct gt_task_graph *graph = kernel->tasks;

    for (uint32_t t = 0; t < graph->task_count; t++) {
        uint32_t worker = graph->tasks[t].worker;

        if (worker == GT_NONE && strcmp(policy, "static") == 0)
            return false;
        if (worker != GT_NONE && worker >= kernel->grid[0])
            return false;
        for (uint32_t p = 0; worker != GT_NONE && p < t; p++)
            if (graph->tasks[p].worker == worker)
                put_before(matrix, t, p);
    }
    close_matrix(matrix);
    return !in_circle(matrix);
}

static bool oracle(const struct gt_kernel *kernel, const char *policy)
{
    const struct gt_task_graph *graph = kernel->tasks;
    struct matrix matrix = { .side = graph->task_count, .words = (graph->task_count + 63) / 64 };
    bool lists = strcmp(policy, "static") == 0 || strcmp(policy, "mixed") == 0, safe;

    matrix.bits = calloc((size_t)matrix.side * matrix.words, sizeof *matrix.bits);
    safe = relate(graph, &matrix);
    if (safe) {
        close_matrix(&matrix);
        safe = !in_circle(&matrix) && reads_written(graph, &matrix);
    }
    if (safe && graph->made_count > 0 && (lists || strcmp(policy, "shared") == 0))
        safe = false;
    if (safe && lists)
        safe = lists_hold(kernel, policy, &matrix);
    free(matrix.bits);
    return safe;
}

static bool accepted(const struct gt_workload *workload, const struct gt_kernel *kernel, struct gt_error *error)
{
    return gt_task_graph_check(workload, kernel->tasks, error) == 0 &&
           gt_task_policy_check(workload, kernel, error) == 0;
}

static void add_task(struct gt_task_graph *graph, uint32_t counter, uint32_t output, uint32_t workers)
{
    gt_task_index task = gt_task_graph_add_task(graph, 0);

    graph->tasks[task].worker = workers == 0 ? GT_NONE : task % workers;
    gt_task_graph_add_signal(graph, counter);
    gt_task_graph_add_access(graph, output, true);
}

/* Waits for `producers` that signal a counter, and reads what they write. */
static void add_input(struct gt_task_graph *graph, uint32_t counter, uint32_t producers, uint32_t input)
{
    gt_task_graph_add_wait(graph, counter, producers);
    gt_task_graph_add_access(graph, input, false);
}

/* A decode step: layers of a norm, `tiles` tiles of a product and a residual sum, which reads what the norm has read,
 * too; counters and buffers in a row: one each a norm, a product, a sum. */
static struct gt_task_graph *decode_step(struct gt_workload *workload, uint32_t layers, uint32_t tiles,
                                         uint32_t workers)
{
    struct gt_task_graph *graph = gt_task_graph_new(name_of(workload, "g"));
    struct gt_task_buffer weights = { .name = GT_NONE, .given = true }, made = { .name = GT_NONE };
    uint32_t last = 0;

    gt_task_graph_add_kind(graph, name_of(workload, "k"));
    gt_task_graph_add_buffer(graph, &weights);
    for (uint32_t i = 0; i < 3 * layers + 1; i++) {
        gt_task_graph_add_buffer(graph, &made);
        gt_task_graph_add_counter(graph, GT_NONE, 0);
    }
    add_task(graph, 0, 1, workers);
    for (uint32_t layer = 0; layer < layers; layer++, last += 3) {
        add_task(graph, last + 1, last + 2, workers);
        add_input(graph, last, 1, last + 1);
        for (uint32_t i = 0; i < tiles; i++) {
            add_task(graph, last + 2, last + 3, workers);
            add_input(graph, last + 1, 1, last + 2);
            gt_task_graph_add_access(graph, 0, false);
        }
        add_task(graph, last + 3, last + 4, workers);
        add_input(graph, last + 2, tiles, last + 3);
        gt_task_graph_add_access(graph, last + 1, false); /* written three steps before */
    }
    return graph;
}

/* Tasks that wait for some before them; some are made by one of those. */
static struct gt_task_graph *random_graph(struct gt_workload *workload, uint32_t tasks, uint32_t workers, bool making)
{
    struct gt_task_graph *graph = gt_task_graph_new(name_of(workload, "g"));
    uint32_t *maker = calloc(tasks, sizeof *maker);

    gt_task_graph_add_kind(graph, name_of(workload, "k"));
    for (uint32_t t = 0; t < tasks; t++) {
        struct gt_task_buffer buffer = { .name = GT_NONE };

        gt_task_graph_add_counter(graph, GT_NONE, below(8) == 0 ? below(3) : 0);
        gt_task_graph_add_buffer(graph, &buffer);
        maker[t] = making && t > 0 && below(3) == 0 ? below(t) : GT_NONE;
    }
    for (uint32_t t = 0; t < tasks; t++) {
        add_task(graph, t, t, workers);
        for (uint32_t i = below(4); t > 0 && i > 0; i--) {
            uint32_t other = below(t);

            gt_task_graph_add_wait(graph, other, graph->counters[other].initial + 1);
            if (below(2) == 0)
                gt_task_graph_add_access(graph, other, false);
        }
        for (uint32_t m = t + 1; m < tasks; m++)
            if (maker[m] == t)
                gt_task_graph_add_made(graph, m);
    }
    free(maker);
    return graph;
}

static void swap_tasks(struct gt_task *a, struct gt_task *b)
{
    struct gt_task kept = *a;

    *a = *b;
    *b = kept;
}

/* One thing changed. */
static void mutate(struct gt_task_graph *graph, uint32_t workers)
{
    struct gt_task *task = &graph->tasks[below(graph->task_count)];
    struct gt_task_wait *wait = graph->wait_count > 0 ? &graph->waits[below(graph->wait_count)] : NULL;

    switch (below(13)) {
    case 0: wait->threshold += below(2) == 0 ? 1 : (uint32_t)-1; break;
    case 1: wait->threshold = below(4); break;
    case 2: wait->counter = below(graph->counter_count); break;
    case 3: task->waits -= task->waits > 0; break;
    case 4: graph->signals[below(graph->signal_count)] = below(graph->counter_count); break;
    case 5: task->signals -= task->signals > 0; break;
    case 6: task->worker = workers == 0 ? GT_NONE : below(workers + 1); break;
    case 7: swap_tasks(task, &graph->tasks[below(graph->task_count)]); break;
    case 8: graph->accesses[below(graph->access_count)].buffer = below(graph->buffer_count); break;
    case 9: graph->accesses[below(graph->access_count)].writes ^= true; break;
    case 10: graph->buffers[below(graph->buffer_count)].given ^= true; break;
    case 11: graph->counters[below(graph->counter_count)].initial = below(3); break;
    default:
        if (graph->made_count > 0)
            graph->made[below(graph->made_count)] = below(graph->task_count);
        else
            task->accesses -= task->accesses > 0;
    }
}

struct family {
    const char *name;
    uint32_t mutants, layers, tiles, workers; /* of decode steps; layers 0: a random graph of `tiles` tasks */
    const char *policy;
    bool making;
};

static struct gt_task_graph *make(struct gt_workload *workload, const struct family *family)
{
    return family->layers > 0 ? decode_step(workload, family->layers, family->tiles, family->workers)
                              : random_graph(workload, family->tiles, family->workers, family->making);
}

static void test_family(const struct family *family)
{
    uint32_t refused = 0;

    for (uint32_t i = 0; i < family->mutants; i++) {
        struct gt_workload *workload = gt_workload_new();
        struct gt_task_graph *graph;
        struct gt_kernel kernel = { .grid = { family->workers > 0 ? family->workers : 4, 1, 1 },
                                    .block = { 32, 1, 1 } };
        struct gt_error error = { "" };
        bool safe;

        random_state = i * UINT64_C(0x9e3779b97f4a7c15) + family->tiles;
        graph = make(workload, family);
        kernel.name = name_of(workload, "k");
        kernel.tasks = graph;
        kernel.task_policy = name_of(workload, family->policy);
        if (i == 0 && !accepted(workload, &kernel, &error))
            fail_msg("%s: refused as it is: %s", family->name, error.text);
        for (uint32_t m = i == 0 ? 0 : 1 + below(3); m > 0; m--)
            mutate(graph, family->workers);
        safe = oracle(&kernel, family->policy);
        if (accepted(workload, &kernel, &error) != safe)
            fail_msg("%s, mutant %u: %s (%s)", family->name, i, safe ? "safe, refused" : "not safe, accepted",
                     safe ? error.text : "");
        if (!safe && strstr(error.text, "task ") == NULL)
            fail_msg("%s, mutant %u: names no task: %s", family->name, i, error.text);
        refused += !safe;
        gt_task_graph_free(graph);
        gt_workload_free(workload);
    }
    print_message("%s: %u of %u refused\n", family->name, refused, family->mutants);
    assert_in_range(refused, family->mutants / 5, family->mutants * 19 / 20);
}

static void test_mutants(void **state)
{
    static const struct family families[] = {
        { "toy", 2500, 2, 9, 0, "shared", false },
        { "toy, lists", 2500, 2, 9, 7, "static", false },
        { "random", 2000, 0, 30, 0, "ready", false },
        { "random, lists", 1500, 0, 30, 3, "static", false },
        { "random, making", 1500, 0, 40, 0, "steal", true },
        { "decode step of 1,000", 100, 16, 60, 0, "shared", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        test_family(&families[i]);
}

/* More buffers whose writers are far from their readers than one pass has bits for: all are found, and the one that
 * nobody writes, too. */
static void test_far_buffers(void **state)
{
    enum { BUFFERS = 700 };

    (void)state;
    for (uint32_t missing = 0; missing <= BUFFERS; missing += 350) {
        struct gt_workload *workload = gt_workload_new();
        struct gt_task_graph *graph = gt_task_graph_new(name_of(workload, "g"));
        struct gt_task_buffer buffer = { .name = GT_NONE };
        struct gt_error error;

        gt_task_graph_add_kind(graph, name_of(workload, "k"));
        for (uint32_t i = 0; i < BUFFERS; i++) {
            gt_task_graph_add_task(graph, 0);
            gt_task_graph_add_buffer(graph, &buffer);
            gt_task_graph_add_counter(graph, GT_NONE, 0);
            gt_task_graph_add_signal(graph, i);
            if (i > 0)
                gt_task_graph_add_wait(graph, i - 1, 1);
            if (i != missing)
                gt_task_graph_add_access(graph, i, true);
        }
        gt_task_graph_add_task(graph, 0);
        gt_task_graph_add_wait(graph, BUFFERS - 1, 1);
        for (uint32_t i = 0; i < BUFFERS; i++)
            gt_task_graph_add_access(graph, i, false);
        assert_int_equal(gt_task_graph_check(workload, graph, &error), missing < BUFFERS ? -1 : 0);
        if (missing < BUFFERS)
            assert_non_null(strstr(error.text, missing == 0 ? "task 700: it reads buffer 0," : "buffer 350,"));
        gt_task_graph_free(graph);
        gt_workload_free(workload);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutants),
        cmocka_unit_test(test_far_buffers),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
