/* "after" and "makes": what tasks say of others that may be defined below them, once the graph is whole. */
#include "traces/jsonl/task_lines.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

enum { MOST_OF_A_TASK = UINT16_MAX };

/* The tasks that a link's name or number means. */
struct group {
    gt_task_index first; /* the others by linker.next */
    uint32_t tasks;
    uint32_t counter; /* that each signals once it has ended; GT_NONE: none yet */
};

/* Elements to be put behind those that tasks have already. */
struct additions {
    gt_task_index *tasks;
    struct gt_task_wait *elements; /* of signals and made tasks: only `counter` is used */
    uint32_t count, room, element_room;
};

struct linker {
    struct gt_jsonl *jsonl;
    struct gt_jsonl_graph *graph;
    struct group *by_name; /* by number of name */
    gt_task_index *next;   /* the next task of the same name */
    uint32_t *counters;    /* of groups that are one task by its number; GT_NONE: none yet */
    struct additions waits, signals, made;
};

static void find_groups(struct linker *linker)
{
    const struct gt_task_graph *graph = linker->graph->graph;
    uint32_t names = gt_name_count(linker->jsonl->workload);

    linker->by_name = gt_calloc(names + 1ull, sizeof *linker->by_name);
    linker->next = gt_calloc(graph->task_count + 1ull, sizeof *linker->next);
    linker->counters = gt_calloc(graph->task_count + 1ull, sizeof *linker->counters);
    for (uint32_t i = 0; i < names; i++)
        linker->by_name[i] = (struct group){ GT_NONE, 0, GT_NONE };
    for (uint32_t i = graph->task_count; i-- > 0;) {
        uint32_t name = graph->tasks[i].name;

        linker->counters[i] = linker->next[i] = GT_NONE;
        if (name == GT_NONE)
            continue;
        linker->next[i] = linker->by_name[name].first;
        linker->by_name[name].first = i;
        linker->by_name[name].tasks++;
    }
}

static void free_linker(struct linker *linker)
{
    struct additions *all[] = { &linker->waits, &linker->signals, &linker->made };

    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]->tasks);
        free(all[i]->elements);
    }
    free(linker->by_name);
    free(linker->next);
    free(linker->counters);
}

static void add(struct additions *additions, gt_task_index task, uint32_t counter, uint32_t threshold)
{
    gt_array_grow(additions->elements, additions->count, additions->element_room);
    gt_array_grow(additions->tasks, additions->count, additions->room);
    additions->tasks[additions->count] = task;
    additions->elements[additions->count++] = (struct gt_task_wait){ counter, threshold };
}

static int find_group(struct linker *linker, const struct gt_task_link *link, struct group *group,
                      struct gt_error *error)
{
    const struct gt_task_graph *graph = linker->graph->graph;

    if (!link->by_name && link->target < graph->task_count) {
        *group = (struct group){ link->target, 1, linker->counters[link->target] };
        return 0;
    }
    if (!link->by_name)
        return gt_error_set(error, "there is no task %u: the graph has %u tasks, numbered from 0", link->target,
                            graph->task_count);
    *group = linker->by_name[link->target];
    if (group->tasks == 0)
        return gt_error_set(error, "there is no task %.200s", gt_name_text(linker->jsonl->workload, link->target));
    return 0;
}

static gt_task_index next_of(const struct linker *linker, const struct gt_task_link *link, gt_task_index task)
{
    return link->by_name ? linker->next[task] : GT_NONE;
}

/* The counter that all tasks of the group signal: called like them, where no other one is. */
static uint32_t group_counter(struct linker *linker, const struct gt_task_link *link, struct group *group)
{
    const char *text = link->by_name ? gt_name_text(linker->jsonl->workload, link->target) : "";
    struct gt_json_token key = { .type = GT_JSON_STRING, .text = text, .length = (uint32_t)strlen(text) };
    bool named = link->by_name && gt_refs_find(linker->graph->counters, &key, NULL) == GT_NONE;
    uint32_t counter = group->counter;

    if (counter != GT_NONE)
        return counter;
    counter = gt_task_graph_add_counter(linker->graph->graph, named ? link->target : GT_NONE, 0);
    if (named)
        gt_refs_add(linker->graph->counters, &key, counter, link->line);
    if (link->by_name)
        linker->by_name[link->target].counter = counter;
    else
        linker->counters[link->target] = counter;
    for (gt_task_index task = group->first; task != GT_NONE; task = next_of(linker, link, task))
        add(&linker->signals, task, counter, 0);
    return counter;
}

static int link_after(struct linker *linker, const struct gt_task_link *link, struct gt_error *error)
{
    struct group group;
    uint32_t counter;

    if (link->tasks > 1 && gt_jsonl_count_parts(linker->jsonl, link->tasks, error) != 0)
        return gt_error_prefix(error, "\"after\": ");
    if (find_group(linker, link, &group, error) != 0)
        return gt_error_prefix(error, "\"after\": ");
    counter = group_counter(linker, link, &group);
    for (uint32_t i = 0; i < link->tasks; i++)
        add(&linker->waits, link->first + i, counter, group.tasks);
    return 0;
}

/* Several makers share the tasks of a name evenly: the first makes the first ones, and so on. */
static int link_made(struct linker *linker, const struct gt_task_link *link, struct gt_error *error)
{
    gt_task_index task;
    struct group group;
    uint32_t each;

    if (find_group(linker, link, &group, error) != 0)
        return gt_error_prefix(error, "\"makes\": ");
    if (group.tasks % link->tasks != 0)
        return gt_error_set(error, "\"makes\": %u tasks cannot make %u tasks, the same number each", link->tasks,
                            group.tasks);
    if (gt_jsonl_count_parts(linker->jsonl, group.tasks, error) != 0)
        return gt_error_prefix(error, "\"makes\": ");
    each = group.tasks / link->tasks;
    task = group.first;
    for (uint32_t i = 0; i < link->tasks; i++)
        for (uint32_t k = 0; k < each; k++, task = next_of(linker, link, task))
            add(&linker->made, link->first + i, task, 0);
    return 0;
}

