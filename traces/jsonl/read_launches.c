/* What a kernel's blocks launch: the list "launches" of its definition. */
#include "traces/jsonl/reader.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/workload/child_launches.h"

enum { NO_CHOICE = 0xff };
#define NO_U32 UINT32_MAX

struct raw_launch {
    const struct gt_json_token *kernel, *block_numbers;
    uint32_t every, count, stream, depth;
    double at;
    uint8_t blocks, into;
};

static const char *const block_names[] = { "all", "first", "last" };

static const struct gt_field launch_fields[] = {
    { "kernel", GT_FIELD_REF, offsetof(struct raw_launch, kernel), NULL, 0 },
    { "blocks", GT_FIELD_CHOICE, offsetof(struct raw_launch, blocks), block_names, GT_BLOCKS_LAST + 1 },
    { "every", GT_FIELD_U32, offsetof(struct raw_launch, every), NULL, 0 },
    { "block_numbers", GT_FIELD_ARRAY, offsetof(struct raw_launch, block_numbers), NULL, 0 },
    { "count", GT_FIELD_U32, offsetof(struct raw_launch, count), NULL, 0 },
    { "at", GT_FIELD_DOUBLE, offsetof(struct raw_launch, at), NULL, 0 },
    { "into", GT_FIELD_CHOICE, offsetof(struct raw_launch, into), gt_launch_into_names, GT_INTOS },
    { "stream", GT_FIELD_U32, offsetof(struct raw_launch, stream), NULL, 0 },
    { "depth", GT_FIELD_U32, offsetof(struct raw_launch, depth), NULL, 0 },
};
static const struct gt_field_table launch_table = GT_FIELD_TABLE("a launch", launch_fields);

/* One block's number, above those before it. */
static int read_number(const struct gt_json_token *value, struct gt_launch_rule *rule, struct gt_error *error)
{
    char text[24], *end;

    if (value->type == GT_JSON_NUMBER && value->length < sizeof text && value->text[0] != '-') {
        uint64_t number;

        memcpy(text, value->text, value->length);
        text[value->length] = '\0';
        number = strtoull(text, &end, 10);
        if (*end == '\0' &&
            (rule->block_list_length == 0 || number > rule->block_list[rule->block_list_length - 1])) {
            rule->block_list[rule->block_list_length++] = number;
            return 0;
        }
    }
    return gt_error_set(error, "\"block_numbers\" must list block numbers in ascending order, from 0");
}

static int read_numbers(const struct gt_json_token *list, struct gt_launch_rule *rule, struct gt_error *error)
{
    rule->blocks = GT_BLOCKS_LIST;
    if (list->span == 1)
        return gt_error_set(error, "\"block_numbers\" is empty");
    rule->block_list = gt_realloc(NULL, list->span - 1, sizeof *rule->block_list);
    for (const struct gt_json_token *value = list + 1; value < list + list->span; value += value->span)
        if (read_number(value, rule, error) != 0)
            return -1;
    return 0;
}

static int read_blocks(const struct raw_launch *raw, struct gt_launch_rule *rule, struct gt_error *error)
{
    if ((raw->blocks != NO_CHOICE) + (raw->every != NO_U32) + (raw->block_numbers != NULL) > 1)
        return gt_error_set(
            error, "the launching blocks are missing: give one of \"blocks\", \"every\" and \"block_numbers\"");
    rule->blocks = raw->blocks != NO_CHOICE ? raw->blocks : GT_BLOCKS_ALL;
    if (raw->every != NO_U32) {
        rule->blocks = GT_BLOCKS_EVERY;
        rule->every = raw->every;
        if (raw->every == 0)
            return gt_error_set(error, "\"every\" must be at least 1 (every block)");
    }
    return raw->block_numbers != NULL ? read_numbers(raw->block_numbers, rule, error) : 0;
}

static int read_into(const struct raw_launch *raw, struct gt_launch_rule *rule, struct gt_error *error)
{
    rule->into = raw->into != NO_CHOICE ? raw->into : raw->stream != NO_U32 ? GT_INTO_STREAM : GT_INTO_NULL;
    rule->stream = raw->stream != NO_U32 ? raw->stream : 0;
    if ((rule->into == GT_INTO_STREAM) != (raw->stream != NO_U32))
        return gt_error_set(
            error,
            "\"stream\" is the number of a device-side stream of the grid: use it with \"into\": \"stream\" only");
    return 0;
}

/* The kernel itself has no number yet: `own` is its key. */
static int read_kernel(struct gt_jsonl *jsonl, const struct raw_launch *raw, const struct gt_json_token *own,
                       struct gt_launch_rule *rule, struct gt_error *error)
{
    if (raw->kernel == NULL)
        return gt_error_set(error, "\"kernel\" is missing");
    rule->kernel = GT_NONE;
    if (raw->kernel->type == own->type && raw->kernel->length == own->length &&
        memcmp(raw->kernel->text, own->text, own->length) == 0)
        return raw->depth != NO_U32 ? 0
                                    : gt_error_set(error, "it launches itself: \"depth\" must limit the nesting (1: "
                                                          "only grids launched by the host launch)");
    return gt_jsonl_use_kernel(jsonl, raw->kernel, &rule->kernel, error);
}

static int read_launch(struct gt_jsonl *jsonl, const struct gt_json_token *object, const struct gt_json_token *own,
                       struct gt_launch_rule *rule, struct gt_error *error)
{
    struct raw_launch raw = {
        .every = NO_U32, .count = 1, .stream = NO_U32, .depth = NO_U32, .blocks = NO_CHOICE, .into = NO_CHOICE
    };
    struct gt_unknown unknown = { 0 };
    uint64_t given;
    int result;

    if (object->type != GT_JSON_OBJECT)
        return gt_error_set(error, "\"launches\" must be a list of objects");
    result = gt_fields_read(object, &launch_table, jsonl->line, &raw, &given, &unknown, error);
    if (result == 0 && unknown.length > 0)
        result = gt_error_set(error, "unknown field of a launch: %.100s", unknown.text);
    free(unknown.text);
    if (result != 0)
        return -1;
    if (raw.count == 0 || !(raw.at >= 0 && raw.at <= 1))
        return gt_error_set(error, "\"count\" must be at least 1, \"at\" a fraction of the block's time, 0 to 1");
    rule->count = raw.count;
    rule->at = raw.at;
    rule->depth = raw.depth; /* not given: GT_ANY_DEPTH */
    if (read_kernel(jsonl, &raw, own, rule, error) != 0 || read_into(&raw, rule, error) != 0)
        return -1;
    return read_blocks(&raw, rule, error);
}

int gt_jsonl_launches(struct gt_jsonl *jsonl, const struct gt_json_token *list, const struct gt_json_token *own,
                      struct gt_kernel *kernel, struct gt_error *error)
{
    uint32_t room = 0;

    for (const struct gt_json_token *value = list + 1; value < list + list->span; value += value->span) {
        gt_array_grow(kernel->launches, kernel->launch_count, room);
        kernel->launches[kernel->launch_count] = (struct gt_launch_rule){ .kernel = GT_NONE };
        if (read_launch(jsonl, value, own, &kernel->launches[kernel->launch_count++], error) != 0)
            return gt_error_prefix(error, "launch %u: ", kernel->launch_count - 1);
    }
    return 0;
}
