#include "traces/chakra/node_message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/sort.h"
#include "sim/base/text.h"
#include "sim/workload/collective.h"
#include "traces/names/demangle.h"

typedef ChakraProtoMsg__AttributeProto Attribute;

/* ASTRA-sim reads a group's name as a number, and 0 as all ranks whatever is said of it. */
enum { FIRST_GROUP = 1 };

static Attribute *attribute(struct gt_node_message *m, const char *name,
                            ChakraProtoMsg__AttributeProto__ValueCase type)
{
    Attribute *a = &m->attributes[m->node.n_attr];

    if (m->node.n_attr == GT_CHAKRA_MOST_ATTRIBUTES)
        gt_bug("a node has too many attributes");
    chakra_proto_msg__attribute_proto__init(a);
    a->name = (char *)name;
    a->value_case = type;
    m->list[m->node.n_attr++] = a;
    return a;
}

static void put_bool(struct gt_node_message *m, const char *name, bool value)
{
    attribute(m, name, CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_BOOL_VAL)->bool_val = value;
}

static void put_int32(struct gt_node_message *m, const char *name, int32_t value)
{
    attribute(m, name, CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT32_VAL)->int32_val = value;
}

static void put_int64(struct gt_node_message *m, const char *name, uint64_t value)
{
    attribute(m, name, CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_VAL)->int64_val = (int64_t)value;
}

static void put_uint64(struct gt_node_message *m, const char *name, uint64_t value)
{
    attribute(m, name, CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_UINT64_VAL)->uint64_val = value;
}

static void put_text(struct gt_node_message *m, const char *name, const char *value)
{
    attribute(m, name, CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_STRING_VAL)->string_val = (char *)value;
}

static void put_list(struct gt_node_message *m, const char *name, int64_t *values, size_t count)
{
    ChakraProtoMsg__Int64List *list = &m->lists[m->list_count++];

    chakra_proto_msg__int64_list__init(list);
    list->values = values;
    list->n_values = count;
    attribute(m, name, CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_LIST)->int64_list = list;
}

static void put_three(struct gt_node_message *m, const char *name, const uint32_t three[3])
{
    int64_t *numbers = m->numbers[m->list_count];

    for (int i = 0; i < 3; i++)
        numbers[i] = three[i];
    put_list(m, name, numbers, 3);
}

/* Times to the nanosecond, which the format's own do not tell. */
static void put_times(struct gt_node_message *m, gt_time_ps start_ps, gt_time_ps duration_ps)
{
    put_uint64(m, GT_CHAKRA_START_NS, start_ps / 1000);
    put_uint64(m, GT_CHAKRA_DURATION_NS, (start_ps + duration_ps) / 1000 - start_ps / 1000);
}

static void put_stream(struct gt_node_message *m, const struct gt_workload *w, gt_stream_index index)
{
    const struct gt_stream *stream = &w->streams[index];

    put_int64(m, "stream", stream->id);
    put_int64(m, "device", w->gpus[stream->gpu].id);
    if (stream->context != 0)
        put_int64(m, "context", stream->context);
    if (stream->flags != 0)
        put_int64(m, "stream_flags", stream->flags);
    if (stream->priority != 0)
        put_int32(m, "stream_priority", stream->priority);
}

static void put_kernel(struct gt_node_message *m, const struct gt_kernel *kernel)
{
    put_three(m, "grid", kernel->grid);
    put_three(m, "block", kernel->block);
    put_int64(m, "registers", kernel->registers_per_thread);
    put_int64(m, "shared_bytes", kernel->static_shared_bytes);
    put_int64(m, "dynamic_shared_bytes", kernel->dynamic_shared_bytes);
}

/* ASTRA-sim asks each node of the GPU for these in its roofline mode, and passes over those of 0 bytes.  Of others it divides
 * num_ops by a rate that is in proportion to them: 0 has no time there, 1 that of the bytes (Workload::issue_comp). */
static void put_work(struct gt_node_message *m, uint64_t operations, uint64_t bytes)
{
    put_int64(m, "num_ops", operations == 0 && bytes > 0 ? 1 : operations);
    put_uint64(m, "tensor_size", bytes);
}

static uint32_t list_group(struct gt_node_message *m, const struct gt_node_plan *plan, uint32_t group)
{
    const struct gt_group *g = &plan->w->groups[group];

    m->involved = gt_realloc(m->involved, g->size + 1ull, sizeof *m->involved);
    for (uint32_t i = 0; i < g->size; i++)
        m->involved[i] = plan->rank_of_gpu[g->members[i]];
    return g->size;
}

static int comm_type(uint16_t kind)
{
    static const int types[GT_COLLECTIVE_KINDS] = {
        [GT_ALL_REDUCE] = CHAKRA_PROTO_MSG__COLLECTIVE_COMM_TYPE__ALL_REDUCE,
        [GT_REDUCE_SCATTER] = CHAKRA_PROTO_MSG__COLLECTIVE_COMM_TYPE__REDUCE_SCATTER,
        [GT_ALL_GATHER] = CHAKRA_PROTO_MSG__COLLECTIVE_COMM_TYPE__ALL_GATHER,
        [GT_BROADCAST] = CHAKRA_PROTO_MSG__COLLECTIVE_COMM_TYPE__BROADCAST,
        [GT_REDUCE] = CHAKRA_PROTO_MSG__COLLECTIVE_COMM_TYPE__REDUCE,
        [GT_ALL_TO_ALL] = CHAKRA_PROTO_MSG__COLLECTIVE_COMM_TYPE__ALL_TO_ALL,
    };

    return types[kind];
}

