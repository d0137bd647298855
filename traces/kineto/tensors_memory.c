/* The profile's "[memory]" events beside the execution trace: where storages lie, and when their memory came and went. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/kineto/tensors_parts.h"

/* PyTorch's allocator rounds sizes up to this (CUDACachingAllocator's kMinBlockSize). */
enum { BLOCK_BYTES = 512 };

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

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (compare_functions(&tensors->functions[middle], &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    at = low > 0 && same_thread(&tensors->functions[low - 1], &key) ? low - 1 : GT_NONE;
    while (at != GT_NONE && tensors->functions[at].end_ns < memory->time_ns)
        at = tensors->functions[at].parent;
    return at;
}

/* The result of the node that may have got this memory: of its size, and of a place that is not known yet. */
static struct storage *made_there(struct tensor_join *join, const struct et_node *node, int64_t bytes)
{
    for (uint32_t i = node->first; i < node->first + node->count; i++) {
        const struct et_tensor *tensor = &join->et.tensors[i];
        struct storage *storage = kineto_storage(join, tensor->storage);
        uint64_t rounded = (tensor->to + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;

        if (tensor->output && tensor->gpu >= 0 && storage->address == GT_ADDRESS_NONE && rounded == (uint64_t)bytes)
            return storage;
    }
    return NULL;
}

struct place {
    uint64_t address;
    struct storage *storage;
    gt_stream_index stream; /* whose order its memory is in */
    bool given;             /* it is given out, seen to be */
    UT_hash_handle hh;
};

void kineto_find_addresses(struct kineto_tensors *tensors)
{
    struct place *known = NULL, *place, *next;

    find_parents(tensors);
    if (tensors->memory_count > 0)
        qsort(tensors->memory, tensors->memory_count, sizeof *tensors->memory, compare_memory);
    for (uint32_t i = 0; i < tensors->memory_count; i++) {
        const struct kineto_memory *memory = &tensors->memory[i];
        struct storage *storage = NULL;

        HASH_FIND(hh, known, &memory->address, sizeof memory->address, place);
        if (memory->bytes <= 0 || place != NULL)
            continue;
        for (uint32_t at = function_at(tensors, memory); at != GT_NONE && storage == NULL;
             at = tensors->functions[at].parent) {
            const struct et_node *node = et_find(&tensors->join->et, tensors->functions[at].function);

            if (node != NULL)
                storage = made_there(tensors->join, node, memory->bytes);
        }
        if (storage == NULL)
            continue;
        storage->address = memory->address;
        place = gt_calloc(1, sizeof *place);
        place->address = memory->address;
        HASH_ADD(hh, known, address, sizeof place->address, place);
    }
    HASH_ITER(hh, known, place, next)
    {
        HASH_DEL(known, place);
        free(place);
    }
}

/* Which stream a thread put work into when. */
struct asking {
    int64_t start_ns;
    uint32_t thread;
    gt_stream_index stream;
};

static int compare_askings(const void *left, const void *right)
{
    const struct asking *a = left, *b = right;

    GT_ORDER(a->thread, b->thread);
    GT_ORDER(a->start_ns, b->start_ns);
    return 0;
}

static int compare_ops(const void *left, const void *right)
{
    const struct gt_import_op *a = *(const struct gt_import_op *const *)left;
    const struct gt_import_op *b = *(const struct gt_import_op *const *)right;

    GT_ORDER(a->process, b->process);
    GT_ORDER(a->correlation, b->correlation);
    return 0;
}

/* Calls that put an operation into a stream, by thread and time. */
static struct asking *find_askings(const struct gt_import *import, uint32_t *count)
{
    const struct gt_import_op **ops = gt_calloc(import->op_count + 1ull, sizeof(struct gt_import_op *));
    struct asking *askings = gt_calloc(import->call_count + 1ull, sizeof *askings);

    *count = 0;
    for (uint32_t i = 0; i < import->op_count; i++)
        ops[i] = &import->ops[i];
    qsort(ops, import->op_count, sizeof *ops, compare_ops);
    for (uint32_t i = 0; i < import->call_count; i++) {
        const struct gt_import_call *call = &import->calls[i];
        const struct gt_import_op key = { .process = call->process, .correlation = call->correlation };
        const struct gt_import_op *wanted = &key;
        const struct gt_import_op **op = bsearch(&wanted, ops, import->op_count, sizeof *ops, compare_ops);

        if (op != NULL && call->correlation != GT_NO_CORRELATION)
            askings[(*count)++] = (struct asking){ call->start_ns, call->thread, (*op)->stream };
    }
    qsort(askings, *count, sizeof *askings, compare_askings);
    free(ops);
    return askings;
}

/* The stream that the thread works in: of its next operation; GT_NONE. */
static gt_stream_index stream_at(const struct asking *askings, uint32_t count, uint32_t thread, int64_t time_ns)
{
    const struct asking key = { time_ns, thread, GT_NONE };
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (compare_askings(&askings[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && askings[low].thread == thread ? askings[low].stream : GT_NONE;
}

static void add_call(struct gt_import *import, const struct kineto_memory *memory, enum gt_call_kind kind,
                     gt_buffer_index buffer, gt_stream_index stream)
{
    uint32_t thread = gt_import_thread(import, memory->process, memory->process, memory->thread);
    struct gt_import_call *call = gt_import_add_call(import);

    call->start_ns = call->end_ns = memory->time_ns;
    call->process = memory->process;
    call->thread = thread;
    call->name = gt_name(import->workload, "[memory]", 8);
    call->kind = (uint8_t)kind;
    call->buffer = buffer;
    call->stream = stream;
}

/* The observer does not say which stream a buffer was recorded to be used in: each that uses it. */
static void add_records(struct kineto_tensors *tensors, struct gt_import *import, const struct kineto_memory *memory,
                        const struct place *place, const struct asking *askings, uint32_t count)
{
    bool *used = gt_calloc(import->workload->stream_count + 1ull, sizeof *used);
    uint32_t calls = import->call_count;

    for (uint32_t i = 0; i < calls && place->storage->recorded; i++) {
        const struct et_node *node = kineto_node(tensors, import->calls[i].external);
        gt_stream_index stream;

        for (uint32_t j = 0; node != NULL && j < node->count; j++) {
            if (tensors->join->et.tensors[node->first + j].storage != place->storage->number)
                continue;
            stream = stream_at(askings, count, import->calls[i].thread, import->calls[i].start_ns);
            if (stream == GT_NONE || stream == place->stream || used[stream])
                continue;
            used[stream] = true;
            add_call(import, memory, GT_CALL_RECORD_STREAM, place->storage->buffer, stream);
        }
    }
    free(used);
}

static struct place *places_of(struct tensor_join *join)
{
    struct place *places = NULL;

    for (struct storage *storage = join->storages; storage != NULL; storage = storage->hh.next) {
        struct place *place;

        if (storage->address == GT_ADDRESS_NONE || storage->buffer == GT_NONE)
            continue;
        place = gt_calloc(1, sizeof *place);
        place->address = storage->address;
        place->storage = storage;
        HASH_ADD(hh, places, address, sizeof place->address, place);
    }
    return places;
}

void kineto_add_allocations(struct kineto_tensors *tensors, struct gt_import *import)
{
    struct place *places = places_of(tensors->join), *place, *next;
    uint32_t count;
    struct asking *askings = find_askings(import, &count);

    for (uint32_t i = 0; i < tensors->memory_count; i++) {
        const struct kineto_memory *memory = &tensors->memory[i];
        uint32_t thread;

        HASH_FIND(hh, places, &memory->address, sizeof memory->address, place);
        if (place == NULL)
            continue;
        if (memory->bytes > 0) {
            thread = gt_import_thread(import, memory->process, memory->process, memory->thread);
            place->stream = stream_at(askings, count, thread, memory->time_ns);
            place->given = place->stream != GT_NONE;
            if (place->given)
                add_call(import, memory, GT_CALL_ALLOC, place->storage->buffer, place->stream);
        } else if (place->given) {
            add_records(tensors, import, memory, place, askings, count);
            add_call(import, memory, GT_CALL_FREE, place->storage->buffer, place->stream);
            place->given = false;
        }
    }
    HASH_ITER(hh, places, place, next)
    {
        HASH_DEL(places, place);
        free(place);
    }
    free(askings);
}
