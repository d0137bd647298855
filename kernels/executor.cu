/* executor.cu - the kernel that walks any task graph: tasks that spin, with registers and shared memory to order, or
 * that work on real numbers. */
#include <stdlib.h>
#include <utility>

#include "kernels/block_reduce.cuh"
#include "kernels/executor.cuh"
#include "kernels/reference.h"
#include "kernels/registers.cuh"
#include "kernels/spin.cuh"

namespace {

enum { LEAST = 48 };  /* registers of one whose tasks all spin; validate/proxy_kernel.h's, too */
enum { SIDE = GT_EXECUTOR_TILE_SIDE };
enum : uint32_t { POOL = GT_EXECUTOR_AMOUNT_MOST };  /* numbers that tasks read, around in a ring */

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

__device__ inline void do_work(const struct gt_executor &x, uint32_t task, const struct gt_executor_task &what)
{
    const float *pool = (const float *)x.data;
    float *output = (float *)((char *)x.data + POOL * sizeof *pool + task * x.task_output_bytes);
    switch (what.work) {
    case GT_EXECUTOR_TILE: do_tile(pool, output, task, what.amount); break;
    case GT_EXECUTOR_ELEMENTWISE: do_elementwise(pool, output, task, what.amount); break;
    case GT_EXECUTOR_REDUCTION: do_reduction(pool, output, task, what.amount); break;
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

__global__ void executor_works(struct gt_executor x, struct gt_block_log *log)
{
    log_begin(log);
    executor_walk(x, executor_shared, [&](uint32_t task, const struct gt_executor_task &what, uint64_t start) {
        do_spin(what, start);
        do_work(x, task, what);
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

bool works(const struct gt_gpu_launch *launch)
{
    return launch->tasks && launch->tasks->task_output_bytes > 0;
}

executor_function function(const struct gt_gpu_launch *launch)
{
    return works(launch) ? executor_works
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
    return works(launch) ? POOL * sizeof(float) + launch->tasks->task_count * launch->tasks->task_output_bytes : 0;
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    return works(launch) ? fill_floats((float *)launch->scratch, POOL, seed, -1, 1, launch->stream) : cudaSuccess;
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
    default: return 0;
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

/* Every task has left its record, and what it was to work out. */
int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    const struct gt_executor *x = launch->tasks;
    uint64_t bytes = x->task_output_bytes;
    struct gt_executor_task *tasks = reference_fetch((struct gt_executor_task *)x->tasks, x->task_count, error);
    struct gt_executor_log *log = x->log ? reference_fetch(x->log, x->task_count, error) : nullptr;
    char *got = works(launch) ? reference_fetch((char *)launch->scratch + POOL * sizeof(float),
                                                x->task_count * bytes, error) : nullptr;
    int result = tasks && (log || !x->log) && (got || !works(launch)) ? 0 : -1;
    struct gt_reference_norm norm = {};
    for (uint32_t i = 0; result == 0 && i < x->task_count; i++) {
        if (log && log[i].end_cycles == 0)
            result = gt_error_set(error, "task %u of %u was not done", i, x->task_count);
        if (got)
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
