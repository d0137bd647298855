/* task_graph.json of Mirage's persistent kernel, as src/kernel/runtime.cc of that project writes it; numbers are those
 * of include/mirage/persistent_kernel/runtime_header.h and include/mirage/type.h.
 *
 * A task triggers one event when it ends and waits for one at most; an event with num_triggers triggers lets its
 * dependents begin: tasks that name it, or (the older way) the tasks from first_task_id to last_task_id - 1.  The file
 * does not say how many workers there are, nor what a task does: bytes are those of its tensors, operations those of a
 * matrix product where it is one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/tasks/internal.h"

/* A worker block a worker SM: MAX_NUM_WORKERS; threads as on Hopper; shared memory so that it is alone on its SM. */
enum { WORKERS = 128, THREADS = 256, SHARED_BYTES = 219 * 1024, MOST_TENSORS = 4096 };
enum { TASK_TERMINATE = 0, EVENT_LAUNCH_TASKS = 901, EVENT_LAUNCH_DEPENDENT_TASKS = 903 };
#define EVENT_INVALID     UINT64_C(0x7ffffffffffffffe)
#define EVENT_NVSHMEM_TAG UINT64_C(0x1e00000000000000)
#define MOST_COUNT        (UINT64_C(1) << 56) /* bytes of a tensor */

static const struct task_type {
    unsigned number;
    const char *name;
} task_types[] = {
    { 10, "BEGIN_TASK_GRAPH" },
    { 101, "EMBEDDING" },
    { 102, "RMS_NORM_LINEAR" },
    { 103, "ATTENTION_1" },
    { 104, "ATTENTION_2" },
    { 105, "SILU_MUL_LINEAR_WITH_RESIDUAL" },
    { 106, "ALLREDUCE" },
    { 107, "REDUCE" },
    { 108, "LINEAR_WITH_RESIDUAL" },
    { 109, "ARGMAX" },
    { 110, "ARGMAX_PARTIAL" },
    { 111, "ARGMAX_REDUCE" },
    { 112, "FIND_NGRAM_PARTIAL" },
    { 113, "FIND_NGRAM_GLOBAL" },
    { 114, "TARGET_VERIFY_GREEDY" },
    { 115, "SINGLE_BATCH_EXTEND_ATTENTION" },
    { 116, "PAGED_ATTENTION_1" },
    { 117, "PAGED_ATTENTION_2" },
    { 118, "SILU_MUL" },
    { 119, "RMS_NORM" },
    { 120, "LINEAR" },
    { 121, "IDENTITY" },
    { 151, "LINEAR_WITH_RESIDUAL_HOPPER" },
    { 152, "LINEAR_HOPPER" },
    { 153, "PAGED_ATTENTION_HOPPER" },
    { 154, "RMS_NORM_HOPPER" },
    { 155, "LINEAR_SWAPAB_HOPPER" },
    { 156, "LINEAR_SWAPAB_WITH_RESIDUAL_HOPPER" },
    { 157, "LINEAR_CUTLASS_HOPPER" },
    { 158, "LINEAR_CUTLASS_WITH_RESIDUAL_HOPPER" },
    { 159, "SILU_MUL_HOPPER" },
    { 160, "EMBEDDING_HOPPER" },
    { 161, "MOE_W13_LINEAR_SM90" },
    { 162, "MOE_W2_LINEAR_SM90" },
    { 163, "SPLITK_LINEAR_SWAPAB_HOPPER" },
    { 164, "PAGED_ATTENTION_SPLIT_KV_HOPPER" },
    { 251, "SPLITK_LINEAR_SM100" },
    { 252, "LINEAR_WITH_RESIDUAL_SM100" },
    { 253, "LINEAR_SM100" },
    { 257, "ATTN_SM100" },
    { 258, "ARGMAX_REDUCE_SM100" },
    { 259, "ARGMAX_PARTIAL_SM100" },
};

struct raw_task {
    uint32_t type;
    uint64_t trigger, dependent;
    const struct gt_json_token *inputs, *outputs;
};
static const struct gt_field task_fields[] = {
    { "task_type", GT_FIELD_U32, offsetof(struct raw_task, type), NULL, 0 },
    { "trigger_event", GT_FIELD_U64, offsetof(struct raw_task, trigger), NULL, 0 },
    { "dependent_event", GT_FIELD_U64, offsetof(struct raw_task, dependent), NULL, 0 },
    { "inputs", GT_FIELD_VALUE, offsetof(struct raw_task, inputs), NULL, 0 },
    { "outputs", GT_FIELD_VALUE, offsetof(struct raw_task, outputs), NULL, 0 },
};
static const struct gt_field_table task_table = GT_FIELD_TABLE("a task", task_fields);

