/* Calls, and the operations that they put into streams. */
#include "traces/jsonl/reader.h"

#include <stdlib.h>
#include <string.h>

#include "sim/workload/child_launches.h"
#include "sim/workload/collective.h"

/* Values that say "not given". */
enum { NO_CHOICE = 0xff };
#define NO_BYTES    UINT64_MAX
#define NO_U32      UINT32_MAX
#define NO_PRIORITY INT32_MIN

/* An operation's fields, in a node of a graph or flat in its call. */
struct raw_op {
    const struct gt_json_token *kernel, *stream, *after, *peer_gpu, *profile, *reads, *writes, *source, *destination;
    const struct gt_json_token *may_read, *may_write;
    gt_time_ps start, duration;
    uint64_t bytes;
    uint8_t kind, direction, memory;
    int32_t priority;
    GT_OP_PLAIN(GT_PLAIN_MEMBER)
};
struct raw_call {
    const struct gt_json_token *thread, *event, *name, *nodes, *buffer, *executable;
    uint64_t address;
    gt_time_ps start, duration, piece, until;
    struct raw_op op;
    uint32_t grid[3], block[3], dynamic_shared_bytes;
    GT_CALL_PLAIN(GT_PLAIN_MEMBER)
    uint8_t kind;
    bool synchronous, inferred, target_unknown, loads;
};

/* clang-format off */
#define OP_FIELDS(type, op) \
    { "kernel", GT_FIELD_REF, offsetof(type, op kernel), NULL, 0 }, \
    { "stream", GT_FIELD_REF, offsetof(type, op stream), NULL, 0 }, \
    { "after", GT_FIELD_ARRAY, offsetof(type, op after), NULL, 0 }, \
    { "peer_gpu", GT_FIELD_REF, offsetof(type, op peer_gpu), NULL, 0 }, \
    { "profile", GT_FIELD_OBJECT, offsetof(type, op profile), NULL, 0 }, \
    { "reads", GT_FIELD_ARRAY, offsetof(type, op reads), NULL, 0 }, \
    { "writes", GT_FIELD_ARRAY, offsetof(type, op writes), NULL, 0 }, \
    { "may_read", GT_FIELD_ARRAY, offsetof(type, op may_read), NULL, 0 }, \
    { "may_write", GT_FIELD_ARRAY, offsetof(type, op may_write), NULL, 0 }, \
    { "source", GT_FIELD_REF, offsetof(type, op source), NULL, 0 }, \
    { "destination", GT_FIELD_REF, offsetof(type, op destination), NULL, 0 }, \
    { "bytes", GT_FIELD_U64, offsetof(type, op bytes), NULL, 0 }, \
    { "direction", GT_FIELD_CHOICE, offsetof(type, op direction), gt_direction_names, GT_DIRECTIONS }, \
    { "memory", GT_FIELD_CHOICE, offsetof(type, op memory), gt_memory_names, GT_MEMORIES }, \
    { "priority", GT_FIELD_I32, offsetof(type, op priority), NULL, 0 }
#define NODE_PLAIN(member, ctype, type, key, store) GT_FIELD_PLAIN(struct raw_op, member, type, key)
#define CALL_OP_PLAIN(member, ctype, type, key, store) GT_FIELD_PLAIN(struct raw_call, op.member, type, key)
#define CALL_PLAIN(member, ctype, type, key, store) GT_FIELD_PLAIN(struct raw_call, member, type, key)
/* clang-format on */

