/* Definitions: streams, events, threads and GPUs; what they are when nobody defines them. */
#include "traces/jsonl/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/io/decimal.h"

enum { SHOWN = 60 };

/* What these definitions have in common: a key, and a number and a name that follow from it unless said. */
struct identity {
    const struct gt_json_token *key, *name;
    uint64_t id;
};

struct raw_stream {
    struct identity identity;
    const struct gt_json_token *gpu, *flags;
    uint32_t context, green, sms;
    int32_t priority;
};
struct raw_thread {
    struct identity identity;
    const struct gt_json_token *lock, *share;
    uint64_t process;
};
struct raw_gpu {
    struct identity identity;
    const struct gt_json_token *peers;
    uint64_t allocated_bytes;
};

static const struct gt_field stream_fields[] = {
    { "stream", GT_FIELD_REF, offsetof(struct raw_stream, identity.key), NULL, 0 },
    { "id", GT_FIELD_U64, offsetof(struct raw_stream, identity.id), NULL, 0 },
    { "name", GT_FIELD_TEXT, offsetof(struct raw_stream, identity.name), NULL, 0 },
    { "gpu", GT_FIELD_REF, offsetof(struct raw_stream, gpu), NULL, 0 },
    { "context", GT_FIELD_U32, offsetof(struct raw_stream, context), NULL, 0 },
    { "flags", GT_FIELD_ARRAY, offsetof(struct raw_stream, flags), NULL, 0 },
    { "priority", GT_FIELD_I32, offsetof(struct raw_stream, priority), NULL, 0 },
    { "green", GT_FIELD_U32, offsetof(struct raw_stream, green), NULL, 0 },
    { "sms", GT_FIELD_U32, offsetof(struct raw_stream, sms), NULL, 0 },
};
static const struct gt_field thread_fields[] = {
    { "thread", GT_FIELD_REF, offsetof(struct raw_thread, identity.key), NULL, 0 },
    { "id", GT_FIELD_U64, offsetof(struct raw_thread, identity.id), NULL, 0 },
    { "name", GT_FIELD_TEXT, offsetof(struct raw_thread, identity.name), NULL, 0 },
    { "process", GT_FIELD_U64, offsetof(struct raw_thread, process), NULL, 0 },
    { "lock", GT_FIELD_TEXT, offsetof(struct raw_thread, lock), NULL, 0 },
    { "share", GT_FIELD_TEXT, offsetof(struct raw_thread, share), NULL, 0 },
};
static const struct gt_field event_fields[] = {
    { "event", GT_FIELD_REF, offsetof(struct identity, key), NULL, 0 },
    { "id", GT_FIELD_U64, offsetof(struct identity, id), NULL, 0 },
    { "name", GT_FIELD_TEXT, offsetof(struct identity, name), NULL, 0 },
};
static const struct gt_field gpu_fields[] = {
    { "gpu", GT_FIELD_REF, offsetof(struct raw_gpu, identity.key), NULL, 0 },
    { "id", GT_FIELD_U64, offsetof(struct raw_gpu, identity.id), NULL, 0 },
    { "name", GT_FIELD_TEXT, offsetof(struct raw_gpu, identity.name), NULL, 0 },
    { "peers", GT_FIELD_ARRAY, offsetof(struct raw_gpu, peers), NULL, 0 },
    { "allocated_bytes", GT_FIELD_U64, offsetof(struct raw_gpu, allocated_bytes), NULL, 0 },
};
static const struct gt_field_table stream_table = GT_FIELD_TABLE("a stream", stream_fields);
static const struct gt_field_table thread_table = GT_FIELD_TABLE("a thread", thread_fields);
static const struct gt_field_table event_table = GT_FIELD_TABLE("an event", event_fields);
static const struct gt_field_table gpu_table = GT_FIELD_TABLE("a gpu", gpu_fields);
enum { ID_GIVEN = 1 << 1, NAME_GIVEN = 1 << 2, FLAGS_GIVEN = 1 << 5 }; /* rows of these tables */

static const struct gt_json_token stream_zero = { .type = GT_JSON_NUMBER, .text = "0", .length = 1 };
static const struct gt_json_token gpu_zero = { .type = GT_JSON_NUMBER, .text = "0", .length = 1 };

