#include "sim/schedule/operator_graph.h"

#include <stdlib.h>

#include "sim/base/array.h"

struct gt_operator_graph *gt_operator_graph_new(void)
{
    struct gt_operator_graph *graph = gt_calloc(1, sizeof *graph);

    graph->workers_per_sm = 1;
    graph->block_threads = 256;
    return graph;
}

static void free_kind(struct gt_operator_kind *kind)
{
    for (uint32_t i = 0; i < kind->count; i++) {
        free(kind->implementations[i].name);
        free(kind->implementations[i].runs);
        free(kind->implementations[i].list_ps);
        free(kind->implementations[i].arguments);
    }
    free(kind->implementations);
    free(kind->name);
}

void gt_operator_graph_free(struct gt_operator_graph *graph)
{
    if (graph == NULL)
        return;
    for (uint32_t i = 0; i < graph->kind_count; i++)
        free_kind(&graph->kinds[i]);
    for (uint32_t i = 0; i < graph->operator_count; i++)
        free(graph->operators[i].name);
    free(graph->kinds);
    for (uint32_t i = 0; i < graph->buffer_count; i++)
        free(graph->buffers[i].name);
    free(graph->buffers);
    free(graph->accesses);
    free(graph->operators);
    free(graph->predecessors);
    free(graph->successors);
    free(graph->by_level);
    free(graph->first_of_level);
    free(graph->name);
    free(graph->device);
    free(graph->note);
    free(graph);
}

uint32_t gt_operator_graph_add_kind(struct gt_operator_graph *graph, const char *name)
{
    gt_array_grow(graph->kinds, graph->kind_count, graph->kind_room);
    graph->kinds[graph->kind_count] = (struct gt_operator_kind){ .name = gt_strdup(name) };
    return graph->kind_count++;
}

struct gt_implementation *gt_operator_graph_add_implementation(struct gt_operator_graph *graph, uint32_t kind)
{
    struct gt_operator_kind *of = &graph->kinds[kind];

    gt_array_grow(of->implementations, of->count, of->room);
    of->implementations[of->count] = (struct gt_implementation){ .tasks = 1 };
    return &of->implementations[of->count++];
}

gt_operator_index gt_operator_graph_add_operator(struct gt_operator_graph *graph, const char *name, uint32_t kind)
{
    gt_array_grow(graph->operators, graph->operator_count, graph->operator_room);
    graph->operators[graph->operator_count] = (struct gt_operator){ .name = gt_strdup(name), .kind = kind };
    return graph->operator_count++;
}

void gt_operator_graph_add_predecessor(struct gt_operator_graph *graph, gt_operator_index op,
                                       gt_operator_index before)
{
    if (graph->operators[op].predecessors++ == 0)
        graph->operators[op].first_predecessor = graph->predecessor_count;
    gt_array_grow(graph->predecessors, graph->predecessor_count, graph->predecessor_room);
    graph->predecessors[graph->predecessor_count++] = before;
}

uint32_t gt_operator_graph_add_buffer(struct gt_operator_graph *graph, const char *name, uint64_t bytes)
{
    gt_array_grow(graph->buffers, graph->buffer_count, graph->buffer_room);
    graph->buffers[graph->buffer_count] = (struct gt_operator_buffer){ gt_strdup(name), bytes };
    return graph->buffer_count++;
}

void gt_operator_graph_add_access(struct gt_operator_graph *graph, gt_operator_index op, uint32_t buffer, bool writes)
{
    if (graph->operators[op].accesses++ == 0)
        graph->operators[op].first_access = graph->access_count;
    gt_array_grow(graph->accesses, graph->access_count, graph->access_room);
    graph->accesses[graph->access_count++] = (struct gt_operator_access){ buffer, writes };
}

uint64_t *gt_operator_graph_places(const struct gt_operator_graph *graph)
{
    enum { FLOATS_APART = 64 };
    uint64_t *places = gt_calloc(graph->buffer_count + 1ull, sizeof *places), at = 0;

    for (uint32_t i = 0; i < graph->buffer_count; i++) {
        places[i] = at;
        at += (graph->buffers[i].bytes / sizeof(float) + FLOATS_APART - 1) / FLOATS_APART * FLOATS_APART;
    }
    return places;
}

static void find_successors(struct gt_operator_graph *graph)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < graph->predecessor_count; i++)
        graph->operators[graph->predecessors[i]].successors++;
    for (gt_operator_index i = 0; i < graph->operator_count; i++) {
        graph->operators[i].first_successor = next;
        next += graph->operators[i].successors;
        graph->operators[i].successors = 0;
    }
    graph->successors = gt_calloc(next + 1ull, sizeof *graph->successors);
    for (gt_operator_index i = 0; i < graph->operator_count; i++)
        for (uint32_t k = 0; k < graph->operators[i].predecessors; k++) {
            struct gt_operator *before =
                &graph->operators[graph->predecessors[graph->operators[i].first_predecessor + k]];

            graph->successors[before->first_successor + before->successors++] = i;
        }
}