static const struct gt_field node_fields[] = {
    OP_FIELDS(struct raw_op, ),
    { "kind", GT_FIELD_CHOICE, offsetof(struct raw_op, kind), gt_op_kind_names, GT_OP_KINDS },
    { "start", GT_FIELD_TIME, offsetof(struct raw_op, start), NULL, 0 },
    { "duration", GT_FIELD_TIME, offsetof(struct raw_op, duration), NULL, 0 },
    GT_OP_PLAIN(NODE_PLAIN)
};
static const struct gt_field call_fields[] = {
    { "call", GT_FIELD_CHOICE, offsetof(struct raw_call, kind), gt_call_kind_names, GT_CALL_KINDS },
    { "name", GT_FIELD_TEXT, offsetof(struct raw_call, name), NULL, 0 },
    { "thread", GT_FIELD_REF, offsetof(struct raw_call, thread), NULL, 0 },
    { "start", GT_FIELD_TIME, offsetof(struct raw_call, start), NULL, 0 },
    { "duration", GT_FIELD_TIME, offsetof(struct raw_call, duration), NULL, 0 },
    OP_FIELDS(struct raw_call, op.),
    { "op_start", GT_FIELD_TIME, offsetof(struct raw_call, op.start), NULL, 0 },
    { "op_duration", GT_FIELD_TIME, offsetof(struct raw_call, op.duration), NULL, 0 },
    { "event", GT_FIELD_REF, offsetof(struct raw_call, event), NULL, 0 },
    { "nodes", GT_FIELD_ARRAY, offsetof(struct raw_call, nodes), NULL, 0 },
    { "buffer", GT_FIELD_REF, offsetof(struct raw_call, buffer), NULL, 0 },
    { "executable", GT_FIELD_REF, offsetof(struct raw_call, executable), NULL, 0 },
    { "address", GT_FIELD_U64, offsetof(struct raw_call, address), NULL, 0 },
    { "grid", GT_FIELD_SIZE3, offsetof(struct raw_call, grid), NULL, 0 },
    { "block", GT_FIELD_SIZE3, offsetof(struct raw_call, block), NULL, 0 },
    { "dynamic_shared_bytes", GT_FIELD_U32, offsetof(struct raw_call, dynamic_shared_bytes), NULL, 0 },
    { "synchronous", GT_FIELD_BOOL, offsetof(struct raw_call, synchronous), NULL, 0 },
    { "inferred", GT_FIELD_BOOL, offsetof(struct raw_call, inferred), NULL, 0 },
    { "target_unknown", GT_FIELD_BOOL, offsetof(struct raw_call, target_unknown), NULL, 0 },
    { "loads", GT_FIELD_BOOL, offsetof(struct raw_call, loads), NULL, 0 },
    { "piece", GT_FIELD_TIME, offsetof(struct raw_call, piece), NULL, 0 },
    { "until", GT_FIELD_TIME, offsetof(struct raw_call, until), NULL, 0 },
    GT_OP_PLAIN(CALL_OP_PLAIN) GT_CALL_PLAIN(CALL_PLAIN)
};
static const struct gt_field_table call_table = GT_FIELD_TABLE("a call", call_fields);
static const struct gt_field_table node_table = GT_FIELD_TABLE("a node", node_fields);

/* clang-format off */
static const struct raw_op op_defaults = {
    .start = GT_TIME_NONE, .duration = GT_TIME_NONE, .bytes = NO_BYTES,
    .kind = NO_CHOICE, .direction = NO_CHOICE, .memory = NO_CHOICE, .priority = NO_PRIORITY,
};
/* clang-format on */

static const struct gt_json_token default_stream = { .type = GT_JSON_NUMBER, .text = "0", .length = 1 };
static const struct gt_json_token default_thread = { .type = GT_JSON_STRING, .text = "main", .length = 4 };

enum { AFTERS_LIMIT = UINT16_MAX };

/* The operations a call's edges may name: `first` is what 0 stands for, all are below `end`. */
struct op_range {
    uint32_t first, end;
};

/* One operation a node may wait for: counted from the call's first one, negative ones are of calls before.
 * It may stand further down in its graph: the simulator tells circles. */
static int read_after(const struct gt_json_token *value, struct op_range range, uint32_t op, uint32_t *before,
                      struct gt_error *error)
{
    char text[16], *end;
    long long number;

