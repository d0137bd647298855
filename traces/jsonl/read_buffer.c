/* Buffers: what operations read and write, and where it lies. */
#include "traces/jsonl/reader.h"

#include "traces/io/decimal.h"

enum { SHOWN = 60, ACCESSES_LIMIT = UINT16_MAX };

struct raw_buffer {
    const struct gt_json_token *key, *gpu;
    uint64_t bytes, address;
    uint8_t memory;
};

static const struct gt_field buffer_fields[] = {
    { "buffer", GT_FIELD_REF, offsetof(struct raw_buffer, key), NULL, 0 },
    { "gpu", GT_FIELD_REF, offsetof(struct raw_buffer, gpu), NULL, 0 },
    { "bytes", GT_FIELD_U64, offsetof(struct raw_buffer, bytes), NULL, 0 },
    { "address", GT_FIELD_U64, offsetof(struct raw_buffer, address), NULL, 0 },
    { "memory", GT_FIELD_CHOICE, offsetof(struct raw_buffer, memory), gt_memory_names, GT_MEMORIES },
};
static const struct gt_field_table buffer_table = GT_FIELD_TABLE("a buffer", buffer_fields);

static const struct gt_json_token gpu_zero = { .type = GT_JSON_NUMBER, .text = "0", .length = 1 };

int gt_jsonl_use_buffer(struct gt_jsonl *jsonl, const struct gt_json_token *ref, gt_buffer_index *buffer,
                        struct gt_error *error)
{
    struct gt_workload *workload = jsonl->workload;
    gt_gpu_index gpu = 0;

    if (ref->type != GT_JSON_STRING)
        return gt_error_set(error, "the name of a buffer must be a string");
    *buffer = gt_refs_find(jsonl->buffers, ref, NULL);
    if (*buffer != GT_NONE)
        return 0;
    if (gt_jsonl_use_gpu(jsonl, &gpu_zero, &gpu, error) != 0)
        return -1;
    *buffer = gt_workload_add_buffer(workload);
    workload->buffers[*buffer].name = gt_name(workload, ref->text, ref->length);
    workload->buffers[*buffer].gpu = gpu;
    gt_refs_add(jsonl->buffers, ref, *buffer, jsonl->line_number);
    return 0;
}

int gt_jsonl_buffer(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_buffer raw = { .gpu = &gpu_zero, .address = GT_ADDRESS_NONE, .memory = GT_MEMORY_DEVICE };
    gt_gpu_index gpu = 0;
    gt_buffer_index index;
    uint64_t given;
    uint32_t line;

    if (gt_fields_read(object, &buffer_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0)
        return -1;
    if (gt_refs_find(jsonl->buffers, raw.key, &line) != GT_NONE)
        return gt_error_set(error,
                            "buffer %.*s was defined or used before, on line %u; define it once, before its use",
                            raw.key->length < SHOWN ? (int)raw.key->length : SHOWN, raw.key->text, line);
    if (gt_jsonl_use_gpu(jsonl, raw.gpu, &gpu, error) != 0 || gt_jsonl_use_buffer(jsonl, raw.key, &index, error) != 0)
        return -1;
    jsonl->workload->buffers[index].gpu = gpu;
    gt_jsonl_keep_unknown(jsonl, GT_EXTRA_BUFFER, index);
    return gt_jsonl_allocate(jsonl, index, raw.bytes, raw.address, raw.memory, error);
}

int gt_jsonl_allocate(struct gt_jsonl *jsonl, gt_buffer_index index, uint64_t bytes, uint64_t address, uint8_t memory,
                      struct gt_error *error)
{
    struct gt_buffer *buffer = &jsonl->workload->buffers[index];

    if ((buffer->bytes != 0 && bytes != buffer->bytes) ||
        (buffer->address != GT_ADDRESS_NONE && address != GT_ADDRESS_NONE && address != buffer->address))
        return gt_error_set(error, "buffer %.200s has another size or address above; use another name for this one",
                            gt_name_text(jsonl->workload, buffer->name));
    if (address != GT_ADDRESS_NONE && bytes > UINT64_MAX - address)
        return gt_error_set(error, "buffer %.200s ends beyond the last address",
                            gt_name_text(jsonl->workload, buffer->name));
    buffer->bytes = bytes;
    if (address != GT_ADDRESS_NONE)
        buffer->address = address;
    if (memory != GT_MEMORIES)
        buffer->memory = memory;
    return 0;
}

static int add_access(struct gt_jsonl *jsonl, uint32_t op, const struct gt_buffer_access *access,
                      struct gt_error *error)
{
    if (jsonl->workload->ops[op].accesses == ACCESSES_LIMIT)
        return gt_error_set(error, "it reads and writes more than %d ranges", ACCESSES_LIMIT);
    gt_workload_add_access(jsonl->workload, op, access);
    return 0;
}

static bool read_number(const struct gt_json_token *value, uint64_t *number)
{
    return value->type == GT_JSON_NUMBER &&
           gt_decimal_parse(value->text, value->length, 0, UINT64_MAX, number, NULL) == 0;
}

/* "name" or ["name", offset, bytes]. */
static int read_access(struct gt_jsonl *jsonl, const struct gt_json_token *value, struct gt_buffer_access *access,
                       struct gt_error *error)
{
    const struct gt_json_token *item = value + 1;

    if (value->type == GT_JSON_STRING)
        return gt_jsonl_use_buffer(jsonl, value, &access->buffer, error);
    if (value->type == GT_JSON_ARRAY && value->span == 4 && item[0].type == GT_JSON_STRING &&
        read_number(&item[1], &access->offset) && read_number(&item[2], &access->bytes) && access->bytes > 0)
        return gt_jsonl_use_buffer(jsonl, item, &access->buffer, error);
    return gt_error_set(
        error,
        "\"reads\", \"writes\", \"may_read\" and \"may_write\" list buffers: \"name\" or [\"name\", offset, bytes], "
        "1 byte at least");
}

int gt_jsonl_accesses(struct gt_jsonl *jsonl, const struct gt_json_token *list, uint32_t op,
                      const struct gt_buffer_access *kind, struct gt_error *error)
{
    for (const struct gt_json_token *value = list + 1; value < list + list->span; value += value->span) {
        struct gt_buffer_access access = *kind;

        if (read_access(jsonl, value, &access, error) != 0 || add_access(jsonl, op, &access, error) != 0)
            return -1;
    }
    return 0;
}

/* A buffer's first bytes, or an address. */
int gt_jsonl_copy_end(struct gt_jsonl *jsonl, const struct gt_json_token *end, uint32_t op, bool writes,
                      struct gt_error *error)
{
    struct gt_buffer_access access = { .bytes = jsonl->workload->ops[op].bytes, .buffer = GT_NONE, .writes = writes };

    if (end->type == GT_JSON_NULL || access.bytes == 0)
        return 0;
    if (end->type == GT_JSON_STRING ? gt_jsonl_use_buffer(jsonl, end, &access.buffer, error) != 0
                                    : !read_number(end, &access.offset))
        return -1;
    return add_access(jsonl, op, &access, error);
}