/* Kahn's algorithm: an operator's level is known once its predecessors' are.  `missing`, all 0, becomes how many
 * predecessors of each were not reached.  Returns how many operators were. */
static uint32_t find_levels(struct gt_operator_graph *graph, uint32_t *missing)
{
    gt_operator_index *queue = gt_calloc(graph->operator_count, sizeof *queue);
    uint32_t queued = 0;

    for (gt_operator_index i = 0; i < graph->operator_count; i++) {
        missing[i] = graph->operators[i].predecessors;
        if (missing[i] == 0)
            queue[queued++] = i;
    }
    for (uint32_t next = 0; next < queued; next++) {
        const struct gt_operator *done = &graph->operators[queue[next]];

        graph->levels = done->level + 1;
        for (uint32_t k = 0; k < done->successors; k++) {
            gt_operator_index after = graph->successors[done->first_successor + k];

            graph->operators[after].level = done->level + 1; /* levels come up rising: the last one is the largest */
            if (--missing[after] == 0)
                queue[queued++] = after;
        }
    }
    free(queue);
    return queued;
}

/* A counting sort, so that a level's operators keep the order of the graph. */
static void sort_by_level(struct gt_operator_graph *graph)
{
    uint32_t *next;

    graph->by_level = gt_calloc(graph->operator_count, sizeof *graph->by_level);
    graph->first_of_level = gt_calloc(graph->levels + 1ull, sizeof *graph->first_of_level);
    for (gt_operator_index i = 0; i < graph->operator_count; i++)
        graph->first_of_level[graph->operators[i].level + 1]++;
    for (uint32_t level = 0; level < graph->levels; level++)
        graph->first_of_level[level + 1] += graph->first_of_level[level];
    next = gt_calloc(graph->levels, sizeof *next);
    for (uint32_t level = 0; level < graph->levels; level++)
        next[level] = graph->first_of_level[level];
    for (gt_operator_index i = 0; i < graph->operator_count; i++)
        graph->by_level[next[graph->operators[i].level]++] = i;
    free(next);
}

/* Each operator that was not reached has a predecessor that was not: going back from one comes to a ring. */
static int tell_ring(const struct gt_operator_graph *graph, const uint32_t *missing, struct gt_error *error)
{
    bool *seen = gt_calloc(graph->operator_count, sizeof *seen);
    gt_operator_index at = 0;

    while (missing[at] == 0)
        at++;
    while (!seen[at]) {
        const gt_operator_index *before = &graph->predecessors[graph->operators[at].first_predecessor];

        seen[at] = true;
        while (missing[*before] == 0)
            before++;
        at = *before;
    }
    free(seen);
    return gt_error_set(error, "line %u: operator '%.200s' comes after itself, by way of its \"after\"",
                        graph->operators[at].line, graph->operators[at].name);
}

/* All of it in a row on one worker must be a time. */
static int check_times(const struct gt_operator_graph *graph, struct gt_error *error)
{
    gt_time_ps left_ps = GT_TIME_LIMIT_PS;

    for (gt_operator_index i = 0; i < graph->operator_count; i++) {
        const struct gt_operator_kind *kind = &graph->kinds[graph->operators[i].kind];
        gt_time_ps most_ps = 0;

        for (uint32_t k = 0; k < kind->count; k++) {
            const struct gt_implementation *one = &kind->implementations[k];

            if (one->task_ps > left_ps / one->tasks)
                return gt_error_set(error,
                                    "line %u: up to operator '%.200s' all tasks in a row take more than 53 days",
                                    graph->operators[i].line, graph->operators[i].name);
            most_ps = one->task_ps * one->tasks > most_ps ? one->task_ps * one->tasks : most_ps;
        }
        left_ps -= most_ps;
    }
    return 0;
}

int gt_operator_graph_finish(struct gt_operator_graph *graph, struct gt_error *error)
{
    uint32_t *missing;
    int status = 0;

    if (graph->operator_count == 0)
        return gt_error_set(error, "there are no operators in it; a line {\"operator\":...} is one");
    if (check_times(graph, error) != 0)
        return -1;
    missing = gt_calloc(graph->operator_count, sizeof *missing);
    find_successors(graph);
    if (find_levels(graph, missing) == graph->operator_count)
        sort_by_level(graph);
    else
        status = tell_ring(graph, missing, error);
    free(missing);
    return status;
}

gt_time_ps gt_implementation_ps(const struct gt_implementation *implementation, uint32_t workers)
{
    return implementation->task_ps * ((implementation->tasks + (uint64_t)workers - 1) / workers);
}

uint32_t gt_fastest_implementation(const struct gt_operator_kind *kind, uint32_t workers)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < kind->count; i++)
        if (gt_implementation_ps(&kind->implementations[i], workers) <
            gt_implementation_ps(&kind->implementations[best], workers))
            best = i;
    return best;
}

uint32_t gt_thriftiest_implementation(const struct gt_operator_kind *kind)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < kind->count; i++)
        if (gt_implementation_ps(&kind->implementations[i], 1) <
            gt_implementation_ps(&kind->implementations[best], 1))
            best = i;
    return best;
}