    if (value->type == GT_JSON_NUMBER && value->length < sizeof text) {
        memcpy(text, value->text, value->length);
        text[value->length] = '\0';
        number = strtoll(text, &end, 10) + range.first;
        if (*end == '\0' && number >= 0 && number < range.end && number != op) {
            *before = (uint32_t)number;
            return 0;
        }
    }
    return gt_error_set(error, "\"after\" must list numbers of other nodes: 0 is the call's first node, "
                               "-1 the last operation of the calls before");
}

static int read_afters(struct gt_jsonl *jsonl, const struct gt_json_token *list, struct op_range range, uint32_t op,
                       struct gt_error *error)
{
    uint32_t before = 0;

    if (list->span - 1 > AFTERS_LIMIT)
        return gt_error_set(error, "\"after\" has more than %d numbers", AFTERS_LIMIT);
    for (const struct gt_json_token *value = list + 1; value < list + list->span; value += value->span) {
        if (read_after(value, range, op, &before, error) != 0)
            return -1;
        gt_workload_add_after(jsonl->workload, op, before);
    }
    return 0;
}

/* What an operation of its kind must say. */
static int check_op(const struct raw_op *raw, struct gt_error *error)
{
    if (raw->kind == GT_OP_KERNEL && raw->kernel == NULL)
        return gt_error_set(error, "\"kernel\" is missing");
    if (raw->kind == GT_OP_COPY && raw->direction == NO_CHOICE)
        return gt_error_set(error, "a copy needs a \"direction\": h2d, d2h, d2d, p2p or h2h");
    if ((raw->kind == GT_OP_COPY || raw->kind == GT_OP_MEMSET) && raw->bytes == NO_BYTES)
        return gt_error_set(error, "a %s needs \"bytes\", less than 2^63", gt_op_kind_names[raw->kind]);
    if (raw->kind != GT_OP_KERNEL && raw->programmatic)
        return gt_error_set(error, "\"programmatic\" is for kernels only");
    if (raw->kind != GT_OP_KERNEL && raw->priority != NO_PRIORITY)
        return gt_error_set(error, "\"priority\" is for kernels and streams only");
    if (raw->from_peer && raw->direction != GT_P2P && raw->kind != GT_OP_KERNEL)
        return gt_error_set(error, "\"from_peer\" is for kernels and copies with \"direction\":\"p2p\" only");
    if (raw->kind == GT_OP_KERNEL && raw->peer_gpu != NULL && raw->peer_gpu->type != GT_JSON_NULL &&
        (raw->bytes == NO_BYTES || raw->bytes == 0) && raw->duration == GT_TIME_NONE)
        return gt_error_set(
            error,
            "a kernel with a \"peer_gpu\" needs its duration or \"bytes\", the bytes that it reads or writes there");
    if (raw->kind == GT_OP_HOST_FUNCTION && raw->duration == GT_TIME_NONE)
        return gt_error_set(error, "a host function needs its duration, \"duration_us\"");
    return 0;
}

/* A list of buffers, which may not be there. */
static int read_list(struct gt_jsonl *jsonl, const struct gt_json_token *list, uint32_t op, bool writes,
                     bool possible, struct gt_error *error)
{
    const struct gt_buffer_access kind = { .writes = writes, .possible = possible };

    return list == NULL ? 0 : gt_jsonl_accesses(jsonl, list, op, &kind, error);
}

static int read_accesses(struct gt_jsonl *jsonl, const struct raw_op *raw, uint32_t op, struct gt_error *error)
{
    if ((raw->source != NULL || raw->destination != NULL) && raw->kind != GT_OP_COPY)
        return gt_error_set(error, "\"source\" and \"destination\" are for copies only; use \"reads\" or \"writes\"");
    if (read_list(jsonl, raw->reads, op, false, false, error) != 0 ||
        (raw->source != NULL && gt_jsonl_copy_end(jsonl, raw->source, op, false, error) != 0) ||
        read_list(jsonl, raw->writes, op, true, false, error) != 0 ||
        (raw->destination != NULL && gt_jsonl_copy_end(jsonl, raw->destination, op, true, error) != 0) ||
        read_list(jsonl, raw->may_read, op, false, true, error) != 0 ||
        read_list(jsonl, raw->may_write, op, true, true, error) != 0)
        return -1;
    return 0;
}