struct raw_event {
    uint32_t type, triggers;
    uint64_t first, last;
};
static const struct gt_field event_fields[] = {
    { "event_type", GT_FIELD_U32, offsetof(struct raw_event, type), NULL, 0 },
    { "num_triggers", GT_FIELD_U32, offsetof(struct raw_event, triggers), NULL, 0 },
    { "first_task_id", GT_FIELD_U64, offsetof(struct raw_event, first), NULL, 0 },
    { "last_task_id", GT_FIELD_U64, offsetof(struct raw_event, last), NULL, 0 },
};
static const struct gt_field_table event_table = GT_FIELD_TABLE("an event", event_fields);

struct raw_tensor {
    const struct gt_json_token *base, *dims;
    uint64_t offset;
    uint32_t type;
};
static const struct gt_field tensor_fields[] = {
    { "base_ptr", GT_FIELD_TEXT, offsetof(struct raw_tensor, base), NULL, 0 },
    { "dims", GT_FIELD_ARRAY, offsetof(struct raw_tensor, dims), NULL, 0 },
    { "offset", GT_FIELD_U64, offsetof(struct raw_tensor, offset), NULL, 0 },
    { "data_type", GT_FIELD_U32, offsetof(struct raw_tensor, type), NULL, 0 },
};
static const struct gt_field_table tensor_table = GT_FIELD_TABLE("a tensor", tensor_fields);

struct reader {
    struct gt_task_import *import;
    struct gt_refs *buffers;
    struct raw_event *events;
    uint32_t event_count, event_room;
    const struct raw_event **launched_by; /* of each task of the file: the event whose range it is in; or NULL */
    uint32_t task_count;                  /* of the file */
};

static int read_fields(struct reader *reader, const struct gt_json_token *object, const struct gt_field_table *table,
                       void *raw, struct gt_error *error)
{
    uint64_t given;

    if (object->type != GT_JSON_OBJECT)
        return gt_error_set(error, "%s must be an object in { }", table->what);
    return gt_fields_read(object, table, reader->import->document.text, raw, &given, &reader->import->unknown, error);
}

/* Bits of an element: the hundreds of a data type tell, 92x to 96x. */
static unsigned element_bits(uint32_t type)
{
    return type >= 900 && type < 970 ? 1u << (type - 900) / 10 : 0;
}

/* The elements of a tensor, and its last side. */
static int read_sides(const struct gt_json_token *dims, uint64_t *elements, uint64_t *last, struct gt_error *error)
{
    *elements = *last = 1;
    for (const struct gt_json_token *side = dims + 1; dims != NULL && side < dims + dims->span; side += side->span) {
        char text[24];

        snprintf(text, sizeof text, "%.*s", side->length < 20 ? (int)side->length : 20, side->text);
        *last = side->type == GT_JSON_NUMBER && text[0] != '-' ? strtoull(text, NULL, 10) : UINT64_MAX;
        if (*last > MOST_COUNT || __builtin_mul_overflow(*elements, *last, elements) || *elements > MOST_COUNT)
            return gt_error_set(error, "a tensor's \"dims\" are not a list of sizes, or too large");
    }
    return 0;
}

/* What a task's tensors say of its work. */
struct work {
    uint64_t bytes, outputs, inner; /* elements that it writes; the last side of its second input */
};

static int read_tensor(struct reader *reader, const struct gt_json_token *object, bool writes, bool second,
                       struct work *work, struct gt_error *error)
{
    struct gt_task_graph *graph = reader->import->graph;
    struct gt_task_buffer buffer = { .name = GT_NONE };
    struct raw_tensor raw = { .base = NULL };
    uint64_t elements, last, bytes;
    uint32_t index;

    if (read_fields(reader, object, &tensor_table, &raw, error) != 0 ||
        read_sides(raw.dims, &elements, &last, error) != 0)
        return -1;
    if (raw.base == NULL || raw.base->type != GT_JSON_STRING || raw.offset > MOST_COUNT)
        return gt_error_set(error,
                            "a tensor needs \"base_ptr\", the name of its memory, and an \"offset\" within it");
    bytes = (elements * element_bits(raw.type) + 7) / 8;
    if (raw.base->length == 7 && memcmp(raw.base->text, "nullptr", 7) == 0)
        return 0;
    index = gt_refs_find(reader->buffers, raw.base, NULL);
    if (index == GT_NONE) {
        buffer.name = gt_name(reader->import->workload, raw.base->text, raw.base->length);
        index = gt_task_graph_add_buffer(graph, &buffer);
        gt_refs_add(reader->buffers, raw.base, index, 0);
    }
    if (graph->buffers[index].bytes < raw.offset + bytes)
        graph->buffers[index].bytes = raw.offset + bytes;
    gt_task_graph_add_access(graph, index, writes);
    work->bytes += bytes;
    if (writes)
        work->outputs += elements;
    if (second)
        work->inner = last;
    return 0;
}

