/* Implementations: into how many tasks one cuts an operator, and what a task takes on which device. */
#include <stdlib.h>
#include <string.h>

#include "traces/operators/internal.h"

enum { MOST_TASKS = 1000000 };

struct raw_implementation {
    const struct gt_json_token *name, *on, *runs, *arguments;
    uint32_t tasks, registers, shared_bytes;
    gt_time_ps task, block;
    struct gt_field_times task_list;
    uint64_t bytes, operations;
};
static const struct gt_field implementation_fields[] = {
    { "name", GT_FIELD_TEXT, offsetof(struct raw_implementation, name), NULL, 0 },
    { "tasks", GT_FIELD_U32, offsetof(struct raw_implementation, tasks), NULL, 0 },
    { "task", GT_FIELD_TIME, offsetof(struct raw_implementation, task), NULL, 0 },
    { "block", GT_FIELD_TIME, offsetof(struct raw_implementation, block), NULL, 0 },
    { "task_list", GT_FIELD_TIMES, offsetof(struct raw_implementation, task_list), NULL, 0 },
    { "on", GT_FIELD_OBJECT, offsetof(struct raw_implementation, on), NULL, 0 },
    { "bytes", GT_FIELD_U64, offsetof(struct raw_implementation, bytes), NULL, 0 },
    { "operations", GT_FIELD_U64, offsetof(struct raw_implementation, operations), NULL, 0 },
    { "registers", GT_FIELD_U32, offsetof(struct raw_implementation, registers), NULL, 0 },
    { "shared_bytes", GT_FIELD_U32, offsetof(struct raw_implementation, shared_bytes), NULL, 0 },
    { "runs", GT_FIELD_TEXT, offsetof(struct raw_implementation, runs), NULL, 0 },
    { "arguments", GT_FIELD_OBJECT, offsetof(struct raw_implementation, arguments), NULL, 0 },
};
static const struct gt_field_table implementation_table = GT_FIELD_TABLE("an implementation", implementation_fields);

/* What is different on one device. */
struct raw_on {
    gt_time_ps task, block;
};
static const struct gt_field on_fields[] = {
    { "task", GT_FIELD_TIME, offsetof(struct raw_on, task), NULL, 0 },
    { "block", GT_FIELD_TIME, offsetof(struct raw_on, block), NULL, 0 },
};
static const struct gt_field_table on_table = GT_FIELD_TABLE("an implementation on a device", on_fields);

/* {"h200":{"task_us":2}, ...}: what it says of the device at hand, if anything. */
static int read_on(struct gt_operators_reader *reader, const struct gt_json_token *on,
                   struct raw_implementation *into, struct gt_error *error)
{
    const char *device = reader->graph->device;
    uint64_t given;

    for (const struct gt_json_token *key = on + 1; key < on + on->span; key += 1 + key[1].span) {
        struct raw_on raw = { into->task, into->block };

        if (key[1].type != GT_JSON_OBJECT)
            return gt_error_set(error, "\"on\" says of devices what is different there: {\"h200\":{\"task_us\":2}}");
        if (gt_operators_fields(reader, key + 1, &on_table, &raw, &given, error) != 0)
            return -1;
        if (device == NULL || key->length != strlen(device) || memcmp(key->text, device, key->length) != 0)
            continue;
        into->task = raw.task;
        into->block = raw.block;
    }
    return 0;
}

static int check(const struct gt_operators_reader *reader, const struct raw_implementation *raw,
                 struct gt_error *error)
{
    const char *device = reader->graph->device;

    if (raw->tasks < 1 || raw->tasks > MOST_TASKS)
        return gt_error_set(error, "\"tasks\" must be from 1 to %d", MOST_TASKS);
    if (raw->task == GT_TIME_NONE && device != NULL)
        return gt_error_set(error,
                            "what does a task take on '%.100s'? give \"task_us\", or \"on\":{\"%.100s\":"
                            "{\"task_us\":...}}",
                            device, device);
    if (raw->task == GT_TIME_NONE)
        return gt_error_set(error,
                            "what does a task take? give \"task_us\", or with \"on\" name the device: --device");
    return 0;
}

/* What one task takes after the other. */
static int read_list(const struct gt_field_times *times, struct gt_implementation *made, struct gt_error *error)
{
    const struct gt_json_token *list = times->value;

    if (list == NULL)
        return 0;
    if (list->type != GT_JSON_ARRAY || list->span == 1)
        return gt_error_set(error, "\"task_list\" must be a list of times");
    made->list_ps = gt_realloc(NULL, list->span - 1, sizeof *made->list_ps);
    for (const struct gt_json_token *value = list + 1; value < list + list->span; value += value->span)
        if (gt_field_time(value, times->exponent, "task_list", &made->list_ps[made->list_length++], error) != 0)
            return -1;
    return 0;
}

static char *copy_name(const struct gt_operators_reader *reader, uint32_t name)
{
    return name == GT_NONE ? NULL : gt_strdup(gt_name_text(reader->names.workload, name));
}

int gt_operators_implementation(struct gt_operators_reader *reader, const struct gt_json_token *object, uint32_t kind,
                                struct gt_error *error)
{
    struct raw_implementation raw = { .tasks = 1, .task = GT_TIME_NONE, .block = GT_TIME_NONE };
    uint32_t runs = GT_NONE, arguments = GT_NONE;
    struct gt_implementation *made;
    uint64_t given;

    if (object->type != GT_JSON_OBJECT)
        return gt_error_set(error, "\"implementations\" must be a list of objects in { }");
    if (gt_operators_fields(reader, object, &implementation_table, &raw, &given, error) != 0 ||
        (raw.on != NULL && read_on(reader, raw.on, &raw, error) != 0) || check(reader, &raw, error) != 0 ||
        gt_jsonl_library(&reader->names, raw.runs, raw.arguments, &runs, &arguments, error) != 0)
        return -1;
    made = gt_operator_graph_add_implementation(reader->graph, kind);
    made->tasks = raw.tasks;
    made->task_ps = raw.task;
    made->block_ps = raw.block != GT_TIME_NONE ? raw.block : 0;
    made->bytes = raw.bytes;
    made->operations = raw.operations;
    made->registers_per_thread = raw.registers;
    made->shared_bytes = raw.shared_bytes;
    if (raw.name != NULL && raw.name->type == GT_JSON_STRING)
        made->name = gt_strndup(raw.name->text, raw.name->length);
    made->runs = copy_name(reader, runs);
    made->arguments = copy_name(reader, arguments);
    return read_list(&raw.task_list, made, error);
}
