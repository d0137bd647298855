#include "traces/chakra/et_build.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/workload/collective.h"
#include "traces/chakra/et_def.pb-c.h"
#include "traces/import/index_map.h"

enum lane_kind { LANE_STATED, LANE_COMPUTE, LANE_MEMORY, LANE_GROUP, LANE_SEND, LANE_RECEIVE };

gt_gpu_index gt_et_gpu(struct gt_et_build *b, uint64_t device)
{
    uint32_t id = device < GT_NONE ? (uint32_t)device : 0;

    for (gt_gpu_index i = 0; i < b->w->gpu_count; i++)
        if (b->w->gpus[i].id == id)
            return i;
    if (b->w->gpu_count > GT_MOST_GPUS) /* which the workload's check refuses */
        return 0;
    gt_workload_add_gpu(b->w);
    b->w->gpus[b->w->gpu_count - 1].id = id;
    return b->w->gpu_count - 1;
}

static bool is_message(const struct gt_et_node *node)
{
    return node->type == CHAKRA_PROTO_MSG__NODE_TYPE__COMM_SEND_NODE ||
           node->type == CHAKRA_PROTO_MSG__NODE_TYPE__COMM_RECV_NODE;
}

static bool sends(const struct gt_et_node *node)
{
    return node->type == CHAKRA_PROTO_MSG__NODE_TYPE__COMM_SEND_NODE;
}

/* The kind of a node's lane, and which one of that kind it is. */
static enum lane_kind lane_of(const struct gt_et_node *node, uint64_t *id)
{
    *id = 0;
    if (node->stream != GT_ET_NONE) {
        *id = node->stream;
        return LANE_STATED;
    }
    if (is_message(node)) {
        *id = sends(node) ? node->dst : node->src;
        return sends(node) ? LANE_SEND : LANE_RECEIVE;
    }
    if (gt_et_communicates(node)) {
        *id = node->group;
        return LANE_GROUP;
    }
    return gt_et_is_memory(node) ? LANE_MEMORY : LANE_COMPUTE;
}

/* Numbers of streams that no file states: far from those that CUDA gives. */
enum { FIRST_ASSUMED_ID = 100000 };

gt_stream_index gt_et_stream(struct gt_et_build *b, const struct gt_et_node *node)
{
    uint64_t id;
    enum lane_kind kind = lane_of(node, &id);
    gt_stream_index *lane =
        gt_index_map_at(&b->lanes, (struct gt_index_key){ { kind, node->device, node->context, id } });
    struct gt_stream *stream;

    if (*lane != GT_NONE)
        return *lane;
    *lane = gt_workload_add_stream(b->w);
    stream = &b->w->streams[*lane];
    stream->id = kind == LANE_STATED ? id : FIRST_ASSUMED_ID + *lane;
    stream->gpu = gt_et_gpu(b, node->device);
    stream->context = node->context < GT_NONE ? (uint32_t)node->context : 0;
    stream->flags = GT_STREAM_NON_BLOCKING;
    return *lane;
}

static uint32_t at_most(uint32_t value, uint32_t most)
{
    return value < most ? value : most;
}

/* What states no shape has a block on each second SM: an SM whose blocks use no shared memory takes none of a collective, which do,
 * and these would wait for the whole kernel. */
static gt_kernel_index kernel_of(struct gt_et_build *b, const struct gt_et_node *node)
{
    enum { THREADS = 256, MOST_REGISTERS = 255, MOST_SHARED = 1 << 28 };
    struct gt_kernel kernel = {
        .name = node->name,
        .grid = { b->device->sms / 2 + 1, 1, 1 },
        .block = { THREADS, 1, 1 },
        .registers_per_thread = at_most(node->registers, MOST_REGISTERS),
        .static_shared_bytes = at_most(node->shared_bytes, MOST_SHARED),
        .dynamic_shared_bytes = at_most(node->dynamic_shared_bytes, MOST_SHARED),
        .duration_ps = GT_TIME_NONE,
        .runs = GT_NONE,
        .arguments = GT_NONE,
    };

    if (gt_et_communicates(node))
        kernel.grid[0] = 1;
    b->shapes_assumed += node->grid[0] == 0 && !gt_et_communicates(node);
    for (int i = 0; i < 3 && node->grid[0] != 0 && node->block[0] != 0; i++) {
        kernel.grid[i] = node->grid[i];
        kernel.block[i] = node->block[i];
    }
    return gt_workload_kernel(b->w, &kernel);
}

