#include "sim/whatif/bound.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/devices/occupancy.h"
#include "sim/workload/critical_path.h"

const char *const gt_bound_names[GT_BOUNDS_BY] = { "host", "gpu", "copy", "launch" };

/* What the stretches of the critical path went to. */
struct bounding {
    const struct gt_workload *w;
    const struct gt_timeline *timeline;
    double ps[GT_BOUNDS_BY];
};

static enum gt_bound bound_of_op(const struct gt_op *op)
{
    switch ((enum gt_op_kind)op->kind) {
    case GT_OP_COPY: return GT_BOUND_BY_COPY;
    case GT_OP_HOST_FUNCTION: return GT_BOUND_BY_HOST;
    default: return GT_BOUND_BY_GPU;
    }
}

static enum gt_bound bound_of(const struct bounding *bounding, const struct gt_stretch *stretch)
{
    switch (stretch->kind) {
    case GT_STRETCH_OP: return bound_of_op(&bounding->w->ops[stretch->op]);
    case GT_STRETCH_GAP: return GT_BOUND_BY_GPU;
    case GT_STRETCH_LAUNCH:
    case GT_STRETCH_RETURN: return GT_BOUND_BY_LAUNCH;
    case GT_STRETCH_CALL: return bounding->w->calls[stretch->call].ops > 0 ? GT_BOUND_BY_LAUNCH : GT_BOUND_BY_HOST;
    default: return GT_BOUND_BY_HOST;
    }
}

static int read_op(void *context, gt_op_index number, struct gt_path_op *op, struct gt_error *error)
{
    const struct bounding *bounding = context;
    const struct gt_op_record *record = &bounding->timeline->ops[number];

    (void)error;
    *op = (struct gt_path_op){
        .op = number,
        .submit_ps = record->submit_ps,
        .start_ps = record->start_ps,
        .end_ps = record->end_ps,
        .call = bounding->w->ops[number].call,
        .cause_op = record->cause == GT_CAUSE_OP ? record->cause_index : GT_NONE,
        .cause_call = record->cause == GT_CAUSE_CALL ? record->cause_index : GT_NONE,
    };
    return 1;
}

static int read_call(void *context, gt_call_index number, struct gt_path_call *call, struct gt_error *error)
{
    const struct bounding *bounding = context;
    const struct gt_call_record *record = &bounding->timeline->calls[number];

    (void)error;
    *call = (struct gt_path_call){
        .call = number,
        .start_ps = record->start_ps,
        .end_ps = record->end_ps,
        .blocked_ps = record->blocked_ps,
        .cause_op = record->cause_op,
    };
    return 1;
}

static int tell(void *context, const struct gt_stretch *stretch, struct gt_error *error)
{
    struct bounding *bounding = context;

    (void)error;
    bounding->ps[bound_of(bounding, stretch)] += (double)(stretch->to_ps - stretch->from_ps);
    return 0;
}

static gt_call_index *calls_before(const struct gt_workload *w)
{
    gt_call_index *before = gt_realloc(NULL, w->call_count + 1ull, sizeof *before);
    gt_call_index *last = gt_realloc(NULL, w->thread_count + 1ull, sizeof *last);

    memset(last, 0xff, w->thread_count * sizeof *last);
    for (gt_call_index i = 0; i < w->call_count; i++) {
        before[i] = last[w->calls[i].thread];
        last[w->calls[i].thread] = i;
    }
    free(last);
    return before;
}

static void find_ends(struct gt_path_run *run, const struct bounding *bounding)
{
    const struct gt_timeline *timeline = bounding->timeline;

    run->last_op = run->last_call = GT_NONE;
    for (gt_op_index i = 0; i < bounding->w->op_count; i++)
        if (run->last_op == GT_NONE || timeline->ops[i].end_ps > timeline->ops[run->last_op].end_ps)
            run->last_op = i;
    for (gt_call_index i = 0; i < bounding->w->call_count; i++)
        if (run->last_call == GT_NONE || timeline->calls[i].end_ps > timeline->calls[run->last_call].end_ps)
            run->last_call = i;
}

enum gt_bound gt_bound_of(const struct gt_workload *w, const struct gt_timeline *timeline, double part[GT_BOUNDS_BY])
{
    struct bounding bounding = { .w = w, .timeline = timeline };
    gt_call_index *before = calls_before(w);
    struct gt_path_run run = {
        .context = &bounding,
        .op = read_op,
        .call = read_call,
        .tell = tell,
        .call_before = before,
        .operations = w->op_count,
        .calls = w->call_count,
        .origin_ps = timeline->first_ps,
    };
    enum gt_bound most = GT_BOUND_BY_HOST;
    struct gt_error never;
    gt_time_ps end_ps;
    double all_ps;

    find_ends(&run, &bounding);
    gt_critical_path(&run, &end_ps, &never);
    all_ps = (double)(end_ps - run.origin_ps);
    for (int i = 0; i < GT_BOUNDS_BY; i++) {
        part[i] = all_ps > 0 ? bounding.ps[i] / all_ps : 0;
        most = part[i] > part[most] ? (enum gt_bound)i : most;
    }
    free(before);
    return most;
}

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

/* Is the part in the name, whatever its case? */
static bool has_part(const char *name, const char *part)
{
    size_t length = strlen(part);

    for (; *name != '\0'; name++) {
        size_t at = 0;

        while (at < length && tolower((unsigned char)name[at]) == part[at])
            at++;
        if (at == length)
            return true;
    }
    return false;
}

static enum gt_kernel_bound bound_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (has_part(name, words[i].part))
            return words[i].bound;
    return GT_BOUND_MIXED;
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
