/* Calls of the allocator, by the profile's "[memory]" events: alloc, free, and what buffers are recorded to be used in. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/kineto/tensors_parts.h"

/* A call that put an operation into a stream. */
struct asking {
    int64_t start_ns;
    uint32_t thread, external;
    gt_stream_index stream;
};

/* Tensor.record_stream() */
struct record {
    uint64_t storage;
    int64_t start_ns;
};

/* An address that the allocator gives out.  It belongs to one stream from cudaMalloc() to cudaFree(): that in which it is given out first
 * (c10/cuda/CUDACachingAllocator.cpp). */
struct place {
    uint64_t address;
    struct storage *storage;
    gt_stream_index stream; /* whose order its memory is in; GT_NONE: not known */
    int64_t known_ns;       /* since when */
    int64_t given_ns;       /* when it was given out last */
    bool given;             /* it is given out, seen to be */
    UT_hash_handle hh;
};

struct allocator {
    struct kineto_tensors *tensors;
    struct gt_import *import;
    struct asking *askings, *by_time; /* by thread and time; by time */
    uint32_t asking_count;
    int64_t *returned_ns; /* when memory went back to the driver */
    uint32_t returned_count, returned_room;
    struct record *records;
    uint32_t record_count, record_room;
};

static int compare_askings(const void *left, const void *right)
{
    const struct asking *a = left, *b = right;

    GT_ORDER(a->thread, b->thread);
    GT_ORDER(a->start_ns, b->start_ns);
    return 0;
}

static int compare_times(const void *left, const void *right)
{
    const struct asking *a = left, *b = right;

    GT_ORDER(a->start_ns, b->start_ns);
    return 0;
}

static int compare_returns(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    GT_ORDER(*a, *b);
    return 0;
}

