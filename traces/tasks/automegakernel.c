/* AutoMegaKernel's IR, schedule/ir.py of that project: MegakernelProgram.to_json(). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/workload/task_check.h"
#include "traces/import/device.h"
#include "traces/jsonl/refs.h"
#include "traces/names/gpu_names.h"
#include "traces/tasks/internal.h"

enum { SHOWN = 60, MOST_WORKERS = 1 << 20, MOST_THREADS = 1024, USUAL_THREADS = 256, MOST_OF_A_TASK = 4096 };
#define MOST_COUNT (UINT64_C(1) << 56) /* bytes or operations of one task */

/* Bits of an element (class DType); kinds of buffers whose contents are there before the launch (class BufferKind:
 * all but activations and outputs; a KV cache has what earlier steps put in). */
static const struct dtype {
    const char *name;
    unsigned bits;
} dtypes[] = {
    { "F32", 32 }, { "F16", 16 }, { "BF16", 16 }, { "F8E4M3", 8 }, { "F8E5M2", 8 },
    { "I32", 32 }, { "I8", 8 },   { "I4", 4 },    { "U8", 8 },     { "BOOL", 8 },
};
static const char *const given_kinds[] = { "WEIGHT", "CONST", "IO_INPUT", "KV_CACHE" };

struct raw_buffer {
    const struct gt_json_token *id, *name, *kind, *dtype, *shape;
};
static const struct gt_field buffer_fields[] = {
    { "id", GT_FIELD_REF, offsetof(struct raw_buffer, id), NULL, 0 },
    { "name", GT_FIELD_TEXT, offsetof(struct raw_buffer, name), NULL, 0 },
    { "kind", GT_FIELD_TEXT, offsetof(struct raw_buffer, kind), NULL, 0 },
    { "dtype", GT_FIELD_TEXT, offsetof(struct raw_buffer, dtype), NULL, 0 },
    { "shape", GT_FIELD_ARRAY, offsetof(struct raw_buffer, shape), NULL, 0 },
};
static const struct gt_field_table buffer_table = GT_FIELD_TABLE("a buffer", buffer_fields);

struct raw_counter {
    const struct gt_json_token *id, *note;
    uint32_t init;
};
static const struct gt_field counter_fields[] = {
    { "id", GT_FIELD_REF, offsetof(struct raw_counter, id), NULL, 0 },
    { "note", GT_FIELD_TEXT, offsetof(struct raw_counter, note), NULL, 0 },
    { "init", GT_FIELD_U32, offsetof(struct raw_counter, init), NULL, 0 },
};
static const struct gt_field_table counter_table = GT_FIELD_TABLE("a counter", counter_fields);

struct raw_task {
    const struct gt_json_token *id, *op, *inputs, *outputs, *out_counter, *waits, *sm, *label, *params;
    uint64_t bytes, operations;
};
static const struct gt_field task_fields[] = {
    { "id", GT_FIELD_REF, offsetof(struct raw_task, id), NULL, 0 },
    { "op", GT_FIELD_TEXT, offsetof(struct raw_task, op), NULL, 0 },
    { "inputs", GT_FIELD_ARRAY, offsetof(struct raw_task, inputs), NULL, 0 },
    { "outputs", GT_FIELD_ARRAY, offsetof(struct raw_task, outputs), NULL, 0 },
    { "out_counter", GT_FIELD_REF, offsetof(struct raw_task, out_counter), NULL, 0 },
    { "waits", GT_FIELD_ARRAY, offsetof(struct raw_task, waits), NULL, 0 },
    { "sm", GT_FIELD_REF, offsetof(struct raw_task, sm), NULL, 0 },
    { "est_bytes", GT_FIELD_U64, offsetof(struct raw_task, bytes), NULL, 0 },
    { "est_flops", GT_FIELD_U64, offsetof(struct raw_task, operations), NULL, 0 },
    { "label", GT_FIELD_TEXT, offsetof(struct raw_task, label), NULL, 0 },
    { "params", GT_FIELD_OBJECT, offsetof(struct raw_task, params), NULL, 0 },
};
static const struct gt_field_table task_table = GT_FIELD_TABLE("a task", task_fields);

