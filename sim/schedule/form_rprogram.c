/* A plan as persistent kernels: each program is a task graph whose tasks are in their workers' lists. */
#include <stdlib.h>
#include <string.h>

#include "sim/schedule/barriers.h"
#include "sim/schedule/form.h"
#include "sim/workload/task_graph.h"

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
    struct gt_program_barriers *barriers = gt_program_barriers_new(writing->plan, program);

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
    gt_program_barriers_free(barriers);
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
