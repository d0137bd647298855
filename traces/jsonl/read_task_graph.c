/* Lines of task graphs: their kinds, buffers and counters; the kernels that name them. */
#include "traces/jsonl/task_lines.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/io/decimal.h"

enum { SHOWN = 60 };

struct raw_graph {
    const struct gt_json_token *key, *kinds, *buffers, *counters, *tasks, *columns;
};
static const struct gt_field graph_fields[] = {
    { "task_graph", GT_FIELD_REF, offsetof(struct raw_graph, key), NULL, 0 },
    { "kinds", GT_FIELD_ARRAY, offsetof(struct raw_graph, kinds), NULL, 0 },
    { "buffers", GT_FIELD_ARRAY, offsetof(struct raw_graph, buffers), NULL, 0 },
    { "counters", GT_FIELD_VALUE, offsetof(struct raw_graph, counters), NULL, 0 },
    { "tasks", GT_FIELD_ARRAY, offsetof(struct raw_graph, tasks), NULL, 0 },
    { "columns", GT_FIELD_OBJECT, offsetof(struct raw_graph, columns), NULL, 0 },
};
static const struct gt_field more_fields[] = {
    { "tasks_of", GT_FIELD_REF, offsetof(struct raw_graph, key), NULL, 0 },
    { "kinds", GT_FIELD_ARRAY, offsetof(struct raw_graph, kinds), NULL, 0 },
    { "buffers", GT_FIELD_ARRAY, offsetof(struct raw_graph, buffers), NULL, 0 },
    { "counters", GT_FIELD_VALUE, offsetof(struct raw_graph, counters), NULL, 0 },
    { "tasks", GT_FIELD_ARRAY, offsetof(struct raw_graph, tasks), NULL, 0 },
    { "columns", GT_FIELD_OBJECT, offsetof(struct raw_graph, columns), NULL, 0 },
};
static const struct gt_field_table graph_table = GT_FIELD_TABLE("a task graph", graph_fields);
static const struct gt_field_table more_table = GT_FIELD_TABLE("tasks of a graph", more_fields);

struct raw_counter {
    const struct gt_json_token *name;
    uint32_t initial;
};
static const struct gt_field counter_fields[] = {
    { "counter", GT_FIELD_TEXT, offsetof(struct raw_counter, name), NULL, 0 },
    { "initial", GT_FIELD_U32, offsetof(struct raw_counter, initial), NULL, 0 },
};
static const struct gt_field_table counter_table = GT_FIELD_TABLE("a counter", counter_fields);

struct raw_task_buffer {
    const struct gt_json_token *name;
    uint64_t bytes;
    bool given;
};
static const struct gt_field buffer_fields[] = {
    { "buffer", GT_FIELD_TEXT, offsetof(struct raw_task_buffer, name), NULL, 0 },
    { "bytes", GT_FIELD_U64, offsetof(struct raw_task_buffer, bytes), NULL, 0 },
    { "given", GT_FIELD_BOOL, offsetof(struct raw_task_buffer, given), NULL, 0 },
};
static const struct gt_field_table buffer_table = GT_FIELD_TABLE("a buffer of tasks", buffer_fields);

int gt_jsonl_task_number(const struct gt_json_token *value, const char *name, uint64_t most, uint64_t *number,
                         struct gt_error *error)
{
    int shown = value->length < SHOWN ? (int)value->length : SHOWN;

    if (value->type != GT_JSON_NUMBER)
        return gt_error_set(error, "\"%s\" must be a whole number", name);
    if (gt_decimal_parse(value->text, value->length, 0, most, number, error) != 0)
        return gt_error_prefix(error, "\"%s\": %.*s ", name, shown, value->text);
    return 0;
}

void gt_jsonl_keep_task_unknown(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, enum gt_extra_of of,
                                uint32_t index)
{
    if (jsonl->unknown.length == 0)
        return;
    gt_array_grow(graph->extras, graph->extra_count, graph->extra_room);
    graph->extras[graph->extra_count++] = (struct gt_task_extra){ of, index, gt_strdup(jsonl->unknown.text) };
}

/* A counter with that name, if it has one. */
static gt_task_counter_index add_counter(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph,
                                         const struct gt_json_token *name, uint32_t initial)
{
    gt_task_counter_index counter;
    bool named = name != NULL && name->type == GT_JSON_STRING;

    counter = gt_task_graph_add_counter(
        graph->graph, named ? gt_name(jsonl->workload, name->text, name->length) : GT_NONE, initial);
    if (named)
        gt_refs_add(graph->counters, name, counter, jsonl->line_number);
    return counter;
}

