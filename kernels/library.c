/* library.c - the table of kernels, and what is done alike for all of them. */
#include "kernels/library.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/reference.h"

/* clang-format off */
#define KERNELS(_) \
    _(empty) _(spin) _(spin_phases) _(stream) _(chase) _(fma) _(gemm_tiled) _(gemm_tensor) _(reduce) _(histogram) \
    _(transpose) _(softmax) _(cp_async_pipeline) _(gemm_cp_async) _(gemm_wgmma) _(flash_attention) \
    _(stencil) _(spmv) _(scan) _(sort_block) _(gather) _(layernorm) _(nbody) _(mandelbrot) _(atomics) \
    _(executor) _(gemm_tasks) _(conv_bn) _(rnn) _(lstm) _(operator) _(produce_consume) _(peer) \
        DEVICE_LINKED_KERNELS(_)
/* Those that launch kernels, where CUDA's device runtime is there. */
#ifdef GT_DEVICE_RUNTIME
#define DEVICE_LINKED_KERNELS(_) _(quicksort) _(mergesort) _(mandelbrot_adaptive)
#else
#define DEVICE_LINKED_KERNELS(_)
#endif
/* clang-format on */
#define DECLARE(name) extern const struct gt_library_kernel gt_kernel_##name;
#define ADDRESS(name) &gt_kernel_##name,

KERNELS(DECLARE)
const struct gt_library_kernel *const gt_library_kernels[] = { KERNELS(ADDRESS) };
const unsigned gt_library_kernel_count = sizeof gt_library_kernels / sizeof *gt_library_kernels;

/* Put `word` behind a text of GT_ERROR_TEXT_BYTES, `between` it and others; too long a text is cut. */
static void append(char *text, const char *between, const char *word)
{
    size_t length = strlen(text);
    snprintf(text + length, GT_ERROR_TEXT_BYTES - length, "%s%s", length ? between : "", word);
}

const struct gt_library_kernel *gt_library_kernel_find(const char *name, struct gt_error *error)
{
    char names[GT_ERROR_TEXT_BYTES] = "";
    for (unsigned i = 0; i < gt_library_kernel_count; i++) {
        if (strcmp(gt_library_kernels[i]->name, name) == 0)
            return gt_library_kernels[i];
        append(names, ", ", gt_library_kernels[i]->name);
    }
    gt_error_set(error, "no kernel '%.64s' in the library; there are %s", name, names);
    return NULL;
}

void gt_library_defaults(const struct gt_library_kernel *kernel, double *arguments)
{
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        arguments[i] = kernel->parameters[i].fallback;
}

static int check_value(const struct gt_library_kernel *kernel, const struct gt_kernel_parameter *parameter,
                       double value, struct gt_error *error)
{
    if (value >= parameter->low && value <= parameter->high && value == floor(value))
        return 0;
    return gt_error_set(error, "%s: %s is %.17g; give a whole number from %.17g to %.17g%s%s", kernel->name,
                        parameter->name, value, parameter->low, parameter->high, *parameter->unit ? " " : "",
                        parameter->unit);
}

static int set_choice(const struct gt_library_kernel *kernel, const struct gt_kernel_parameter *parameter,
                      const char *text, double *value, struct gt_error *error)
{
    char choices[GT_ERROR_TEXT_BYTES] = "";
    for (int i = 0; i <= (int)parameter->high; i++) {
        if (strcmp(parameter->choices[i], text) == 0) {
            *value = i;
            return 0;
        }
        append(choices, ", ", parameter->choices[i]);
    }
    return gt_error_set(error, "%s: %s is '%.64s'; give one of %s", kernel->name, parameter->name, text, choices);
}

int gt_library_argument(const struct gt_library_kernel *kernel, const char *name, const char *text, double *arguments,
                        struct gt_error *error)
{
    char names[GT_ERROR_TEXT_BYTES] = "";
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const struct gt_kernel_parameter *parameter = &kernel->parameters[i];
        append(names, ", ", parameter->name);
        if (strcmp(parameter->name, name) != 0)
            continue;
        if (parameter->choices)
            return set_choice(kernel, parameter, text, &arguments[i], error);
        char *end;
        double value = strtod(text, &end);
        if (end == text || *end)
            return gt_error_set(error, "%s: %s is '%.64s', which is no number", kernel->name, name, text);
        if (check_value(kernel, parameter, value, error) < 0)
            return -1;
        arguments[i] = value;
        return 0;
    }
    return gt_error_set(error, "%s has no parameter '%.64s'; it takes %s", kernel->name, name,
                        *names ? names : "none");
}

static int check_grid(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    static const uint32_t grid_most[3] = { INT32_MAX, 65535, 65535 }, block_most[3] = { 1024, 1024, 64 };
    for (int i = 0; i < 3; i++) {
        if (launch->grid[i] < 1 || launch->grid[i] > grid_most[i])
            return gt_error_set(error, "the grid's %c is %u; CUDA allows 1 to %u", 'x' + i, launch->grid[i],
                                grid_most[i]);
        if (launch->block[i] < 1 || launch->block[i] > block_most[i])
            return gt_error_set(error, "the block's %c is %u; CUDA allows 1 to %u", 'x' + i, launch->block[i],
                                block_most[i]);
    }
    return 0;
}

/* Dynamic shared memory that a block of this function may have: the device's limit less its static part. */
static cudaError_t dynamic_shared_most(const struct cudaFuncAttributes *attributes, int *bytes)
{
    int device;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    *bytes -= (int)attributes->sharedSizeBytes;
    return status;
}

