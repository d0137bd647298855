/* stream.cu - arrays read and written once, 16 bytes at an access. */

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace {

enum operation { COPY, ADD, TRIAD, READ, OPERATIONS };
enum { VECTOR_BYTES = sizeof(float4), VECTOR_FLOATS = 4 };
const float SCALAR = 3.0f;
const double TOLERANCE = 1e-6;

struct stream_arguments {
    const float4 *a, *b;
    float4 *c;
    float *sums;       /* READ: one a thread */
    uint64_t vectors;  /* in each array */
};

__device__ float4 combine(float4 a, float s, float4 b)
{
    return make_float4(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z, a.w + s * b.w);
}

template <enum operation OPERATION>
__global__ void stream(struct stream_arguments arguments, struct gt_block_log *log)
{
    log_begin(log);
    uint64_t first = this_block() * block_threads() + this_thread();
    uint64_t step = grid_blocks() * block_threads();
    float sum = 0;
#pragma unroll 4
    for (uint64_t i = first; i < arguments.vectors; i += step) {
        float4 a = arguments.a[i];
        if (OPERATION == COPY)
            arguments.c[i] = a;
        else if (OPERATION == READ)
            sum += (a.x + a.y) + (a.z + a.w);
        else
            arguments.c[i] = combine(a, OPERATION == ADD ? 1.0f : SCALAR, arguments.b[i]);
    }
    if (OPERATION == READ)
        arguments.sums[first] = sum;
    log_end(log);
}

typedef void (*stream_function)(struct stream_arguments, struct gt_block_log *);
const stream_function functions[OPERATIONS] = {stream<COPY>, stream<ADD>, stream<TRIAD>, stream<READ>};

enum operation operation_of(const struct gt_gpu_launch *launch)
{
    return (enum operation)launch_argument(launch, 0);
}

uint64_t array_bytes(const struct gt_gpu_launch *launch)
{
    return launch_argument(launch, 1);
}

/* The arrays in the scratch: a; b unless only a is read; c or the sums. */
struct stream_arguments layout(const struct gt_gpu_launch *launch)
{
    char *at = (char *)launch->scratch;
    size_t array = scratch_array(array_bytes(launch));
    size_t inputs = operation_of(launch) == ADD || operation_of(launch) == TRIAD ? 2 : 1;
    return {(float4 *)at, (float4 *)(at + array), (float4 *)(at + inputs * array), (float *)(at + array),
            array_bytes(launch) / VECTOR_BYTES};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    size_t array = scratch_array(array_bytes(launch));
    switch (operation_of(launch)) {
    case COPY: return 2 * array;
    case READ: return array + scratch_array(launch_threads(launch) * sizeof(float));
    default: return 3 * array;
    }
}

const void *entry(const struct gt_gpu_launch *launch)
{
    return (const void *)functions[operation_of(launch)];
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    if (array_bytes(launch) % VECTOR_BYTES == 0)
        return 0;
    return gt_error_set(error, "bytes is %llu; give a multiple of %d",
                        (unsigned long long)array_bytes(launch), VECTOR_BYTES);
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct stream_arguments arrays = layout(launch);
    uint64_t floats = arrays.vectors * VECTOR_FLOATS;
    cudaError_t status = fill_floats((float *)arrays.a, floats, seed, -1, 1, launch->stream);
    if (status == cudaSuccess && (operation_of(launch) == ADD || operation_of(launch) == TRIAD))
        status = fill_floats((float *)arrays.b, floats, seed + 1, -1, 1, launch->stream);
    return status;
}

cudaError_t launch_stream(const struct gt_gpu_launch *launch)
{
    return start(launch, functions[operation_of(launch)], layout(launch), launch->log);
}

double read_reference(uint64_t thread, uint64_t step, uint64_t vectors, uint64_t seed)
{
    double sum = 0;
    for (uint64_t i = thread; i < vectors; i += step)
        for (int k = 0; k < VECTOR_FLOATS; k++)
            sum += random_float(seed, i * VECTOR_FLOATS + k, -1, 1);
    return sum;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    struct stream_arguments arrays = layout(launch);
    enum operation operation = operation_of(launch);
    bool read = operation == READ;
    uint64_t outputs = read ? launch_threads(launch) : arrays.vectors * VECTOR_FLOATS;
    uint64_t cost = read ? array_bytes(launch) / sizeof(float) / outputs : 1;
    const double factors[OPERATIONS] = {0, 1, SCALAR, 0};
    return reference_compare(
        read ? arrays.sums : (float *)arrays.c, outputs, gt_reference_sample(outputs, cost, seed), TOLERANCE,
        [&](struct gt_reference_norm *norm, const float *got, uint64_t at) {
            double expected = read ? read_reference(at, outputs, arrays.vectors, seed) :
                random_float(seed, at, -1, 1) + factors[operation] * random_float(seed + 1, at, -1, 1);
            gt_reference_add(norm, got[at], expected);
        }, error);
}

const char *const operation_names[OPERATIONS] = {"copy", "add", "triad", "read"};
const struct gt_kernel_parameter parameters[] = {
    {"operation", "", "copy c=a, add c=a+b, triad c=a+3b, read a", 0, OPERATIONS - 1, TRIAD, operation_names},
    {"bytes", "bytes", "of each array; a multiple of 16", 16, 1e11, 64 << 20, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_stream = {
    .name = "stream",
    .help = "arrays read and written once, 16 bytes at an access; checked by norm, value by value",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_stream,
    .verify = verify,
};
