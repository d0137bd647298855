#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/workload/ranges.h"
#include "sim/workload/tensor.h"
#include "traces/jsonl/emit.h"
#include "traces/jsonl/reader.h"

/* Ranges of threads' time: operators, annotations, steps. */

struct raw_range {
    const struct gt_json_token *name, *thread, *inputs;
    gt_time_ps start, duration;
    uint32_t calls;
    GT_RANGE_PLAIN(GT_PLAIN_MEMBER)
    uint8_t kind;
    bool unnested;
};

#define RANGE_PLAIN(member, ctype, type, key, store) GT_FIELD_PLAIN(struct raw_range, member, type, key)
static const struct gt_field range_fields[] = {
    { "range", GT_FIELD_TEXT, offsetof(struct raw_range, name), NULL, 0 },
    { "kind", GT_FIELD_CHOICE, offsetof(struct raw_range, kind), gt_range_kind_names, GT_RANGE_KINDS },
    { "thread", GT_FIELD_REF, offsetof(struct raw_range, thread), NULL, 0 },
    { "start", GT_FIELD_TIME, offsetof(struct raw_range, start), NULL, 0 },
    { "duration", GT_FIELD_TIME, offsetof(struct raw_range, duration), NULL, 0 },
    { "inputs", GT_FIELD_TEXT, offsetof(struct raw_range, inputs), NULL, 0 },
    { "calls", GT_FIELD_U32, offsetof(struct raw_range, calls), NULL, 0 },
    { "unnested", GT_FIELD_BOOL, offsetof(struct raw_range, unnested), NULL, 0 },
    GT_RANGE_PLAIN(RANGE_PLAIN)
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

/* The text of an operator's inputs as a name; GT_NONE where there is none. */
static int name_inputs(struct gt_workload *w, const struct gt_json_token *text, uint32_t *name,
                       struct gt_error *error)
{
    struct gt_tensor tensors[GT_MOST_INPUTS];

    *name = text == NULL || text->type == GT_JSON_NULL ? GT_NONE : gt_name(w, text->text, text->length);
    if (*name == GT_NONE || gt_tensors_read(gt_name_text(w, *name), tensors) >= 0)
        return 0;
    return gt_error_set(
        error,
        "\"inputs\" is '%.60s'; it takes a word an input, such as float32[8,128], 2 or (2,2), or - for one "
        "that is neither a tensor nor whole numbers",
        gt_name_text(w, *name));
}

static void copy_fields(struct gt_range *to, const struct raw_range *from)
{
    GT_RANGE_PLAIN(GT_PLAIN_COPY)
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
    uint32_t index, thread, inputs;
    uint64_t given;

    if (gt_fields_read(object, &range_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0 ||
        check_range(&raw, error) != 0 || name_inputs(jsonl->workload, raw.inputs, &inputs, error) != 0)
        return -1;
    thread = gt_jsonl_use_thread(jsonl, raw.thread);
    index = gt_workload_add_range(jsonl->workload);
    range = &jsonl->workload->ranges[index];
    range->start_ps = raw.start;
    range->duration_ps = raw.duration;
    range->name = gt_name(jsonl->workload, raw.name->text, raw.name->length);
    range->thread = thread;
    range->inputs = inputs;
    copy_fields(range, &raw);
    range->kind = raw.kind;
    range->flags = raw.unnested ? GT_RANGE_UNNESTED : 0;
    gt_array_grow(jsonl->range_calls, index, jsonl->range_room);
    jsonl->range_calls[index] = raw.calls;
    gt_jsonl_keep_unknown(jsonl, GT_EXTRA_RANGE, index);
    return 0;
}

/* Calls as they stand in a trace, and before the first call of each range, the range. */

/* Ranges by the first call that each holds, those of one as they stand; first[i] .. first[i + 1] - 1 are those of call
 * i. */
struct places {
    uint32_t *first, *ranges;
};

static struct places find_places(const struct gt_workload *workload)
{
    struct places places;
    uint32_t *next;

    places.first = gt_calloc(workload->call_count + 3ull, sizeof *places.first);
    places.ranges = gt_realloc(NULL, workload->range_count, sizeof *places.ranges);
    next = places.first + 1; /* one place on: once filled, each is where the next call's begin */
    for (uint32_t i = 0; i < workload->range_count; i++)
        next[workload->ranges[i].first_call + 1]++;
    for (uint32_t i = 0; i <= workload->call_count; i++)
        next[i + 1] += next[i];
    for (uint32_t i = 0; i < workload->range_count; i++)
        places.ranges[next[workload->ranges[i].first_call]++] = i;
    return places;
}

/* Would a reader not find the calls by their times? */
static bool must_count(const struct gt_workload *workload, const struct gt_range *range)
{
    if (!gt_range_is_measured(range))
        return true;
    return range->first_call < range->end_call && workload->calls[range->first_call].start_ps == GT_TIME_NONE;
}

/* calls[i]: how many calls range i holds; NULL where none must say it. */
static void emit_range(struct gt_emit *emit, uint32_t index, const uint32_t *calls)
{
    const struct gt_range *range = &emit->workload->ranges[index], *from = range;
    const struct gt_key *thread = &emit->keys.threads[range->thread];

    gt_emit_open(emit);
    gt_emit_text(emit, "range", emit->keys.names[range->name]);
    if (range->kind != GT_RANGE_OPERATOR)
        gt_emit_text(emit, "kind", gt_range_kind_names[range->kind]);
    if (thread->text == NULL || strcmp(thread->text, "main") != 0)
        gt_emit_ref(emit, "thread", thread);
    gt_emit_time(emit, "start_ns", range->start_ps);
    gt_emit_time(emit, "duration_ns", range->duration_ps);
    if (calls != NULL && must_count(emit->workload, range))
        gt_emit_number(emit, "calls", calls[index]);
    GT_RANGE_PLAIN(GT_EMIT_PLAIN)
    if (range->inputs != GT_NONE)
        gt_emit_text(emit, "inputs", emit->keys.names[range->inputs]);
    gt_emit_flag(emit, "unnested", range->flags & GT_RANGE_UNNESTED);
    gt_emit_close(emit, GT_EXTRA_RANGE, index);
    gt_emit_newline(emit);
}

static bool any_must_count(const struct gt_workload *workload)
{
    for (uint32_t i = 0; i < workload->range_count; i++)
        if (must_count(workload, &workload->ranges[i]))
            return true;
    return false;
}

static void emit_allocations(struct gt_emit *emit, const struct places *places)
{
    uint32_t *place = gt_realloc(NULL, emit->workload->range_count, sizeof *place);

    for (uint32_t i = 0; i < emit->workload->range_count; i++)
        place[places->ranges[i]] = i;
    gt_emit_allocations(emit, place);
    free(place);
}

void gt_emit_calls_and_ranges(struct gt_emit *emit)
{
    const struct gt_workload *workload = emit->workload;
    struct places places = find_places(workload);
    uint32_t *calls = any_must_count(workload) ? gt_ranges_count_calls(workload) : NULL;

    for (uint32_t i = 0; i <= workload->call_count && !emit->failed; i++) {
        for (uint32_t place = places.first[i]; place < places.first[i + 1]; place++)
            emit_range(emit, places.ranges[place], calls);
        if (i < workload->call_count)
            gt_emit_call(emit, i);
    }
    emit_allocations(emit, &places);
    free(places.first);
    free(places.ranges);
    free(calls);
}
