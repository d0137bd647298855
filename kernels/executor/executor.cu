/* executor.cu - the kernel that walks any task graph: tasks that spin, with registers and shared memory to order, or
 * that work on real numbers. */
#include <stdlib.h>
#include <utility>

#include "kernels/base/block_reduce.cuh"
#include "kernels/base/reference.h"
#include "kernels/base/registers.cuh"
#include "kernels/base/spin.cuh"
#include "kernels/executor/executor.cuh"
#include "kernels/executor/network.cuh"

namespace {

/* Registers of one whose tasks all spin, and of one that works; validate/proxy_kernel.h's, too. */
enum { LEAST = 48, WORKING = 64 };
enum { SIDE = GT_EXECUTOR_TILE_SIDE };
enum : uint32_t { POOL = GT_EXECUTOR_AMOUNT_MOST };  /* numbers that tasks read, around in a ring */

/* What tasks that move read, around in a ring from places drawn at random; behind it what takes its place in the L2 cache. */
enum : uint64_t { RING_BYTES = 2048ull << 20, FORGET_BYTES = 128ull << 20 };
enum : uint32_t { RING_BYTE = 1, RING_WORD = RING_BYTE * 0x01010101u };
enum { IN_FLIGHT = 8, CHAINS = 4 };  /* loads of 16 bytes by a thread, and what it adds up side by side */

extern __shared__ uint32_t executor_shared[];

/* ---- What tasks do: the whole block, threads in turn ---- */

__host__ __device__ inline uint32_t pool_place(uint32_t task, uint64_t i)
{
    return (uint32_t)(task * UINT32_C(0x9e3779b1) + i) % POOL;
}

/* Element i of a task's tile: of rows and columns that begin somewhere in the pool. */
__device__ inline float tile_element(const float *pool, uint32_t task, uint64_t terms, uint32_t i)
{
    uint32_t row = i / SIDE, column = i % SIDE;
    float sum = 0;
    for (uint64_t k = 0; k < terms; k++)
        sum = fmaf(pool[pool_place(task, row * terms + k)], pool[pool_place(task, k * SIDE + column)], sum);
    return sum;
}

__device__ inline void do_tile(const float *pool, float *output, uint32_t task, uint64_t terms)
{
    for (uint32_t i = this_thread(); i < SIDE * SIDE; i += block_threads())
        output[i] = tile_element(pool, task, terms, i);
}

__device__ inline void do_elementwise(const float *pool, float *output, uint32_t task, uint64_t elements)
{
    for (uint64_t i = this_thread(); i < elements; i += block_threads())
        output[i] = fmaf(2, pool[pool_place(task, i)], 1);
}

/* Each warp its part; the parts are added up in the output, which thread 0 has cleared. */
__device__ inline void do_reduction(const float *pool, float *output, uint32_t task, uint64_t elements)
{
    float sum = 0;
    if (this_thread() == 0)
        *output = 0;
    __syncthreads();
    for (uint64_t i = this_thread(); i < elements; i += block_threads())
        sum += pool[pool_place(task, i)];
    unsigned lanes = min(block_threads() - this_thread() / warpSize * warpSize, (unsigned)warpSize);
    sum = warp_reduce<sum_of>(sum, lanes);
    if (this_thread() % warpSize == 0)
        atomicAdd(output, sum);
}

/* How often each of so many threads adds up. */
__host__ __device__ inline uint64_t move_steps(uint64_t amount, uint32_t threads)
{
    return ((amount & UINT32_MAX) * (GT_EXECUTOR_MOVE_OPERATIONS / 2 / CHAINS) + threads - 1) / threads;
}

__host__ __device__ inline uint64_t move_pieces(uint64_t amount)
{
    return (amount >> 32) * (GT_EXECUTOR_MOVE_BYTES / sizeof(uint4));
}

/* Loads, and multiply-adds while they come; the output, which thread 0 has cleared, has the sums of both. */
__device__ inline void do_move(const uint4 *ring, uint32_t *output, uint32_t task, uint64_t amount)
{
    const uint64_t places = RING_BYTES / sizeof(uint4);
    uint32_t threads = block_threads(), sum = 0;
    uint64_t pieces = move_pieces(amount), steps = move_steps(amount, threads), step = 0, i = this_thread();
    uint64_t first = random_bits(0, task) % (RING_BYTES / GT_EXECUTOR_MOVE_BYTES) * (GT_EXECUTOR_MOVE_BYTES / sizeof(uint4));
    uint64_t turns = max((pieces + threads * IN_FLIGHT - 1) / (threads * IN_FLIGHT), (uint64_t)1);
    float one = amount > 0 ? 1.0f : 0.5f, chains[CHAINS] = {};  /* which the compiler cannot know */
    if (this_thread() == 0)
        output[0] = output[1] = 0;
    __syncthreads();
    for (uint64_t turn = 1; turn <= turns; turn++) {
        uint4 got[IN_FLIGHT];
#pragma unroll
        for (int j = 0; j < IN_FLIGHT; j++, i += threads)
            got[j] = i < pieces ? __ldcg(&ring[(first + i) % places]) : uint4{0, 0, 0, 0};
        uint32_t more = (uint32_t)(steps * turn / turns - step);
        step += more;
#pragma unroll 8
        for (uint32_t s = 0; s < more; s++)
#pragma unroll
            for (int c = 0; c < CHAINS; c++)
                chains[c] = fmaf(chains[c], one, one);
#pragma unroll
        for (int j = 0; j < IN_FLIGHT; j++)
            sum += got[j].x + got[j].y + got[j].z + got[j].w;
    }
    atomicAdd(&output[0], sum);
    atomicAdd(&output[1], (uint32_t)(chains[0] + chains[1] + chains[2] + chains[3]));
}

__host__ __device__ inline uint64_t ring_offset(const struct gt_executor &x)
{
    return (POOL * sizeof(float) + x.task_count * x.task_output_bytes + 255) / 256 * 256;
}

__device__ inline void do_network(const struct gt_executor &x, const struct gt_executor_task &what)
{
    uint32_t rows = (uint32_t)(what.amount >> 32);
    const uint32_t *places = x.places + what.first_place;
    if (what.work == GT_EXECUTOR_PRODUCT)
        network_product(x.network, rows, (uint32_t)what.amount, places);
    else
        network_cell(x.network, rows, places);
}

template <bool MOVES>
__device__ inline void do_work(const struct gt_executor &x, uint32_t task, const struct gt_executor_task &what)
{
    const float *pool = (const float *)x.data;
    float *output = (float *)((char *)x.data + POOL * sizeof *pool + task * x.task_output_bytes);
    switch (what.work) {
    case GT_EXECUTOR_TILE: do_tile(pool, output, task, what.amount); break;
    case GT_EXECUTOR_ELEMENTWISE: do_elementwise(pool, output, task, what.amount); break;
    case GT_EXECUTOR_REDUCTION: do_reduction(pool, output, task, what.amount); break;
    case GT_EXECUTOR_MOVE:
        if (MOVES)
            do_move((const uint4 *)((char *)x.data + ring_offset(x)), (uint32_t *)output, task, what.amount);
        break;
    case GT_EXECUTOR_PRODUCT:
    case GT_EXECUTOR_CELL: do_network(x, what); break;
    default: break;
    }
}

__device__ inline void do_spin(const struct gt_executor_task &what, uint64_t start_cycles)
{
    if (what.work == GT_EXECUTOR_SPIN && this_thread() == 0)
        spin_until(start_cycles, what.amount);
}

/* ---- Kernels: for tasks that spin, for others ---- */

template <int REGISTERS>
__global__ void __maxnreg__(REGISTERS) executor_spins(struct gt_executor x, struct gt_block_log *log)
{
    log_begin(log);
    executor_walk(x, executor_shared,
                  [&](uint32_t, const struct gt_executor_task &what, uint64_t start) { do_spin(what, start); });
    if (REGISTERS > LEAST && x.never)
        hold_registers<REGISTERS - 7>(x.never);
    log_end(log);
}

/* Those that move keep registers full of loads, which others should not pay for. */
template <bool MOVES>
__global__ void __maxnreg__(WORKING) executor_works(struct gt_executor x, struct gt_block_log *log)
{
    log_begin(log);
    executor_walk(x, executor_shared, [&](uint32_t task, const struct gt_executor_task &what, uint64_t start) {
        do_spin(what, start);
        do_work<MOVES>(x, task, what);
    });
    log_end(log);
}

typedef void (*executor_function)(struct gt_executor, struct gt_block_log *);

template <int... I>
executor_function variant(unsigned index, std::integer_sequence<int, I...>)
{
    static const executor_function variants[] = {executor_spins<variant_registers(LEAST, I)>...};
    return variants[index];
}

bool has_outputs(const struct gt_gpu_launch *launch)
{
    return launch->tasks && launch->tasks->task_output_bytes > 0;
}

bool works(const struct gt_gpu_launch *launch)
{
    return launch->tasks && launch->tasks->works;
}

executor_function function(const struct gt_gpu_launch *launch)
{
    return works(launch) ? launch->tasks->moves ? executor_works<true> : executor_works<false>
                         : variant(register_variant(LEAST, launch->registers_per_thread),
                                   std::make_integer_sequence<int, register_variants(LEAST)>());
}

const void *entry(const struct gt_gpu_launch *launch)
{
    return (const void *)function(launch);
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (!launch->tasks)
        return gt_error_set(error, "it needs a task graph; give the kernel \"tasks\"");
    if (launch->registers_per_thread > REGISTERS_MOST)
        return gt_error_set(error, "%u registers a thread: at most %d can be ordered",
                            launch->registers_per_thread, REGISTERS_MOST);
    if (launch_blocks(launch) != launch->tasks->workers)
        return gt_error_set(error, "its tasks were arranged for %u workers and not for the %llu blocks of its grid",
                            launch->tasks->workers, (unsigned long long)launch_blocks(launch));
    return 0;
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    if (!has_outputs(launch))
        return 0;
    return ring_offset(*launch->tasks) + (launch->tasks->moves ? RING_BYTES + FORGET_BYTES : 0);
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    if (!has_outputs(launch))
        return cudaSuccess;
    cudaError_t status = fill_floats((float *)launch->scratch, POOL, seed, -1, 1, launch->stream);
    if (status == cudaSuccess && launch->tasks->moves)
        status = cudaMemsetAsync((char *)launch->scratch + ring_offset(*launch->tasks), RING_BYTE, RING_BYTES,
                                 launch->stream);
    return status;
}

cudaError_t launch_executor(const struct gt_gpu_launch *launch)
{
    struct gt_gpu_launch with_own = *launch;
    struct gt_executor x = *launch->tasks;
    x.data = launch->scratch;
    if (with_own.dynamic_shared_bytes < EXECUTOR_SHARED_BYTES)
        with_own.dynamic_shared_bytes = EXECUTOR_SHARED_BYTES;
    return start(&with_own, function(launch), x, launch->log);
}

/* ---- Checking ---- */

float pool_value(uint64_t seed, uint32_t task, uint64_t i)
{
    return random_float(seed, pool_place(task, i), -1, 1);
}

double expected(const struct gt_executor_task *what, uint64_t seed, uint32_t task, uint64_t i)
{
    double sum = 0;
    switch (what->work) {
    case GT_EXECUTOR_TILE:
        for (uint64_t k = 0; k < what->amount; k++)
            sum += (double)pool_value(seed, task, i / SIDE * what->amount + k) *
                   pool_value(seed, task, k * SIDE + i % SIDE);
        return sum;
    case GT_EXECUTOR_REDUCTION:
        for (uint64_t k = 0; k < what->amount; k++)
            sum += pool_value(seed, task, k);
        return sum;
    default: return 2.0 * pool_value(seed, task, i) + 1;
    }
}

uint64_t outputs(const struct gt_executor_task *what)
{
    switch (what->work) {
    case GT_EXECUTOR_TILE: return SIDE * SIDE;
    case GT_EXECUTOR_ELEMENTWISE: return what->amount;
    case GT_EXECUTOR_REDUCTION: return 1;
    default: return 0; /* moved() looks at those that move, the player at a network's */
    }
}

void add_task(struct gt_reference_norm *norm, const struct gt_executor_task *what, const float *got, uint64_t seed,
              uint32_t task)
{
    uint64_t count = outputs(what), cost = what->work == GT_EXECUTOR_ELEMENTWISE ? 1 : what->amount;
    struct gt_reference_sample sample = gt_reference_sample(count, cost * 64, seed + task);
    for (uint64_t i = 0; i < sample.count; i++) {
        uint64_t place = gt_reference_place(&sample, i);
        gt_reference_add(norm, got[place], expected(what, seed, task, place));
    }
}

/* What one that moves read and added up, to the bit. */
bool moved(const struct gt_executor_task *what, const uint32_t *got, uint32_t threads)
{
    return got[0] == (uint32_t)(move_pieces(what->amount) * (sizeof(uint4) / sizeof(uint32_t)) * RING_WORD) &&
           got[1] == (uint32_t)(move_steps(what->amount, threads) * CHAINS * threads);
}

/* Every task has left its record, and what it was to work out. */
int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    const struct gt_executor *x = launch->tasks;
    uint64_t bytes = x->task_output_bytes;
    struct gt_executor_task *tasks = reference_fetch((struct gt_executor_task *)x->tasks, x->task_count, error);
    struct gt_executor_log *log = x->log ? reference_fetch(x->log, x->task_count, error) : nullptr;
    char *got = has_outputs(launch) ? reference_fetch((char *)launch->scratch + POOL * sizeof(float),
                                                x->task_count * bytes, error) : nullptr;
    int result = tasks && (log || !x->log) && (got || !has_outputs(launch)) ? 0 : -1;
    struct gt_reference_norm norm = {};
    for (uint32_t i = 0; result == 0 && i < x->task_count; i++) {
        if (log && log[i].end_cycles == 0)
            result = gt_error_set(error, "task %u of %u was not done", i, x->task_count);
        else if (tasks[i].work == GT_EXECUTOR_MOVE &&
                 !moved(&tasks[i], (const uint32_t *)(got + i * bytes), launch_block_threads(launch)))
            result = gt_error_set(error, "task %u of %u moved something else", i, x->task_count);
        else if (got)
            add_task(&norm, &tasks[i], (const float *)(got + i * bytes), seed, i);
    }
    if (result == 0 && norm.count > 0)
        result = gt_reference_verdict(&norm, 1e-5, error);
    free(tasks);
    free(log);
    free(got);
    return result;
}

}

extern "C" int gt_executor_forget(const struct gt_gpu_launch *launch)
{
    if (!launch->tasks || !launch->tasks->moves)
        return cudaSuccess;
    return cudaMemsetAsync((char *)launch->scratch + ring_offset(*launch->tasks) + RING_BYTES, 0, FORGET_BYTES,
                           launch->stream);
}

extern "C" const struct gt_library_kernel gt_kernel_executor = {
    .name = "executor",
    .help = "its blocks walk a task graph: tasks that spin for so long, or work; checked by their records and norms",
    .restriction = nullptr,
    .parameters = nullptr,
    .parameter_count = 0,
    .registers_to_order = 1,
    .accepts = accepts,
    .entry = entry,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_executor,
    .verify = verify,
};
