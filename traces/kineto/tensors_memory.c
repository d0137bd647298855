/* The profile's "[memory]" events beside the execution trace: where storages lie. */
#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
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
