/* Groups of GPUs, and what a kernel says of the collective that it is a part of. */
#include "traces/jsonl/read_collective.h"

#include <stddef.h>

enum { SHOWN = 60 };

struct raw_group {
    const struct gt_json_token *key, *gpus;
};
static const struct gt_field group_fields[] = {
    { "group", GT_FIELD_REF, offsetof(struct raw_group, key), NULL, 0 },
    { "gpus", GT_FIELD_ARRAY, offsetof(struct raw_group, gpus), NULL, 0 },
};
static const struct gt_field_table group_table = GT_FIELD_TABLE("a group", group_fields);

int gt_jsonl_group(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_group raw = { .key = NULL };
    gt_gpu_index gpus[GT_MOST_GPUS];
    uint32_t size = 0, index, line;
    uint64_t given;

    if (gt_fields_read(object, &group_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0)
        return -1;
    if (raw.key->type != GT_JSON_STRING || raw.gpus == NULL)
        return gt_error_set(error, "a group has a name, a text, and \"gpus\", a list: rank 0's GPU, rank 1's, ...");
    if (gt_refs_find(jsonl->groups, raw.key, &line) != GT_NONE)
        return gt_error_set(error, "group %.*s is defined already, on line %u",
                            raw.key->length < SHOWN ? (int)raw.key->length : SHOWN, raw.key->text, line);
    for (const struct gt_json_token *gpu = raw.gpus + 1; gpu < raw.gpus + raw.gpus->span; gpu += gpu->span) {
        if (size == GT_MOST_GPUS)
            return gt_error_set(error, "\"gpus\" lists more than %d", GT_MOST_GPUS);
        if (gpu->type != GT_JSON_STRING && gpu->type != GT_JSON_NUMBER)
            return gt_error_set(error, "\"gpus\" lists GPUs by their names or numbers");
        if (gt_jsonl_use_gpu(jsonl, gpu, &gpus[size++], error) != 0)
            return -1;
    }
    index =
        gt_workload_add_group(jsonl->workload, gt_name(jsonl->workload, raw.key->text, raw.key->length), gpus, size);
    gt_refs_add(jsonl->groups, raw.key, index, jsonl->line_number);
    gt_jsonl_keep_unknown(jsonl, GT_EXTRA_GROUP, index);
    return gt_group_check(jsonl->workload, &jsonl->workload->groups[index], error);
}

static int use_group(struct gt_jsonl *jsonl, const struct gt_json_token *ref, uint32_t *group, struct gt_error *error)
{
    if (ref == NULL || ref->type != GT_JSON_STRING)
        return gt_error_set(error,
                            "a collective needs a \"group\", defined above: {\"group\":\"world\",\"gpus\":[0,1]}");
    *group = gt_refs_find(jsonl->groups, ref, NULL);
    return *group != GT_NONE ? 0
                             : gt_error_set(error, "no group %.*s has been defined above this line",
                                            ref->length < SHOWN ? (int)ref->length : SHOWN, ref->text);
}

static uint32_t name_of(struct gt_jsonl *jsonl, const struct gt_json_token *text)
{
    return text == NULL || text->type != GT_JSON_STRING ? GT_NONE
                                                        : gt_name(jsonl->workload, text->text, text->length);
}

static int check_fields(const struct gt_raw_collective *raw, struct gt_error *error)
{
    bool none = raw->kind == GT_COLLECTIVE_NONE, message = raw->kind == GT_SEND_RECV;
    bool rooted = raw->kind == GT_BROADCAST || raw->kind == GT_REDUCE;

    if (none && (raw->group != NULL || raw->bytes != UINT64_MAX || raw->datatype != NULL || raw->reduction != NULL ||
                 raw->algorithm != 0 || raw->protocol != 0))
        return gt_error_set(error,
                            "\"group\", \"bytes\", \"datatype\", \"reduction\", \"algorithm\" and \"protocol\" "
                            "are of collectives; say which, \"collective\":\"all_reduce\"");
    if (!none && raw->bytes == UINT64_MAX)
        return gt_error_set(error, "a collective needs \"bytes\", less than 2^63");
    if (!message && (raw->to != GT_NONE || raw->from != GT_NONE))
        return gt_error_set(error, "\"to\" and \"from\" are ranks of \"collective\":\"send_recv\"");
    if (!rooted && raw->root != 0)
        return gt_error_set(error, "\"root\" is a rank of a broadcast or a reduce");
    return 0;
}

int gt_jsonl_collective(struct gt_jsonl *jsonl, const struct gt_raw_collective *raw, bool shaped,
                        struct gt_collective *collective, struct gt_error *error)
{
    uint32_t group;

    if (check_fields(raw, error) != 0)
        return -1;
    if (raw->kind == GT_COLLECTIVE_NONE)
        return 0;
    if (use_group(jsonl, raw->group, &group, error) != 0)
        return -1;
    *collective = gt_collective_of(raw->kind, group, raw->bytes);
    collective->root = raw->root;
    collective->to = raw->to;
    collective->from = raw->from;
    collective->datatype = name_of(jsonl, raw->datatype);
    collective->reduction = name_of(jsonl, raw->reduction);
    collective->algorithm = raw->algorithm;
    collective->protocol = raw->protocol;
    collective->shaped = shaped;
    return 0;
}
