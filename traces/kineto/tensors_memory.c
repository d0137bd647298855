/* The profile's "[memory]" events beside the execution trace: where storages lie. */
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "sim/workload/host_waits.h"
#include "traces/kineto/tensors_parts.h"

/* PyTorch's allocator rounds sizes up to this (CUDACachingAllocator's kMinBlockSize); of more than SMALL_BYTES (kSmallSize) it gives
 * out a block that is larger, whole, where no more than as much would be left of it. */
enum { BLOCK_BYTES = 512, SMALL_BYTES = 1 << 20 };

static int compare_functions(const void *left, const void *right)
{
    const struct kineto_function *a = left, *b = right;

    GT_ORDER(a->process, b->process);
    GT_ORDER(a->thread, b->thread);
    GT_ORDER(a->start_ns, b->start_ns);
    GT_ORDER(b->end_ns, a->end_ns);
    GT_ORDER(a->function, b->function);
    return 0;
}

static int compare_memory(const void *left, const void *right)
{
    const struct kineto_memory *a = left, *b = right;

    GT_ORDER(a->time_ns, b->time_ns);
    GT_ORDER(a->address, b->address);
    GT_ORDER(a->bytes, b->bytes); /* what comes back may go out again at once */
    return 0;
}

static bool same_thread(const struct kineto_function *a, const struct kineto_function *b)
{
    return a->process == b->process && a->thread == b->thread;
}

static void find_parents(struct kineto_tensors *tensors)
{
    if (tensors->function_count > 0)
        qsort(tensors->functions, tensors->function_count, sizeof *tensors->functions, compare_functions);
    for (uint32_t i = 0; i < tensors->function_count; i++) {
        struct kineto_function *function = &tensors->functions[i];
        uint32_t parent = i > 0 && same_thread(&function[-1], function) ? i - 1 : GT_NONE;

        while (parent != GT_NONE && tensors->functions[parent].end_ns < function->end_ns)
            parent = tensors->functions[parent].parent;
        function->parent = parent;
    }
}

/* The innermost function around that time; GT_NONE. */
static uint32_t function_at(const struct kineto_tensors *tensors, const struct kineto_memory *memory)
{
    const struct kineto_function key = { .start_ns = memory->time_ns,
                                         .end_ns = INT64_MIN,
                                         .process = memory->process,
                                         .thread = memory->thread,
                                         .function = UINT64_MAX };
    uint32_t low = 0, high = tensors->function_count, at;

    low = GT_LOWER_BOUND(middle, low, high, compare_functions(&tensors->functions[middle], &key) <= 0);
    at = low > 0 && same_thread(&tensors->functions[low - 1], &key) ? low - 1 : GT_NONE;
    while (at != GT_NONE && tensors->functions[at].end_ns < memory->time_ns)
        at = tensors->functions[at].parent;
    return at;
}

/* When the operator around it is over: the outermost of those around it that are no more than operators, which stay in one
 * stream; INT64_MIN: none is. */
static int64_t operator_end_ns(const struct kineto_tensors *tensors, const struct kineto_memory *memory)
{
    int64_t end_ns = INT64_MIN;

    for (uint32_t at = function_at(tensors, memory); at != GT_NONE; at = tensors->functions[at].parent) {
        const struct et_node *node = et_find(&tensors->join->et, tensors->functions[at].function);

        if (node == NULL || !node->in_one_stream)
            break;
        end_ns = tensors->functions[at].end_ns;
    }
    return end_ns;
}

/* The result of the node that may have got this memory: of its size but for `most_left`, and of a place that is not known yet. */
static struct storage *made_there(struct tensor_join *join, const struct et_node *node, int64_t bytes,
                                  uint64_t most_left)
{
    uint64_t least_left = most_left + 1;
    struct storage *nearest = NULL;

    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        const struct et_tensor *tensor = &join->et.tensors[i];
        struct storage *storage = kineto_storage(join, tensor->storage);
        uint64_t rounded = (tensor->to + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
        uint64_t left = (uint64_t)bytes - rounded;

        if (!tensor->output || tensor->gpu < 0 || storage->address != GT_ADDRESS_NONE || rounded > (uint64_t)bytes ||
            (left > 0 && rounded <= SMALL_BYTES) || left >= least_left)
            continue;
        least_left = left;
        nearest = storage;
    }
    return nearest;
}

struct found {
    uint64_t address;
    UT_hash_handle hh;
};

static struct storage *made_at(const struct kineto_tensors *tensors, const struct kineto_memory *memory,
                               uint64_t most_left)
{
    struct storage *storage = NULL;

    for (uint32_t at = function_at(tensors, memory); at != GT_NONE && storage == NULL;
         at = tensors->functions[at].parent) {
        const struct et_node *node = et_find(&tensors->join->et, tensors->functions[at].function);

        if (node != NULL)
            storage = made_there(tensors->join, node, memory->bytes, most_left);
    }
    return storage;
}

/* Of memory whose address is not known: which storage is there. */
static void find_places(struct kineto_tensors *tensors, struct found **known, uint64_t most_left)
{
    for (uint32_t i = 0; i < tensors->memory_count; i++) {
        const struct kineto_memory *memory = &tensors->memory[i];
        struct storage *storage;
        struct found *found;

        HASH_FIND(hh, *known, &memory->address, sizeof memory->address, found);
        storage = memory->bytes > 0 && found == NULL ? made_at(tensors, memory, most_left) : NULL;
        if (storage == NULL)
            continue;
        storage->address = memory->address;
        found = gt_calloc(1, sizeof *found);
        found->address = memory->address;
        HASH_ADD(hh, *known, address, sizeof found->address, found);
    }
}

void kineto_find_addresses(struct kineto_tensors *tensors)
{
    struct found *known = NULL, *found, *next;

    find_parents(tensors);
    if (tensors->memory_count > 0)
        qsort(tensors->memory, tensors->memory_count, sizeof *tensors->memory, compare_memory);
    for (uint32_t i = 0; i < tensors->memory_count; i++)
        tensors->memory[i].operator_end_ns = operator_end_ns(tensors, &tensors->memory[i]);
    find_places(tensors, &known, 0);
    find_places(tensors, &known, SMALL_BYTES);
    HASH_ITER(hh, known, found, next)
    {
        HASH_DEL(known, found);
        free(found);
    }
}

/* Operations get what they read and wrote, of the operators that asked for them. */

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