/* `comm_tag`: the format's own readers match messages by it; all of a pair's are in order here, and have the same. */
static void put_collective(struct gt_node_message *m, const struct gt_node_plan *plan, uint32_t rank,
                           const struct gt_collective *collective, bool receives)
{
    uint32_t size = list_group(m, plan, collective->group);

    put_int64(m, "comm_size", collective->bytes);
    snprintf(m->group, sizeof m->group, "%" PRIu32, collective->group + FIRST_GROUP);
    put_text(m, "pg_name", m->group);
    put_text(m, GT_CHAKRA_GROUP, gt_name_text(plan->w, plan->w->groups[collective->group].name));
    if (collective->datatype != GT_NONE)
        put_text(m, "dtype", gt_name_text(plan->w, collective->datatype));
    if (collective->kind == GT_SEND_RECV) {
        m->node.type =
            receives ? CHAKRA_PROTO_MSG__NODE_TYPE__COMM_RECV_NODE : CHAKRA_PROTO_MSG__NODE_TYPE__COMM_SEND_NODE;
        put_int32(m, "comm_src", (int32_t)(receives ? m->involved[collective->from] : rank));
        put_int32(m, "comm_dst", (int32_t)(receives ? rank : m->involved[collective->to]));
        put_int32(m, "comm_tag", 0);
        return;
    }
    m->node.type = CHAKRA_PROTO_MSG__NODE_TYPE__COMM_COLL_NODE;
    put_int64(m, "comm_type", (uint64_t)comm_type(collective->kind));
    if (collective->kind == GT_BROADCAST || collective->kind == GT_REDUCE)
        put_int64(m, "root", (uint64_t)m->involved[collective->root]);
    put_list(m, "involved_ranks", m->involved, size);
}

static char *op_name(const struct gt_workload *w, const struct gt_op *op)
{
    static const char *const copies[GT_DIRECTIONS] = {
        [GT_H2D] = "Memcpy HtoD", [GT_D2H] = "Memcpy DtoH", [GT_D2D] = "Memcpy DtoD",
        [GT_P2P] = "Memcpy PtoP", [GT_H2H] = "Memcpy HtoH",
    };

    if (op->kind == GT_OP_KERNEL)
        return gt_utf8_clean(gt_name_text(w, w->kernels[op->kernel].name));
    return gt_strdup(op->kind == GT_OP_COPY     ? copies[op->direction]
                     : op->kind == GT_OP_MEMSET ? "Memset"
                                                : "host function");
}

static void make_op(struct gt_node_message *m, const struct gt_node_plan *plan, uint32_t rank, gt_op_index index,
                    bool receives)
{
    const struct gt_workload *w = plan->w;
    const struct gt_op *op = &w->ops[index];
    const struct gt_kernel *collective = gt_collective_kernel(w, index);

    m->name = op_name(w, op);
    put_bool(m, "is_cpu_op", false);
    put_text(m, GT_CHAKRA_OPERATION, gt_op_kind_names[op->kind]);
    put_stream(m, w, op->stream);
    put_times(m, op->start_ps, op->duration_ps);
    if (op->kind == GT_OP_KERNEL)
        put_kernel(m, &w->kernels[op->kernel]);
    if (op->kind == GT_OP_COPY)
        put_text(m, "direction", gt_direction_names[op->direction]);
    if (op->kind == GT_OP_COPY || op->kind == GT_OP_MEMSET)
        put_text(m, "memory", gt_memory_names[op->memory]);
    if (receives)
        put_text(m, GT_CHAKRA_PART, "receive");
    if (collective != NULL)
        put_collective(m, plan, rank, &collective->collective,
                       receives ||
                           (collective->collective.kind == GT_SEND_RECV && collective->collective.to == GT_NONE));
    else if (plan->work != NULL && op->kind == GT_OP_KERNEL)
        put_work(m, plan->work[index].operations, plan->work[index].bytes);
    else
        put_work(m, 0, op->bytes);
}

static void make_gap(struct gt_node_message *m, const struct gt_node_plan *plan, gt_op_index op)
{
    m->name = gt_strdup("launch gap");
    put_bool(m, "is_cpu_op", false);
    put_text(m, GT_CHAKRA_PART, "gap");
    put_int64(m, "stream", plan->w->streams[plan->w->ops[op].stream].id);
    put_work(m, 0, 0);
}

static const char *call_name(const struct gt_workload *w, const struct gt_call *call)
{
    return call->name != GT_NONE ? gt_name_text(w, call->name) : gt_call_kind_names[call->kind];
}