static int check_resources(const struct gt_library_kernel *kernel, const struct gt_gpu_launch *launch,
                           struct gt_error *error)
{
    struct cudaFuncAttributes attributes;
    int shared_most = 0;
    cudaError_t status = gt_library_attributes(kernel, launch, &attributes);
    if (status == cudaSuccess)
        status = dynamic_shared_most(&attributes, &shared_most);
    if (status != cudaSuccess)
        return gt_error_set(error, "%s: its resources cannot be read: %s", kernel->name, cudaGetErrorString(status));
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    if (threads > (uint32_t)attributes.maxThreadsPerBlock)
        return gt_error_set(error, "%s: %u threads a block; with %d registers a thread this GPU allows %d",
                            kernel->name, threads, attributes.numRegs, attributes.maxThreadsPerBlock);
    if (launch->dynamic_shared_bytes > (uint32_t)shared_most)
        return gt_error_set(error,
                            "%s: %u bytes of dynamic shared memory; beside its %zu static ones this"
                            " GPU allows %d",
                            kernel->name, launch->dynamic_shared_bytes, attributes.sharedSizeBytes, shared_most);
    return 0;
}

int gt_library_accepts(const struct gt_library_kernel *kernel, const struct gt_gpu_launch *launch,
                       struct gt_error *error)
{
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        if (check_value(kernel, &kernel->parameters[i], launch->arguments[i], error) < 0)
            return -1;
    if (check_grid(launch, error) < 0)
        return gt_error_prefix(error, "%s: ", kernel->name);
    if (kernel->accepts && kernel->accepts(launch, error) < 0)
        return gt_error_prefix(error, "%s: ", kernel->name);
    return check_resources(kernel, launch, error);
}

cudaError_t gt_library_attributes(const struct gt_library_kernel *kernel, const struct gt_gpu_launch *launch,
                                  struct cudaFuncAttributes *attributes)
{
    return cudaFuncGetAttributes(attributes, kernel->entry(launch));
}

size_t gt_library_scratch_bytes(const struct gt_library_kernel *kernel, const struct gt_gpu_launch *launch)
{
    return kernel->scratch_bytes ? kernel->scratch_bytes(launch) : 0;
}

/* Clusters of more blocks a kernel must allow. */
enum { PORTABLE_CLUSTER_BLOCKS = 8 };

static uint64_t cluster_blocks(const struct gt_gpu_launch *launch)
{
    uint64_t blocks = 1;

    for (int i = 0; i < 3; i++)
        blocks *= launch->cluster[i] > 1 ? launch->cluster[i] : 1;
    return blocks;
}

cudaError_t gt_library_prepare(const struct gt_library_kernel *kernel, const struct gt_gpu_launch *launch,
                               uint64_t seed)
{
    struct cudaFuncAttributes attributes;
    int shared_most;
    cudaError_t status = gt_library_attributes(kernel, launch, &attributes);
    if (status == cudaSuccess)
        status = dynamic_shared_most(&attributes, &shared_most);
    if (status == cudaSuccess)
        status =
            cudaFuncSetAttribute(kernel->entry(launch), cudaFuncAttributeMaxDynamicSharedMemorySize, shared_most);
    if (status == cudaSuccess && cluster_blocks(launch) > PORTABLE_CLUSTER_BLOCKS)
        status = cudaFuncSetAttribute(kernel->entry(launch), cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    size_t bytes = gt_library_scratch_bytes(kernel, launch);
    if (status == cudaSuccess && bytes)
        status = cudaMemsetAsync(launch->scratch, 0xff, bytes, launch->stream);
    if (status == cudaSuccess && kernel->fill)
        status = kernel->fill(launch, seed);
    return status;
}

/* Every block must have written a record that can be true; before the launch the log was poisoned. */
static int check_log(const struct gt_gpu_launch *launch, uint64_t blocks, struct gt_error *error)
{
    struct gt_block_log *log = gt_reference_fetch(launch->log, blocks * sizeof *log, error);
    int result = log ? 0 : -1;
    for (uint64_t i = 0; result == 0 && i < blocks; i++) {
        const struct gt_block_log *record = &log[i];
        if (record->reserved == 0 && record->end_ns >= record->start_ns && record->end_cycles > record->start_cycles)
            continue;
        result =
            gt_error_set(error,
                         "block %" PRIu64 "'s log record is wrong: SM %u, %" PRIu64 " to %" PRIu64 " ns, %" PRIu64
                         " to %" PRIu64 " cycles",
                         i, record->sm, record->start_ns, record->end_ns, record->start_cycles, record->end_cycles);
    }
    free(log);
    return result;
}

int gt_library_check(const struct gt_library_kernel *kernel, const struct gt_gpu_launch *launch, uint64_t seed,
                     struct gt_error *error)
{
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    cudaError_t status = gt_library_prepare(kernel, launch, seed);
    if (status == cudaSuccess && launch->log)
        status = cudaMemsetAsync(launch->log, 0xff, blocks * sizeof *launch->log, launch->stream);
    if (status == cudaSuccess)
        status = kernel->launch(launch);
    if (status == cudaSuccess)
        status = cudaStreamSynchronize(launch->stream);
    if (status != cudaSuccess)
        return gt_error_set(error, "%s: %s", kernel->name, cudaGetErrorString(status));
    if ((kernel->verify && kernel->verify(launch, seed, error) < 0) ||
        (launch->log && check_log(launch, blocks, error) < 0))
        return gt_error_prefix(error, "%s: ", kernel->name);
    return 0;
}
