/* tensors_parts.h - what the files of the join share; for tensors*.c only. */
#ifndef GRIDTIDE_TRACES_KINETO_TENSORS_PARTS_H
#define GRIDTIDE_TRACES_KINETO_TENSORS_PARTS_H

#include "traces/kineto/execution_trace.h"
#include "traces/kineto/tensors.h"

#define uthash_fatal(text) gt_no_memory("an index of tensors")
#include <uthash.h>

enum { WHOLES = 4 };

/* A storage, which stands for an address. */
struct storage {
    uint64_t number;
    uint64_t bytes;   /* as far as any tensor reaches */
    uint64_t address; /* GT_ADDRESS_NONE: not known */
    int64_t gpu;      /* -1: the host's */
    gt_buffer_index buffer;
    uint64_t wholes[WHOLES]; /* bytes of results that were made there, one after the other */
    uint32_t whole_count;
    UT_hash_handle hh;
};

struct tensor_join {
    struct et et;
    struct storage *storages; /* by number */
};

/* Of a sorted list, whose items have so many bytes: the first that is not before `key`; `count`: all are. */
uint32_t kineto_first_from(const void *list, uint32_t count, size_t bytes, const void *key,
                           int (*compare)(const void *, const void *));
struct storage *kineto_storage(struct tensor_join *join, uint64_t number);
/* The buffer of a storage, in the workload from now on. */
gt_buffer_index kineto_buffer(struct gt_import *import, struct storage *storage);
/* The node of the operator with that External id; NULL. */
const struct et_node *kineto_node(const struct kineto_tensors *tensors, uint32_t external);

/* tensors_memory.c: where storages lie, by what the allocator gave out while an operator made them. */
void kineto_find_addresses(struct kineto_tensors *tensors);
/* tensors_allocator.c: calls of the allocator, where those are known. */
void kineto_add_allocations(struct kineto_tensors *tensors, struct gt_import *import);

#endif
