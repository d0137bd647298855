/* Calls as they stand in a trace. */
#include <string.h>

#include "sim/workload/child_launches.h"
#include "sim/workload/collective.h"
#include "traces/jsonl/emit.h"
#include "traces/jsonl/reader.h"

static const struct gt_key *key_of(const struct gt_key *keys, uint32_t index)
{
    return index == GT_NONE ? NULL : &keys[index];
}

static const struct gt_buffer_access *raw_end(const struct gt_emit *emit, const struct gt_op *op, bool writes)
{
    const struct gt_buffer_access *accesses = emit->workload->accesses + op->first_access;

    for (uint32_t i = 0; i < op->accesses; i++)
        if (accesses[i].buffer == GT_NONE && accesses[i].writes == writes)
            return &accesses[i];
    return NULL;
}

static void emit_access(struct gt_emit *emit, const struct gt_buffer_access *access)
{
    const char *name = emit->keys.names[emit->workload->buffers[access->buffer].name];

    if (access->bytes != 0)
        yajl_gen_array_open(emit->gen);
    yajl_gen_string(emit->gen, (const unsigned char *)name, strlen(name));
    if (access->bytes != 0) {
        gt_emit_number_value(emit, access->offset);
        gt_emit_number_value(emit, access->bytes);
        yajl_gen_array_close(emit->gen);
    }
}

/* What an operation reads, or writes, or may. */
static void emit_accesses(struct gt_emit *emit, const struct gt_op *op, bool writes, bool possible, const char *key)
{
    const struct gt_buffer_access *accesses = emit->workload->accesses + op->first_access;
    bool any = false;

    for (uint32_t i = 0; i < op->accesses; i++) {
        if (accesses[i].buffer == GT_NONE || accesses[i].writes != writes || accesses[i].possible != possible)
            continue;
        if (!any) {
            gt_emit_key(emit, key);
            yajl_gen_array_open(emit->gen);
            any = true;
        }
        emit_access(emit, &accesses[i]);
    }
    if (any)
        yajl_gen_array_close(emit->gen);
}

/* An end of a copy that is an address only. */
static void emit_end(struct gt_emit *emit, const struct gt_op *op, bool writes)
{
    const struct gt_buffer_access *raw = raw_end(emit, op, writes);

    if (raw != NULL)
        gt_emit_number(emit, writes ? "destination" : "source", raw->offset);
}

/* What an operation is, but for its times, stream and edges. */
static void emit_work(struct gt_emit *emit, const struct gt_op *op)
{
    const struct gt_op *from = op;
    bool sized = op->kind == GT_OP_COPY || op->kind == GT_OP_MEMSET;

    if (op->kernel != GT_NONE)
        gt_emit_ref(emit, "kernel", &emit->keys.kernels[op->kernel]);
    if (op->kind == GT_OP_COPY || op->direction != GT_H2D)
        gt_emit_text(emit, "direction", gt_direction_names[op->direction]);
    if (sized || op->bytes != 0)
        gt_emit_number(emit, "bytes", op->bytes);
    if (op->memory != gt_usual_memory(op))
        gt_emit_text(emit, "memory", gt_memory_names[op->memory]);
    if (op->peer_gpu != GT_NONE)
        gt_emit_ref(emit, "peer_gpu", &emit->keys.gpus[op->peer_gpu]);
    GT_OP_PLAIN(GT_EMIT_PLAIN)
    if (op->has_priority)
        gt_emit_signed(emit, "priority", op->priority);
    emit_accesses(emit, op, false, false, "reads");
    emit_end(emit, op, false);
    emit_accesses(emit, op, true, false, "writes");
    emit_end(emit, op, true);
    emit_accesses(emit, op, false, true, "may_read");
    emit_accesses(emit, op, true, true, "may_write");
}

/* Edges count from the call's first operation. */
static void emit_afters(struct gt_emit *emit, const struct gt_op *op, uint32_t first_op)
{
    if (op->afters == 0)
        return;
    gt_emit_key(emit, "after");
    yajl_gen_array_open(emit->gen);
    for (uint32_t i = 0; i < op->afters; i++)
        gt_emit_signed_value(emit, (int64_t)emit->workload->afters[op->first_after + i] - first_op);
    yajl_gen_array_close(emit->gen);
}

