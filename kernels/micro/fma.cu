/* fma.cu - chains of fused multiply-adds, several independent ones a thread, in three precisions. */

#include <cuda_fp16.h>

#include "kernels/base/kernel.cuh"
#include "kernels/base/reference.h"

namespace {

enum precision { FP32, FP64, FP16, PRECISIONS };
enum { WIDTHS = 4, MOST_CHAINS = 8 };  /* 1, 2, 4, 8 chains */

/* x = x * a + b with a from [0.5, 0.9): errors shrink from step to step and do not add up. */
const float LOW = 0.5f, HIGH = 0.9f;
const uint32_t COEFFICIENTS = 1024;  /* a, and as many b; a thread takes those of its number */

struct fma_arguments {
    const float *a, *b;
    float *results;  /* one a thread: the sum of its chains' ends (of both halves of them, in FP16) */
    uint64_t length;
};

__device__ float step(float x, float a, float b) { return fmaf(x, a, b); }
__device__ double step(double x, double a, double b) { return fma(x, a, b); }
__device__ __half2 step(__half2 x, __half2 a, __half2 b) { return __hfma2(x, a, b); }

template <typename T> __device__ T widen(float value) { return (T)value; }
template <> __device__ __half2 widen<__half2>(float value) { return __float2half2_rn(value); }

__device__ float narrow(float value) { return value; }
__device__ float narrow(double value) { return (float)value; }
__device__ float narrow(__half2 value) { return __low2float(value) + __high2float(value); }

template <typename T, int CHAINS>
__global__ void chains(struct fma_arguments arguments, struct gt_block_log *log)
{
    log_begin(log);
    uint64_t thread = this_block() * block_threads() + this_thread();
    T a = widen<T>(arguments.a[thread % COEFFICIENTS]), b = widen<T>(arguments.b[thread % COEFFICIENTS]);
    T x[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        x[c] = widen<T>((float)c);
#pragma unroll 16
    for (uint64_t i = 0; i < arguments.length; i++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++)
            x[c] = step(x[c], a, b);
    float sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++)
        sum += narrow(x[c]);
    arguments.results[thread] = sum;
    log_end(log);
}

typedef void (*fma_function)(struct fma_arguments, struct gt_block_log *);
const fma_function functions[PRECISIONS][WIDTHS] = {
    {chains<float, 1>, chains<float, 2>, chains<float, 4>, chains<float, 8>},
    {chains<double, 1>, chains<double, 2>, chains<double, 4>, chains<double, 8>},
    {chains<__half2, 1>, chains<__half2, 2>, chains<__half2, 4>, chains<__half2, 8>},
};

enum precision precision_of(const struct gt_gpu_launch *launch)
{
    return (enum precision)launch_argument(launch, 0);
}

fma_function function(const struct gt_gpu_launch *launch)
{
    return functions[precision_of(launch)][__builtin_ctzll(launch_argument(launch, 1))];
}

struct fma_arguments layout(const struct gt_gpu_launch *launch)
{
    float *at = (float *)launch->scratch;
    return {at, at + COEFFICIENTS, at + 2 * COEFFICIENTS, launch_argument(launch, 2)};
}

size_t scratch_bytes(const struct gt_gpu_launch *launch)
{
    return scratch_array((2 * COEFFICIENTS + launch_threads(launch)) * sizeof(float));
}

int accepts(const struct gt_gpu_launch *launch, struct gt_error *error)
{
    uint64_t chains = launch_argument(launch, 1);
    if ((chains & (chains - 1)) == 0)
        return 0;
    return gt_error_set(error, "chains is %llu; give 1, 2, 4 or 8", (unsigned long long)chains);
}

cudaError_t fill(const struct gt_gpu_launch *launch, uint64_t seed)
{
    struct fma_arguments arrays = layout(launch);
    return fill_floats((float *)arrays.a, 2 * COEFFICIENTS, seed, LOW, HIGH, launch->stream);
}

/* The coefficient as the kernel has it. */
double coefficient(enum precision precision, uint64_t seed, uint64_t index)
{
    float value = random_float(seed, index, LOW, HIGH);
    return precision == FP16 ? __half2float(__float2half(value)) : value;
}

double reference(const struct gt_gpu_launch *launch, uint64_t seed, uint64_t thread)
{
    enum precision precision = precision_of(launch);
    double a = coefficient(precision, seed, thread % COEFFICIENTS);
    double b = coefficient(precision, seed, COEFFICIENTS + thread % COEFFICIENTS);
    double sum = 0;
    for (uint64_t c = 0; c < launch_argument(launch, 1); c++) {
        double x = (double)c;
        for (uint64_t i = 0; i < launch_argument(launch, 2); i++) {
            double next = x * a + b;
            if (next == x)
                break;  /* there it stays */
            x = next;
        }
        sum += x;
    }
    return precision == FP16 ? 2 * sum : sum;
}

int verify(const struct gt_gpu_launch *launch, uint64_t seed, struct gt_error *error)
{
    static const double tolerances[PRECISIONS] = {1e-6, 1e-7, 5e-3};  /* results are stored as FP32 */
    uint64_t outputs = launch_threads(launch), cost = launch_argument(launch, 1) * launch_argument(launch, 2);
    return reference_compare(
        layout(launch).results, outputs, gt_reference_sample(outputs, cost, seed),
        tolerances[precision_of(launch)],
        [&](struct gt_reference_norm *norm, const float *got, uint64_t at) {
            gt_reference_add(norm, got[at], reference(launch, seed, at));
        }, error);
}

const char *const precision_names[PRECISIONS] = {"fp32", "fp64", "fp16"};
const struct gt_kernel_parameter parameters[] = {
    {"precision", "", "fp32, fp64, or fp16 (two at a time)", 0, PRECISIONS - 1, FP32, precision_names},
    {"chains", "", "independent ones in each thread: 1, 2, 4 or 8", 1, MOST_CHAINS, 4, nullptr},
    {"length", "steps", "multiply-adds in each chain", 0, 1e10, 10000, nullptr},
};

}

extern "C" const struct gt_library_kernel gt_kernel_fma = {
    .name = "fma",
    .help = "chains of fused multiply-adds, independent ones side by side; checked by norm, thread by thread",
    .restriction = nullptr,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
    .registers_to_order = 0,
    .accepts = accepts,
    .entry = entry_of<function>,
    .scratch_bytes = scratch_bytes,
    .fill = fill,
    .launch = launch_of<function, layout>,
    .verify = verify,
};
