/* Kinds of tasks, and tasks as objects: what hands type. */
#include "traces/jsonl/task_lines.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

enum { MOST_OF_A_TASK = UINT16_MAX };

struct raw_kind {
    const struct gt_json_token *name, *runs, *arguments, *program;
    struct gt_field_times task, task_list, task_heavy;
    double tail;
    uint64_t bytes, operations;
    uint32_t registers, shared_bytes;
};
static const struct gt_field kind_fields[] = {
    { "kind", GT_FIELD_TEXT, offsetof(struct raw_kind, name), NULL, 0 },
    { "task", GT_FIELD_TIMES, offsetof(struct raw_kind, task), NULL, 0 },
    { "task_list", GT_FIELD_TIMES, offsetof(struct raw_kind, task_list), NULL, 0 },
    { "task_heavy", GT_FIELD_TIMES, offsetof(struct raw_kind, task_heavy), NULL, 0 },
    { "tail", GT_FIELD_DOUBLE, offsetof(struct raw_kind, tail), NULL, 0 },
    { "bytes", GT_FIELD_U64, offsetof(struct raw_kind, bytes), NULL, 0 },
    { "operations", GT_FIELD_U64, offsetof(struct raw_kind, operations), NULL, 0 },
    { "registers", GT_FIELD_U32, offsetof(struct raw_kind, registers), NULL, 0 },
    { "shared_bytes", GT_FIELD_U32, offsetof(struct raw_kind, shared_bytes), NULL, 0 },
    { "runs", GT_FIELD_TEXT, offsetof(struct raw_kind, runs), NULL, 0 },
    { "arguments", GT_FIELD_OBJECT, offsetof(struct raw_kind, arguments), NULL, 0 },
    { "program", GT_FIELD_REF, offsetof(struct raw_kind, program), NULL, 0 },
};
static const struct gt_field_table kind_table = GT_FIELD_TABLE("a kind of task", kind_fields);

struct raw_task {
    const struct gt_json_token *name, *kind, *worker, *after, *waits, *signals, *makes, *reads, *writes;
    uint32_t count;
    gt_time_ps duration;
    uint64_t bytes, operations;
};
static const struct gt_field task_fields[] = {
    { "task", GT_FIELD_TEXT, offsetof(struct raw_task, name), NULL, 0 },
    { "kind", GT_FIELD_REF, offsetof(struct raw_task, kind), NULL, 0 },
    { "count", GT_FIELD_U32, offsetof(struct raw_task, count), NULL, 0 },
    { "worker", GT_FIELD_VALUE, offsetof(struct raw_task, worker), NULL, 0 },
    { "duration", GT_FIELD_TIME, offsetof(struct raw_task, duration), NULL, 0 },
    { "bytes", GT_FIELD_U64, offsetof(struct raw_task, bytes), NULL, 0 },
    { "operations", GT_FIELD_U64, offsetof(struct raw_task, operations), NULL, 0 },
    { "after", GT_FIELD_ARRAY, offsetof(struct raw_task, after), NULL, 0 },
    { "waits", GT_FIELD_ARRAY, offsetof(struct raw_task, waits), NULL, 0 },
    { "signals", GT_FIELD_ARRAY, offsetof(struct raw_task, signals), NULL, 0 },
    { "makes", GT_FIELD_ARRAY, offsetof(struct raw_task, makes), NULL, 0 },
    { "reads", GT_FIELD_ARRAY, offsetof(struct raw_task, reads), NULL, 0 },
    { "writes", GT_FIELD_ARRAY, offsetof(struct raw_task, writes), NULL, 0 },
};
static const struct gt_field_table task_table = GT_FIELD_TABLE("a task", task_fields);

/* [least, most] */
static int read_range(const struct gt_field_times *times, const char *name, struct gt_task_kind *kind,
                      struct gt_error *error)
{
    if (times->value->type != GT_JSON_ARRAY || times->value->span != 3)
        return gt_error_set(error, "\"%s\" time: a range is [least, most]", name);
    if (gt_field_time(times->value + 1, times->exponent, name, &kind->min_ps, error) != 0 ||
        gt_field_time(times->value + 2, times->exponent, name, &kind->max_ps, error) != 0)
        return -1;
    if (kind->min_ps > kind->max_ps)
        return gt_error_set(error, "\"%s\" time: the minimum exceeds the maximum", name);
    return 0;
}

