#include "sim/devices/kernel_bound.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/devices/occupancy.h"

const char *const gt_kernel_bound_names[GT_BOUNDS] = {
    [GT_BOUND_LAUNCH] = "launch", [GT_BOUND_LATENCY] = "latency", [GT_BOUND_TENSOR] = "tensor cores",
    [GT_BOUND_FP32] = "FP32",     [GT_BOUND_DRAM] = "DRAM",       [GT_BOUND_L2] = "L2",
    [GT_BOUND_MIXED] = "mixed",
};

const gt_time_ps gt_kernel_fixed_ps = 1200000;

/* Parts of names, in lower case, as libraries give them: the first row that fits holds.  A product by one vector moves
 * as much as it computes; products of half precision or by tensor instructions use tensor cores, others FP32 unless
 * they say otherwise. */
/* clang-format off */
static const struct {
    const char *part;
    enum gt_kernel_bound bound;
} words[] = {
    { "gemv", GT_BOUND_DRAM },
    { "splitkreduce", GT_BOUND_DRAM },
    { "dot_kernel", GT_BOUND_DRAM },
    { "im2col", GT_BOUND_DRAM },
    { "nchwtonhwc", GT_BOUND_DRAM },
    { "nhwctonchw", GT_BOUND_DRAM },
    { "f32f32_f32f32", GT_BOUND_FP32 },
    { "16816", GT_BOUND_TENSOR },
    { "1688", GT_BOUND_TENSOR },
    { "tensorop", GT_BOUND_TENSOR },
    { "hmma", GT_BOUND_TENSOR },
    { "gmma", GT_BOUND_TENSOR },
    { "hgemm", GT_BOUND_TENSOR },
    { "h1688", GT_BOUND_TENSOR },
    { "bf16", GT_BOUND_TENSOR },
    { "f16f16", GT_BOUND_TENSOR },
    { "tf32", GT_BOUND_TENSOR },
    { "flash", GT_BOUND_TENSOR },
    { "fmha", GT_BOUND_TENSOR },
    { "nvjet", GT_BOUND_TENSOR },
    { "xmma_gemm", GT_BOUND_TENSOR },
    { "imma", GT_BOUND_TENSOR },
    { "wgmma", GT_BOUND_TENSOR },
    { "sgemm", GT_BOUND_FP32 },
    { "gemm", GT_BOUND_FP32 },
    { "ffma", GT_BOUND_FP32 },
    { "implicit_convolve", GT_BOUND_FP32 },
    { "winograd", GT_BOUND_FP32 },
    { "conv", GT_BOUND_FP32 },
    { "wgrad", GT_BOUND_FP32 },
    { "dgrad", GT_BOUND_FP32 },
    { "matmul", GT_BOUND_FP32 },
    { "elementwise", GT_BOUND_DRAM },
    { "reduce", GT_BOUND_DRAM },
    { "norm", GT_BOUND_DRAM },
    { "softmax", GT_BOUND_DRAM },
    { "copy", GT_BOUND_DRAM },
    { "transpose", GT_BOUND_DRAM },
    { "fill", GT_BOUND_DRAM },
    { "gather", GT_BOUND_DRAM },
    { "scatter", GT_BOUND_DRAM },
    { "index", GT_BOUND_DRAM },
    { "embedding", GT_BOUND_DRAM },
    { "pool", GT_BOUND_DRAM },
    { "concat", GT_BOUND_DRAM },
    { "cat", GT_BOUND_DRAM },
    { "dropout", GT_BOUND_DRAM },
    { "multi_tensor_apply", GT_BOUND_DRAM },
    { "adam", GT_BOUND_DRAM },
    { "sort", GT_BOUND_DRAM },
    { "scan", GT_BOUND_DRAM },
    { "memset", GT_BOUND_DRAM },
    { "triton_poi", GT_BOUND_DRAM },
    { "triton_red", GT_BOUND_DRAM },
    { "triton_per", GT_BOUND_DRAM },
    { "axpy", GT_BOUND_DRAM },
    { "stencil", GT_BOUND_DRAM },
    { "vector", GT_BOUND_DRAM },
};
/* clang-format on */

