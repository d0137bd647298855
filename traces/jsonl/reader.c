#include "traces/jsonl/reader.h"

void gt_jsonl_keep_unknown(struct gt_jsonl *jsonl, enum gt_extra_of of, uint32_t index)
{
    if (jsonl->unknown.length != 0)
        gt_workload_add_extra(jsonl->workload, of, index, jsonl->unknown.text);
}

const struct gt_call_rule gt_call_rules[GT_CALL_KINDS] = {
    [GT_CALL_LAUNCH] = { .stream = true, .op = true, .op_kind = GT_OP_KERNEL },
    [GT_CALL_GRAPH_LAUNCH] = { .stream = true },
    [GT_CALL_COPY] = { .stream = true, .op = true, .op_kind = GT_OP_COPY },
    [GT_CALL_MEMSET] = { .stream = true, .op = true, .op_kind = GT_OP_MEMSET },
    [GT_CALL_HOST_FUNCTION] = { .stream = true, .op = true, .op_kind = GT_OP_HOST_FUNCTION },
    [GT_CALL_STREAM_CREATE] = { .stream = true },
    [GT_CALL_STREAM_SYNC] = { .stream = true },
    [GT_CALL_STREAM_QUERY] = { .stream = true },
    [GT_CALL_EVENT_CREATE] = { .event = true },
    [GT_CALL_EVENT_RECORD] = { .stream = true, .event = true },
    [GT_CALL_EVENT_WAIT] = { .stream = true, .event = true },
    [GT_CALL_EVENT_QUERY] = { .event = true },
    [GT_CALL_EVENT_SYNC] = { .event = true },
    [GT_CALL_ALLOC] = { .buffer = true },
    [GT_CALL_FREE] = { .buffer = true },
    [GT_CALL_RECORD_STREAM] = { .stream = true, .buffer = true },
};

const struct gt_stream_flag_name gt_stream_flag_names[GT_STREAM_FLAG_NAMES] = {
    { "legacy_default", GT_STREAM_LEGACY_DEFAULT },
    { "per_thread_default", GT_STREAM_PER_THREAD_DEFAULT },
    { "non_blocking", GT_STREAM_NON_BLOCKING },
};

uint8_t gt_usual_memory(const struct gt_op *op)
{
    static const uint8_t of_copies[GT_DIRECTIONS] = {
        [GT_H2D] = GT_MEMORY_PINNED, [GT_D2H] = GT_MEMORY_PINNED,   [GT_D2D] = GT_MEMORY_DEVICE,
        [GT_P2P] = GT_MEMORY_DEVICE, [GT_H2H] = GT_MEMORY_PAGEABLE,
    };

    if (op->kind == GT_OP_COPY && op->direction < GT_DIRECTIONS)
        return of_copies[op->direction];
    return op->kind == GT_OP_MEMSET ? GT_MEMORY_DEVICE : GT_MEMORY_UNKNOWN;
}