static void put_call(struct gt_node_message *m, const struct gt_workload *w, const struct gt_call *call)
{
    const unsigned kept = GT_CALL_SYNCHRONOUS | GT_CALL_INFERRED | GT_CALL_TARGET_UNKNOWN;

    put_text(m, GT_CHAKRA_CALL, gt_call_kind_names[call->kind]);
    put_times(m, call->start_ps, call->duration_ps);
    if (call->flags & kept)
        put_int64(m, "call_flags", call->flags & kept);
    if (call->stream != GT_NONE)
        put_stream(m, w, call->stream);
    if (call->event != GT_NONE)
        put_uint64(m, "event", w->events[call->event].id);
    if (call->buffer != GT_NONE) {
        put_uint64(m, "buffer", call->buffer);
        put_uint64(m, "buffer_bytes", w->buffers[call->buffer].bytes);
        put_text(m, "memory", gt_memory_names[w->buffers[call->buffer].memory]);
        put_int64(m, "buffer_device", w->gpus[w->buffers[call->buffer].gpu].id);
    }
}

static void make_host(struct gt_node_message *m, const struct gt_node_plan *plan, const struct gt_planned_node *node)
{
    const struct gt_workload *w = plan->w;
    const struct gt_call *call = &w->calls[node->what];

    m->name = node->kind == GT_NODE_HOST_WORK ? gt_strdup("host work") : gt_utf8_clean(call_name(w, call));
    put_bool(m, "is_cpu_op", true);
    put_int64(m, "tid", w->threads[call->thread].id);
    if (node->kind == GT_NODE_CALL)
        put_call(m, w, call);
    else
        put_text(m, GT_CHAKRA_PART, node->kind == GT_NODE_RETURN ? "return" : "host_work");
}

/* As PyTorch's own traces list process groups, which ASTRA-sim reads: ['[{"pg_name": "1", "ranks": [0, 1]}]']. */
static void make_groups(struct gt_node_message *m, const struct gt_node_plan *plan)
{
    const struct gt_workload *w = plan->w;
    size_t bytes;
    FILE *out = open_memstream(&m->values, &bytes);

    if (out == NULL)
        gt_no_memory("a text");
    fputs("['[", out);
    for (uint32_t i = 0; i < w->group_count; i++) {
        uint32_t size = list_group(m, plan, i);

        fprintf(out, "%s{\"pg_name\": \"%" PRIu32 "\", \"group_size\": %" PRIu32 ", \"ranks\": [", i > 0 ? ", " : "",
                i + FIRST_GROUP, size);
        for (uint32_t j = 0; j < size; j++)
            fprintf(out, "%s%" PRId64, j > 0 ? ", " : "", m->involved[j]);
        fputs("]}", out);
    }
    fputs("]']", out);
    fclose(out);
    m->name = gt_strdup("## process_group:init ##");
    m->node.type = CHAKRA_PROTO_MSG__NODE_TYPE__METADATA_NODE;
    m->inputs.values = m->values;
    m->node.inputs = &m->inputs;
    put_bool(m, "is_cpu_op", true);
}

static void put_deps(struct gt_node_message *m, const struct gt_node_plan *plan, const struct gt_planned_node *node)
{
    if (node->deps > m->dep_room) {
        m->dep_room = node->deps;
        m->deps = gt_realloc(m->deps, m->dep_room, sizeof *m->deps);
    }
    for (uint32_t i = 0; i < node->deps; i++)
        m->deps[i] = plan->deps[node->first_dep + i];
    qsort(m->deps, node->deps, sizeof *m->deps, gt_by_u64);
    m->node.data_deps = m->deps;
    m->node.n_data_deps = node->deps;
    if (node->call == GT_NONE)
        return;
    m->ctrl = node->call;
    m->node.ctrl_deps = &m->ctrl;
    m->node.n_ctrl_deps = 1;
}

void gt_node_message_make(struct gt_node_message *m, const struct gt_node_plan *plan, uint32_t rank, uint32_t index)
{
    const struct gt_planned_node *node = &plan->ranks[rank].nodes[index];

    free(m->name);
    free(m->values);
    m->name = m->values = NULL;
    m->list_count = 0;
    chakra_proto_msg__node__init(&m->node);
    chakra_proto_msg__ioinfo__init(&m->inputs);
    m->node.id = index;
    m->node.type = CHAKRA_PROTO_MSG__NODE_TYPE__COMP_NODE;
    m->node.start_time_micros = node->start_us;
    m->node.duration_micros = node->duration_us;
    m->node.attr = m->list;
    put_deps(m, plan, node);
    switch (node->kind) {
    case GT_NODE_GROUPS: make_groups(m, plan); break;
    case GT_NODE_GAP: make_gap(m, plan, node->what); break;
    case GT_NODE_OP:
    case GT_NODE_RECEIVE: make_op(m, plan, rank, node->what, node->kind == GT_NODE_RECEIVE); break;
    default: make_host(m, plan, node); break;
    }
    m->node.name = m->name;
}

void gt_node_message_free(struct gt_node_message *m)
{
    free(m->involved);
    free(m->deps);
    free(m->name);
    free(m->values);
}