const char *const gt_kernel_family_names[GT_FAMILIES] = {
    "gemm",      "convolution", "attention", "normalization", "softmax",    "elementwise",
    "reduction", "embedding",   "sort",      "copy",          "collective", "other",
};

/* Parts of names, in lower case: the first row that fits holds. */
/* clang-format off */
static const struct {
    const char *part;
    enum gt_kernel_family family;
} family_words[] = {
    { "nccl", GT_FAMILY_COLLECTIVE },
    { "multi_tensor_apply", GT_FAMILY_ELEMENTWISE },
    { "flash", GT_FAMILY_ATTENTION },
    { "fmha", GT_FAMILY_ATTENTION },
    { "attention", GT_FAMILY_ATTENTION },
    { "sdpa", GT_FAMILY_ATTENTION },
    { "fprop", GT_FAMILY_CONVOLUTION },
    { "dgrad", GT_FAMILY_CONVOLUTION },
    { "wgrad", GT_FAMILY_CONVOLUTION },
    { "convol", GT_FAMILY_CONVOLUTION },
    { "conv1d", GT_FAMILY_CONVOLUTION },
    { "conv2d", GT_FAMILY_CONVOLUTION },
    { "conv3d", GT_FAMILY_CONVOLUTION },
    { "conv_depthwise", GT_FAMILY_CONVOLUTION },
    { "scudnn", GT_FAMILY_CONVOLUTION },
    { "winograd", GT_FAMILY_CONVOLUTION },
    { "fft2d", GT_FAMILY_CONVOLUTION },
    { "flip_filter", GT_FAMILY_CONVOLUTION },
    { "region_transform", GT_FAMILY_CONVOLUTION },
    { "computeoffsets", GT_FAMILY_CONVOLUTION },
    { "computeboffsets", GT_FAMILY_CONVOLUTION },
    { "im2col", GT_FAMILY_CONVOLUTION },
    { "col2im", GT_FAMILY_CONVOLUTION },
    { "nchwtonhwc", GT_FAMILY_CONVOLUTION },
    { "nhwctonchw", GT_FAMILY_CONVOLUTION },
    { "splitkreduce", GT_FAMILY_GEMM },
    { "gemm", GT_FAMILY_GEMM },
    { "cublaslt", GT_FAMILY_GEMM },
    { "gemv", GT_FAMILY_GEMM },
    { "nvjet", GT_FAMILY_GEMM },
    { "matmul", GT_FAMILY_GEMM },
    { "wgmma", GT_FAMILY_GEMM },
    { "softmax", GT_FAMILY_SOFTMAX },
    { "layer_norm", GT_FAMILY_NORMALIZATION },
    { "layernorm", GT_FAMILY_NORMALIZATION },
    { "rms_norm", GT_FAMILY_NORMALIZATION },
    { "rmsnorm", GT_FAMILY_NORMALIZATION },
    { "rowwisemoments", GT_FAMILY_NORMALIZATION },
    { "gammabeta", GT_FAMILY_NORMALIZATION },
    { "batch_norm", GT_FAMILY_NORMALIZATION },
    { "batchnorm", GT_FAMILY_NORMALIZATION },
    { "group_norm", GT_FAMILY_NORMALIZATION },
    { "groupnorm", GT_FAMILY_NORMALIZATION },
    { "fusedparams", GT_FAMILY_NORMALIZATION },
    { "internalgradients", GT_FAMILY_NORMALIZATION },
    { "bn_fw", GT_FAMILY_NORMALIZATION },
    { "bn_bw", GT_FAMILY_NORMALIZATION },
    { "topk", GT_FAMILY_SORT },
    { "embedding", GT_FAMILY_EMBEDDING },
    { "index", GT_FAMILY_EMBEDDING },
    { "gather", GT_FAMILY_EMBEDDING },
    { "scatter", GT_FAMILY_EMBEDDING },
    { "sort", GT_FAMILY_SORT },
    { "radix", GT_FAMILY_SORT },
    { "scan", GT_FAMILY_SORT },
    { "cumsum", GT_FAMILY_SORT },
    { "copy", GT_FAMILY_COPY },
    { "transpose", GT_FAMILY_COPY },
    { "catarray", GT_FAMILY_COPY },
    { "concat", GT_FAMILY_COPY },
    { "reduce", GT_FAMILY_REDUCTION },
    { "dot_kernel", GT_FAMILY_REDUCTION },
    { "argmax", GT_FAMILY_REDUCTION },
    { "triton_red", GT_FAMILY_REDUCTION },
    { "triton_per", GT_FAMILY_REDUCTION },
    { "elementwise", GT_FAMILY_ELEMENTWISE },
    { "elemwise", GT_FAMILY_ELEMENTWISE },
    { "scalepackedtensor", GT_FAMILY_ELEMENTWISE },
    { "triton_poi", GT_FAMILY_ELEMENTWISE },
    { "adam", GT_FAMILY_ELEMENTWISE },
    { "dropout", GT_FAMILY_ELEMENTWISE },
    { "pool", GT_FAMILY_ELEMENTWISE },
    { "vector", GT_FAMILY_ELEMENTWISE },
    { "fill", GT_FAMILY_COPY },
    { "memset", GT_FAMILY_COPY },
};
/* clang-format on */

