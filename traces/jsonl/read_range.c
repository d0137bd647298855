/* Ranges of threads' time: operators, annotations, steps. */
#include "sim/base/array.h"
#include "traces/jsonl/reader.h"

struct raw_range {
    const struct gt_json_token *name, *thread;
    gt_time_ps start, duration;
    uint64_t gradient_bytes;
    uint32_t calls, external;
    uint8_t kind;
    bool unnested;
};

static const struct gt_field range_fields[] = {
    { "range", GT_FIELD_TEXT, offsetof(struct raw_range, name), NULL, 0 },
    { "kind", GT_FIELD_CHOICE, offsetof(struct raw_range, kind), gt_range_kind_names, GT_RANGE_KINDS },
    { "thread", GT_FIELD_REF, offsetof(struct raw_range, thread), NULL, 0 },
    { "start", GT_FIELD_TIME, offsetof(struct raw_range, start), NULL, 0 },
    { "duration", GT_FIELD_TIME, offsetof(struct raw_range, duration), NULL, 0 },
    { "calls", GT_FIELD_U32, offsetof(struct raw_range, calls), NULL, 0 },
    { "external_id", GT_FIELD_U32, offsetof(struct raw_range, external), NULL, 0 },
    { "gradient_bytes", GT_FIELD_U64, offsetof(struct raw_range, gradient_bytes), NULL, 0 },
    { "unnested", GT_FIELD_BOOL, offsetof(struct raw_range, unnested), NULL, 0 },
};
static const struct gt_field_table range_table = GT_FIELD_TABLE("a range", range_fields);

static const struct gt_json_token default_thread = { .type = GT_JSON_STRING, .text = "main", .length = 4 };

static int check_range(const struct raw_range *raw, struct gt_error *error)
{
    if (raw->name->type != GT_JSON_STRING)
        return gt_error_set(error, "a range needs a name; \"range\" cannot be null");
    if (raw->thread->type == GT_JSON_NULL)
        return gt_error_set(error, "a range needs a thread; \"thread\" cannot be null");
    if ((raw->start == GT_TIME_NONE) != (raw->duration == GT_TIME_NONE))
        return gt_error_set(error, "a measured range needs both \"start_us\" and \"duration_us\"");
    if (raw->start == GT_TIME_NONE && raw->calls == GT_NONE)
        return gt_error_set(error, "the calls of the range are missing: give \"calls\", the number of following "
                                   "calls, or \"start_us\" and \"duration_us\"");
    return 0;
}

int gt_jsonl_range(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    /* clang-format off */
    struct raw_range raw = {
        .thread = &default_thread, .start = GT_TIME_NONE, .duration = GT_TIME_NONE, .calls = GT_NONE,
        .kind = GT_RANGE_OPERATOR,
    };
    /* clang-format on */
    struct gt_range *range;
    uint32_t index, thread;
    uint64_t given;

    if (gt_fields_read(object, &range_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0 ||
        check_range(&raw, error) != 0)
        return -1;
    thread = gt_jsonl_use_thread(jsonl, raw.thread);
    index = gt_workload_add_range(jsonl->workload);
    range = &jsonl->workload->ranges[index];
    range->start_ps = raw.start;
    range->duration_ps = raw.duration;
    range->name = gt_name(jsonl->workload, raw.name->text, raw.name->length);
    range->thread = thread;
    range->external = raw.external;
    range->gradient_bytes = raw.gradient_bytes;
    range->kind = raw.kind;
    range->flags = raw.unnested ? GT_RANGE_UNNESTED : 0;
    gt_array_grow(jsonl->range_calls, index, jsonl->range_room);
    jsonl->range_calls[index] = raw.calls;
    gt_jsonl_keep_unknown(jsonl, GT_EXTRA_RANGE, index);
    return 0;
}
