/* execution_trace.h - what operators read and wrote, as PyTorch's ExecutionTraceObserver has it.
 *
 * Its JSON (torch/csrc/profiler/standalone/execution_trace_observer.cpp; schemas 1.0.1, whose nodes are flat, and 1.0.2-chakra to
 * 1.1.x-chakra) lists nodes: inputs and outputs, of which a tensor is [tensor, storage, offset, elements, bytes an element,
 * device], beside them shapes and, since 1.1.1, strides; the operator's schema, whose "(a!)" marks what is written; and the
 * number of the record function, which the profiler's events have too.  A storage's number stands for the address of its data.
 */
#ifndef GRIDTIDE_TRACES_KINETO_EXECUTION_TRACE_H
#define GRIDTIDE_TRACES_KINETO_EXECUTION_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"

/* A part of a storage that an operator reads or writes: all bytes between the first and the last. */
struct et_tensor {
    uint64_t storage;
    uint64_t from, to; /* bytes; `to` is the first one behind, if it lies in a row */
    int64_t gpu;       /* -1: the host */
    bool writes, output;
    bool open; /* its strides were not written: of where it is only the first element is known */
    uint64_t element_bytes;
};

struct et_node {
    uint64_t function;     /* number of the record function */
    uint64_t name;         /* the operator's, hashed (sim/base/hash.h) */
    uint32_t first, count; /* its tensors */
    bool known;            /* it has a schema, which says what is written, and all its tensors were written down */
    bool in_one_stream;    /* it has a schema, and is no collective's operator, whose kernel is in another stream */
    bool records_stream;   /* Tensor.record_stream() */
};

struct et {
    uint64_t process;      /* that wrote it; 0: it does not say */
    struct et_node *nodes; /* by function, rising */
    uint32_t node_count, node_room;
    struct et_tensor *tensors;
    uint32_t tensor_count, tensor_room;
};

/* Read the file.  Returns 0, or -1 with "PATH: ...".  Either way et_free() ends it. */
int et_read(struct et *et, const char *path, struct gt_error *error);
void et_free(struct et *et);
/* The node of a record function; NULL. */
const struct et_node *et_find(const struct et *et, uint64_t function);

/* schema.c: what "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)" says of an argument, by
 * its place.  False where there is no such place. */
bool et_schema_writes(const char *schema, size_t length, uint32_t argument);
/* Is the result at that place memory of its own, rather than an argument's? */
bool et_schema_makes(const char *schema, size_t length, uint32_t result);

#endif