static void emit_node(struct gt_emit *emit, const struct gt_call *call, uint32_t index)
{
    const struct gt_op *op = &emit->workload->ops[index];

    gt_emit_open(emit);
    gt_emit_text(emit, "kind", gt_op_kind_names[op->kind]);
    emit_work(emit, op);
    if (op->stream != call->stream)
        gt_emit_ref(emit, "stream", &emit->keys.streams[op->stream]);
    gt_emit_time(emit, "start_ns", op->start_ps);
    gt_emit_time(emit, "duration_ns", op->duration_ps);
    emit_afters(emit, op, call->first_op);
    gt_emit_profile(emit, gt_workload_profile(emit->workload, index));
    gt_emit_close(emit, GT_EXTRA_OP, index);
}

static void emit_nodes(struct gt_emit *emit, const struct gt_call *call)
{
    gt_emit_key(emit, "nodes");
    yajl_gen_array_open(emit->gen);
    for (uint32_t i = call->first_op; i < call->first_op + call->ops; i++)
        emit_node(emit, call, i);
    yajl_gen_array_close(emit->gen);
}

/* The one operation that such a call has, told by the call's own fields. */
static void emit_flat_op(struct gt_emit *emit, const struct gt_call *call)
{
    const struct gt_op *op = &emit->workload->ops[call->first_op];

    emit_work(emit, op);
    gt_emit_time(emit, "op_start_ns", op->start_ps);
    gt_emit_time(emit, "op_duration_ns", op->duration_ps);
    emit_afters(emit, op, call->first_op);
    gt_emit_profile(emit, gt_workload_profile(emit->workload, call->first_op));
}

static bool is_flat(const struct gt_emit *emit, const struct gt_call *call)
{
    const struct gt_call_rule *rule = &gt_call_rules[call->kind];
    const struct gt_op *op = emit->workload->ops + call->first_op;

    /* What a kernel's blocks launch follows from its definition. */
    bool one = call->ops == 1 || (call->ops > 1 && gt_child_launch_of(emit->workload, call->first_op + 1) != NULL);

    return rule->op && one && op->kind == rule->op_kind && op->stream == call->stream &&
           !gt_emit_has_extra(emit, GT_EXTRA_OP, call->first_op);
}

static bool is_default_stream(const struct gt_key *key)
{
    return key != NULL && key->text == NULL && key->number == 0;
}

static void emit_who(struct gt_emit *emit, const struct gt_call *call)
{
    const struct gt_call_rule *rule = &gt_call_rules[call->kind];
    const struct gt_key *thread = &emit->keys.threads[call->thread];
    const struct gt_key *stream = key_of(emit->keys.streams, call->stream);

    if (call->name != GT_NONE)
        gt_emit_text(emit, "name", emit->keys.names[call->name]);
    if (thread->text == NULL || strcmp(thread->text, "main") != 0)
        gt_emit_ref(emit, "thread", thread);
    if (rule->stream ? !is_default_stream(stream) || call->kind == GT_CALL_STREAM_CREATE : stream != NULL)
        gt_emit_ref(emit, "stream", stream);
    if (rule->event || call->event != GT_NONE)
        gt_emit_ref(emit, "event", key_of(emit->keys.events, call->event));
    if (call->executable != GT_NONE)
        gt_emit_text(emit, "executable", emit->keys.names[call->executable]);
    if (call->buffer == GT_NONE)
        return;
    gt_emit_text(emit, "buffer", emit->keys.names[emit->workload->buffers[call->buffer].name]);
    if (call->kind == GT_CALL_ALLOC)
        gt_emit_number(emit, "bytes", emit->workload->buffers[call->buffer].bytes);
}

void gt_emit_call(struct gt_emit *emit, uint32_t index)
{
    const struct gt_call *call = &emit->workload->calls[index], *from = call;

    gt_emit_open(emit);
    gt_emit_text(emit, "call", gt_call_kind_names[call->kind]);
    emit_who(emit, call);
    gt_emit_time(emit, "start_ns", call->start_ps);
    gt_emit_time(emit, "duration_ns", call->duration_ps);
    if (call->kind == GT_CALL_POLL)
        gt_emit_time(emit, "piece_ns", call->piece_ps);
    if (call->until_ps > 0)
        gt_emit_time(emit, "until_ns", call->until_ps);
    if (is_flat(emit, call))
        emit_flat_op(emit, call);
    else if (call->ops != 0 || gt_call_rules[call->kind].op || call->kind == GT_CALL_GRAPH_LAUNCH)
        emit_nodes(emit, call);
    GT_CALL_PLAIN(GT_EMIT_PLAIN)
    gt_emit_flag(emit, "synchronous", call->flags & GT_CALL_SYNCHRONOUS);
    gt_emit_flag(emit, "inferred", call->flags & GT_CALL_INFERRED);
    gt_emit_flag(emit, "target_unknown", call->flags & GT_CALL_TARGET_UNKNOWN);
    gt_emit_flag(emit, "loads", call->flags & GT_CALL_LOADS);
    gt_emit_close(emit, GT_EXTRA_CALL, index);
    gt_emit_newline(emit);
}