static bool is(const struct gt_json_token *token, const char *text)
{
    return token->type == GT_JSON_STRING && token->length == strlen(text) &&
           memcmp(token->text, text, token->length) == 0;
}

/* Streams "default" and 0 are one. */
static const struct gt_json_token *stream_key(const struct gt_json_token *key)
{
    return is(key, "default") ? &stream_zero : key;
}

/* The number and the name that a key stands for by itself; `index` numbers what has only a name. */
static uint64_t usual_id(const struct gt_json_token *key, uint32_t index)
{
    uint64_t id = index;

    if (key->type == GT_JSON_NUMBER)
        gt_decimal_parse(key->text, key->length, 0, UINT64_MAX, &id, NULL);
    return id;
}

static uint32_t usual_name(struct gt_jsonl *jsonl, const struct gt_json_token *key)
{
    return key->type == GT_JSON_STRING ? gt_name(jsonl->workload, key->text, key->length) : GT_NONE;
}

/* What the definition says, or what its key stands for. */
static void settle(struct gt_jsonl *jsonl, const struct identity *identity, uint64_t given, uint32_t index,
                   uint64_t *id, uint32_t *name)
{
    *id = given & ID_GIVEN ? identity->id : usual_id(identity->key, index);
    if (!(given & NAME_GIVEN))
        *name = usual_name(jsonl, identity->key);
    else if (identity->name->type == GT_JSON_STRING)
        *name = gt_name(jsonl->workload, identity->name->text, identity->name->length);
}

/* A definition's key must be a key, and new. */
static int check_new(const struct gt_refs *refs, const struct gt_json_token *key, const char *what,
                     struct gt_error *error)
{
    int shown = key->length < SHOWN ? (int)key->length : SHOWN;
    uint32_t line;

    if (key->type == GT_JSON_NULL)
        return gt_error_set(error, "a %s needs a name or a number, not null", what);
    if (gt_refs_find(refs, key, &line) == GT_NONE)
        return 0;
    return gt_error_set(error,
                        "%s %.*s was defined or used before, on line %u; define it once, before its "
                        "use",
                        what, shown, key->text, line);
}

static int read_flags(const struct gt_json_token *list, uint32_t *flags, struct gt_error *error)
{
    unsigned i;

    *flags = 0;
    for (const struct gt_json_token *flag = list + 1; flag < list + list->span; flag += flag->span) {
        for (i = 0; i < GT_STREAM_FLAG_NAMES && !is(flag, gt_stream_flag_names[i].name); i++)
            ;
        if (i == GT_STREAM_FLAG_NAMES)
            return gt_error_set(
                error, "\"flags\" may contain only \"legacy_default\", \"per_thread_default\" and \"non_blocking\"");
        *flags |= gt_stream_flag_names[i].flag;
    }
    return 0;
}

static uint32_t add_stream(struct gt_jsonl *jsonl, const struct gt_json_token *key)
{
    uint32_t index = gt_workload_add_stream(jsonl->workload);

    gt_refs_add(jsonl->streams, key, index, jsonl->line_number);
    return index;
}