static int read_tensors(struct reader *reader, const struct gt_json_token *list, bool writes, struct work *work,
                        struct gt_error *error)
{
    uint32_t number = 0;

    if (list == NULL || list->type == GT_JSON_NULL)
        return 0;
    if (list->type != GT_JSON_ARRAY || list->span > MOST_TENSORS)
        return gt_error_set(error, "\"%s\" must be a list of tensors", writes ? "outputs" : "inputs");
    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span, number++)
        if (read_tensor(reader, item, writes, !writes && number == 1, work, error) != 0)
            return -1;
    return 0;
}

/* The event that a task triggers or waits for: GT_NONE, or the index of a counter. */
static int read_event_id(const struct reader *reader, uint64_t id, uint32_t *event, struct gt_error *error)
{
    *event = GT_NONE;
    if (id == EVENT_INVALID)
        return 0;
    if ((id & EVENT_NVSHMEM_TAG) == EVENT_NVSHMEM_TAG)
        return gt_error_set(error, "its event is another GPU's (NVSHMEM); graphs of one GPU are what can be read");
    if ((id & UINT32_MAX) >= reader->event_count)
        return gt_error_set(error, "there is no event %llu", (unsigned long long)(id & UINT32_MAX));
    *event = (uint32_t)(id & UINT32_MAX);
    return 0;
}

static gt_task_kind_index kind_of(struct reader *reader, uint32_t type)
{
    char text[40];
    struct gt_json_token name = { .type = GT_JSON_STRING, .text = text };

    snprintf(text, sizeof text, "TASK_%u", type);
    for (size_t i = 0; i < sizeof task_types / sizeof *task_types; i++)
        if (task_types[i].number == type)
            snprintf(text, sizeof text, "%s", task_types[i].name);
    name.length = (uint32_t)strlen(text);
    return gt_task_import_kind(reader->import, &name);
}

static bool multiplies(const struct reader *reader, gt_task_kind_index kind)
{
    return strstr(gt_name_text(reader->import->workload, reader->import->graph->kinds[kind].name), "LINEAR") != NULL;
}

/* What lets a task begin: the event that it names, else that in whose range it is. */
static void add_wait(struct reader *reader, uint32_t event, uint32_t number)
{
    const struct raw_event *launched_by = reader->launched_by[number];

    if (event != GT_NONE)
        gt_task_graph_add_wait(reader->import->graph, event, reader->events[event].triggers);
    else if (launched_by != NULL)
        gt_task_graph_add_wait(reader->import->graph, (uint32_t)(launched_by - reader->events),
                               launched_by->triggers);
}

static int read_task(struct reader *reader, const struct gt_json_token *object, uint32_t number,
                     struct gt_error *error)
{
    struct raw_task raw = { .type = UINT32_MAX, .trigger = EVENT_INVALID, .dependent = EVENT_INVALID };
    struct gt_task_graph *graph = reader->import->graph;
    struct work work = { .bytes = 0 };
    uint32_t trigger, dependent;
    gt_task_index index;

    if (read_fields(reader, object, &task_table, &raw, error) != 0 ||
        read_event_id(reader, raw.trigger, &trigger, error) != 0 ||
        read_event_id(reader, raw.dependent, &dependent, error) != 0)
        return -1;
    if (raw.type == UINT32_MAX)
        return gt_error_set(error, "it has no \"task_type\"");
    if (raw.type == TASK_TERMINATE)
        return 0; /* ends the workers, when there is no more work */
    index = gt_task_graph_add_task(graph, kind_of(reader, raw.type));
    graph->tasks[index].line = gt_document_line(&reader->import->document, object);
    add_wait(reader, dependent, number);
    if (trigger != GT_NONE)
        gt_task_graph_add_signal(graph, trigger);
    if (read_tensors(reader, raw.inputs, false, &work, error) != 0 ||
        read_tensors(reader, raw.outputs, true, &work, error) != 0)
        return -1;
    graph->tasks[index].bytes = work.bytes;
    graph->tasks[index].operations = 0;
    if (multiplies(reader, graph->tasks[index].kind) && work.outputs < UINT32_MAX && work.inner < UINT32_MAX / 2)
        graph->tasks[index].operations = 2 * work.outputs * work.inner;
    return 0;
}