static gt_task_buffer_index add_buffer(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph,
                                       const struct raw_task_buffer *raw)
{
    struct gt_task_buffer buffer = { .name = GT_NONE, .bytes = raw->bytes, .given = raw->given };
    gt_task_buffer_index index;
    bool named = raw->name != NULL && raw->name->type == GT_JSON_STRING;

    if (named)
        buffer.name = gt_name(jsonl->workload, raw->name->text, raw->name->length);
    index = gt_task_graph_add_buffer(graph->graph, &buffer);
    if (named)
        gt_refs_add(graph->buffers, raw->name, index, jsonl->line_number);
    return index;
}

/* The index that a name or a number means; `found` stays GT_NONE for a name that nobody has. */
static int find(const struct gt_refs *refs, const struct gt_json_token *ref, const char *what, uint32_t count,
                uint32_t *found, struct gt_error *error)
{
    uint64_t number;

    if (ref->type == GT_JSON_STRING) {
        *found = gt_refs_find(refs, ref, NULL);
        return 0;
    }
    if (ref->type != GT_JSON_NUMBER)
        return gt_error_set(error, "a %s must be a name or a number", what);
    if (gt_jsonl_task_number(ref, what, UINT32_MAX - 1, &number, error) != 0)
        return -1;
    if (number >= count)
        return gt_error_set(error, "there is no %s %u: %u are defined so far, numbered from 0", what,
                            (unsigned)number, count);
    *found = (uint32_t)number;
    return 0;
}

int gt_jsonl_use_kind(struct gt_jsonl_graph *graph, const struct gt_json_token *ref, gt_task_kind_index *kind,
                      struct gt_error *error)
{
    char valid[400];

    if (find(graph->kinds, ref, "kind", graph->graph->kind_count, kind, error) != 0)
        return -1;
    if (*kind != GT_NONE)
        return 0;
    gt_refs_list(graph->kinds, valid, sizeof valid);
    return gt_error_set(error, "the graph has no kind %.*s; defined so far:%s",
                        ref->length < SHOWN ? (int)ref->length : SHOWN, ref->text,
                        valid[0] != '\0' ? valid : " none");
}

int gt_jsonl_use_counter(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *ref,
                         gt_task_counter_index *counter, struct gt_error *error)
{
    if (find(graph->counters, ref, "counter", graph->graph->counter_count, counter, error) != 0)
        return -1;
    if (*counter == GT_NONE)
        *counter = add_counter(jsonl, graph, ref, 0);
    return 0;
}

int gt_jsonl_use_task_buffer(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *ref,
                             gt_task_buffer_index *buffer, struct gt_error *error)
{
    struct raw_task_buffer raw = { .name = ref };

    if (find(graph->buffers, ref, "buffer", graph->graph->buffer_count, buffer, error) != 0)
        return -1;
    if (*buffer == GT_NONE)
        *buffer = add_buffer(jsonl, graph, &raw);
    return 0;
}

static int check_new(const struct gt_refs *refs, const struct gt_json_token *name, const char *what,
                     struct gt_error *error)
{
    uint32_t line;

    if (name == NULL || name->type != GT_JSON_STRING || gt_refs_find(refs, name, &line) == GT_NONE)
        return 0;
    return gt_error_set(error, "%s %.*s was defined or used before, on line %u; define it once, before its use", what,
                        name->length < SHOWN ? (int)name->length : SHOWN, name->text, line);
}

static int read_buffers(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *list,
                        struct gt_error *error)
{
    uint64_t given;

    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span) {
        struct raw_task_buffer raw = { .name = NULL };
        gt_task_buffer_index index;

        if (item->type != GT_JSON_OBJECT)
            return gt_error_set(error, "\"buffers\" must be a list of objects in { }");
        if (gt_fields_read(item, &buffer_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0 ||
            check_new(graph->buffers, raw.name, "buffer", error) != 0)
            return -1;
        index = add_buffer(jsonl, graph, &raw);
        gt_jsonl_keep_task_unknown(jsonl, graph, GT_EXTRA_TASK_BUFFER, index);
    }
    return 0;
}

/* `value`: how many without a name, that begin at 0. */
static int add_counters(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *value,
                        struct gt_error *error)
{
    uint64_t count;