/* Groups of GPUs, and what kernels say of collectives, as they stand in a trace. */

void gt_emit_groups(struct gt_emit *emit)
{
    const struct gt_workload *workload = emit->workload;

    for (uint32_t i = 0; i < workload->group_count; i++) {
        const struct gt_group *group = &workload->groups[i];

        gt_emit_open(emit);
        gt_emit_text(emit, "group", emit->keys.names[group->name]);
        gt_emit_open_list(emit, "gpus");
        for (uint32_t rank = 0; rank < group->size; rank++)
            gt_emit_key_value(emit, &emit->keys.gpus[group->members[rank]]);
        gt_emit_close_list(emit);
        gt_emit_close(emit, GT_EXTRA_GROUP, i);
        gt_emit_newline(emit);
    }
}

void gt_emit_collective(struct gt_emit *emit, const struct gt_kernel *kernel)
{
    const struct gt_collective *collective = &kernel->collective;

    if (collective->kind == GT_COLLECTIVE_NONE)
        return;
    gt_emit_text(emit, "collective", gt_collective_kind_names[collective->kind]);
    gt_emit_text(emit, "group", emit->keys.names[emit->workload->groups[collective->group].name]);
    gt_emit_number(emit, "bytes", collective->bytes);
    if (collective->datatype != GT_NONE)
        gt_emit_text(emit, "datatype", emit->keys.names[collective->datatype]);
    if (collective->reduction != GT_NONE)
        gt_emit_text(emit, "reduction", emit->keys.names[collective->reduction]);
    if (collective->root != 0)
        gt_emit_number(emit, "root", collective->root);
    if (collective->to != GT_NONE)
        gt_emit_number(emit, "to", collective->to);
    if (collective->from != GT_NONE)
        gt_emit_number(emit, "from", collective->from);
    if (collective->algorithm != GT_ALGORITHM_ANY)
        gt_emit_text(emit, "algorithm", gt_algorithm_names[collective->algorithm]);
    if (collective->protocol != GT_PROTOCOL_ANY)
        gt_emit_text(emit, "protocol", gt_protocol_names[collective->protocol]);
}

/* What a kernel's blocks launch, as it stands in a trace. */

static void emit_blocks(struct gt_emit *emit, const struct gt_launch_rule *rule)
{
    switch ((enum gt_launch_blocks)rule->blocks) {
    case GT_BLOCKS_ALL: return;
    case GT_BLOCKS_FIRST: gt_emit_text(emit, "blocks", "first"); return;
    case GT_BLOCKS_LAST: gt_emit_text(emit, "blocks", "last"); return;
    case GT_BLOCKS_EVERY: gt_emit_number(emit, "every", rule->every); return;
    case GT_BLOCKS_LIST: break;
    }
    gt_emit_key(emit, "block_numbers");
    yajl_gen_array_open(emit->gen);
    for (uint32_t i = 0; i < rule->block_list_length; i++)
        gt_emit_number_value(emit, rule->block_list[i]);
    yajl_gen_array_close(emit->gen);
}

static void emit_launch(struct gt_emit *emit, gt_kernel_index index, const struct gt_launch_rule *rule)
{
    yajl_gen_map_open(emit->gen);
    gt_emit_ref(emit, "kernel", &emit->keys.kernels[rule->kernel != GT_NONE ? rule->kernel : index]);
    emit_blocks(emit, rule);
    if (rule->count != 1)
        gt_emit_number(emit, "count", rule->count);
    if (rule->at != 0) {
        gt_emit_key(emit, "at");
        gt_emit_mean_value(emit, rule->at);
    }
    if (rule->into == GT_INTO_STREAM)
        gt_emit_number(emit, "stream", rule->stream);
    else if (rule->into != GT_INTO_NULL)
        gt_emit_text(emit, "into", gt_launch_into_names[rule->into]);
    if (rule->depth != GT_ANY_DEPTH)
        gt_emit_number(emit, "depth", rule->depth);
    yajl_gen_map_close(emit->gen);
}

void gt_emit_launches(struct gt_emit *emit, gt_kernel_index index)
{
    const struct gt_kernel *kernel = &emit->workload->kernels[index];

    if (kernel->launch_count == 0)
        return;
    gt_emit_key(emit, "launches");
    yajl_gen_array_open(emit->gen);
    for (uint32_t i = 0; i < kernel->launch_count; i++)
        emit_launch(emit, index, &kernel->launches[i]);
    yajl_gen_array_close(emit->gen);
}