static void copy_op_fields(struct gt_op *to, const struct raw_op *from)
{
    GT_OP_PLAIN(GT_PLAIN_COPY)
}

/* Add one of the `ops` operations of a call; `stream` is the call's, for an operation that names none. */
static int add_op(struct gt_jsonl *jsonl, uint32_t call, uint32_t ops, const struct raw_op *raw, uint32_t stream,
                  struct gt_error *error)
{
    struct gt_workload *workload = jsonl->workload;
    uint32_t kernel = GT_NONE, peer = GT_NONE, index;
    struct op_range range;
    struct gt_op *op;

    if (check_op(raw, error) != 0)
        return -1;
    if (raw->stream != NULL)
        stream = gt_jsonl_use_stream(jsonl, raw->stream);
    if (stream == GT_NONE)
        return gt_error_set(error, "a %s runs in a stream; \"stream\" cannot be null", gt_op_kind_names[raw->kind]);
    if (raw->kernel != NULL && gt_jsonl_use_kernel(jsonl, raw->kernel, &kernel, error) != 0)
        return -1;
    if (raw->peer_gpu != NULL && raw->peer_gpu->type != GT_JSON_NULL &&
        gt_jsonl_use_gpu(jsonl, raw->peer_gpu, &peer, error) != 0)
        return -1;
    index = gt_workload_add_op(workload);
    op = &workload->ops[index];
    op->start_ps = raw->start;
    op->duration_ps = raw->duration;
    op->bytes = raw->bytes == NO_BYTES ? 0 : raw->bytes;
    op->call = call;
    op->stream = stream;
    op->kernel = kernel;
    op->kind = raw->kind;
    op->direction = raw->direction == NO_CHOICE ? GT_H2D : raw->direction;
    op->memory = raw->memory == NO_CHOICE ? gt_usual_memory(op) : raw->memory;
    op->peer_gpu = peer;
    op->has_priority = raw->priority != NO_PRIORITY;
    op->priority = op->has_priority ? raw->priority : 0;
    copy_op_fields(op, raw);
    workload->calls[call].ops++;
    if (read_accesses(jsonl, raw, index, error) != 0)
        return -1;
    if (raw->after == NULL)
        return 0;
    range.first = workload->calls[call].first_op;
    range.end = range.first + ops;
    return read_afters(jsonl, raw->after, range, index, error);
}

static int read_node(struct gt_jsonl *jsonl, uint32_t call, uint32_t nodes, const struct gt_json_token *object,
                     struct gt_error *error)
{
    struct raw_op raw = op_defaults;
    uint64_t given;

