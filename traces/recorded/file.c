/* file.c - a process's file: every record is held to its kind's size before anybody looks at it. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "traces/recorded/internal.h"

/* The least that a record of a kind has, and where it says how much follows. */
static const struct rule {
    size_t bytes;
    size_t count_at; /* a uint32_t; 0: nothing follows */
    size_t each;
} rules[GT_RECORDED_KINDS] = {
#define FIXED(type)               \
    {                             \
        sizeof(struct type), 0, 0 \
    }
#define MORE(type, count, size)                                 \
    {                                                           \
        sizeof(struct type), offsetof(struct type, count), size \
    }
    [GT_RECORDED_NAME] = MORE(gt_record_name, length, 1),
    [GT_RECORDED_THREAD] = MORE(gt_record_thread, length, 1),
    [GT_RECORDED_GPU] = MORE(gt_record_gpu, length, 1),
    [GT_RECORDED_CONTEXT] = FIXED(gt_record_context),
    [GT_RECORDED_STREAM] = FIXED(gt_record_stream),
    [GT_RECORDED_CALL] = FIXED(gt_record_call),
    [GT_RECORDED_FUNCTION] = MORE(gt_record_function, count, sizeof(struct gt_recorded_parameter)),
    [GT_RECORDED_LAUNCH] = MORE(gt_record_launch, count, sizeof(struct gt_recorded_word)),
    [GT_RECORDED_OP] = FIXED(gt_record_op),
    [GT_RECORDED_GRAPH] = FIXED(gt_record_graph),
    [GT_RECORDED_NODE] = FIXED(gt_record_node),
    [GT_RECORDED_EDGE] = FIXED(gt_record_edge),
    [GT_RECORDED_CLONE] = FIXED(gt_record_clone),
    [GT_RECORDED_RANGE] = FIXED(gt_record_range),
    [GT_RECORDED_SWITCH] = FIXED(gt_record_switch),
    [GT_RECORDED_DROPPED] = FIXED(gt_record_dropped),
    [GT_RECORDED_COST] = FIXED(gt_record_cost),
    [GT_RECORDED_PROBLEM] = MORE(gt_record_problem, length, 1),
    [GT_RECORDED_END] = FIXED(gt_record_end),
    [GT_RECORDED_OVERHEAD] = FIXED(gt_record_overhead),
    [GT_RECORDED_PIECE] = FIXED(gt_record_piece),
};

static int take_record(struct gt_recorded_process *process, const struct gt_record_head *head)
{
    const struct rule *rule;
    uint32_t count = 0;
    struct gt_recorded_list *list;

    if (head->kind == 0 || head->kind >= GT_RECORDED_KINDS)
        return -1;
    rule = &rules[head->kind];
    if (head->bytes < rule->bytes)
        return -1;
    if (rule->count_at != 0) {
        memcpy(&count, (const char *)head + rule->count_at, sizeof count);
        if (count > (head->bytes - rule->bytes) / rule->each)
            return -1;
    }
    list = &process->lists[head->kind];
    if (list->count == GT_NONE - 1)
        return -1;
    gt_array_grow(list->items, list->count, list->room);
    list->items[list->count++] = head;
    return 0;
}

/* A chunk's records, up to the first that was not finished. */
static int take_chunk(struct gt_recorded_process *process, uint64_t at, uint64_t end)
{
    while (end - at >= sizeof(struct gt_record_head)) {
        const struct gt_record_head *head = (const struct gt_record_head *)(process->bytes + at);

        if (head->bytes == 0)
            return 0;
        if (head->bytes % 8 != 0 || head->bytes > end - at || take_record(process, head) != 0)
            return -1;
        at += head->bytes;
    }
    return 0;
}

static int read_all(struct gt_recorded_process *process, struct gt_input *input, struct gt_error *error)
{
    uint64_t room = 0;

    for (;;) {
        ssize_t got;

        if (process->size == room) {
            room = room == 0 ? 1 << 16 : 2 * room;
            process->bytes = gt_realloc(process->bytes, room, 1);
        }
        got = gt_input_read(input, process->bytes + process->size, room - process->size, error);
        if (got <= 0)
            return (int)got;
        process->size += (uint64_t)got;
    }
}

static int take_all(struct gt_recorded_process *process, const char *path, struct gt_error *error)
{
    if (process->size < GT_RECORDED_HEADER_BYTES || memcmp(process->bytes, GT_RECORDED_MAGIC, 8) != 0)
        return gt_error_set(error, "%s: not written by gridtide record", path);
    process->header = (const struct gt_recorded_header *)process->bytes;
    if (process->header->version != GT_RECORDED_VERSION)
        return gt_error_set(error,
                            "%s: has version %u, but this Gridtide reads version %d; record again with this Gridtide",
                            path, process->header->version, GT_RECORDED_VERSION);
    for (uint64_t at = GT_RECORDED_HEADER_BYTES; at < process->size; at += GT_RECORDED_CHUNK_BYTES) {
        uint64_t end = process->size - at > GT_RECORDED_CHUNK_BYTES ? at + GT_RECORDED_CHUNK_BYTES : process->size;

        if (take_chunk(process, at, end) != 0)
            return gt_error_set(error, "%s: byte %llu: invalid record; the file is damaged", path,
                                (unsigned long long)at);
    }
    return 0;
}

int gt_recorded_load(struct gt_recorded_process *process, const char *path, struct gt_input *opened,
                     struct gt_error *error)
{
    struct gt_input *input = gt_input_share(opened, path, error);
    int status;

    if (input == NULL)
        return -1;
    status = read_all(process, input, error);
    gt_input_close(input);
    return status != 0 ? -1 : take_all(process, path, error);
}

void gt_recorded_unload(struct gt_recorded_process *process)
{
    for (int i = 0; i < GT_RECORDED_KINDS; i++)
        free(process->lists[i].items);
    for (uint32_t i = 0; process->types != NULL && i < process->name_count; i++)
        free(process->types[i].type);
    free(process->types);
    free(process->outer);
    free(process->host_nodes);
    free(process->loads);
    free(process->names);
    free(process->kernel_names);
    free(process->call_names);
    free(process->by_graph);
    free(process->taken);
    free(process->with_bodies);
    free(process->stream_context);
    free(process->memory);
    free(process->by_correlation);
    free(process->bytes);
}