static int read_fixed(const struct gt_field_times *times, struct gt_task_kind *kind, struct gt_error *error)
{
    kind->cost = GT_TASK_COST_FIXED;
    if (gt_field_time(times->value, times->exponent, "task", &kind->min_ps, error) != 0)
        return -1;
    kind->max_ps = kind->min_ps;
    return 0;
}

static int read_heavy(const struct raw_kind *raw, struct gt_task_kind *kind, struct gt_error *error)
{
    kind->cost = GT_TASK_COST_HEAVY;
    kind->tail = raw->tail;
    if (read_range(&raw->task_heavy, "task_heavy", kind, error) != 0)
        return -1;
    if (!(kind->tail > 0) || kind->min_ps == 0)
        return gt_error_set(error, "\"task_heavy\" needs a minimum time above 0 and \"tail\", the exponent of the "
                                   "Pareto distribution, above 0 (smaller values give heavier tails)");
    return 0;
}

static int read_list(const struct gt_field_times *times, struct gt_task_kind *kind, struct gt_error *error)
{
    const struct gt_json_token *list = times->value;

    if (list->type != GT_JSON_ARRAY || list->span == 1)
        return gt_error_set(error, "\"task_list\" must be a list of times");
    kind->cost = GT_TASK_COST_LIST;
    kind->list_ps = gt_realloc(NULL, list->span - 1, sizeof *kind->list_ps);
    for (const struct gt_json_token *value = list + 1; value < list + list->span; value += value->span)
        if (gt_field_time(value, times->exponent, "task_list", &kind->list_ps[kind->list_length++], error) != 0)
            return -1;
    return 0;
}

static int read_cost(const struct raw_kind *raw, struct gt_task_kind *kind, struct gt_error *error)
{
    if ((raw->task.value != NULL) + (raw->task_list.value != NULL) + (raw->task_heavy.value != NULL) > 1)
        return gt_error_set(error, "a kind needs one of \"task_us\", \"task_list_us\" and \"task_heavy_us\"");
    if (raw->task_list.value != NULL)
        return read_list(&raw->task_list, kind, error);
    if (raw->task_heavy.value != NULL)
        return read_heavy(raw, kind, error);
    if (raw->task.value == NULL)
        return 0;
    if (raw->task.value->type == GT_JSON_NUMBER)
        return read_fixed(&raw->task, kind, error);
    kind->cost = GT_TASK_COST_RANGE;
    return read_range(&raw->task, "task", kind, error);
}

static int read_kind(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *object,
                     struct gt_error *error)
{
    struct raw_kind raw = { .tail = 0 };
    struct gt_task_kind *kind;
    gt_task_kind_index index;
    uint64_t given;

    if (object->type != GT_JSON_OBJECT)
        return gt_error_set(error, "\"kinds\" must be a list of objects in { }");
    if (gt_fields_read(object, &kind_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0)
        return -1;
    if (raw.name == NULL || raw.name->type != GT_JSON_STRING)
        return gt_error_set(error, "a kind of task needs a name, \"kind\"");
    if (gt_refs_find(graph->kinds, raw.name, NULL) != GT_NONE)
        return gt_error_set(error, "kind %.*s is defined already", raw.name->length < 60 ? (int)raw.name->length : 60,
                            raw.name->text);
    index = gt_task_graph_add_kind(graph->graph, gt_name(jsonl->workload, raw.name->text, raw.name->length));
    gt_refs_add(graph->kinds, raw.name, index, jsonl->line_number);
    gt_jsonl_keep_task_unknown(jsonl, graph, GT_EXTRA_TASK_KIND, index);
    kind = &graph->graph->kinds[index];
    kind->bytes = raw.bytes;
    kind->operations = raw.operations;
    kind->registers_per_thread = raw.registers;
    kind->static_shared_bytes = raw.shared_bytes;
    if (read_cost(&raw, kind, error) != 0 ||
        gt_jsonl_library(jsonl, raw.runs, raw.arguments, &kind->runs, &kind->arguments, error) != 0 ||
        gt_jsonl_use_program(jsonl, raw.program, &kind->program, error) != 0)
        return -1;
    return 0;
}

int gt_jsonl_task_kinds(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *list,
                        struct gt_error *error)
{
    uint32_t number = 0;

    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span, number++)
        if (read_kind(jsonl, graph, item, error) != 0)
            return gt_error_prefix(error, "kind %u: ", number);
    return 0;
}