struct raw_wait {
    const struct gt_json_token *counter;
    uint32_t threshold;
};
static const struct gt_field wait_fields[] = {
    { "counter", GT_FIELD_REF, offsetof(struct raw_wait, counter), NULL, 0 },
    { "threshold", GT_FIELD_U32, offsetof(struct raw_wait, threshold), NULL, 0 },
};
static const struct gt_field_table wait_table = GT_FIELD_TABLE("a wait", wait_fields);

/* The parts by their ids; names that a part has already. */
struct reader {
    struct gt_task_import *import;
    struct gt_refs *buffers, *counters, *tasks, *buffer_names, *counter_names;
};

static bool is(const struct gt_json_token *token, const char *text)
{
    return token != NULL && token->type == GT_JSON_STRING && token->length == strlen(text) &&
           memcmp(token->text, text, token->length) == 0;
}

static int read_fields(struct reader *reader, const struct gt_json_token *object, const struct gt_field_table *table,
                       void *raw, struct gt_error *error)
{
    uint64_t given;

    if (object->type != GT_JSON_OBJECT)
        return gt_error_set(error, "%s must be an object in { }", table->what);
    return gt_fields_read(object, table, reader->import->document.text, raw, &given, &reader->import->unknown, error);
}

/* A part's own id, which no other has. */
static int add_id(struct gt_refs *refs, const struct gt_json_token *id, uint32_t index, struct gt_error *error)
{
    if (id == NULL || id->type != GT_JSON_NUMBER)
        return gt_error_set(error, "its \"id\" must be a whole number");
    if (gt_refs_find(refs, id, NULL) != GT_NONE)
        return gt_error_set(error, "id %.*s is given twice", (int)id->length, id->text);
    gt_refs_add(refs, id, index, 0);
    return 0;
}

/* Who is meant by an id. */
static int find_id(const struct gt_refs *refs, const struct gt_json_token *id, const char *what, uint32_t *index,
                   struct gt_error *error)
{
    if (id == NULL || id->type != GT_JSON_NUMBER)
        return gt_error_set(error, "a %s goes by its id, a whole number", what);
    *index = gt_refs_find(refs, id, NULL);
    if (*index == GT_NONE)
        return gt_error_set(error, "there is no %s %.*s", what, id->length < SHOWN ? (int)id->length : SHOWN,
                            id->text);
    return 0;
}

/* The name of a part, where it has one that no other has. */
static uint32_t take_name(struct reader *reader, struct gt_refs *names, const struct gt_json_token *name)
{
    if (name == NULL || name->type != GT_JSON_STRING || name->length == 0 ||
        gt_refs_find(names, name, NULL) != GT_NONE)
        return GT_NONE;
    gt_refs_add(names, name, 0, 0);
    return gt_name(reader->import->workload, name->text, name->length);
}

static int read_shape(const struct raw_buffer *raw, uint64_t *bytes, struct gt_error *error)
{
    const struct gt_json_token *shape = raw->shape;
    uint64_t elements = 1, number;
    size_t i = 0;

    while (i < sizeof dtypes / sizeof *dtypes && !is(raw->dtype, dtypes[i].name))
        i++;
    *bytes = 0;
    if (i == sizeof dtypes / sizeof *dtypes || shape == NULL)
        return 0; /* not known: the tasks say what they move */
    for (const struct gt_json_token *side = shape + 1; side < shape + shape->span; side += side->span) {
        char text[24];

        snprintf(text, sizeof text, "%.*s", side->length < 20 ? (int)side->length : 20, side->text);
        number =
            side->type == GT_JSON_NUMBER && isdigit((unsigned char)text[0]) ? strtoull(text, NULL, 10) : UINT64_MAX;
        if (number > MOST_COUNT || __builtin_mul_overflow(elements, number, &elements) || elements > MOST_COUNT)
            return gt_error_set(error, "its \"shape\" is not a list of sizes, or too large");
    }
    *bytes = (elements * dtypes[i].bits + 7) / 8;
    return 0;
}