/* In lower case, malloced: names are long, and many parts are looked for. */
static char *lower_case(const char *name)
{
    char *lower = gt_strdup(name);

    for (char *at = lower; *at != '\0'; at++)
        *at = (char)tolower((unsigned char)*at);
    return lower;
}

enum gt_kernel_family gt_kernel_family_of(const char *name)
{
    enum gt_kernel_family family = GT_FAMILY_OTHER;
    char *lower = lower_case(name);

    for (size_t i = 0; i < sizeof family_words / sizeof family_words[0] && family == GT_FAMILY_OTHER; i++)
        if (strstr(lower, family_words[i].part) != NULL)
            family = family_words[i].family;
    free(lower);
    return family;
}

static enum gt_kernel_bound bound_by_name(const char *name)
{
    enum gt_kernel_bound bound = GT_BOUND_MIXED;
    char *lower = lower_case(name);

    for (size_t i = 0; i < sizeof words / sizeof words[0] && bound == GT_BOUND_MIXED; i++)
        if (strstr(lower, words[i].part) != NULL)
            bound = words[i].bound;
    free(lower);
    return bound;
}

/* Fewer than so many warps an SM, and too few SMs, wait for latencies rather than for anything that all share. */
enum { BUSY_WARPS = 4 };

static double dram_gbps(const struct gt_device *device)
{
    return device->warp.dram_gbps * device->warp.dram_efficiency;
}

static double l2_gbps(const struct gt_device *device)
{
    return device->warp.l2_read_bytes_per_cycle * device->clock_mhz / 1e3;
}

/* What so many blocks can ask of L2, one SM's port each. */
static double ports_gbps(const struct gt_kernel *kernel, const struct gt_device *device)
{
    double sms = fmin((double)gt_kernel_blocks(kernel), device->sms);

    return sms * device->warp.sm_bytes_per_cycle * device->clock_mhz / 1e3;
}

static bool starved(const struct gt_kernel *kernel, const struct gt_device *device)
{
    double warps = (double)gt_kernel_blocks(kernel) * ceil((double)gt_kernel_threads(kernel) / device->warp_threads);

    return warps < (double)BUSY_WARPS * device->sms;
}

/* What moves no more than half of L2 holds finds it there, since somebody wrote it just before. */
static bool fits_l2(gt_time_ps duration_ps, const struct gt_device *device)
{
    return (double)duration_ps / 1e12 * dram_gbps(device) * 1e9 <= device->warp.l2_bytes / 2.0;
}