    if (gt_jsonl_task_number(value, "counters", UINT32_MAX, &count, error) != 0)
        return -1;
    if (gt_jsonl_count_parts(jsonl, count, error) != 0)
        return gt_error_prefix(error, "\"counters\": ");
    for (uint64_t i = 0; i < count; i++)
        add_counter(jsonl, graph, NULL, 0);
    return 0;
}

static int read_counters(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *list,
                         struct gt_error *error)
{
    uint64_t given;

    if (list->type == GT_JSON_NUMBER)
        return add_counters(jsonl, graph, list, error);
    if (list->type != GT_JSON_ARRAY)
        return gt_error_set(error, "\"counters\" must be a list of objects in { }, or their number");
    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span) {
        struct raw_counter raw = { .name = NULL };
        gt_task_counter_index index;

        if (item->type != GT_JSON_OBJECT)
            return gt_error_set(error, "\"counters\" must be a list of objects in { }, or their number");
        if (gt_fields_read(item, &counter_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0 ||
            check_new(graph->counters, raw.name, "counter", error) != 0)
            return -1;
        index = add_counter(jsonl, graph, raw.name, raw.initial);
        gt_jsonl_keep_task_unknown(jsonl, graph, GT_EXTRA_TASK_COUNTER, index);
    }
    return 0;
}

static int read_parts(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct raw_graph *raw,
                      struct gt_error *error)
{
    if ((raw->kinds != NULL && gt_jsonl_task_kinds(jsonl, graph, raw->kinds, error) != 0) ||
        (raw->buffers != NULL && read_buffers(jsonl, graph, raw->buffers, error) != 0) ||
        (raw->counters != NULL && read_counters(jsonl, graph, raw->counters, error) != 0) ||
        (raw->tasks != NULL && gt_jsonl_tasks(jsonl, graph, raw->tasks, error) != 0) ||
        (raw->columns != NULL && gt_jsonl_task_columns(jsonl, graph, raw->columns, error) != 0))
        return -1;
    return 0;
}