static int read_buffer(struct reader *reader, const struct gt_json_token *object, struct gt_error *error)
{
    struct gt_task_buffer buffer = { .name = GT_NONE };
    struct raw_buffer raw = { .id = NULL };

    if (read_fields(reader, object, &buffer_table, &raw, error) != 0 ||
        add_id(reader->buffers, raw.id, reader->import->graph->buffer_count, error) != 0 ||
        read_shape(&raw, &buffer.bytes, error) != 0)
        return -1;
    for (size_t i = 0; i < sizeof given_kinds / sizeof *given_kinds; i++)
        buffer.given |= is(raw.kind, given_kinds[i]);
    buffer.name = take_name(reader, reader->buffer_names, raw.name);
    gt_task_graph_add_buffer(reader->import->graph, &buffer);
    return 0;
}

static int read_counter(struct reader *reader, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_counter raw = { .id = NULL };

    if (read_fields(reader, object, &counter_table, &raw, error) != 0 ||
        add_id(reader->counters, raw.id, reader->import->graph->counter_count, error) != 0)
        return -1;
    gt_task_graph_add_counter(reader->import->graph, take_name(reader, reader->counter_names, raw.note), raw.init);
    return 0;
}

static int read_waits(struct reader *reader, const struct gt_json_token *list, struct gt_error *error)
{
    for (const struct gt_json_token *item = list + 1; list != NULL && item < list + list->span; item += item->span) {
        struct raw_wait raw = { .counter = NULL };
        uint32_t counter;

        if (read_fields(reader, item, &wait_table, &raw, error) != 0 ||
            find_id(reader->counters, raw.counter, "counter", &counter, error) != 0)
            return -1;
        gt_task_graph_add_wait(reader->import->graph, counter, raw.threshold);
    }
    return 0;
}

static int read_accesses(struct reader *reader, const struct gt_json_token *list, bool writes, struct gt_error *error)
{
    for (const struct gt_json_token *item = list + 1; list != NULL && item < list + list->span; item += item->span) {
        uint32_t buffer;

        if (find_id(reader->buffers, item, "buffer", &buffer, error) != 0)
            return -1;
        gt_task_graph_add_access(reader->import->graph, buffer, writes);
    }
    return 0;
}

static int read_worker(struct reader *reader, const struct gt_json_token *sm, gt_worker_index *worker,
                       struct gt_error *error)
{
    uint64_t number = 0;

    if (sm == NULL || sm->type == GT_JSON_NULL)
        return 0;
    if (sm->type == GT_JSON_NUMBER)
        number = sm->length < 10 ? strtoull(sm->text, NULL, 10) : UINT64_MAX;
    if (sm->type != GT_JSON_NUMBER || number >= reader->import->workers)
        return gt_error_set(error, "its SM is %.*s, and the target has %u, from 0 on",
                            sm->length < SHOWN ? (int)sm->length : SHOWN, sm->text, reader->import->workers);
    *worker = (gt_worker_index)number;
    return 0;
}

static bool too_many(const struct gt_json_token *list)
{
    return list != NULL && list->span > MOST_OF_A_TASK;
}

static int read_task(struct reader *reader, const struct gt_json_token *object, const struct raw_task *raw,
                     struct gt_error *error)
{
    struct gt_task_import *import = reader->import;
    struct gt_task_graph *graph = import->graph;
    gt_task_index index = graph->task_count;
    uint32_t counter;