    if (object->type != GT_JSON_OBJECT)
        return gt_error_set(error, "\"nodes\" must be a list of objects in { }");
    if (gt_fields_read(object, &node_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0)
        return -1;
    if (raw.kind == NO_CHOICE && raw.kernel != NULL)
        raw.kind = GT_OP_KERNEL;
    if (raw.kind == NO_CHOICE && raw.direction != NO_CHOICE)
        raw.kind = GT_OP_COPY;
    if (raw.kind == NO_CHOICE)
        return gt_error_set(error, "the kind is missing: \"kernel\", \"direction\" (of a copy), \"kind\":\"memset\" "
                                   "or \"kind\":\"host_function\"");
    if (add_op(jsonl, call, nodes, &raw, jsonl->workload->calls[call].stream, error) != 0)
        return -1;
    gt_jsonl_keep_unknown(jsonl, GT_EXTRA_OP, jsonl->workload->op_count - 1);
    return raw.profile == NULL ? 0 : gt_jsonl_profile(jsonl, raw.profile, jsonl->workload->op_count - 1, error);
}

static int read_nodes(struct gt_jsonl *jsonl, uint32_t call, const struct gt_json_token *list, struct gt_error *error)
{
    uint32_t nodes = 0, number = 0;

    for (const struct gt_json_token *node = list + 1; node < list + list->span; node += node->span)
        nodes++;
    for (const struct gt_json_token *node = list + 1; node < list + list->span; node += node->span, number++)
        if (read_node(jsonl, call, nodes, node, error) != 0)
            return gt_error_prefix(error, "node %u: ", number);
    return 0;
}

/* The kernel with the launch's own shape, where that differs from the definition's. */
static void reshape(struct gt_jsonl *jsonl, const struct raw_call *raw, uint32_t op)
{
    struct gt_workload *workload = jsonl->workload;
    struct gt_kernel kernel;
    bool sized = raw->op.bytes != NO_BYTES && gt_collective_kernel(workload, op) != NULL;

    if (raw->grid[0] == 0 && raw->block[0] == 0 && raw->dynamic_shared_bytes == NO_U32 && !sized)
        return;
    kernel = workload->kernels[workload->ops[op].kernel];
    if (sized) {
        kernel.collective.bytes = raw->op.bytes;
        workload->ops[op].bytes = 0;
    }
    if (raw->grid[0] != 0 || raw->block[0] != 0)
        kernel.collective.shaped = kernel.collective.kind != GT_COLLECTIVE_NONE;
    if (raw->grid[0] != 0)
        memcpy(kernel.grid, raw->grid, sizeof kernel.grid);
    if (raw->block[0] != 0)
        memcpy(kernel.block, raw->block, sizeof kernel.block);
    if (raw->dynamic_shared_bytes != NO_U32)
        kernel.dynamic_shared_bytes = raw->dynamic_shared_bytes;
    workload->ops[op].kernel = gt_workload_kernel(workload, &kernel);
}

/* Does the call say anything of one operation of its own? */
static bool has_flat_op(const struct raw_call *raw)
{
    const struct raw_op *op = &raw->op;

    return op->kernel != NULL || op->profile != NULL || op->after != NULL || op->peer_gpu != NULL ||
           op->bytes != NO_BYTES || op->direction != NO_CHOICE || op->memory != NO_CHOICE || op->reads != NULL ||
           op->writes != NULL || op->may_read != NULL || op->may_write != NULL || op->source != NULL ||
           op->destination != NULL || op->start != GT_TIME_NONE || op->duration != GT_TIME_NONE || op->programmatic ||
           op->priority != NO_PRIORITY || op->from_peer || raw->grid[0] != 0 || raw->block[0] != 0 ||
           raw->dynamic_shared_bytes != NO_U32;
}

/* Calls of alloc, free and record_stream: which buffer, and for alloc how large. */
static int check_buffer_call(const struct raw_call *raw, struct gt_error *error)
{
    struct raw_call rest = *raw;

    if (raw->buffer == NULL || raw->buffer->type == GT_JSON_NULL)
        return gt_error_set(error, "a call of %s needs a \"buffer\"", gt_call_kind_names[raw->kind]);
    if (raw->kind == GT_CALL_ALLOC && raw->op.bytes == NO_BYTES)
        return gt_error_set(error, "a call of alloc needs \"bytes\", less than 2^63");
    rest.op.bytes = NO_BYTES;
    rest.op.memory = NO_CHOICE;
    if (raw->kind == GT_CALL_ALLOC ? has_flat_op(&rest) : has_flat_op(raw) || raw->address != GT_ADDRESS_NONE)
        return gt_error_set(error, "a call of %s has \"buffer\"%s, and no field of an operation",
                            gt_call_kind_names[raw->kind],
                            raw->kind == GT_CALL_ALLOC ? ", \"bytes\", \"address\", \"memory\"" : "");
    return 0;
}

static int check_poll(const struct raw_call *raw, struct gt_error *error)
{
    bool polls = raw->kind == GT_CALL_POLL;

    if (polls && (raw->op.stream == NULL) == (raw->event == NULL))
        return gt_error_set(error, "a call of poll queries an \"event\" or a \"stream\": give one of them");
    if (polls && raw->piece == GT_TIME_NONE)
        return gt_error_set(error,
                            "a call of poll needs the time of a piece of its work, \"piece_us\"; 0: it only queries");
    if (!polls && (raw->piece != GT_TIME_NONE || raw->most_pieces != 0))
        return gt_error_set(error, "\"piece\" and \"most_pieces\" are for calls of poll only");
    return 0;
}

static int check_call(const struct raw_call *raw, const struct gt_call_rule *rule, struct gt_error *error)
{
    const char *kind = gt_call_kind_names[raw->kind];

    if (rule->event && raw->event == NULL && !raw->target_unknown)
        return gt_error_set(error, "a call of %s needs an \"event\"", kind);
    if (raw->kind == GT_CALL_STREAM_CREATE && raw->op.stream == NULL && !raw->target_unknown)
        return gt_error_set(error, "a call of stream_create needs a \"stream\"");
    if (raw->kind == GT_CALL_HOST_WORK && raw->duration == GT_TIME_NONE && raw->until == GT_TIME_NONE)
        return gt_error_set(error, "a call of host_work needs a duration, \"duration_us\", or a time, \"until_us\"");
    if (raw->kind != GT_CALL_HOST_WORK && raw->until != GT_TIME_NONE)
        return gt_error_set(error, "\"until\" is for calls of host_work only");
    if (raw->kind == GT_CALL_GRAPH_LAUNCH && raw->nodes == NULL)
        return gt_error_set(error, "a call of graph_launch needs \"nodes\", a list");
    if (raw->kind != GT_CALL_GRAPH_LAUNCH && raw->executable != NULL)
        return gt_error_set(
            error, "a call of %s launches no executable graph; \"executable\" is for graph_launch only", kind);
    if (raw->loads && raw->kind != GT_CALL_LAUNCH && raw->kind != GT_CALL_GRAPH_LAUNCH)
        return gt_error_set(error, "a call of %s loads no code; \"loads\" is for launch and graph_launch only", kind);
    if (check_poll(raw, error) != 0)
        return -1;
    if (rule->buffer)
        return check_buffer_call(raw, error);
    if (raw->buffer != NULL || raw->address != GT_ADDRESS_NONE)
        return gt_error_set(error, "a call of %s has no \"buffer\" of its own; use \"reads\" or \"writes\"", kind);
    if ((raw->nodes != NULL || !rule->op) && has_flat_op(raw))
        return gt_error_set(
            error,
            "a call of %s %s cannot have \"kernel\", \"bytes\", \"direction\", \"memory\", \"grid\", \"block\", "
            "\"after\", \"reads\", \"writes\", \"profile\", \"op_start\" or \"op_duration\" for itself",
            kind, raw->nodes != NULL ? "with \"nodes\"" : "has no operation and");
    return 0;
}

static int add_flat_op(struct gt_jsonl *jsonl, uint32_t call, struct raw_call *raw, uint8_t kind,
                       struct gt_error *error)
{
    uint32_t stream = jsonl->workload->calls[call].stream;