enum gt_kernel_bound gt_kernel_bound_of(const char *name, const struct gt_kernel *kernel, gt_time_ps duration_ps,
                                        const struct gt_device *device)
{
    enum gt_kernel_bound bound = bound_by_name(name);

    if (duration_ps <= 2 * gt_kernel_fixed_ps)
        return GT_BOUND_LAUNCH;
    if (starved(kernel, device))
        return GT_BOUND_LATENCY;
    return bound == GT_BOUND_DRAM && fits_l2(duration_ps, device) ? GT_BOUND_L2 : bound;
}

/* Was the grid made for the device: as many blocks as it has SMs, or a few times that, all at once? It would be made
 * for the other one as well. */
static bool made_for(const struct gt_device *device, uint64_t blocks, const struct gt_occupancy *occupancy)
{
    return blocks % device->sms == 0 && blocks / device->sms <= occupancy->blocks_per_sm;
}

/* How many blocks the fullest SM works off, those that it holds at once together: what its arithmetic takes is in
 * proportion. */
static double blocks_in_turn(const struct gt_kernel *kernel, const struct gt_device *device,
                             const struct gt_occupancy *occupancy)
{
    double blocks = (double)gt_kernel_blocks(kernel), at_once = ceil(blocks / device->sms);

    return (double)occupancy->waves * fmin(at_once, occupancy->blocks_per_sm);
}

/* Work by SM that divides over their number in whole blocks; `rate`: an SM's, on either. */
static double compute_factor(const struct gt_kernel *kernel, const struct gt_device *from, const struct gt_device *to,
                             double from_rate, double to_rate)
{
    struct gt_occupancy there, here;
    struct gt_error error;

    if (gt_occupancy_of(from, kernel, &there, &error) != 0 || gt_occupancy_of(to, kernel, &here, &error) != 0 ||
        made_for(from, gt_kernel_blocks(kernel), &there))
        return from_rate * from->sms / (to_rate * to->sms);
    return from_rate / to_rate * blocks_in_turn(kernel, to, &here) / blocks_in_turn(kernel, from, &there);
}

static double tensor_rate(const struct gt_device *device)
{
    return fmax(device->warp.mma_per_cycle, device->warp.gmma_per_cycle) * device->clock_mhz;
}

static double fp32_rate(const struct gt_device *device)
{
    return device->clock_mhz / device->warp.interval[GT_PIPE_FMA];
}

static double memory_factor(const struct gt_kernel *kernel, const struct gt_device *from, const struct gt_device *to,
                            double from_gbps, double to_gbps)
{
    return fmin(from_gbps, ports_gbps(kernel, from)) / fmin(to_gbps, ports_gbps(kernel, to));
}

double gt_kernel_issue_factor(const struct gt_kernel *kernel, const struct gt_device *from,
                              const struct gt_device *to)
{
    return compute_factor(kernel, from, to, from->clock_mhz, to->clock_mhz);
}

double gt_kernel_bound_factor(enum gt_kernel_bound bound, const struct gt_kernel *kernel,
                              const struct gt_device *from, const struct gt_device *to)
{
    switch (bound) {
    case GT_BOUND_LATENCY: return (double)from->clock_mhz / to->clock_mhz;
    case GT_BOUND_TENSOR: return compute_factor(kernel, from, to, tensor_rate(from), tensor_rate(to));
    case GT_BOUND_FP32: return compute_factor(kernel, from, to, fp32_rate(from), fp32_rate(to));
    case GT_BOUND_DRAM: return memory_factor(kernel, from, to, dram_gbps(from), dram_gbps(to));
    case GT_BOUND_L2: return memory_factor(kernel, from, to, l2_gbps(from), l2_gbps(to));
    case GT_BOUND_MIXED:
        return sqrt(compute_factor(kernel, from, to, fp32_rate(from), fp32_rate(to)) *
                    memory_factor(kernel, from, to, dram_gbps(from), dram_gbps(to)));
    default: return 1;
    }
}
