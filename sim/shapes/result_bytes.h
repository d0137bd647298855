/* result_bytes.h - how large an allocation within an operator is when the operator's inputs have other sizes.
 *
 * A profile tells the sizes of inputs and the bytes of allocations, not what was allocated.  So the bytes are held against all that
 * operators make of such inputs: a tensor's sides or some of them (element-wise results, reductions, statistics of rows, masks),
 * two tensors stretched to one another, rows of one by a side of another (products, embeddings).  What fits the bytes is taken
 * for what was allocated, and has other bytes with other inputs.
 */
#ifndef GRIDTIDE_SIM_SHAPES_RESULT_BYTES_H
#define GRIDTIDE_SIM_SHAPES_RESULT_BYTES_H

#include "sim/shapes/caching_allocator.h"
#include "sim/shapes/inputs.h"

/* As PyTorch's allocator rounds sizes up; of more than GT_SMALL_BYTES it gives out a block that is larger, whole, where no more than
 * as much would be left of it (sim/shapes/caching_allocator.h). */
double gt_block_bytes(double bytes);

struct gt_result_bytes {
    double recorded, bytes; /* what was asked for, as recorded and now */
    double left;            /* of the recorded block, behind that */
};

/* Of a block of `block` bytes that was allocated within operator `name` with the inputs `from`, which are `to` now.  False: none of what
 * operators make of their inputs is that large. */
bool gt_result_bytes_of(const char *name, const struct gt_inputs *from, const struct gt_inputs *to, double block,
                        struct gt_result_bytes *result);

#endif
