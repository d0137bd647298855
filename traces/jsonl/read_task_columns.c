/* Many tasks a line: a column a field, an entry a task; numbers in place of names. */
#include "traces/jsonl/task_lines.h"

enum { MOST_OF_A_TASK = UINT16_MAX };

struct raw_columns {
    const struct gt_json_token *kind, *worker, *bytes, *operations, *name, *waits, *signals, *makes, *reads, *writes;
    struct gt_field_times duration;
    uint32_t count;
};
static const struct gt_field column_fields[] = {
    { "count", GT_FIELD_U32, offsetof(struct raw_columns, count), NULL, 0 },
    { "kind", GT_FIELD_VALUE, offsetof(struct raw_columns, kind), NULL, 0 },
    { "worker", GT_FIELD_VALUE, offsetof(struct raw_columns, worker), NULL, 0 },
    { "duration", GT_FIELD_TIMES, offsetof(struct raw_columns, duration), NULL, 0 },
    { "bytes", GT_FIELD_VALUE, offsetof(struct raw_columns, bytes), NULL, 0 },
    { "operations", GT_FIELD_VALUE, offsetof(struct raw_columns, operations), NULL, 0 },
    { "task", GT_FIELD_VALUE, offsetof(struct raw_columns, name), NULL, 0 },
    { "waits", GT_FIELD_ARRAY, offsetof(struct raw_columns, waits), NULL, 0 },
    { "signals", GT_FIELD_ARRAY, offsetof(struct raw_columns, signals), NULL, 0 },
    { "makes", GT_FIELD_ARRAY, offsetof(struct raw_columns, makes), NULL, 0 },
    { "reads", GT_FIELD_ARRAY, offsetof(struct raw_columns, reads), NULL, 0 },
    { "writes", GT_FIELD_ARRAY, offsetof(struct raw_columns, writes), NULL, 0 },
};
static const struct gt_field_table column_table = GT_FIELD_TABLE("columns of tasks", column_fields);

/* Where an entry goes: its task is the graph's last. */
struct place {
    struct gt_jsonl *jsonl;
    struct gt_jsonl_graph *graph;
    struct gt_task *task;
    const char *name; /* of the column */
    int exponent;     /* of times */
};

static int read_count(const struct place *place, const struct gt_json_token *value, uint64_t *count,
                      struct gt_error *error)
{
    return gt_jsonl_task_number(value, place->name, UINT64_MAX - 1, count, error);
}

static int read_kind(const struct place *place, const struct gt_json_token *value, struct gt_error *error)
{
    return gt_jsonl_use_kind(place->graph, value, &place->task->kind, error);
}

static int read_worker(const struct place *place, const struct gt_json_token *value, struct gt_error *error)
{
    uint64_t number;

    if (gt_jsonl_task_number(value, place->name, GT_MOST_WORKERS - 1, &number, error) != 0)
        return -1;
    place->task->worker = (gt_worker_index)number;
    return 0;
}

static int read_duration(const struct place *place, const struct gt_json_token *value, struct gt_error *error)
{
    return gt_field_time(value, place->exponent, place->name, &place->task->time_ps, error);
}

static int read_bytes(const struct place *place, const struct gt_json_token *value, struct gt_error *error)
{
    return read_count(place, value, &place->task->bytes, error);
}

static int read_operations(const struct place *place, const struct gt_json_token *value, struct gt_error *error)
{
    return read_count(place, value, &place->task->operations, error);
}

static int read_name(const struct place *place, const struct gt_json_token *value, struct gt_error *error)
{
    if (value->type != GT_JSON_STRING)
        return gt_error_set(error, "\"task\" must be a string or null");
    place->task->name = gt_name(place->jsonl->workload, value->text, value->length);
    return 0;
}

