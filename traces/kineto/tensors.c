#include "traces/kineto/tensors.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/kineto/tensors_parts.h"

static int compare_externals(const void *left, const void *right)
{
    const struct kineto_function *a = left, *b = right;

    GT_ORDER(a->external, b->external);
    GT_ORDER(a->start_ns, b->start_ns);
    return 0;
}

const struct et_node *kineto_node(const struct kineto_tensors *tensors, uint32_t external)
{
    uint32_t low = 0, high = tensors->function_count;

    while (low < high && external != 0) {
        uint32_t middle = low + (high - low) / 2;

        if (tensors->functions[middle].external < external)
            low = middle + 1;
        else
            high = middle;
    }
    if (external == 0 || low == tensors->function_count || tensors->functions[low].external != external)
        return NULL;
    return et_find(&tensors->join->et, tensors->functions[low].function);
}

uint32_t kineto_first_from(const void *list, uint32_t count, size_t bytes, const void *key,
                           int (*compare)(const void *, const void *))
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, count, compare((const char *)list + middle * bytes, key) < 0);
    return low;
}

struct storage *kineto_storage(struct tensor_join *join, uint64_t number)
{
    struct storage *storage;

    HASH_FIND(hh, join->storages, &number, sizeof number, storage);
    if (storage != NULL)
        return storage;
    storage = gt_calloc(1, sizeof *storage);
    *storage = (struct storage){ .number = number, .address = GT_ADDRESS_NONE, .buffer = GT_NONE };
    HASH_ADD(hh, join->storages, number, sizeof number, storage);
    return storage;
}

gt_buffer_index kineto_buffer(struct gt_import *import, struct storage *storage)
{
    struct gt_workload *w = import->workload;
    gt_gpu_index gpu = storage->gpu >= 0 ? gt_import_gpu(import, (uint32_t)storage->gpu) : 0;
    struct gt_buffer *buffer;
    char *name;

    if (storage->buffer != GT_NONE)
        return storage->buffer;
    name = gt_format("storage %llu", (unsigned long long)storage->number);
    storage->buffer = gt_workload_add_buffer(w);
    buffer = &w->buffers[storage->buffer];
    buffer->name = gt_name(w, name, strlen(name));
    buffer->bytes = storage->bytes;
    buffer->address = storage->address;
    buffer->gpu = gpu;
    buffer->memory = storage->gpu >= 0 ? GT_MEMORY_DEVICE : GT_MEMORY_UNKNOWN;
    free(name);
    return storage->buffer;
}

/* Has a tensor all of what was made at its storage's address? */
static bool is_whole(const struct storage *storage, const struct et_tensor *tensor)
{
    for (uint32_t i = 0; i < storage->whole_count && tensor->from == 0; i++)
        if (storage->wholes[i] == tensor->to)
            return true;
    return false;
}

/* Where storages are, and how large. */
static void find_storages(struct tensor_join *join)
{
    for (uint32_t i = 0; i < join->et.node_count; i++) {
        const struct et_node *node = &join->et.nodes[i];

        for (uint32_t j = node->first; j < node->first + node->count; j++) {
            const struct et_tensor *tensor = &join->et.tensors[j];
            struct storage *storage = kineto_storage(join, tensor->storage);

            storage->gpu = tensor->gpu;
            storage->bytes = tensor->to > storage->bytes ? tensor->to : storage->bytes;
            if (tensor->output && tensor->from == 0 && storage->whole_count < WHOLES && !is_whole(storage, tensor))
                storage->wholes[storage->whole_count++] = tensor->to;
        }
    }
}

/* What has all of a storage has it in a row. */
static void close_wholes(struct tensor_join *join)
{
    for (uint32_t i = 0; i < join->et.tensor_count; i++) {
        struct et_tensor *tensor = &join->et.tensors[i];
        const struct storage *storage = kineto_storage(join, tensor->storage);

        tensor->open &= !is_whole(storage, tensor) && (tensor->from > 0 || tensor->to < storage->bytes);
    }
}

/* Buffers before the workload is finished: GPUs that only tensors are on count too. */
static void make_buffers(struct kineto_tensors *tensors, struct gt_import *import)
{
    for (uint32_t i = 0; i < import->call_count; i++) {
        const struct et_node *node = kineto_node(tensors, import->calls[i].external);

        for (uint32_t j = 0; node != NULL && j < node->count; j++)
            kineto_buffer(import, kineto_storage(tensors->join, tensors->join->et.tensors[node->first + j].storage));
    }
}

enum { FEWEST_NODES = 4 };

/* Both files are of one run if they tell of the same operators: numbers of record functions count on through a process, so that
 * another run, or another part of the same one, has others, or other operators by them. */
static int check_same_run(const struct kineto_tensors *tensors, const char *path, struct gt_error *error)
{
    const struct et *et = &tensors->join->et;
    uint32_t found = 0, same = 0, of_process = 0;

    for (uint32_t i = 0; i < tensors->function_count; i++) {
        const struct kineto_function *function = &tensors->functions[i];
        const struct et_node *node = et_find(et, function->function);

        found += node != NULL;
        same += node != NULL && node->name == function->name;
        of_process += function->process == et->process;
    }
    if (tensors->function_count == 0 || et->node_count < FEWEST_NODES)
        return 0; /* too little to tell by: what they read and write is not known, which is said elsewhere */
    if (et->process != 0 && of_process == 0)
        return gt_error_set(
            error,
            "%s: belongs to another run than the profile: it is from process %llu, which has no operator in the "
            "profile; use the execution trace that was recorded together with the profile",
            path, (unsigned long long)et->process);
    if (found == 0 || same < found - found / 8)
        return gt_error_set(error,
                            "%s: belongs to another run than the profile, or to another part of it: of %u operators "
                            "in the profile, %u have a record with the same number, %u of them with the same name; "
                            "use the execution trace that was recorded together with the profile",
                            path, tensors->function_count, found, same);
    return 0;
}

int kineto_tensors_begin(struct kineto_tensors *tensors, struct gt_import *import, const char *path,
                         struct gt_error *error)
{
    tensors->join = gt_calloc(1, sizeof *tensors->join);
    if (et_read(&tensors->join->et, path, error) != 0 || check_same_run(tensors, path, error) != 0)
        return -1;
    find_storages(tensors->join);
    close_wholes(tensors->join);
    kineto_find_addresses(tensors);
    if (tensors->function_count > 0)
        qsort(tensors->functions, tensors->function_count, sizeof *tensors->functions, compare_externals);
    make_buffers(tensors, import);
    kineto_add_allocations(tensors, import);
    return 0;
}

void kineto_tensors_free(struct kineto_tensors *tensors)
{
    struct storage *storage, *next;

    free(tensors->functions);
    free(tensors->memory);
    if (tensors->join == NULL)
        return;
    et_free(&tensors->join->et);
    HASH_ITER(hh, tensors->join->storages, storage, next)
    {
        HASH_DEL(tensors->join->storages, storage);
        free(storage);
    }
    free(tensors->join);
}