static int read_event(struct reader *reader, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_event raw = { .type = 0 };

    if (read_fields(reader, object, &event_table, &raw, error) != 0)
        return -1;
    gt_array_grow(reader->events, reader->event_count, reader->event_room);
    reader->events[reader->event_count++] = raw;
    gt_task_graph_add_counter(reader->import->graph, GT_NONE, 0);
    return 0;
}

static const struct gt_json_token *find_list(struct reader *reader, const char *name, struct gt_error *error)
{
    const struct gt_json_token *list = gt_document_field(reader->import->document.root, name);

    if (list != NULL && list->type == GT_JSON_ARRAY)
        return list;
    gt_error_set(error, " not a task graph of Mirage: \"%s\" is not a list", name);
    return NULL;
}

static int read_events(struct reader *reader, const struct gt_json_token *list, struct gt_error *error)
{
    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span)
        if (read_event(reader, item, error) != 0)
            return gt_task_import_error(reader->import, item, error);
    for (uint32_t e = 0; e < reader->event_count; e++) {
        const struct raw_event *event = &reader->events[e];

        if (event->type < EVENT_LAUNCH_TASKS || event->type > EVENT_LAUNCH_DEPENDENT_TASKS)
            continue;
        if (event->first > event->last || event->last > reader->task_count)
            return gt_error_set(error, " event %u launches tasks that are not there", e);
        for (uint64_t t = event->first; t < event->last; t++)
            if (reader->launched_by[t] == NULL)
                reader->launched_by[t] = event;
    }
    return 0;
}

static int read_all_tasks(struct reader *reader, const struct gt_json_token *list, struct gt_error *error)
{
    uint32_t number = 0;

    for (const struct gt_json_token *item = list + 1; item < list + list->span; item += item->span, number++) {
        if (read_task(reader, item, number, error) == 0)
            continue;
        gt_error_prefix(error, "task %u: ", number);
        return gt_task_import_error(reader->import, item, error);
    }
    return 0;
}

static bool begins_graph(const struct gt_task_graph *graph, const struct gt_task *task)
{
    for (uint32_t w = task->first_wait; w < task->first_wait + task->waits; w++)
        if (graph->waits[w].counter != 1) /* which the task that begins the graph triggers */
            return false;
    return true;
}

/* A buffer has its contents from before if nobody writes it, or if a task that comes after none reads it: what the step
 * before has left, caches and tokens. */
static void find_given(struct gt_task_graph *graph)
{
    for (uint32_t i = 0; i < graph->buffer_count; i++)
        graph->buffers[i].given = true;
    for (uint32_t i = 0; i < graph->access_count; i++)
        if (graph->accesses[i].writes)
            graph->buffers[graph->accesses[i].buffer].given = false;
    for (uint32_t t = 0; t < graph->task_count; t++) {
        const struct gt_task *task = &graph->tasks[t];

        for (uint32_t a = task->first_access; begins_graph(graph, task) && a < task->first_access + task->accesses;
             a++)
            if (!graph->accesses[a].writes)
                graph->buffers[graph->accesses[a].buffer].given = true;
    }
}

static int read_graph(struct reader *reader, struct gt_error *error)
{
    const struct gt_json_token *tasks = find_list(reader, "all_tasks", error), *events;

    events = tasks != NULL ? find_list(reader, "all_events", error) : NULL;
    if (events == NULL)
        return -1;
    for (const struct gt_json_token *item = tasks + 1; item < tasks + tasks->span; item += item->span)
        reader->task_count++;
    reader->launched_by = gt_calloc(reader->task_count + 1ull, sizeof *reader->launched_by);
    if (read_events(reader, events, error) != 0 || read_all_tasks(reader, tasks, error) != 0)
        return -1;
    find_given(reader->import->graph);
    return 0;
}

int gt_mirage_read(struct gt_task_import *import, struct gt_error *error)
{
    struct reader reader = { .import = import, .buffers = gt_refs_new() };
    int status = read_graph(&reader, error);

    import->kernel = "persistent_kernel";
    import->policy = "shared";
    import->workers = WORKERS;
    import->threads = THREADS;
    import->shared_bytes = SHARED_BYTES;
    gt_refs_free(reader.buffers);
    free(reader.events);
    free(reader.launched_by);
    return status;
}
