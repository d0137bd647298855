/* network.h - operators that hand their results on to each other in one memory, as a network's do: a matrix by a vector,
 * an LSTM's cell.
 *
 * The memory is an array of floats that all launches of a trace share.  Whoever works in it is told by `places` where, in
 * floats from its beginning.  Before a run all of it is filled at random; after the run each operator's output can be held
 * against what the CPU makes of what its inputs are then, since every place is written once.
 *
 * The executor does such operators as tasks, the library's kernel `operator` as blocks of a launch, by the same code
 * (network.cuh).
 */
#ifndef GRIDTIDE_KERNELS_EXECUTOR_NETWORK_H
#define GRIDTIDE_KERNELS_EXECUTOR_NETWORK_H

#include <cuda_runtime_api.h>

#include "kernels/base/launch.h"
#include "kernels/base/reference.h"
#include "kernels/executor/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Places of GT_EXECUTOR_PRODUCT: the matrix, row after row; the vector; the result.
 * Of GT_EXECUTOR_CELL: what is summed up to the gates, two each of input, forget, new and output; the cell's memory of the
 * step before; its memory; its output. */
enum { GT_NETWORK_PRODUCT_PLACES = 3, GT_NETWORK_CELL_PLACES = 11, GT_NETWORK_PLACES = 11 };

/* A part of an operator: `rows` elements of its result, of the matrix `columns` each. */
struct gt_network_part {
    enum gt_executor_work work;
    uint32_t rows, columns;
    uint32_t places[GT_NETWORK_PLACES];
};

extern const struct gt_library_kernel gt_kernel_operator;

/* How many places the work has; 0: it is none of these. */
uint32_t gt_network_places(enum gt_executor_work work);
/* The part `index` parts behind `first`. */
struct gt_network_part gt_network_part_at(const struct gt_network_part *first, uint32_t index);
/* The first place behind all that it reads and writes. */
uint64_t gt_network_end(const struct gt_network_part *part);

/* Random numbers for all of the memory, in stream order. */
cudaError_t gt_network_fill(float *memory, uint64_t floats, uint64_t seed, cudaStream_t stream);
/* Add what one part left in `memory`, copied to the host, to a norm of its difference to the CPU's. */
void gt_network_compare(const float *memory, const struct gt_network_part *part, struct gt_reference_norm *norm);

#ifdef __cplusplus
}
#endif
#endif
