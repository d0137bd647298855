/* spin.cu - a block that occupies its SM for a given number of cycles, with registers and shared memory
 * to order, and does as little else as can be. */
#include <stdlib.h>
#include <utility>

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"
#include "kernels/base/registers.cuh"
#include "kernels/base/spin.cuh"

namespace {

enum { LEAST = 24 };  /* registers; validate/proxy_kernel.h's, too */
enum { SLACK_CYCLES = 1000 };  /* how far from the cycles asked for a block may be and still pass */

struct spin_arguments {
    uint64_t cycles;
    const uint64_t *block_cycles;  /* NULL: cycles for all */
    uint32_t block_cycles_length;
    volatile uint32_t *never;      /* NULL, which the compiler cannot know */
};

/* Thread 0 watches the clock; the others wait for it. */
template <int REGISTERS>
__global__ void __maxnreg__(REGISTERS) spin(struct spin_arguments arguments, struct gt_block_log *log)
{
    long long began = clock64();
    log_begin(log);
    if (this_thread() == 0) {
        uint64_t cycles = arguments.block_cycles ?
            arguments.block_cycles[this_block() % arguments.block_cycles_length] : arguments.cycles;
        spin_until((uint64_t)began, cycles);
    }
    __syncthreads();
    if (REGISTERS > LEAST && arguments.never)
        hold_registers<REGISTERS - 7>(arguments.never);
    log_end(log);
}

typedef void (*spin_function)(struct spin_arguments, struct gt_block_log *);

template <int... I>
spin_function variant(unsigned index, std::integer_sequence<int, I...>)
{
    static const spin_function variants[] = {spin<variant_registers(LEAST, I)>...};
    return variants[index];
}

/* The variant with the registers ordered, rounded up as the SM does. */
spin_function function(const struct gt_gpu_launch *launch)
{
    return variant(register_variant(LEAST, launch->registers_per_thread),
                   std::make_integer_sequence<int, register_variants(LEAST)>());
}

const void *entry(const struct gt_gpu_launch *launch)
{
    return (const void *)function(launch);
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (launch->registers_per_thread > REGISTERS_MOST)
        return gt_error_set(error, "%u registers a thread: at most %d can be ordered",
                            launch->registers_per_thread, REGISTERS_MOST);
    if (launch->block_cycles && launch->block_cycles_length == 0)
        return gt_error_set(error, "the list of cycles by block is empty; give at least one value");
    return 0;
}

cudaError_t launch_spin(const struct gt_gpu_launch *launch)
{
    struct spin_arguments arguments = {launch_argument(launch, 0), launch->block_cycles,
                                       launch->block_cycles_length, nullptr};
    return start(launch, function(launch), arguments, launch->log);
}

/* By the log: each block took the cycles asked for, and hardly more. */
int verify(const struct gt_gpu_launch *launch, uint64_t, struct gt_error *error)
{
    if (!launch->log)
        return gt_error_set(error, "spin is checked by its block log; give the launch one");
    uint64_t blocks = launch_blocks(launch), *cycles = nullptr;
    struct gt_block_log *log = reference_fetch(launch->log, blocks, error);
    if (log && launch->block_cycles)
        cycles = reference_fetch((uint64_t *)launch->block_cycles, launch->block_cycles_length, error);
    int result = log && (cycles || !launch->block_cycles) ? 0 : -1;
    for (uint64_t i = 0; result == 0 && i < blocks; i++) {
        uint64_t asked = cycles ? cycles[i % launch->block_cycles_length] : launch_argument(launch, 0);
        uint64_t took = log[i].end_cycles - log[i].start_cycles;
        if (took + SLACK_CYCLES < asked || took > asked + SLACK_CYCLES)
            result = gt_error_set(error, "block %llu took %llu cycles instead of %llu", (unsigned long long)i,
                                  (unsigned long long)took, (unsigned long long)asked);
    }
    free(log);
    free(cycles);
    return result;
}

const struct gt_kernel_parameter parameters[] = {
    {"cycles", "cycles", "SM cycles from a block's start to its end", 0, 1e13, 100000, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_spin = {
    .name = "spin",
    .help = "each block occupies its SM for the cycles given, to all or by block; checked by its block log",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 1,
    .accepts = accepts,
    .entry = entry,
    .scratch_bytes = nullptr,
    .fill = nullptr,
    .launch = launch_spin,
    .verify = verify,
};
