/* A plan as persistent kernels: each program is a task graph whose tasks are in their workers' lists. */
#include <stdlib.h>
#include <string.h>

#include "sim/schedule/form.h"
#include "sim/schedule/plan.h"
#include "sim/workload/task_graph.h"

/* What each task of a program waits for and counts up, so that a plan's order holds among its workers.
 *
 * Rammer's barrier task waits until other workers have done so many steps of their lists; here a task waits for counters,
 * each of which tells one thing:
 *   fine    that all tasks of an operator have ended; operators that have the same successors share a counter
 *   global  that all workers with a task in a breadth-first wave have ended their last one of it
 * A worker that has waited for a counter does not wait for it again, nor for what it has done itself: its list is done in
 * order.  Operators of earlier programs have ended before this one begins.
 */

struct gt_program_barriers {
    uint32_t first_task, tasks; /* those of the program, in plan->tasks; numbers below count from the first */
    uint32_t counters;          /* each starts at 0, and is waited for by somebody */
    uint32_t *thresholds;       /* of each: how many tasks signal it */
    uint32_t *signals;          /* of each task: the counter that it counts up; GT_NONE: none */
    uint32_t *waits;            /* counters that ... */
    uint32_t *first_wait;       /* ... task i waits for: from first_wait[i] up to first_wait[i + 1] */
};

enum { SEVERAL = UINT32_MAX - 1 }; /* workers */

struct making {
    const struct gt_plan *plan;
    struct gt_program_barriers *made;
    const struct gt_placed_task *tasks;
    uint32_t *by_worker;  /* the program's tasks, those of worker 0 first, each worker's in order */
    uint32_t *counter_of; /* fine: of each operator with tasks in the program; global: of each level; GT_NONE */
    uint32_t *signaller;  /* of each counter: the worker whose tasks signal it, or SEVERAL */
    uint32_t *waited;     /* of each counter: the last worker that waited for it */
    bool *used;           /* of each counter */
    uint32_t *wait_count; /* of each task */
};

static uint32_t *nones(uint32_t count)
{
    uint32_t *all = gt_calloc(count + 1ull, sizeof *all);

    memset(all, 0xff, (count + 1ull) * sizeof *all); /* GT_NONE */
    return all;
}

static uint32_t level_of(const struct making *making, uint32_t task)
{
    return making->plan->graph->operators[making->tasks[task].op].level;
}

static void sort_by_worker(struct making *making)
{
    uint32_t *next = gt_calloc(making->plan->workers + 1ull, sizeof *next);

    making->by_worker = gt_calloc(making->made->tasks, sizeof *making->by_worker);
    for (uint32_t i = 0; i < making->made->tasks; i++)
        next[making->tasks[i].worker + 1]++;
    for (uint32_t worker = 0; worker < making->plan->workers; worker++)
        next[worker + 1] += next[worker];
    for (uint32_t i = 0; i < making->made->tasks; i++)
        making->by_worker[next[making->tasks[i].worker]++] = i;
    free(next);
}

static bool same_successors(const struct gt_operator_graph *graph, gt_operator_index a, gt_operator_index b)
{
    const struct gt_operator *left = &graph->operators[a], *right = &graph->operators[b];

    return left->successors == right->successors &&
           memcmp(graph->successors + left->first_successor, graph->successors + right->first_successor,
                  left->successors * sizeof *graph->successors) == 0;
}

/* The counter of an operator with the same successors: both are predecessors of the first of these. */
static uint32_t shared_counter(const struct making *making, gt_operator_index op)
{
    const struct gt_operator_graph *graph = making->plan->graph;
    const struct gt_operator *successor = &graph->operators[graph->successors[graph->operators[op].first_successor]];

    for (uint32_t i = 0; i < successor->predecessors; i++) {
        gt_operator_index other = graph->predecessors[successor->first_predecessor + i];

        if (making->counter_of[other] != GT_NONE && same_successors(graph, op, other))
            return making->counter_of[other];
    }
    return GT_NONE;
}