/* counter, threshold, counter, threshold ... */
static int read_waits(const struct place *place, const struct gt_json_token *entry, struct gt_error *error)
{
    gt_task_counter_index counter;
    uint64_t threshold;

    if (entry->type != GT_JSON_ARRAY || entry->span % 2 == 0 || entry->span / 2 > MOST_OF_A_TASK)
        return gt_error_set(error, "an entry of \"waits\" must be [counter, threshold, counter, threshold ...]");
    for (const struct gt_json_token *item = entry + 1; item < entry + entry->span; item += 2) {
        if (item->span != 1 || gt_jsonl_use_counter(place->jsonl, place->graph, item, &counter, error) != 0 ||
            gt_jsonl_task_number(item + 1, place->name, UINT32_MAX - 1, &threshold, error) != 0)
            return item->span != 1 ? gt_error_set(error, "\"waits\" has a list in place of a counter") : -1;
        gt_task_graph_add_wait(place->graph->graph, counter, (uint32_t)threshold);
    }
    return 0;
}

static int add_signal(const struct place *place, const struct gt_json_token *value, struct gt_error *error)
{
    gt_task_counter_index counter;

    if (gt_jsonl_use_counter(place->jsonl, place->graph, value, &counter, error) != 0)
        return -1;
    gt_task_graph_add_signal(place->graph->graph, counter);
    return 0;
}

static int add_made(const struct place *place, const struct gt_json_token *value, struct gt_error *error)
{
    uint64_t number;

    if (gt_jsonl_task_number(value, place->name, GT_MOST_TASKS - 1, &number, error) != 0)
        return -1;
    gt_task_graph_add_made(place->graph->graph, (gt_task_index)number);
    return 0;
}

static int add_access(const struct place *place, const struct gt_json_token *value, bool writes,
                      struct gt_error *error)
{
    gt_task_buffer_index buffer;

    if (gt_jsonl_use_task_buffer(place->jsonl, place->graph, value, &buffer, error) != 0)
        return -1;
    if (place->task->accesses == MOST_OF_A_TASK)
        return gt_error_set(error, "a task reads and writes more than %d buffers", MOST_OF_A_TASK);
    gt_task_graph_add_access(place->graph->graph, buffer, writes);
    return 0;
}

static int add_read(const struct place *place, const struct gt_json_token *value, struct gt_error *error)
{
    return add_access(place, value, false, error);
}

static int add_write(const struct place *place, const struct gt_json_token *value, struct gt_error *error)
{
    return add_access(place, value, true, error);
}

/* A list, or the one thing that would be in it. */
static int read_each(const struct place *place, const struct gt_json_token *entry,
                     int (*add)(const struct place *place, const struct gt_json_token *value, struct gt_error *error),
                     struct gt_error *error)
{
    if (entry->type != GT_JSON_ARRAY)
        return add(place, entry, error);
    if (entry->span > MOST_OF_A_TASK)
        return gt_error_set(error, "\"%s\": a task has at most %d", place->name, MOST_OF_A_TASK);
    for (const struct gt_json_token *item = entry + 1; item < entry + entry->span; item += item->span)
        if (add(place, item, error) != 0)
            return -1;
    return 0;
}

static int read_signals(const struct place *place, const struct gt_json_token *entry, struct gt_error *error)
{
    return read_each(place, entry, add_signal, error);
}

static int read_makes(const struct place *place, const struct gt_json_token *entry, struct gt_error *error)
{
    return read_each(place, entry, add_made, error);
}

static int read_reads(const struct place *place, const struct gt_json_token *entry, struct gt_error *error)
{
    return read_each(place, entry, add_read, error);
}

static int read_writes(const struct place *place, const struct gt_json_token *entry, struct gt_error *error)
{
    return read_each(place, entry, add_write, error);
}