int gt_jsonl_stream(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_stream raw = { .gpu = &gpu_zero };
    struct gt_stream *stream;
    const struct gt_json_token *key;
    uint32_t index, gpu, flags;
    uint64_t given;

    if (gt_fields_read(object, &stream_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0)
        return -1;
    key = stream_key(raw.identity.key);
    flags = key->type == GT_JSON_NUMBER && usual_id(key, 0) == 0 ? GT_STREAM_LEGACY_DEFAULT : 0;
    if (check_new(jsonl->streams, key, "stream", error) != 0 ||
        (given & FLAGS_GIVEN && read_flags(raw.flags, &flags, error) != 0) ||
        gt_jsonl_use_gpu(jsonl, raw.gpu, &gpu, error) != 0)
        return -1;
    if ((raw.green > 0) != (raw.sms > 0) || raw.green > UINT16_MAX || raw.sms > UINT16_MAX)
        return gt_error_set(error,
                            "a stream in a green context has its number, \"green\", and its \"sms\", 1 to %d each",
                            UINT16_MAX);
    index = add_stream(jsonl, key);
    stream = &jsonl->workload->streams[index];
    stream->gpu = gpu;
    stream->context = raw.context;
    stream->flags = flags;
    stream->priority = raw.priority;
    stream->green = (uint16_t)raw.green;
    stream->sms = (uint16_t)raw.sms;
    settle(jsonl, &raw.identity, given, index, &stream->id, &stream->name);
    gt_jsonl_keep_unknown(jsonl, GT_EXTRA_STREAM, index);
    return 0;
}

/* Each process has a legacy default stream of its own, `first` being that of the process that spoke of stream 0 first. */
static uint32_t default_stream(struct gt_jsonl *jsonl, uint32_t first)
{
    char text[32];
    struct gt_json_token process = { .type = GT_JSON_STRING, .text = text };
    bool known = gt_refs_find(jsonl->defaults, &stream_zero, NULL) != GT_NONE;
    struct gt_stream copy = jsonl->workload->streams[first];
    uint32_t index;

    if (!(copy.flags & GT_STREAM_LEGACY_DEFAULT))
        return first;
    process.length = (size_t)snprintf(text, sizeof text, "%" PRIu64, jsonl->process);
    index = gt_refs_find(jsonl->defaults, &process, NULL);
    if (index != GT_NONE)
        return index;
    index = known ? gt_workload_add_stream(jsonl->workload) : first;
    if (known)
        jsonl->workload->streams[index] = copy;
    else
        gt_refs_add(jsonl->defaults, &stream_zero, first, jsonl->line_number);
    gt_refs_add(jsonl->defaults, &process, index, jsonl->line_number);
    return index;
}

uint32_t gt_jsonl_use_stream(struct gt_jsonl *jsonl, const struct gt_json_token *ref)
{
    const struct gt_json_token *key;
    struct gt_stream *stream;
    uint32_t index, gpu = 0;
    bool zero;

    if (ref->type == GT_JSON_NULL)
        return GT_NONE;
    key = stream_key(ref);
    zero = key->type == GT_JSON_NUMBER && usual_id(key, 1) == 0;
    index = gt_refs_find(jsonl->streams, key, NULL);
    if (index != GT_NONE)
        return zero ? default_stream(jsonl, index) : index;
    gt_jsonl_use_gpu(jsonl, &gpu_zero, &gpu, NULL);
    index = add_stream(jsonl, key);
    stream = &jsonl->workload->streams[index];
    stream->gpu = gpu;
    stream->id = usual_id(key, index);
    stream->name = usual_name(jsonl, ref);
    if (!zero)
        return index;
    stream->flags = GT_STREAM_LEGACY_DEFAULT;
    return default_stream(jsonl, index);
}

int gt_jsonl_thread(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_thread raw = { .process = 0 };
    struct gt_thread *thread;
    uint64_t given;
    uint32_t index;

    if (gt_fields_read(object, &thread_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0 ||
        check_new(jsonl->threads, raw.identity.key, "thread", error) != 0)
        return -1;
    index = gt_workload_add_thread(jsonl->workload);
    gt_refs_add(jsonl->threads, raw.identity.key, index, jsonl->line_number);
    thread = &jsonl->workload->threads[index];
    thread->process = raw.process;
    if (raw.lock != NULL && raw.lock->type == GT_JSON_STRING)
        thread->lock = gt_name(jsonl->workload, raw.lock->text, raw.lock->length);
    if (raw.share != NULL && raw.share->type == GT_JSON_STRING &&
        gt_sharing_parse(raw.share->text, raw.share->length, &thread->sharing, error) != 0)
        return -1;
    settle(jsonl, &raw.identity, given, index, &thread->id, &thread->name);
    gt_jsonl_keep_unknown(jsonl, GT_EXTRA_THREAD, index);
    return 0;
}

uint32_t gt_jsonl_use_thread(struct gt_jsonl *jsonl, const struct gt_json_token *ref)
{
    uint32_t index;

    if (ref->type == GT_JSON_NULL)
        return GT_NONE;
    index = gt_refs_find(jsonl->threads, ref, NULL);
    if (index != GT_NONE)
        return index;
    index = gt_workload_add_thread(jsonl->workload);
    gt_refs_add(jsonl->threads, ref, index, jsonl->line_number);
    jsonl->workload->threads[index].id = usual_id(ref, index);
    jsonl->workload->threads[index].name = usual_name(jsonl, ref);
    return index;
}

int gt_jsonl_event(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct identity raw = { .id = 0 };
    struct gt_event *event;
    uint64_t given;
    uint32_t index;

    if (gt_fields_read(object, &event_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0 ||
        check_new(jsonl->events, raw.key, "event", error) != 0)
        return -1;
    index = gt_workload_add_event(jsonl->workload);
    gt_refs_add(jsonl->events, raw.key, index, jsonl->line_number);
    event = &jsonl->workload->events[index];
    settle(jsonl, &raw, given, index, &event->id, &event->name);
    gt_jsonl_keep_unknown(jsonl, GT_EXTRA_EVENT, index);
    return 0;
}

uint32_t gt_jsonl_use_event(struct gt_jsonl *jsonl, const struct gt_json_token *ref)
{
    uint32_t index;

    if (ref->type == GT_JSON_NULL)
        return GT_NONE;
    index = gt_refs_find(jsonl->events, ref, NULL);
    if (index != GT_NONE)
        return index;
    index = gt_workload_add_event(jsonl->workload);
    gt_refs_add(jsonl->events, ref, index, jsonl->line_number);
    jsonl->workload->events[index].id = usual_id(ref, index);
    jsonl->workload->events[index].name = usual_name(jsonl, ref);
    return index;
}

static int check_gpu_id(uint64_t id, struct gt_error *error)
{
    return id < GT_NONE ? 0 : gt_error_set(error, "gpu number %llu is too large", (unsigned long long)id);
}

/* Each is a GPU above. */
static int read_peers(struct gt_jsonl *jsonl, const struct gt_json_token *list, struct gt_gpu *gpu,
                      struct gt_error *error)
{
    gpu->peers_known = true;
    for (const struct gt_json_token *peer = list + 1; peer < list + list->span; peer += peer->span) {
        uint32_t index = GT_NONE;

        if (peer->type == GT_JSON_STRING || peer->type == GT_JSON_NUMBER)
            index = gt_refs_find(jsonl->gpus, peer, NULL);
        if (index == GT_NONE || index >= GT_MOST_GPUS)
            return gt_error_set(error, "\"peers\" must list GPUs that are defined above this one");
        gpu->peers[index / 64] |= UINT64_C(1) << index % 64;
    }
    return 0;
}

int gt_jsonl_gpu(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    struct raw_gpu raw = { .peers = NULL };
    struct gt_gpu gpu = { .name = GT_NONE };
    uint64_t given, id;
    uint32_t index;

    if (gt_fields_read(object, &gpu_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0 ||
        check_new(jsonl->gpus, raw.identity.key, "gpu", error) != 0)
        return -1;
    settle(jsonl, &raw.identity, given, jsonl->workload->gpu_count, &id, &gpu.name);
    if (check_gpu_id(id, error) != 0 || (raw.peers != NULL && read_peers(jsonl, raw.peers, &gpu, error) != 0))
        return -1;
    index = gt_workload_add_gpu(jsonl->workload);
    gt_refs_add(jsonl->gpus, raw.identity.key, index, jsonl->line_number);
    gpu.id = (uint32_t)id;
    gpu.allocated_bytes = raw.allocated_bytes;
    jsonl->workload->gpus[index] = gpu;
    gt_jsonl_keep_unknown(jsonl, GT_EXTRA_GPU, index);
    return 0;
}

int gt_jsonl_use_gpu(struct gt_jsonl *jsonl, const struct gt_json_token *ref, uint32_t *gpu, struct gt_error *error)
{
    uint64_t id;

    if (ref->type == GT_JSON_NULL)
        return gt_error_set(error, "a GPU is required here, not null");
    *gpu = gt_refs_find(jsonl->gpus, ref, NULL);
    if (*gpu != GT_NONE)
        return 0;
    id = usual_id(ref, jsonl->workload->gpu_count);
    if (check_gpu_id(id, error) != 0)
        return -1;
    *gpu = gt_workload_add_gpu(jsonl->workload);
    gt_refs_add(jsonl->gpus, ref, *gpu, jsonl->line_number);
    jsonl->workload->gpus[*gpu] = (struct gt_gpu){ .id = (uint32_t)id, .name = usual_name(jsonl, ref) };
    return 0;
}