/* Copies that Chakra's converter knows by their names alone: "Memcpy HtoD (Pinned -> Device)". */
static uint8_t direction_of(const char *name)
{
    static const struct {
        const char *name;
        uint8_t direction;
    } copies[] = { { "Memcpy HtoD", GT_H2D },
                   { "Memcpy DtoH", GT_D2H },
                   { "Memcpy DtoD", GT_D2D },
                   { "Memcpy PtoP", GT_D2D },
                   { "Memcpy HtoH", GT_H2H } };

    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        if (gt_begins(name, strlen(name), copies[i].name))
            return copies[i].direction;
    return UINT8_MAX;
}

static enum gt_op_kind op_kind(const struct gt_workload *w, const struct gt_et_node *node)
{
    const char *name = gt_name_text(w, node->name);

    if (gt_et_communicates(node))
        return GT_OP_KERNEL;
    if (node->operation != UINT8_MAX)
        return node->operation;
    if (gt_et_is_memory(node) || direction_of(name) != UINT8_MAX)
        return GT_OP_COPY;
    return gt_begins(name, strlen(name), "Memset") ? GT_OP_MEMSET : GT_OP_KERNEL;
}

enum gt_call_kind gt_et_call_kind(const struct gt_workload *w, const struct gt_et_node *node)
{
    static const enum gt_call_kind kinds[GT_OP_KINDS] = {
        [GT_OP_KERNEL] = GT_CALL_LAUNCH,
        [GT_OP_COPY] = GT_CALL_COPY,
        [GT_OP_MEMSET] = GT_CALL_MEMSET,
        [GT_OP_HOST_FUNCTION] = GT_CALL_HOST_FUNCTION,
    };

    return kinds[op_kind(w, node)];
}

static void set_copy(struct gt_op *op, const struct gt_workload *w, const struct gt_et_node *node)
{
    uint8_t named = direction_of(gt_name_text(w, node->name));

    op->direction = node->direction != UINT8_MAX                                ? node->direction
                    : named != UINT8_MAX                                        ? named
                    : node->type == CHAKRA_PROTO_MSG__NODE_TYPE__MEM_STORE_NODE ? GT_D2H
                                                                                : GT_H2D;
    if (op->direction == GT_P2P) /* the other GPU is not stated */
        op->direction = GT_D2D;
    op->memory = node->memory != UINT8_MAX ? node->memory
                 : op->direction == GT_D2D ? GT_MEMORY_DEVICE
                                           : GT_MEMORY_PINNED;
}

static void note(struct gt_et_build *b, const struct gt_et_node *node, gt_op_index op, bool stated,
                 gt_time_ps estimate_ps)
{
    struct gt_collective_note *note =
        gt_collective_notes_add(&b->notes, op, is_message(node) ? GT_SEND_RECV : node->collective);

    note->bytes = node->comm_size;
    note->group = node->group != GT_NONE ? node->group : gt_name(b->w, "default", strlen("default"));
    note->datatype = node->datatype;
    note->no_shape = node->grid[0] == 0;
    note->alone_ps = stated ? GT_TIME_NONE : estimate_ps;
    if (!is_message(node))
        return;
    note->to = sends(node) ? node->dst : GT_NONE;
    note->from = sends(node) ? GT_NONE : node->src;
    note->tag = node->sequence;
}

gt_op_index gt_et_add_op(struct gt_et_build *b, uint32_t index, gt_call_index call)
{
    const struct gt_et_node *node = &b->file->nodes[index];
    gt_stream_index stream = gt_et_stream(b, node);
    enum gt_op_kind kind = op_kind(b->w, node);
    gt_kernel_index kernel = kind == GT_OP_KERNEL ? kernel_of(b, node) : GT_NONE;
    gt_op_index number = gt_workload_add_op(b->w);
    struct gt_op *op = &b->w->ops[number];

    op->call = call;
    op->stream = stream;
    op->kind = (uint8_t)kind;
    op->kernel = kernel;
    op->bytes = kind == GT_OP_COPY || kind == GT_OP_MEMSET ? node->tensor_size : 0;
    if (b->times->stated[index] || !(gt_et_communicates(node) || kind == GT_OP_COPY || kind == GT_OP_MEMSET))
        op->duration_ps = b->times->duration_ps[index];
    if (kind == GT_OP_MEMSET)
        op->memory = node->memory != UINT8_MAX ? node->memory : GT_MEMORY_DEVICE;
    if (kind == GT_OP_COPY)
        set_copy(op, b->w, node);
    b->streams_assumed += node->stream == GT_ET_NONE;
    if (gt_et_communicates(node))
        note(b, node, number, b->times->stated[index], b->times->duration_ps[index]);
    return number;
}

void gt_et_build_free(struct gt_et_build *b)
{
    gt_index_map_free(b->lanes);
}