static int compare_records(const void *left, const void *right)
{
    const struct record *a = left, *b = right;

    GT_ORDER(a->storage, b->storage);
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

static void find_askings(struct allocator *a)
{
    const struct gt_import *import = a->import;
    const struct gt_import_op **ops = gt_calloc(import->op_count + 1ull, sizeof(struct gt_import_op *));

    a->askings = gt_calloc(import->call_count + 1ull, sizeof *a->askings);
    a->by_time = gt_calloc(import->call_count + 1ull, sizeof *a->by_time);
    for (uint32_t i = 0; i < import->op_count; i++)
        ops[i] = &import->ops[i];
    qsort(ops, import->op_count, sizeof *ops, compare_ops);
    for (uint32_t i = 0; i < import->call_count; i++) {
        const struct gt_import_call *call = &import->calls[i];
        const struct gt_import_op key = { .process = call->process, .correlation = call->correlation };
        const struct gt_import_op *wanted = &key;
        const struct gt_import_op **op = bsearch(&wanted, ops, import->op_count, sizeof *ops, compare_ops);

        if (op != NULL && call->correlation != GT_NO_CORRELATION)
            a->askings[a->asking_count++] =
                (struct asking){ call->start_ns, call->thread, call->external, (*op)->stream };
    }
    memcpy(a->by_time, a->askings, a->asking_count * sizeof *a->askings);
    qsort(a->askings, a->asking_count, sizeof *a->askings, compare_askings);
    qsort(a->by_time, a->asking_count, sizeof *a->by_time, compare_times);
    free(ops);
}

/* cudaFree(), and what gives back segments that can grow. */
static bool gives_back(const struct gt_import *import, const struct gt_import_call *call)
{
    static const char *const names[] = { "cudaFree", "cuMemFree_v2", "cuMemFree", "cuMemUnmap", "cuMemRelease" };
    const char *name = call->name != GT_NONE ? gt_name_text(import->workload, call->name) : "";

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void find_returns(struct allocator *a)
{
    for (uint32_t i = 0; i < a->import->call_count; i++) {
        if (!gives_back(a->import, &a->import->calls[i]))
            continue;
        gt_array_grow(a->returned_ns, a->returned_count, a->returned_room);
        a->returned_ns[a->returned_count++] = a->import->calls[i].start_ns;
    }
    if (a->returned_count > 0)
        qsort(a->returned_ns, a->returned_count, sizeof *a->returned_ns, compare_returns);
}

static void find_records(struct allocator *a)
{
    const struct kineto_tensors *tensors = a->tensors;

    for (uint32_t i = 0; i < tensors->function_count; i++) {
        const struct et_node *node = et_find(&tensors->join->et, tensors->functions[i].function);

        for (uint32_t j = 0; node != NULL && node->records_stream && j < node->count; j++) {
            gt_array_grow(a->records, a->record_count, a->record_room);
            a->records[a->record_count++] =
                (struct record){ tensors->join->et.tensors[node->first + j].storage, tensors->functions[i].start_ns };
        }
    }
    if (a->record_count > 0)
        qsort(a->records, a->record_count, sizeof *a->records, compare_records);
}

static uint32_t first_asking(const struct allocator *a, const struct asking *list, const struct asking *key,
                             int (*compare)(const void *, const void *))
{
    return kineto_first_from(list, a->asking_count, sizeof *list, key, compare);
}

static bool went_back(const struct allocator *a, int64_t from_ns, int64_t until_ns)
{
    uint32_t first =
        kineto_first_from(a->returned_ns, a->returned_count, sizeof *a->returned_ns, &from_ns, compare_returns);

    return first < a->returned_count && a->returned_ns[first] < until_ns;
}

static bool was_recorded(const struct allocator *a, uint64_t storage, int64_t from_ns, int64_t until_ns)
{
    const struct record key = { storage, from_ns };
    uint32_t first = kineto_first_from(a->records, a->record_count, sizeof key, &key, compare_records);

    return first < a->record_count && a->records[first].storage == storage && a->records[first].start_ns <= until_ns;
}

/* What its thread asks for next, on the GPU of the memory; NULL: nothing. */
static const struct asking *next_asking(const struct allocator *a, const struct place *place,
                                        const struct kineto_memory *memory)
{
    const struct gt_workload *w = a->import->workload;
    uint32_t thread = gt_import_thread(a->import, memory->process, memory->process, memory->thread);
    const struct asking key = { .start_ns = memory->time_ns, .thread = thread };
    uint32_t next = first_asking(a, a->askings, &key, compare_askings);

    while (next < a->asking_count && a->askings[next].thread == thread &&
           w->streams[a->askings[next].stream].gpu != w->buffers[place->storage->buffer].gpu)
        next++;
    return next < a->asking_count && a->askings[next].thread == thread ? &a->askings[next] : NULL;
}

/* The operator that memory is given out to says in which stream, by what it asks for. */
static bool is_told(const struct asking *asking, const struct kineto_memory *memory)
{
    return asking != NULL && asking->start_ns <= memory->operator_end_ns;
}

/* By [memory] event: what is told of the same address later, before it can belong to another stream; GT_NONE. */
static gt_stream_index *find_later(const struct allocator *a, struct place *places)
{
    const struct kineto_tensors *tensors = a->tensors;
    gt_stream_index *later = gt_realloc(NULL, tensors->memory_count + 1ull, sizeof *later);
    struct place *place;

    for (uint32_t i = tensors->memory_count; i-- > 0;) {
        const struct kineto_memory *memory = &tensors->memory[i];
        const struct asking *asking;

        later[i] = GT_NONE;
        HASH_FIND(hh, places, &memory->address, sizeof memory->address, place);
        if (place == NULL || memory->bytes <= 0)
            continue;
        if (place->stream != GT_NONE && !went_back(a, memory->time_ns, place->known_ns))
            later[i] = place->stream;
        asking = next_asking(a, place, memory);
        if (!is_told(asking, memory))
            continue;
        place->stream = asking->stream;
        place->known_ns = memory->time_ns;
    }
    for (place = places; place != NULL; place = place->hh.next)
        place->stream = GT_NONE;
    return later;
}

/* The stream that memory is given out in: the operator's that it is given to; else that in which the address was given out before, or is
 * later, by an operator; else what its thread asks for next. */
static void find_stream(const struct allocator *a, struct place *place, const struct kineto_memory *memory,
                        gt_stream_index later)
{
    const struct asking *asking = next_asking(a, place, memory);
    bool told = is_told(asking, memory);

    if (!told && place->stream != GT_NONE && !went_back(a, place->known_ns, memory->time_ns))
        return;
    place->known_ns = memory->time_ns;
    if (!told && later != GT_NONE)
        place->stream = later;
    else
        place->stream = asking != NULL ? asking->stream : GT_NONE;
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

static bool uses(const struct kineto_tensors *tensors, uint32_t external, uint64_t storage)
{
    const struct et_node *node = kineto_node(tensors, external);

    for (uint32_t i = 0; node != NULL && i < node->count; i++)
        if (tensors->join->et.tensors[node->first + i].storage == storage)
            return true;
    return false;
}

/* The observer does not say which stream a buffer was recorded to be used in: each that used it since it was given out. */
static void add_records(struct allocator *a, const struct kineto_memory *memory, const struct place *place)
{
    const struct asking key = { .start_ns = place->given_ns };
    bool *used;

    if (!was_recorded(a, place->storage->number, place->given_ns, memory->time_ns))
        return;
    used = gt_calloc(a->import->workload->stream_count + 1ull, sizeof *used);
    for (uint32_t i = first_asking(a, a->by_time, &key, compare_times);
         i < a->asking_count && a->by_time[i].start_ns <= memory->time_ns; i++) {
        gt_stream_index stream = a->by_time[i].stream;

        if (stream == place->stream || used[stream] ||
            !uses(a->tensors, a->by_time[i].external, place->storage->number))
            continue;
        used[stream] = true;
        add_call(a->import, memory, GT_CALL_RECORD_STREAM, place->storage->buffer, stream);
    }
    free(used);
}

static void give_out(struct allocator *a, const struct kineto_memory *memory, struct place *place,
                     gt_stream_index later)
{
    find_stream(a, place, memory, later);
    place->given = place->stream != GT_NONE;
    place->given_ns = memory->time_ns;
    if (place->given)
        add_call(a->import, memory, GT_CALL_ALLOC, place->storage->buffer, place->stream);
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
        place->stream = GT_NONE;
        HASH_ADD(hh, places, address, sizeof place->address, place);
    }
    return places;
}

void kineto_add_allocations(struct kineto_tensors *tensors, struct gt_import *import)
{
    struct place *places = places_of(tensors->join), *place, *next;
    struct allocator a = { .tensors = tensors, .import = import };
    gt_stream_index *later;

    find_askings(&a);
    find_returns(&a);
    find_records(&a);
    later = find_later(&a, places);
    for (uint32_t i = 0; i < tensors->memory_count; i++) {
        const struct kineto_memory *memory = &tensors->memory[i];

        HASH_FIND(hh, places, &memory->address, sizeof memory->address, place);
        if (place == NULL)
            continue;
        if (memory->bytes > 0) {
            give_out(&a, memory, place, later[i]);
        } else if (place->given) {
            add_records(&a, memory, place);
            add_call(import, memory, GT_CALL_FREE, place->storage->buffer, place->stream);
            place->given = false;
        }
    }
    HASH_ITER(hh, places, place, next)
    {
        HASH_DEL(places, place);
        free(place);
    }
    free(later);
    free(a.askings);
    free(a.by_time);
    free(a.returned_ns);
    free(a.records);
}