/* Reads before writes, as in tasks that are objects. */
static const struct column {
    const char *name;
    size_t offset; /* of struct raw_columns; of "duration" of its value there */
    int (*read)(const struct place *place, const struct gt_json_token *value, struct gt_error *error);
} columns[] = {
    { "kind", offsetof(struct raw_columns, kind), read_kind },
    { "worker", offsetof(struct raw_columns, worker), read_worker },
    { "duration", offsetof(struct raw_columns, duration.value), read_duration },
    { "bytes", offsetof(struct raw_columns, bytes), read_bytes },
    { "operations", offsetof(struct raw_columns, operations), read_operations },
    { "task", offsetof(struct raw_columns, name), read_name },
    { "waits", offsetof(struct raw_columns, waits), read_waits },
    { "signals", offsetof(struct raw_columns, signals), read_signals },
    { "makes", offsetof(struct raw_columns, makes), read_makes },
    { "reads", offsetof(struct raw_columns, reads), read_reads },
    { "writes", offsetof(struct raw_columns, writes), read_writes },
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static int check_column(const struct column *column, const struct gt_json_token *value, uint32_t count,
                        struct gt_error *error)
{
    uint32_t entries = 0;

    if (value->type != GT_JSON_ARRAY)
        return 0; /* one for all */
    for (const struct gt_json_token *item = value + 1; item < value + value->span; item += item->span)
        entries++;
    if (entries != count)
        return gt_error_set(error, "\"%s\" has %u entries for %u tasks", column->name, entries, count);
    return 0;
}

/* Where a column's entries are: one for all tasks, or the next one of a list. */
struct cursor {
    const struct gt_json_token *value; /* NULL: the column is not there */
    bool listed;
};

static int open_columns(const struct raw_columns *raw, struct cursor *cursors, struct gt_error *error)
{
    for (int c = 0; c < COLUMNS; c++) {
        const char *place = (const char *)raw + columns[c].offset;
        const struct gt_json_token *value = *(const struct gt_json_token *const *)(const void *)place;

        if (value != NULL && check_column(&columns[c], value, raw->count, error) != 0)
            return -1;
        cursors[c].listed = value != NULL && value->type == GT_JSON_ARRAY;
        cursors[c].value = cursors[c].listed ? value + 1 : value;
    }
    return 0;
}

static int read_task(struct place *place, struct cursor *cursors, struct gt_error *error)
{
    for (int c = 0; c < COLUMNS; c++) {
        const struct gt_json_token *value = cursors[c].value;

        if (value == NULL)
            continue;
        place->name = columns[c].name;
        if (cursors[c].listed)
            cursors[c].value += value->span;
        if ((value->type != GT_JSON_NULL || columns[c].read == read_kind) &&
            columns[c].read(place, value, error) != 0)
            return -1;
    }
    return 0;
}

int gt_jsonl_task_columns(struct gt_jsonl *jsonl, struct gt_jsonl_graph *graph, const struct gt_json_token *object,
                          struct gt_error *error)
{
    struct place place = { .jsonl = jsonl, .graph = graph };
    struct raw_columns raw = { .count = 0 };
    struct cursor cursors[COLUMNS];
    uint64_t given;

    if (gt_fields_read(object, &column_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0)
        return gt_error_prefix(error, "columns: ");
    if (raw.count == 0 || raw.count > GT_MOST_TASKS - graph->graph->task_count)
        return gt_error_set(error, "columns: \"count\" must be at least 1, and a graph has at most %d tasks",
                            GT_MOST_TASKS);
    if (gt_jsonl_count_parts(jsonl, raw.count, error) != 0)
        return gt_error_prefix(error, "columns: ");
    if (raw.kind == NULL)
        return gt_error_set(error, "columns: tasks need a \"kind\"");
    if (open_columns(&raw, cursors, error) != 0)
        return gt_error_prefix(error, "columns: ");
    place.exponent = raw.duration.exponent;
    for (uint32_t i = 0; i < raw.count; i++) {
        gt_task_index index = gt_task_graph_add_task(graph->graph, 0);

        place.task = &graph->graph->tasks[index];
        place.task->line = jsonl->line_number;
        if (read_task(&place, cursors, error) != 0)
            return gt_error_prefix(error, "task %u: ", index);
    }
    return 0;
}
