/* tensors.h - what kernels and copies read and wrote: the profile and an execution trace, beside each other. */
#ifndef GRIDTIDE_TRACES_KINETO_TENSORS_H
#define GRIDTIDE_TRACES_KINETO_TENSORS_H

#include "traces/import/builder.h"

/* An operator's time on its thread, and its numbers. */
struct kineto_function {
    int64_t start_ns, end_ns;
    uint64_t process, thread;
    uint64_t function; /* of the record function */
    uint64_t name;     /* hashed (sim/base/hash.h) */
    uint32_t external; /* External id, which what it launched has too */
    uint32_t parent;   /* the innermost around it; GT_NONE; known once all is read */
};

/* "[memory]": the allocator gave memory out, or (bytes below 0) got it back. */
struct kineto_memory {
    int64_t time_ns, bytes;
    int64_t operator_end_ns; /* of the operator around it; INT64_MIN: none; known once all is read */
    uint64_t process, thread, address;
};

struct kineto_tensors {
    struct kineto_function *functions;
    uint32_t function_count, function_room;
    struct kineto_memory *memory;
    uint32_t memory_count, memory_room;
    struct tensor_join *join; /* while the execution trace is being joined */
};

/* Before gt_import_finish(): read the execution trace, and add calls of alloc, free and record_stream where the profile has
 * what the allocator did (profile_memory=True).  Returns 0, or -1 with "PATH: ...". */
int kineto_tensors_begin(struct kineto_tensors *tensors, struct gt_import *import, const char *path,
                         struct gt_error *error);
/* After it: give the operations of the workload what they read and write. */
void kineto_tensors_give(struct kineto_tensors *tensors, struct gt_workload *workload);
void kineto_tensors_free(struct kineto_tensors *tensors);

#endif