/* Every task of an operator that has successors counts. */
static void signal_by_operator(struct making *making)
{
    making->counter_of = nones(making->plan->graph->operator_count);
    for (uint32_t i = 0; i < making->made->tasks; i++) {
        gt_operator_index op = making->tasks[i].op;
        uint32_t *counter = &making->counter_of[op];

        if (making->plan->graph->operators[op].successors == 0)
            continue;
        if (*counter == GT_NONE)
            *counter = shared_counter(making, op);
        if (*counter == GT_NONE)
            *counter = making->made->counters++;
        making->made->signals[i] = *counter;
    }
}

/* Each worker's last task of a wave counts. */
static void signal_by_level(struct making *making)
{
    making->counter_of = nones(making->plan->graph->levels);
    for (uint32_t i = 0; i < making->made->tasks; i++) {
        uint32_t task = making->by_worker[i], next = i + 1 < making->made->tasks ? making->by_worker[i + 1] : GT_NONE;
        uint32_t *counter = &making->counter_of[level_of(making, task)];

        if (*counter == GT_NONE)
            *counter = making->made->counters++;
        if (next == GT_NONE || making->tasks[next].worker != making->tasks[task].worker ||
            level_of(making, next) != level_of(making, task))
            making->made->signals[task] = *counter;
    }
}

/* How many signal each counter, and whether these are all of one worker. */
static void count_signals(struct making *making)
{
    struct gt_program_barriers *made = making->made;

    making->signaller = nones(made->counters);
    made->thresholds = gt_calloc(made->counters + 1ull, sizeof *made->thresholds);
    for (uint32_t i = 0; i < made->tasks; i++) {
        uint32_t counter = made->signals[i], worker = making->tasks[i].worker;

        if (counter == GT_NONE)
            continue;
        made->thresholds[counter]++;
        if (making->signaller[counter] == GT_NONE)
            making->signaller[counter] = worker;
        else if (making->signaller[counter] != worker)
            making->signaller[counter] = SEVERAL;
    }
}

/* The task's worker must know that `counter` is there: it waits unless it knows anyway.  `made->waits` NULL: only count. */
static void need(struct making *making, uint32_t task, uint32_t counter)
{
    struct gt_program_barriers *made = making->made;
    uint32_t worker = making->tasks[task].worker;

    if (counter == GT_NONE || making->signaller[counter] == worker || making->waited[counter] == worker)
        return;
    making->waited[counter] = worker;
    making->used[counter] = true;
    if (made->waits != NULL)
        made->waits[made->first_wait[task] + making->wait_count[task]] = counter;
    making->wait_count[task]++;
}

static void need_all(struct making *making)
{
    const struct gt_operator_graph *graph = making->plan->graph;

    memset(making->waited, 0xff, (making->made->counters + 1ull) * sizeof *making->waited);
    memset(making->wait_count, 0, making->made->tasks * sizeof *making->wait_count);
    for (uint32_t i = 0; i < making->made->tasks; i++) {
        uint32_t task = making->by_worker[i], level = level_of(making, task);
        const struct gt_operator *op = &graph->operators[making->tasks[task].op];

        if (making->plan->barriers == GT_BARRIERS_GLOBAL && level > 0)
            need(making, task, making->counter_of[level - 1]);
        for (uint32_t k = 0; making->plan->barriers == GT_BARRIERS_FINE && k < op->predecessors; k++)
            need(making, task, making->counter_of[graph->predecessors[op->first_predecessor + k]]);
    }
}

static void find_waits(struct making *making)
{
    struct gt_program_barriers *made = making->made;

    making->waited = nones(made->counters);
    making->used = gt_calloc(made->counters + 1ull, sizeof *making->used);
    making->wait_count = gt_calloc(made->tasks, sizeof *making->wait_count);
    need_all(making);
    made->first_wait = gt_calloc(made->tasks + 1ull, sizeof *made->first_wait);
    for (uint32_t i = 0; i < made->tasks; i++)
        made->first_wait[i + 1] = made->first_wait[i] + making->wait_count[i];
    made->waits = gt_calloc(made->first_wait[made->tasks] + 1ull, sizeof *made->waits);
    need_all(making);
}

/* Counters that nobody waits for go. */
static void keep_used(struct making *making)
{
    struct gt_program_barriers *made = making->made;
    uint32_t *number = nones(made->counters), kept = 0;

    for (uint32_t i = 0; i < made->counters; i++)
        if (making->used[i]) {
            made->thresholds[kept] = made->thresholds[i];
            number[i] = kept++;
        }
    for (uint32_t i = 0; i < made->tasks; i++)
        if (made->signals[i] != GT_NONE)
            made->signals[i] = number[made->signals[i]];
    for (uint32_t i = 0; i < made->first_wait[made->tasks]; i++)
        made->waits[i] = number[made->waits[i]];
    made->counters = kept;
    free(number);
}