int gt_jsonl_task_graph(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_graph raw = { .key = NULL };
    struct gt_jsonl_graph *graph;
    uint64_t given;

    if (gt_fields_read(object, &graph_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0)
        return -1;
    if (raw.key->type != GT_JSON_STRING)
        return gt_error_set(error, "the name of a task graph must be a string");
    if (check_new(jsonl->task_graphs, raw.key, "task graph", error) != 0)
        return -1;
    gt_array_grow(jsonl->graphs, jsonl->graph_count, jsonl->graph_room);
    graph = &jsonl->graphs[jsonl->graph_count];
    *graph = (struct gt_jsonl_graph){
        .graph = gt_task_graph_new(gt_name(jsonl->workload, raw.key->text, raw.key->length)),
        .kinds = gt_refs_new(),
        .counters = gt_refs_new(),
        .buffers = gt_refs_new(),
    };
    graph->graph->line = jsonl->line_number;
    gt_workload_add_task_graph(jsonl->workload, graph->graph);
    gt_refs_add(jsonl->task_graphs, raw.key, jsonl->graph_count++, jsonl->line_number);
    gt_jsonl_keep_task_unknown(jsonl, graph, GT_EXTRA_TASK_GRAPH, 0);
    return read_parts(jsonl, graph, &raw, error);
}

static struct gt_jsonl_graph *find_graph(struct gt_jsonl *jsonl, const struct gt_json_token *ref,
                                         struct gt_error *error)
{
    uint32_t index = ref->type == GT_JSON_STRING ? gt_refs_find(jsonl->task_graphs, ref, NULL) : GT_NONE;
    char valid[400];

    if (index != GT_NONE)
        return &jsonl->graphs[index];
    gt_refs_list(jsonl->task_graphs, valid, sizeof valid);
    gt_error_set(error, "no task graph %.*s has been defined above this line; defined so far:%s",
                 ref->length < SHOWN ? (int)ref->length : SHOWN, ref->text, valid[0] != '\0' ? valid : " none");
    return NULL;
}

int gt_jsonl_tasks_of(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_graph raw = { .key = NULL };
    struct gt_jsonl_graph *graph;
    uint64_t given;

    if (gt_fields_read(object, &more_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0)
        return -1;
    graph = find_graph(jsonl, raw.key, error);
    if (graph == NULL)
        return -1;
    if (graph->complete)
        return gt_error_set(error, "task graph %.200s is complete, because a kernel above this line uses it",
                            gt_name_text(jsonl->workload, graph->graph->name));
    return read_parts(jsonl, graph, &raw, error);
}

/* Tasks with a list of their own are done from it, tasks made by others need queues of what is ready. */
static const char *usual_policy(const struct gt_task_graph *graph)
{
    uint32_t listed = 0;

    if (graph->made_count > 0)
        return "ready";
    for (uint32_t i = 0; i < graph->task_count; i++)
        listed += graph->tasks[i].worker != GT_NONE;
    return listed == 0 ? "shared" : listed == graph->task_count ? "static" : "mixed";
}

static int complete(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, struct gt_error *error)
{
    if (graph->complete)
        return 0;
    graph->complete = true;
    if (gt_jsonl_link_tasks(jsonl, graph, error) != 0)
        return gt_error_prefix(error, "task graph %.200s: ", gt_name_text(jsonl->workload, graph->graph->name));
    return 0;
}

int gt_jsonl_use_task_graph(struct gt_jsonl *jsonl, const struct gt_json_token *ref,
                            const struct gt_json_token *policy, struct gt_kernel *kernel, struct gt_error *error)
{
    struct gt_jsonl_graph *graph = find_graph(jsonl, ref, error);

    if (graph == NULL || complete(jsonl, graph, error) != 0)
        return -1;
    kernel->tasks = graph->graph;
    if (policy != NULL && policy->type == GT_JSON_STRING)
        kernel->task_policy = gt_name(jsonl->workload, policy->text, policy->length);
    else
        kernel->task_policy =
            gt_name(jsonl->workload, usual_policy(graph->graph), strlen(usual_policy(graph->graph)));
    for (uint32_t i = 0; i < graph->graph->kind_count; i++) {
        const struct gt_task_kind *kind = &graph->graph->kinds[i];

        if (kernel->registers_per_thread < kind->registers_per_thread)
            kernel->registers_per_thread = kind->registers_per_thread;
        if (kernel->static_shared_bytes < kind->static_shared_bytes)
            kernel->static_shared_bytes = kind->static_shared_bytes;
    }
    return 0;
}

/* Unknown fields of a part are kept under its number among those of all graphs. */
static void keep_extras(struct gt_jsonl *jsonl)
{
    uint32_t graphs = 0, kinds = 0, buffers = 0, counters = 0, tasks = 0;

    for (uint32_t g = 0; g < jsonl->graph_count; g++) {
        const struct gt_jsonl_graph *graph = &jsonl->graphs[g];
        const struct gt_task_graph *parts = graph->graph;

        for (uint32_t i = 0; i < graph->extra_count; i++) {
            const struct gt_task_extra *extra = &graph->extras[i];
            uint32_t base = extra->of == GT_EXTRA_TASK_GRAPH    ? graphs
                            : extra->of == GT_EXTRA_TASK_KIND   ? kinds
                            : extra->of == GT_EXTRA_TASK_BUFFER ? buffers
                            : extra->of == GT_EXTRA_TASK        ? tasks
                                                                : counters;

            gt_workload_add_extra(jsonl->workload, extra->of, base + extra->index, extra->json);
        }
        graphs++;
        kinds += parts->kind_count;
        buffers += parts->buffer_count;
        counters += parts->counter_count;
        tasks += parts->task_count;
    }
}

int gt_jsonl_finish_task_graphs(struct gt_jsonl *jsonl, const char *path, struct gt_error *error)
{
    for (uint32_t i = 0; i < jsonl->graph_count; i++)
        if (complete(jsonl, &jsonl->graphs[i], error) != 0)
            return gt_error_prefix(error, "%s:%u: ", path, jsonl->graphs[i].graph->line);
    keep_extras(jsonl);
    return 0;
}

void gt_jsonl_free_task_graphs(struct gt_jsonl *jsonl)
{
    for (uint32_t i = 0; i < jsonl->graph_count; i++) {
        struct gt_jsonl_graph *graph = &jsonl->graphs[i];

        gt_refs_free(graph->kinds);
        gt_refs_free(graph->counters);
        gt_refs_free(graph->buffers);
        free(graph->after.links);
        free(graph->made.links);
        for (uint32_t e = 0; e < graph->extra_count; e++)
            free(graph->extras[e].json);
        free(graph->extras);
    }
    free(jsonl->graphs);
}