    if (add_id(reader->tasks, raw->id, index, error) != 0)
        return -1;
    if (raw->op == NULL || raw->op->type != GT_JSON_STRING)
        return gt_error_set(error, "its \"op\" must be a text");
    if (raw->bytes > MOST_COUNT || raw->operations > MOST_COUNT)
        return gt_error_set(error, "its bytes or operations are too many");
    if (too_many(raw->waits) || too_many(raw->inputs) || too_many(raw->outputs))
        return gt_error_set(error, "it has more than %d waits, inputs or outputs", MOST_OF_A_TASK);
    if (find_id(reader->counters, raw->out_counter, "counter", &counter, error) != 0)
        return gt_error_prefix(error, "\"out_counter\": ");
    gt_task_graph_add_task(graph, gt_task_import_shaped_kind(import, raw->op, raw->params));
    graph->tasks[index].line = gt_document_line(&import->document, object);
    graph->tasks[index].bytes = raw->bytes;
    graph->tasks[index].operations = raw->operations;
    if (raw->label != NULL && raw->label->type == GT_JSON_STRING && raw->label->length > 0)
        graph->tasks[index].name = gt_name(import->workload, raw->label->text, raw->label->length);
    gt_task_graph_add_signal(graph, counter);
    if (read_worker(reader, raw->sm, &graph->tasks[index].worker, error) != 0 ||
        read_waits(reader, raw->waits, error) != 0 || read_accesses(reader, raw->inputs, false, error) != 0 ||
        read_accesses(reader, raw->outputs, true, error) != 0)
        return -1;
    return 0;
}

static int read_named_task(struct reader *reader, const struct gt_json_token *object, struct gt_error *error)
{
    gt_task_index index = reader->import->graph->task_count;
    const struct gt_json_token *label = gt_document_field(object, "label");
    struct raw_task raw = { .id = NULL };

    if (read_fields(reader, object, &task_table, &raw, error) == 0 && read_task(reader, object, &raw, error) == 0)
        return 0;
    if (label != NULL && label->type == GT_JSON_STRING)
        return gt_error_prefix(error, "task %u (%.*s): ", index, label->length < SHOWN ? (int)label->length : SHOWN,
                               label->text);
    return gt_error_prefix(error, "task %u: ", index);
}

/* Each object of a list of the program. */
static int read_list(struct reader *reader, const char *name,
                     int (*read)(struct reader *reader, const struct gt_json_token *object, struct gt_error *error),
                     struct gt_error *error)
{
    struct gt_document *document = &reader->import->document;
    const struct gt_json_token *list = gt_document_field(document->root, name);

    if (list == NULL || list->type != GT_JSON_ARRAY)
        return gt_error_set(error, " not a program of AutoMegaKernel: \"%s\" is not a list", name);
    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span)
        if (read(reader, item, error) != 0)
            return gt_task_import_error(reader->import, item, error);
    return 0;
}

/* A whole number of the program's `target` or `config`; `usual` where it is not there. */
static int read_size(const struct gt_json_token *object, const char *name, uint32_t usual, uint32_t most,
                     uint32_t *size, struct gt_error *error)
{
    const struct gt_json_token *value = object != NULL ? gt_document_field(object, name) : NULL;
    uint64_t number = UINT64_MAX;

    *size = usual;
    if (value == NULL || value->type == GT_JSON_NULL)
        return 0;
    if (value->type == GT_JSON_NUMBER && value->length < 10 && isdigit((unsigned char)value->text[0]))
        number = strtoull(value->text, NULL, 10);
    if (number > most)
        return gt_error_set(error, " \"%s\" must be a whole number up to %u", name, most);
    *size = (uint32_t)number;
    return 0;
}

/* The device file of the GPU that the program is for. */
static void read_device(struct gt_task_import *import, const struct gt_json_token *target)
{
    const struct gt_json_token *name = target != NULL ? gt_document_field(target, "name") : NULL;
    char text[64] = "";
    const char *file;

    for (uint32_t i = 0; name != NULL && name->type == GT_JSON_STRING && i < name->length && i < sizeof text - 1; i++)
        text[i] = (char)toupper((unsigned char)name->text[i]);
    file = gt_gpu_device_file(text);
    if (file != NULL)
        import->workload->device = strdup(file);
    else
        gt_import_device_unknown(import->workload);
}

static int read_launch(struct gt_task_import *import, struct gt_error *error)
{
    const struct gt_json_token *target = gt_document_field(import->document.root, "target");
    const struct gt_json_token *config = gt_document_field(import->document.root, "config");

    if (read_size(target, "num_sms", 0, MOST_WORKERS, &import->workers, error) != 0 ||
        read_size(config, "threads_per_block", USUAL_THREADS, MOST_THREADS, &import->threads, error) != 0 ||
        read_size(config, "smem_bytes_per_block", 0, INT32_MAX, &import->shared_bytes, error) != 0)
        return -1;
    if (import->workers == 0 || import->threads == 0)
        return gt_error_set(error, " nothing says how many workers there are: \"num_sms\" of \"target\", or their "
                                   "threads");
    read_device(import, target);
    return 0;
}