static struct gt_program_barriers *program_barriers_new(const struct gt_plan *plan, uint32_t program)
{
    struct gt_program_barriers *made = gt_calloc(1, sizeof *made);
    struct making making = { .plan = plan, .made = made, .tasks = plan->tasks + plan->programs[program].first_task };
    uint32_t end = program + 1 < plan->program_count ? plan->programs[program + 1].first_task : plan->task_count;

    made->first_task = plan->programs[program].first_task;
    made->tasks = end - made->first_task;
    made->signals = nones(made->tasks);
    sort_by_worker(&making);
    if (plan->barriers == GT_BARRIERS_GLOBAL)
        signal_by_level(&making);
    else
        signal_by_operator(&making);
    count_signals(&making);
    find_waits(&making);
    keep_used(&making);
    free(making.by_worker);
    free(making.counter_of);
    free(making.signaller);
    free(making.waited);
    free(making.used);
    free(making.wait_count);
    return made;
}

static void program_barriers_free(struct gt_program_barriers *barriers)
{
    free(barriers->thresholds);
    free(barriers->signals);
    free(barriers->waits);
    free(barriers->first_wait);
    free(barriers);
}

struct writing {
    const struct gt_plan *plan;
    struct gt_workload *to;
    struct gt_form_size *size;
    gt_task_kind_index *kinds; /* of each implementation of each kind; GT_NONE: not in this program */
    uint32_t *first_kind;      /* in kinds, of each operator kind */
};

static gt_task_kind_index task_kind(struct writing *writing, struct gt_task_graph *graph, gt_operator_index op)
{
    const struct gt_operator_graph *from = writing->plan->graph;
    uint32_t number = from->operators[op].kind;
    const struct gt_implementation *chosen = gt_plan_chosen(writing->plan, op);
    gt_task_kind_index *place = &writing->kinds[writing->first_kind[number] + writing->plan->chosen[op]];
    struct gt_task_kind *kind;

    if (*place != GT_NONE)
        return *place;
    *place = gt_task_graph_add_kind(graph, gt_form_name(writing->to, &from->kinds[number], chosen));
    kind = &graph->kinds[*place];
    kind->cost = GT_TASK_COST_FIXED;
    kind->min_ps = kind->max_ps = chosen->task_ps;
    if (chosen->list_length > 0) {
        kind->cost = GT_TASK_COST_LIST;
        kind->list_length = chosen->list_length;
        kind->list_ps = gt_realloc(NULL, chosen->list_length, sizeof *kind->list_ps);
        memcpy(kind->list_ps, chosen->list_ps, chosen->list_length * sizeof *kind->list_ps);
    }
    kind->bytes = chosen->bytes;
    kind->operations = chosen->operations;
    kind->registers_per_thread = chosen->registers_per_thread;
    kind->static_shared_bytes = chosen->shared_bytes;
    if (chosen->runs != NULL)
        kind->runs = gt_name(writing->to, chosen->runs, strlen(chosen->runs));
    if (chosen->arguments != NULL)
        kind->arguments = gt_name(writing->to, chosen->arguments, strlen(chosen->arguments));
    return *place;
}

/* All buffers of the network, so that each has its place in every program.  A plan's lists keep the order of readers behind
 * writers where a task waits for nothing any more, which the check of graphs does not see: it is told that they are given. */
static void write_buffers(struct writing *writing, struct gt_task_graph *graph)
{
    const struct gt_operator_graph *from = writing->plan->graph;

    for (uint32_t i = 0; i < from->buffer_count; i++) {
        const struct gt_task_buffer buffer = {
            gt_name(writing->to, from->buffers[i].name, strlen(from->buffers[i].name)), from->buffers[i].bytes, true
        };

        gt_task_graph_add_buffer(graph, &buffer);
    }
}

