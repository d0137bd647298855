/* Operations get what they read and wrote, of the operators that asked for them. */
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/workload/host_waits.h"
#include "traces/kineto/tensors_parts.h"

struct alloc {
    gt_buffer_index buffer;
    gt_call_index call;
};

struct giving {
    const struct kineto_tensors *tensors;
    struct gt_workload *w;
    struct alloc *allocs; /* by buffer and call */
    uint32_t alloc_count, alloc_room;
    gt_call_index *last_calls; /* by node: the last that its operator asked for an operation by */
};

static int compare_allocs(const void *left, const void *right)
{
    const struct alloc *a = left, *b = right;

    GT_ORDER(a->buffer, b->buffer);
    GT_ORDER(a->call, b->call);
    return 0;
}

static void give_access(struct gt_workload *w, struct gt_op *op, struct gt_buffer_access access)
{
    if (op->accesses == UINT16_MAX)
        return;
    if (op->accesses == 0)
        op->first_access = w->access_count;
    gt_array_grow(w->accesses, w->access_count, w->access_room);
    w->accesses[w->access_count++] = access;
    op->accesses++;
}

/* The tensor's part of the storage; where its strides are not known, its first element, and what is behind that, maybe. */
static void give(struct gt_workload *w, struct gt_op *op, const struct et_tensor *tensor,
                 const struct storage *storage)
{
    struct gt_buffer_access access = { .offset = tensor->from,
                                       .bytes = tensor->to - tensor->from,
                                       .buffer = storage->buffer,
                                       .writes = tensor->writes };

    if (tensor->open)
        access.bytes = tensor->element_bytes;
    give_access(w, op, access);
    if (!tensor->open || storage->bytes <= tensor->from + tensor->element_bytes)
        return;
    access.offset += access.bytes;
    access.bytes = storage->bytes - access.offset;
    access.possible = true;
    give_access(w, op, access);
}

/* Does the operator get the result's memory only behind that call?  Then what the call asks for does not write there. */
static bool is_given_out_later(const struct giving *g, gt_call_index call, const struct et_node *node,
                               gt_buffer_index buffer)
{
    const struct alloc key = { buffer, call };
    uint32_t next = kineto_first_from(g->allocs, g->alloc_count, sizeof key, &key, compare_allocs);

    return next < g->alloc_count && g->allocs[next].buffer == buffer &&
           g->allocs[next].call < g->last_calls[node - g->tensors->join->et.nodes];
}

/* Of an operator's kernels the first takes its inputs, and the first behind each wait of its own; the others go on with what it
 * made.  They are in one stream with nothing between them, so that this orders them with others as if each took all. */
static void give_op(const struct giving *g, struct gt_op *op, const struct et_node *node, bool first)
{
    const struct kineto_tensors *tensors = g->tensors;
    bool writes = false;

    for (uint32_t i = node->first; i < node->first + node->count; i++)
        writes |= tensors->join->et.tensors[i].writes;
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        const struct et_tensor *tensor = &tensors->join->et.tensors[i];
        const struct storage *storage = kineto_storage(tensors->join, tensor->storage);

        /* What a kernel takes from the host are numbers, which go with the launch. */
        if ((tensor->gpu < 0 && op->kind != GT_OP_COPY) || storage->buffer == GT_NONE)
            continue;
        if (tensor->output && is_given_out_later(g, op->call, node, storage->buffer))
            continue;
        if (first || tensor->writes || !writes)
            give(g->w, op, tensor, storage);
    }
}

/* Does an operator wait for what it asked for in one of the calls first .. behind - 1? */
static bool waits_between(const struct gt_workload *w, uint32_t external, gt_call_index first, gt_call_index behind)
{
    for (gt_call_index i = first; i < behind; i++)
        if (w->calls[i].external == external && gt_call_synchronises(&w->calls[i]))
            return true;
    return false;
}

static const struct et_node *node_of(const struct giving *g, const struct gt_op *op)
{
    const struct gt_call *call = &g->w->calls[op->call];

    return call->ops == 1 ? kineto_node(g->tensors, call->external) : NULL;
}

static void begin(struct giving *g)
{
    const struct gt_workload *w = g->w;

    g->last_calls = gt_calloc(g->tensors->join->et.node_count + 1ull, sizeof *g->last_calls);
    for (gt_op_index i = 0; i < w->op_count; i++) {
        const struct et_node *node = node_of(g, &w->ops[i]);

        if (node != NULL)
            g->last_calls[node - g->tensors->join->et.nodes] = w->ops[i].call;
    }
    for (gt_call_index i = 0; i < w->call_count; i++) {
        if (w->calls[i].kind != GT_CALL_ALLOC)
            continue;
        gt_array_grow(g->allocs, g->alloc_count, g->alloc_room);
        g->allocs[g->alloc_count++] = (struct alloc){ w->calls[i].buffer, i };
    }
    if (g->alloc_count > 0)
        qsort(g->allocs, g->alloc_count, sizeof *g->allocs, compare_allocs);
}

void kineto_tensors_give(struct kineto_tensors *tensors, struct gt_workload *w)
{
    struct giving g = { .tensors = tensors, .w = w };
    uint32_t last = 0;
    gt_call_index last_call = 0;
    uint64_t unknown = 0;

    begin(&g);
    for (gt_op_index i = 0; i < w->op_count; i++) {
        struct gt_op *op = &w->ops[i];
        const struct et_node *node = node_of(&g, op);
        uint32_t external = w->calls[op->call].external;

        if (node == NULL || !node->known)
            unknown++;
        else
            give_op(&g, op, node, external != last || waits_between(w, last, last_call, op->call));
        last = external;
        last_call = op->call;
    }
    gt_import_warn(w, "accesses-unknown", unknown);
    free(g.allocs);
    free(g.last_calls);
}
