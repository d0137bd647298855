/* rnn.cu - a recurrent network that keeps its weights in registers for all steps of a launch, a barrier over the grid
 * after each; with one step a launch it reads them anew each time. */
#include <stdlib.h>

#include "kernels/base/block_reduce.cuh"
#include "kernels/base/persistent.cuh"
#include "kernels/base/reference.h"

namespace {

enum {
    HIDDEN = 1024, ROWS_A_WARP = 4, WARPS = 8, THREADS = WARPS * 32, EACH = HIDDEN / 32,
    BLOCKS = HIDDEN / (ROWS_A_WARP * WARPS), INPUTS = 64, HEAD_BYTES = 256
};
const double TOLERANCE = 1e-4;
const float SCALE = 0.05f;  /* of weights, so that the state neither dies nor saturates */

struct arguments_type {
    uint32_t *arrived, *ended, *step;  /* 0 at first; `step` goes on from launch to launch */
    float *state;                      /* of even steps, of odd ones */
    const float *weights, *inputs;     /* HIDDEN x HIDDEN; INPUTS x HIDDEN, around in a ring */
    uint32_t steps;
};

/* The warp's rows times the state; lane 0 has the sums. */
__device__ void multiply_rows(const float (*weights)[EACH], const float *state, float *sums)
{
    unsigned lane = this_thread() % warpSize;
    for (int row = 0; row < ROWS_A_WARP; row++)
        sums[row] = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        float value = state[i * 32 + lane];
#pragma unroll
        for (int row = 0; row < ROWS_A_WARP; row++)
            sums[row] = fmaf(weights[row][i], value, sums[row]);
    }
    for (int row = 0; row < ROWS_A_WARP; row++)
        sums[row] = warp_reduce<sum_of>(sums[row], warpSize);
}

__global__ void __launch_bounds__(THREADS) rnn(arguments_type x, struct gt_block_log *log)
{
    __shared__ float state[HIDDEN];
    float weights[ROWS_A_WARP][EACH], sums[ROWS_A_WARP];
    log_begin(log);
    unsigned lane = this_thread() % warpSize;
    uint32_t first_row = ((uint32_t)this_block() * WARPS + this_thread() / warpSize) * ROWS_A_WARP;
    uint32_t first_step = load_relaxed(x.step);
#pragma unroll
    for (int row = 0; row < ROWS_A_WARP; row++)
#pragma unroll
        for (int i = 0; i < EACH; i++)
            weights[row][i] = x.weights[(uint64_t)(first_row + row) * HIDDEN + i * 32 + lane];
    for (uint32_t i = 0; i < x.steps; i++) {
        uint32_t step = first_step + i;
        const float *from = x.state + step % 2 * HIDDEN;
        for (unsigned j = this_thread(); j < HIDDEN; j += THREADS)
            state[j] = __ldcg(from + j);
        __syncthreads();
        multiply_rows(weights, state, sums);
        for (int row = 0; row < ROWS_A_WARP && lane == 0; row++)
            x.state[(step + 1) % 2 * HIDDEN + first_row + row] =
                tanhf(sums[row] + x.inputs[(uint64_t)(step % INPUTS) * HIDDEN + first_row + row]);
        if (i + 1 < x.steps)
            grid_barrier(x.arrived, i + 1);
    }
    if (last_block(x.ended) && this_thread() == 0) {
        *x.arrived = 0;
        *x.step = first_step + x.steps;
    }
    log_end(log);
}

arguments_type layout(const struct gt_gpu_launch *launch)
{
    char *at = (char *)launch->scratch;
    uint32_t *words = (uint32_t *)at;
    float *state = (float *)(at + HEAD_BYTES), *weights = state + 2 * HIDDEN;
    return {words, words + 16, words + 32, state, weights, weights + HIDDEN * HIDDEN,
            (uint32_t)launch_argument(launch, 0)};
}

size_t scratch_bytes(const struct gt_gpu_launch *)
{
    return HEAD_BYTES + (2 * HIDDEN + HIDDEN * HIDDEN + INPUTS * HIDDEN) * sizeof(float);
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (launch_blocks(launch) == BLOCKS && launch_block_threads(launch) == THREADS)
        return 0;
    return gt_error_set(error, "%llu blocks of %u threads; give %d of %d", (unsigned long long)launch_blocks(launch),
                        launch_block_threads(launch), BLOCKS, THREADS);
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    arguments_type x = layout(launch);
    cudaError_t status = cudaMemsetAsync(launch->scratch, 0, HEAD_BYTES + 2 * HIDDEN * sizeof(float), launch->stream);
    if (status == cudaSuccess)
        status = fill_floats((float *)x.weights, HIDDEN * HIDDEN, seed, -SCALE, SCALE, launch->stream);
    if (status == cudaSuccess)
        status = fill_floats((float *)x.inputs, INPUTS * HIDDEN, seed + 1, -1, 1, launch->stream);
    return status;
}

/* The state after so many steps, in double precision; the caller's to free. */
double *expected_state(uint32_t steps, uint64_t seed)
{
    double *state = (double *)gt_calloc(HIDDEN, sizeof *state), *next = (double *)gt_calloc(HIDDEN, sizeof *next);
    for (uint32_t step = 0; step < steps; step++) {
        for (uint64_t row = 0; row < HIDDEN; row++) {
            double sum = random_float(seed + 1, (uint64_t)(step % INPUTS) * HIDDEN + row, -1, 1);
            for (uint64_t i = 0; i < HIDDEN; i++)
                sum += (double)random_float(seed, row * HIDDEN + i, -SCALE, SCALE) * state[i];
            next[row] = tanh(sum);
        }
        double *swapped = state;
        state = next;
        next = swapped;
    }
    free(next);
    return state;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    arguments_type x = layout(launch);
    struct gt_reference_norm norm = {};
    double *expected = expected_state(x.steps, seed);
    float *got = reference_fetch(x.state + x.steps % 2 * HIDDEN, HIDDEN, error);
    for (int i = 0; got && i < HIDDEN; i++)
        gt_reference_add(&norm, got[i], expected[i]);
    int result = got ? gt_reference_verdict(&norm, TOLERANCE, error) : -1;
    free(expected);
    free(got);
    return result;
}

const struct gt_kernel_parameter parameters[] = {
    {"steps", "", "in one launch, a barrier over the grid between them", 1, 100000, 16, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_rnn = {
    .name = "rnn",
    .help = "a recurrent network of 1,024 units, its weights in registers for all steps; checked by norm against FP64",
    .restriction = "32 blocks of 256 threads, all resident at once",
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<only<rnn>>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<only<rnn>, layout>,
    .verify = verify,
};