    raw->op.kind = kind;
    raw->op.stream = NULL; /* the call has it */
    /* The time of a host function is the function's unless both are told. */
    if (kind == GT_OP_HOST_FUNCTION && raw->op.duration == GT_TIME_NONE) {
        raw->op.duration = raw->duration;
        jsonl->workload->calls[call].duration_ps = GT_TIME_NONE;
    }
    if (add_op(jsonl, call, 1, &raw->op, stream, error) != 0)
        return -1;
    if (kind == GT_OP_KERNEL)
        reshape(jsonl, raw, jsonl->workload->op_count - 1);
    if (raw->op.profile != NULL &&
        gt_jsonl_profile(jsonl, raw->op.profile, jsonl->workload->op_count - 1, error) != 0)
        return -1;
    return kind == GT_OP_KERNEL ? gt_child_launches_expand(jsonl->workload, jsonl->workload->op_count - 1, error) : 0;
}

static void copy_call_fields(struct gt_call *to, const struct raw_call *from)
{
    GT_CALL_PLAIN(GT_PLAIN_COPY)
}

static void fill_call(struct gt_jsonl *jsonl, uint32_t index, const struct raw_call *raw,
                      const struct gt_call_rule *rule)
{
    struct gt_workload *workload = jsonl->workload;
    const struct gt_json_token *stream = raw->op.stream;
    struct gt_call *call = &workload->calls[index];

    if (stream == NULL && rule->stream && raw->kind != GT_CALL_STREAM_CREATE)
        stream = &default_stream;
    call->kind = raw->kind;
    call->flags = (uint8_t)((raw->synchronous ? GT_CALL_SYNCHRONOUS : 0) | (raw->inferred ? GT_CALL_INFERRED : 0) |
                            (raw->target_unknown ? GT_CALL_TARGET_UNKNOWN : 0) | (raw->loads ? GT_CALL_LOADS : 0));
    call->start_ps = raw->start;
    call->duration_ps = raw->duration;
    call->until_ps = raw->until != GT_TIME_NONE ? raw->until : 0;
    if (call->kind == GT_CALL_HOST_WORK && raw->duration == GT_TIME_NONE)
        call->duration_ps = 0;
    call->line = jsonl->line_number;
    call->piece_ps = raw->piece != GT_TIME_NONE ? raw->piece : 0;
    copy_call_fields(call, raw);
    call->thread = gt_jsonl_use_thread(jsonl, raw->thread);
    jsonl->process = workload->threads[call->thread].process;
    if (raw->name != NULL && raw->name->type == GT_JSON_STRING)
        call->name = gt_name(workload, raw->name->text, raw->name->length);
    if (raw->executable != NULL && raw->executable->type != GT_JSON_NULL)
        call->executable = gt_name(workload, raw->executable->text, raw->executable->length);
    if (stream != NULL)
        call->stream = gt_jsonl_use_stream(jsonl, stream);
    if (raw->event != NULL)
        call->event = gt_jsonl_use_event(jsonl, raw->event);
}

static int read_buffer_call(struct gt_jsonl *jsonl, uint32_t call, const struct raw_call *raw, struct gt_error *error)
{
    gt_buffer_index buffer;

    if (gt_jsonl_use_buffer(jsonl, raw->buffer, &buffer, error) != 0)
        return -1;
    jsonl->workload->calls[call].buffer = buffer;
    return raw->kind == GT_CALL_ALLOC
               ? gt_jsonl_allocate(jsonl, buffer, raw->op.bytes, raw->address,
                                   raw->op.memory == NO_CHOICE ? GT_MEMORIES : raw->op.memory, error)
               : 0;
}

int gt_jsonl_call(struct gt_jsonl *jsonl, const struct gt_json_token *object, struct gt_error *error)
{
    /* clang-format off */
    struct raw_call raw = {
        .thread = &default_thread, .start = GT_TIME_NONE, .duration = GT_TIME_NONE, .piece = GT_TIME_NONE, .until = GT_TIME_NONE, .op = op_defaults,
        .dynamic_shared_bytes = NO_U32, .address = GT_ADDRESS_NONE,
    };
    /* clang-format on */
    const struct gt_call_rule *rule;
    uint64_t given;
    uint32_t call;

    if (gt_fields_read(object, &call_table, jsonl->line, &raw, &given, &jsonl->unknown, error) != 0)
        return -1;
    rule = &gt_call_rules[raw.kind];
    if (check_call(&raw, rule, error) != 0)
        return -1;
    if (raw.thread->type == GT_JSON_NULL)
        return gt_error_set(error, "a call needs a thread; \"thread\" cannot be null");
    call = gt_workload_add_call(jsonl->workload);
    fill_call(jsonl, call, &raw, rule);
    gt_jsonl_keep_unknown(jsonl, GT_EXTRA_CALL, call);
    if (rule->buffer)
        return read_buffer_call(jsonl, call, &raw, error);
    if (raw.nodes != NULL)
        return read_nodes(jsonl, call, raw.nodes, error);
    return rule->op ? add_flat_op(jsonl, call, &raw, rule->op_kind, error) : 0;
}
