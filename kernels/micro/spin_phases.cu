/* spin_phases.cu - a block that spins as `spin` does, and meets others meanwhile: barriers over its grid, the kernel before
 * it in its stream, the one behind it. */
#include <stdlib.h>
#include <utility>

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace {

/* As of spin.cu, whose steps of registers and pauses these are. */
enum { STEP = 8, LEAST = 24, MOST = 255, VARIANTS = (256 - LEAST) / STEP + 1 };
enum { SLEEP_NS = 500, AWAKE_CYCLES = 4000 };

struct phases_arguments {
    uint64_t cycles;
    const uint64_t *block_cycles;  /* NULL: cycles for all */
    uint32_t block_cycles_length;
    uint32_t barriers, early_pct;  /* as gt_gpu_launch */
    const double *phase_shares;
    uint32_t waits;                /* for the kernel before, when the prologue is over */
    uint64_t prologue_cycles;
    uint32_t *arrived;             /* zero before the first launch; each barrier leaves its top bit the other way round */
    volatile uint32_t *never;      /* NULL, which the compiler cannot know */
};

/* Where a block's thread 0 stands. */
struct walk {
    long long begun;               /* the clock when it would have begun, had it waited for nobody */
    uint64_t cycles, wait_at, trigger_at;  /* of its work; NOT_AT_ALL */
};
constexpr uint64_t NOT_AT_ALL = UINT64_MAX;

template <int COUNT>
__device__ inline void hold_registers(volatile uint32_t *memory)
{
    uint32_t held[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        held[i] = memory[i];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        memory[i] = held[COUNT - 1 - i];
}

__device__ inline void spin_to(long long begun, uint64_t cycles)
{
    while ((uint64_t)(clock64() - begun) + AWAKE_CYCLES < cycles)
        __nanosleep(SLEEP_NS);
    while ((uint64_t)(clock64() - begun) < cycles)
        ;
}

/* A GPU before Hopper has neither: programmatic launches are ordinary ones there. */
__device__ inline void launch_dependents(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ inline void wait_for_kernel_before(void)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Until so much of its work is done, with what it does on the way. Of both at once the trigger comes first. */
__device__ inline void work_to(struct walk *walk, uint64_t cycles)
{
    if (walk->trigger_at <= walk->wait_at && walk->trigger_at <= cycles) {
        spin_to(walk->begun, walk->trigger_at);
        launch_dependents();
        walk->trigger_at = NOT_AT_ALL;
    }
    if (walk->wait_at <= cycles) {
        spin_to(walk->begun, walk->wait_at);
        wait_for_kernel_before();
        if ((uint64_t)(clock64() - walk->begun) > walk->wait_at)
            walk->begun = clock64() - (long long)walk->wait_at;
        walk->wait_at = NOT_AT_ALL;
    }
    if (walk->trigger_at <= cycles) {
        spin_to(walk->begun, walk->trigger_at);
        launch_dependents();
        walk->trigger_at = NOT_AT_ALL;
    }
    spin_to(walk->begun, cycles);
}

/* As cooperative groups have it: each block counts up by one, the first by what turns the top bit over with them. */
__device__ inline void grid_barrier(uint32_t *arrived)
{
    __syncthreads();
    if (this_thread() == 0) {
        uint32_t add = this_block() == 0 ? 0x80000000u - ((uint32_t)grid_blocks() - 1) : 1;
        __threadfence();
        uint32_t before = atomicAdd(arrived, add);
        while (((before ^ *(volatile uint32_t *)arrived) & 0x80000000u) == 0)
            ;
        __threadfence();
    }
    __syncthreads();
}

/* So much of its work a block has done when it comes to barrier number `barrier`, from 1 on. */
__device__ inline uint64_t work_before(const struct phases_arguments &arguments, uint64_t cycles, uint32_t barrier)
{
    return arguments.phase_shares ? (uint64_t)((double)cycles * arguments.phase_shares[barrier - 1])
                                  : cycles / (arguments.barriers + 1) * barrier;
}

template <int REGISTERS>
__global__ void __maxnreg__(REGISTERS) spin_phases(struct phases_arguments arguments, struct gt_block_log *log)
{
    struct walk walk = {};
    walk.begun = clock64();
    log_begin(log);
    if (this_thread() == 0) {
        walk.cycles = arguments.block_cycles ?
            arguments.block_cycles[this_block() % arguments.block_cycles_length] : arguments.cycles;
        walk.trigger_at = arguments.early_pct > 0 ?
            walk.cycles / 100 * (100 - arguments.early_pct) : NOT_AT_ALL;
        walk.wait_at = arguments.waits ? min(arguments.prologue_cycles, walk.cycles) : NOT_AT_ALL;
    }
    for (uint32_t i = 1; i <= arguments.barriers; i++) {
        uint64_t work = work_before(arguments, walk.cycles, i);
        if (this_thread() == 0)
            work_to(&walk, work);
        grid_barrier(arguments.arrived);
        if (this_thread() == 0)
            walk.begun = clock64() - (long long)work;
    }
    if (this_thread() == 0)
        work_to(&walk, walk.cycles);
    __syncthreads();
    if (REGISTERS > LEAST && arguments.never)
        hold_registers<REGISTERS - 7>(arguments.never);
    log_end(log);
}

typedef void (*phases_function)(struct phases_arguments, struct gt_block_log *);

template <int... I>
phases_function variant(unsigned index, std::integer_sequence<int, I...>)
{
    static const phases_function variants[] = {spin_phases<LEAST + I * STEP < MOST ? LEAST + I * STEP : MOST>...};
    return variants[index];
}

phases_function function(const struct gt_gpu_launch *launch)
{
    uint32_t ordered = launch->registers_per_thread;
    unsigned index = ordered <= LEAST ? 0 : (ordered - LEAST + STEP - 1) / STEP;
    return variant(index, std::make_integer_sequence<int, VARIANTS>());
}

const void *entry(const struct gt_gpu_launch *launch)
{
    return (const void *)function(launch);
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (launch->registers_per_thread > MOST)
        return gt_error_set(error, "%u registers a thread: at most %d can be ordered",
                            launch->registers_per_thread, MOST);
    if (launch->block_cycles && launch->block_cycles_length == 0)
        return gt_error_set(error, "the list of cycles by block is empty; give at least one value");
    if (launch->grid_barriers > 0 && launch_blocks(launch) > 0x7fffffffu)
        return gt_error_set(error, "more than 2^31 blocks cannot meet at a barrier");
    return 0;
}

size_t scratch_bytes(const struct gt_gpu_launch *)
{
    return scratch_array(sizeof(uint32_t));
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t)
{
    return cudaMemsetAsync(launch->scratch, 0, sizeof(uint32_t), launch->stream);
}

cudaError_t launch_phases(const struct gt_gpu_launch *launch)
{
    struct phases_arguments arguments = {launch_argument(launch, 0), launch->block_cycles,
                                         launch->block_cycles_length, launch->grid_barriers, launch->early_pct, launch->phase_shares,
                                         (uint32_t)launch->programmatic, launch->prologue_cycles,
                                         (uint32_t *)launch->scratch, nullptr};
    return start(launch, function(launch), arguments, launch->log);
}

/* By the log: no block took less than the cycles asked for; how long it waited for others nobody can say. */
int verify(const struct gt_gpu_launch *launch, uint64_t, struct gt_error *error)
{
    enum { SLACK_CYCLES = 1000 };
    if (!launch->log)
        return gt_error_set(error, "spin_phases is checked by its block log; give the launch one");
    uint64_t blocks = launch_blocks(launch), asked = launch_argument(launch, 0);
    struct gt_block_log *log = reference_fetch(launch->log, blocks, error);
    int result = log ? 0 : -1;
    for (uint64_t i = 0; result == 0 && i < blocks && !launch->block_cycles; i++)
        if (log[i].end_cycles - log[i].start_cycles + SLACK_CYCLES < asked)
            result = gt_error_set(error, "block %llu took less than %llu cycles", (unsigned long long)i,
                                  (unsigned long long)asked);
    free(log);
    return result;
}

const struct gt_kernel_parameter parameters[] = {
    {"cycles", "cycles", "SM cycles that a block works, beside its waiting for others", 0, 1e13, 100000, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_spin_phases = {
    .name = "spin_phases",
    .help = "as spin, with barriers over the grid, a prologue before it waits for the kernel before, and a trigger for the "
            "next one, as the launch says; checked by its block log",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 1,
    .accepts = accepts,
    .entry = entry,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_phases,
    .verify = verify,
};