/* {"task": SM, ...} for tasks that have none. */
static int read_map(struct reader *reader, const struct gt_json_token *map, struct gt_error *error)
{
    for (const struct gt_json_token *key = map + 1; key < map + map->span; key += 1 + key[1].span) {
        struct gt_json_token id = { .type = GT_JSON_NUMBER, .text = key->text, .length = key->length };
        uint32_t task;

        if (find_id(reader->tasks, &id, "task", &task, error) != 0)
            return gt_error_prefix(error, " \"sm_assignment\": ");
        if (reader->import->graph->tasks[task].worker == GT_NONE &&
            read_worker(reader, key + 1, &reader->import->graph->tasks[task].worker, error) != 0)
            return gt_error_prefix(error, " \"sm_assignment\": task %u: ", task);
    }
    return 0;
}

static uint32_t count_listed(const struct gt_task_graph *graph)
{
    uint32_t listed = 0;

    for (uint32_t i = 0; i < graph->task_count; i++)
        listed += graph->tasks[i].worker != GT_NONE;
    return listed;
}

/* Who does what: the tasks' own SMs, else as the configuration has it, else whoever is free. */
static int assign(struct reader *reader, struct gt_error *error)
{
    struct gt_task_import *import = reader->import;
    const struct gt_json_token *config = gt_document_field(import->document.root, "config"), *how = NULL;
    uint32_t listed;

    if (config != NULL)
        how = gt_document_field(config, "sm_assignment");
    if (how != NULL && how->type == GT_JSON_OBJECT && read_map(reader, how, error) != 0)
        return -1;
    import->policy = "shared";
    listed = count_listed(import->graph);
    if (listed == 0 && (is(how, "round_robin") || is(how, "load_balance"))) {
        if (gt_task_graph_check(import->workload, import->graph, error) != 0)
            return 0; /* which the whole workload's check says again */
        import->graph = gt_task_assignment(
            import->graph, is(how, "round_robin") ? GT_DEAL_ROUND_ROBIN : GT_DEAL_LOAD_BALANCE, import->workers);
        listed = import->graph->task_count;
    } else if (how != NULL && how->type == GT_JSON_STRING && !is(how, "round_robin") && !is(how, "load_balance")) {
        return gt_error_set(error, " \"sm_assignment\": there are round_robin, load_balance and {task: SM}");
    }
    if (listed > 0)
        import->policy = listed == import->graph->task_count ? "static" : "mixed";
    return 0;
}

static int check_version(const struct gt_json_token *root, struct gt_error *error)
{
    const struct gt_json_token *version = gt_document_field(root, "ir_version");

    if (version == NULL || version->type != GT_JSON_STRING || version->length < 2 ||
        memcmp(version->text, "0.", 2) != 0)
        return gt_error_set(error, " \"ir_version\" is not 0.x, which is what is known");
    return 0;
}

int gt_automegakernel_read(struct gt_task_import *import, struct gt_error *error)
{
    struct reader reader = { .import = import };
    int status;

    import->kernel = "megakernel";
    reader.buffers = gt_refs_new();
    reader.counters = gt_refs_new();
    reader.tasks = gt_refs_new();
    reader.buffer_names = gt_refs_new();
    reader.counter_names = gt_refs_new();
    status = check_version(import->document.root, error);
    if (status == 0)
        status = read_launch(import, error);
    if (status == 0)
        status = read_list(&reader, "buffers", read_buffer, error);
    if (status == 0)
        status = read_list(&reader, "counters", read_counter, error);
    if (status == 0)
        status = read_list(&reader, "tasks", read_named_task, error);
    if (status == 0)
        status = assign(&reader, error);
    gt_refs_free(reader.buffers);
    gt_refs_free(reader.counters);
    gt_refs_free(reader.tasks);
    gt_refs_free(reader.buffer_names);
    gt_refs_free(reader.counter_names);
    return status;
}
