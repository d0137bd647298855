/* Allocations of GPUs' memory: many a line, of one GPU, as lists. */
#include "sim/workload/allocations.h"

#include "traces/io/decimal.h"
#include "traces/jsonl/emit.h"
#include "traces/jsonl/reader.h"

enum { A_LINE = 1000 };

struct raw_allocations {
    const struct gt_json_token *gpu, *bytes, *frees, *ranges;
};

static const struct gt_field allocations_fields[] = {
    { "allocations", GT_FIELD_REF, offsetof(struct raw_allocations, gpu), NULL, 0 },
    { "bytes", GT_FIELD_ARRAY, offsetof(struct raw_allocations, bytes), NULL, 0 },
    { "frees", GT_FIELD_ARRAY, offsetof(struct raw_allocations, frees), NULL, 0 },
    { "ranges", GT_FIELD_ARRAY, offsetof(struct raw_allocations, ranges), NULL, 0 },
};
static const struct gt_field_table allocations_table = GT_FIELD_TABLE("a line of allocations", allocations_fields);

/* Digits alone. */
static bool read_whole(const char *text, size_t length, uint64_t most, uint64_t *number)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return gt_decimal_parse(text, length, 0, most, number, NULL) == 0;
}

static int read_bytes(const struct gt_json_token *value, int64_t *bytes, struct gt_error *error)
{
    bool negative = value->type == GT_JSON_NUMBER && value->text[0] == '-';
    uint64_t number;

    if (value->type != GT_JSON_NUMBER ||
        !read_whole(value->text + negative, value->length - negative, GT_ALLOCATED_LIMIT_BYTES, &number) ||
        number == 0)
        return gt_error_set(error, "\"bytes\" lists whole numbers, below 0 for what is freed, none of them 0 or "
                                   "beyond 2^62");
    *bytes = negative ? -(int64_t)number : (int64_t)number;
    return 0;
}

/* An entry of a list that may be left out, or have null for it: a number below `count`. */
static int read_index(const struct gt_json_token *list, const struct gt_json_token **entry, const char *name,
                      uint32_t count, uint32_t *index, struct gt_error *error)
{
    const struct gt_json_token *value = *entry;
    uint64_t number;

    *index = GT_NONE;
    if (list == NULL)
        return 0;
    if (value >= list + list->span)
        return gt_error_set(error, "\"%s\" has fewer entries than \"bytes\"", name);
    *entry = value + value->span;
    if (value->type == GT_JSON_NULL)
        return 0;
    if (value->type != GT_JSON_NUMBER || !read_whole(value->text, value->length, UINT32_MAX, &number) ||
        number >= count)
        return gt_error_set(error, "\"%s\" lists null and numbers of %s above this one, from 0", name,
                            name[0] == 'r' ? "ranges" : "allocations");
    *index = (uint32_t)number;
    return 0;
}

int gt_jsonl_allocations(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct gt_workload *w = jsonl->workload;
    struct raw_allocations raw = { .bytes = NULL };
    const struct gt_json_token *frees, *ranges;
    struct gt_allocation allocation;
    uint64_t given;

    if (gt_fields_read(object, &allocations_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0 ||
        gt_jsonl_use_gpu(jsonl, raw.gpu, &allocation.gpu, error) != 0)
        return -1;
    if (raw.bytes == NULL)
        return gt_error_set(error, "allocations need a list \"bytes\"");
    frees = raw.frees != NULL ? raw.frees + 1 : NULL;
    ranges = raw.ranges != NULL ? raw.ranges + 1 : NULL;
    for (const struct gt_json_token *value = raw.bytes + 1; value < raw.bytes + raw.bytes->span;
         value += value->span) {
        if (read_bytes(value, &allocation.bytes, error) != 0 ||
            read_index(raw.frees, &frees, "frees", w->allocation_count, &allocation.frees, error) != 0 ||
            read_index(raw.ranges, &ranges, "ranges", w->range_count, &allocation.range, error) != 0)
            return -1;
        gt_workload_add_allocation(w, &allocation);
    }
    return 0;
}

static void emit_index(struct gt_emit *emit, uint32_t index)
{
    if (index == GT_NONE)
        yajl_gen_null(emit->gen);
    else
        gt_emit_number_value(emit, index);
}

/* Those from `first` on that are of one GPU, so many a line at most; place[i]: where range i stands in the trace. */
static uint32_t emit_line(struct gt_emit *emit, uint32_t first, const uint32_t *place)
{
    const struct gt_allocation *allocations = emit->workload->allocations;
    uint32_t end = first;

    while (end < emit->workload->allocation_count && end < first + A_LINE &&
           allocations[end].gpu == allocations[first].gpu)
        end++;
    gt_emit_open(emit);
    gt_emit_ref(emit, "allocations", &emit->keys.gpus[allocations[first].gpu]);
    gt_emit_open_list(emit, "bytes");
    for (uint32_t i = first; i < end; i++)
        gt_emit_signed_value(emit, allocations[i].bytes);
    gt_emit_close_list(emit);
    gt_emit_open_list(emit, "frees");
    for (uint32_t i = first; i < end; i++)
        emit_index(emit, allocations[i].frees);
    gt_emit_close_list(emit);
    gt_emit_open_list(emit, "ranges");
    for (uint32_t i = first; i < end; i++)
        emit_index(emit, allocations[i].range == GT_NONE ? GT_NONE : place[allocations[i].range]);
    gt_emit_close_list(emit);
    yajl_gen_map_close(emit->gen);
    gt_emit_newline(emit);
    return end;
}

void gt_emit_allocations(struct gt_emit *emit, const uint32_t *place)
{
    for (uint32_t i = 0; i < emit->workload->allocation_count && !emit->failed;)
        i = emit_line(emit, i, place);
}