static uint32_t length_of(const struct gt_json_token *list)
{
    uint32_t count = 0;

    for (const struct gt_json_token *item = list + 1; list != NULL && item < list + list->span; item += item->span)
        count++;
    return count;
}

int gt_jsonl_count_parts(struct gt_jsonl *jsonl, uint64_t parts, struct gt_error *error)
{
    uint64_t most = GT_COUNTED_PARTS + jsonl->read_bytes;

    if (parts <= most && jsonl->counted_parts + parts <= most) {
        jsonl->counted_parts += parts;
        return 0;
    }
    return gt_error_set(error,
                        "counts stand for more than %llu tasks, counters, waits, signals, reads and writes in total; "
                        "use smaller counts, or write the tasks one by one",
                        (unsigned long long)most);
}

static int check_lengths(struct gt_jsonl *jsonl, const struct raw_task *raw, struct gt_error *error)
{
    uint64_t parts =
        (uint64_t)length_of(raw->waits) + length_of(raw->signals) + length_of(raw->reads) + length_of(raw->writes);

    if (raw->count > 1 && gt_jsonl_count_parts(jsonl, (1 + parts) * raw->count, error) != 0)
        return -1;
    if (length_of(raw->waits) > MOST_OF_A_TASK || length_of(raw->signals) > MOST_OF_A_TASK ||
        length_of(raw->reads) + length_of(raw->writes) > MOST_OF_A_TASK)
        return gt_error_set(error, "it has more than %d waits, signals, or reads and writes", MOST_OF_A_TASK);
    return 0;
}

static int read_waits(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *list,
                      struct gt_error *error)
{
    gt_task_counter_index counter;
    uint64_t threshold = 1;

    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span) {
        const struct gt_json_token *ref = item->type == GT_JSON_ARRAY ? item + 1 : item;

        if (item->type == GT_JSON_ARRAY && item->span != 3)
            return gt_error_set(error, "a wait must be a counter, or [counter, threshold]");
        if (gt_jsonl_use_counter(jsonl, graph, ref, &counter, error) != 0 ||
            (ref != item && gt_jsonl_task_number(item + 2, "waits", UINT32_MAX - 1, &threshold, error) != 0))
            return -1;
        gt_task_graph_add_wait(graph->graph, counter, ref == item ? 1 : (uint32_t)threshold);
    }
    return 0;
}

static int read_accesses(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *list,
                         bool writes, struct gt_error *error)
{
    gt_task_buffer_index buffer;

    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span) {
        if (gt_jsonl_use_task_buffer(jsonl, graph, item, &buffer, error) != 0)
            return -1;
        gt_task_graph_add_access(graph->graph, buffer, writes);
    }
    return 0;
}

/* Tasks that may not be defined yet: of a name, or one of a number. */
static int read_links(struct gt_jsonl *jsonl, const struct gt_json_token *list, const char *name, gt_task_index first,
                      uint32_t tasks, struct gt_task_links *links, struct gt_error *error)
{
    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span) {
        struct gt_task_link link = { .first = first, .tasks = tasks, .line = jsonl->line_number };
        uint64_t number;

        link.by_name = item->type == GT_JSON_STRING;
        if (link.by_name)
            link.target = gt_name(jsonl->workload, item->text, item->length);
        else if (gt_jsonl_task_number(item, name, GT_MOST_TASKS - 1, &number, error) != 0)
            return gt_error_prefix(error, "a task must be a name or a number: ");
        else
            link.target = (uint32_t)number;
        gt_array_grow(links->links, links->count, links->room);
        links->links[links->count++] = link;
    }
    return 0;
}

/* The worker of the `i`th of the tasks that one object defines: one for all, or dealt from a list. */
static int read_worker(const struct gt_json_token *value, uint32_t i, gt_worker_index *worker, struct gt_error *error)
{
    uint64_t number;

    if (value == NULL || value->type == GT_JSON_NULL)
        return 0;
    if (value->type == GT_JSON_ARRAY && value->span == 1)
        return gt_error_set(error, "\"worker\" is an empty list");
    if (value->type == GT_JSON_ARRAY)
        value += 1 + i % (value->span - 1);
    if (gt_jsonl_task_number(value, "worker", GT_MOST_WORKERS - 1, &number, error) != 0)
        return -1;
    *worker = (gt_worker_index)number;
    return 0;
}