static void write_accesses(const struct writing *writing, struct gt_task_graph *graph, gt_operator_index op)
{
    const struct gt_operator *this = &writing->plan->graph->operators[op];

    for (uint32_t i = 0; i < this->accesses; i++) {
        const struct gt_operator_access *access = &writing->plan->graph->accesses[this->first_access + i];

        gt_task_graph_add_access(graph, access->buffer, access->writes);
    }
}

static void write_task(struct writing *writing, struct gt_task_graph *graph,
                       const struct gt_program_barriers *barriers, uint32_t number)
{
    const struct gt_placed_task *placed = &writing->plan->tasks[barriers->first_task + number];
    const struct gt_implementation *chosen = gt_plan_chosen(writing->plan, placed->op);
    const char *name = writing->plan->graph->operators[placed->op].name;
    gt_task_index task = gt_task_graph_add_task(graph, task_kind(writing, graph, placed->op));

    graph->tasks[task].name = gt_name(writing->to, name, strlen(name));
    graph->tasks[task].worker = placed->worker;
    for (uint32_t i = barriers->first_wait[number]; i < barriers->first_wait[number + 1]; i++)
        gt_task_graph_add_wait(graph, barriers->waits[i], barriers->thresholds[barriers->waits[i]]);
    if (barriers->signals[number] != GT_NONE)
        gt_task_graph_add_signal(graph, barriers->signals[number]);
    write_accesses(writing, graph, placed->op);
    writing->size->work_ps += chosen->task_ps;
}

static void add_kernel(struct writing *writing, const struct gt_planned_program *program,
                       const struct gt_task_graph *graph, gt_stream_index stream)
{
    struct gt_kernel kernel = {
        .name = graph->name,
        .grid = { program->workers, 1, 1 },
        .block = { writing->plan->graph->block_threads, 1, 1 },
        .cluster = { 1, 1, 1 },
        .registers_per_thread = program->registers_per_thread,
        .static_shared_bytes = program->shared_bytes,
        .duration_ps = GT_TIME_NONE,
        .runs = GT_NONE,
        .arguments = GT_NONE,
        .tasks = graph,
        .task_policy = gt_name(writing->to, "static", strlen("static")),
    };

    gt_form_launch(writing->to, gt_workload_kernel(writing->to, &kernel), stream);
}

static void write_program(struct writing *writing, uint32_t program, uint32_t kinds, gt_stream_index stream)
{
    const char *name = writing->plan->graph->name != NULL ? writing->plan->graph->name : "network";
    char *text = writing->plan->program_count == 1 ? gt_strdup(name) : gt_format("%s.%u", name, program);
    struct gt_task_graph *graph = gt_task_graph_new(gt_name(writing->to, text, strlen(text)));
    struct gt_program_barriers *barriers = program_barriers_new(writing->plan, program);

    free(text);
    memset(writing->kinds, 0xff, kinds * sizeof *writing->kinds); /* GT_NONE */
    write_buffers(writing, graph);
    for (uint32_t i = 0; i < barriers->counters; i++)
        gt_task_graph_add_counter(graph, GT_NONE, 0);
    for (uint32_t i = 0; i < barriers->tasks; i++)
        write_task(writing, graph, barriers, i);
    writing->size->tasks += barriers->tasks;
    writing->size->counters += barriers->counters;
    writing->size->waits += barriers->first_wait[barriers->tasks];
    writing->size->launches++;
    program_barriers_free(barriers);
    gt_workload_add_task_graph(writing->to, graph);
    add_kernel(writing, &writing->plan->programs[program], graph, stream);
}

void gt_form_rprogram(const struct gt_form_input *input, struct gt_workload *to, struct gt_form_size *size)
{
    struct writing writing = { .plan = input->plan, .to = to, .size = size };
    gt_stream_index stream = gt_form_stream_new(to);
    uint32_t kinds = 0;

    writing.first_kind = gt_calloc(input->graph->kind_count, sizeof *writing.first_kind);
    for (uint32_t i = 0; i < input->graph->kind_count; i++) {
        writing.first_kind[i] = kinds;
        kinds += input->graph->kinds[i].count;
    }
    writing.kinds = gt_calloc(kinds, sizeof *writing.kinds);
    for (uint32_t program = 0; program < input->plan->program_count; program++)
        write_program(&writing, program, kinds, stream);
    free(writing.kinds);
    free(writing.first_kind);
}