/* Where a kind of element lies in tasks and in the graph. */
struct elements {
    size_t first, count; /* of struct gt_task */
    size_t size;
};
static const struct elements wait_elements = { offsetof(struct gt_task, first_wait), offsetof(struct gt_task, waits),
                                               sizeof(struct gt_task_wait) };
static const struct elements signal_elements = { offsetof(struct gt_task, first_signal),
                                                 offsetof(struct gt_task, signals), sizeof(uint32_t) };
static const struct elements made_elements = { offsetof(struct gt_task, first_made), offsetof(struct gt_task, made),
                                               sizeof(uint32_t) };

static uint32_t *first_of(struct gt_task *task, const struct elements *elements)
{
    return (uint32_t *)(void *)((char *)task + elements->first);
}

static uint16_t *count_of(struct gt_task *task, const struct elements *elements)
{
    return (uint16_t *)(void *)((char *)task + elements->count);
}

/* Make room for the additions behind each task's own elements; returns the new array, whose new places are not
 * filled. NULL: a task would have too many. */
static char *make_room(struct gt_task_graph *graph, const struct elements *elements, const char *old,
                       const struct additions *additions, uint32_t *counts, struct gt_error *error)
{
    uint64_t total = additions->count;
    uint32_t at = 0;
    char *array;

    for (uint32_t i = 0; i < additions->count; i++)
        counts[additions->tasks[i]]++;
    for (uint32_t i = 0; i < graph->task_count; i++) {
        total += *count_of(&graph->tasks[i], elements);
        if (*count_of(&graph->tasks[i], elements) + (uint64_t)counts[i] <= MOST_OF_A_TASK)
            continue;
        gt_error_set(error, "task %u has more than %d waits, signals or made tasks", i, MOST_OF_A_TASK);
        return NULL;
    }
    array = gt_realloc(NULL, total, elements->size);
    for (uint32_t i = 0; i < graph->task_count; i++) {
        uint32_t *first = first_of(&graph->tasks[i], elements), own = *count_of(&graph->tasks[i], elements);

        if (own > 0)
            memcpy(array + at * elements->size, old + *first * elements->size, own * elements->size);
        *first = at;
        at += own + counts[i];
    }
    return array;
}

static int merge(struct gt_task_graph *graph, const struct elements *elements, void **array, uint32_t *count,
                 uint32_t *room, const struct additions *additions, struct gt_error *error)
{
    uint32_t *counts;
    char *merged;

    if (additions->count == 0)
        return 0;
    if (*count + (uint64_t)additions->count >= GT_NONE)
        return gt_error_set(error, "its tasks have more than 2^32 waits, signals and made tasks");
    counts = gt_calloc(graph->task_count, sizeof *counts);
    merged = make_room(graph, elements, *array, additions, counts, error);
    free(counts);
    if (merged == NULL)
        return -1;
    for (uint32_t i = 0; i < additions->count; i++) {
        struct gt_task *task = &graph->tasks[additions->tasks[i]];
        size_t place = *first_of(task, elements) + (size_t)(*count_of(task, elements))++;

        memcpy(merged + place * elements->size, &additions->elements[i], elements->size);
    }
    free(*array);
    *array = merged;
    *count += additions->count;
    *room = *count;
    return 0;
}

static int merge_all(struct linker *linker, struct gt_error *error)
{
    struct gt_task_graph *graph = linker->graph->graph;
    void *waits = graph->waits, *signals = graph->signals, *made = graph->made;
    int status = merge(graph, &wait_elements, &waits, &graph->wait_count, &graph->wait_room, &linker->waits, error);

    if (status == 0)
        status = merge(graph, &signal_elements, &signals, &graph->signal_count, &graph->signal_room, &linker->signals,
                       error);
    if (status == 0)
        status = merge(graph, &made_elements, &made, &graph->made_count, &graph->made_room, &linker->made, error);
    graph->waits = waits;
    graph->signals = signals;
    graph->made = made;
    return status;
}

static int link_all(struct linker *linker, struct gt_error *error)
{
    const struct gt_task_links *after = &linker->graph->after, *made = &linker->graph->made;

    for (uint32_t i = 0; i < after->count; i++)
        if (link_after(linker, &after->links[i], error) != 0)
            return gt_error_prefix(error, "task %u: ", after->links[i].first);
    for (uint32_t i = 0; i < made->count; i++)
        if (link_made(linker, &made->links[i], error) != 0)
            return gt_error_prefix(error, "task %u: ", made->links[i].first);
    return merge_all(linker, error);
}

int gt_jsonl_link_tasks(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, struct gt_error *error)
{
    struct linker linker = { .jsonl = jsonl, .graph = graph };
    int status;

    for (uint32_t i = 0; i < graph->graph->made_count; i++)
        if (graph->graph->made[i] >= graph->graph->task_count)
            return gt_error_set(error, "a task makes task %u, but there are %u tasks, numbered from 0",
                                graph->graph->made[i], graph->graph->task_count);
    if (graph->after.count == 0 && graph->made.count == 0)
        return 0;
    find_groups(&linker);
    status = link_all(&linker, error);
    free_linker(&linker);
    return status;
}