/* The kind of a task: a graph with one kind need not say it. */
static int find_kind(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *ref,
                     gt_task_kind_index *kind, struct gt_error *error)
{
    static const struct gt_json_token usual = { .type = GT_JSON_STRING, .text = "task", .length = 4 };

    if (ref != NULL)
        return gt_jsonl_use_kind(graph, ref, kind, error);
    if (graph->graph->kind_count > 1)
        return gt_error_set(error, "\"kind\" is missing, and the graph has %u kinds", graph->graph->kind_count);
    if (graph->graph->kind_count == 0) {
        gt_task_graph_add_kind(graph->graph, gt_name(jsonl->workload, usual.text, usual.length));
        gt_refs_add(graph->kinds, &usual, 0, jsonl->line_number);
    }
    *kind = 0;
    return 0;
}

static int add_task(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct raw_task *raw,
                    gt_task_kind_index kind, uint32_t i, struct gt_error *error)
{
    gt_task_index index = gt_task_graph_add_task(graph->graph, kind);
    struct gt_task *task = &graph->graph->tasks[index];

    if (raw->name != NULL && raw->name->type == GT_JSON_STRING)
        task->name = gt_name(jsonl->workload, raw->name->text, raw->name->length);
    task->time_ps = raw->duration;
    task->bytes = raw->bytes;
    task->operations = raw->operations;
    task->line = jsonl->line_number;
    if (read_worker(raw->worker, i, &task->worker, error) != 0 ||
        (raw->waits != NULL && read_waits(jsonl, graph, raw->waits, error) != 0))
        return -1;
    for (const struct gt_json_token *item = raw->signals + 1;
         raw->signals != NULL && item < raw->signals + raw->signals->span; item += item->span) {
        gt_task_counter_index counter;

        if (gt_jsonl_use_counter(jsonl, graph, item, &counter, error) != 0)
            return -1;
        gt_task_graph_add_signal(graph->graph, counter);
    }
    if ((raw->reads != NULL && read_accesses(jsonl, graph, raw->reads, false, error) != 0) ||
        (raw->writes != NULL && read_accesses(jsonl, graph, raw->writes, true, error) != 0))
        return -1;
    return 0;
}

static int read_task(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *object,
                     struct gt_error *error)
{
    struct raw_task raw = {
        .count = 1, .duration = GT_TIME_NONE, .bytes = GT_TASK_AS_KIND, .operations = GT_TASK_AS_KIND
    };
    gt_task_index first = graph->graph->task_count;
    gt_task_kind_index kind;
    uint64_t given;

    if (object->type != GT_JSON_OBJECT)
        return gt_error_set(error, "\"tasks\" must be a list of objects in { }");
    if (gt_fields_read(object, &task_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0)
        return -1;
    if (raw.count == 0 || raw.count > GT_MOST_TASKS - first)
        return gt_error_set(error, "\"count\" must be at least 1, and a graph has at most %d tasks", GT_MOST_TASKS);
    if (check_lengths(jsonl, &raw, error) != 0 || find_kind(jsonl, graph, raw.kind, &kind, error) != 0)
        return -1;
    gt_jsonl_keep_task_unknown(jsonl, graph, GT_EXTRA_TASK, first);
    for (uint32_t i = 0; i < raw.count; i++)
        if (add_task(jsonl, graph, &raw, kind, i, error) != 0)
            return -1;
    if ((raw.after != NULL && read_links(jsonl, raw.after, "after", first, raw.count, &graph->after, error) != 0) ||
        (raw.makes != NULL && read_links(jsonl, raw.makes, "makes", first, raw.count, &graph->made, error) != 0))
        return -1;
    return 0;
}

/* What messages call a task: its name, or its number. */
static int wrong_task(const struct gt_json_token *object, gt_task_index number, struct gt_error *error)
{
    const struct gt_json_token *end = object + object->span;

    for (const struct gt_json_token *key = object + 1; object->type == GT_JSON_OBJECT && key < end;
         key += 1 + key[1].span)
        if (key->length == 4 && memcmp(key->text, "task", 4) == 0 && key[1].type == GT_JSON_STRING)
            return gt_error_prefix(error, "task %.*s: ", key[1].length < 60 ? (int)key[1].length : 60, key[1].text);
    return gt_error_prefix(error, "task %u: ", number);
}

int gt_jsonl_tasks(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *list,
                   struct gt_error *error)
{
    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span) {
        gt_task_index number = graph->graph->task_count;

        if (read_task(jsonl, graph, item, error) != 0)
            return wrong_task(item, number, error);
    }
    return 0;
}
