#include "sim/whatif/scale_kernels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/devices/kernel_bound.h"
#include "sim/devices/occupancy.h"
#include "sim/machine/durations.h"
#include "sim/shapes/product.h"
#include "sim/shapes/roofline.h"
#include "sim/warp/kernel_model.h"

/* Sections of a device's keys that say how fast its kernels are. */
static const char *const kernel_sections[] = { "chip.", "sm.", "block.", "warp.", "pipe.", "memory." };

static bool of_kernels(const struct gt_key *key)
{
    for (size_t i = 0; i < sizeof kernel_sections / sizeof kernel_sections[0]; i++)
        if (strncmp(key->key, kernel_sections[i], strlen(kernel_sections[i])) == 0)
            return true;
    return false;
}

/* Take over from `device` what its kernels depend on; does any of that differ? */
static bool take_kernel_keys(struct gt_device *recorded, const struct gt_device *device)
{
    bool differs = false;

    for (size_t i = 0; i < gt_device_key_count; i++) {
        const struct gt_key *key = &gt_device_keys[i];

        if (!of_kernels(key) || gt_device_same_key(recorded, device, key))
            continue;
        differs = differs || key->type != GT_KEY_TEXT;
        gt_device_take_key(recorded, device, key);
    }
    return differs;
}

enum { BY_PROGRAM = GT_BOUNDS, BY_PRODUCT, BY_ISSUE, WAYS };

/* What was scaled in one way. */
struct scaled {
    uint64_t launches;
    double from_us, to_us;
    double least, most; /* factor */
};

struct scaling {
    struct gt_scenario *scenario;
    const struct gt_device *from, *to;
    struct gt_kernel_model *programs_from, *programs_to; /* NULL: no kernel has a program */
    struct gt_all_inputs inputs;
    struct gt_product_sweep *products_from, *products_to; /* measured on either device; else the model alone */
    struct scaled ways[WAYS];
};

static int run_programs(struct scaling *scaling, struct gt_error *error)
{
    const struct gt_workload *w = scaling->scenario->workload;

    if (!gt_has_programs(w))
        return 0;
    scaling->programs_from = gt_model_kernels(w, scaling->from, scaling->from, false, NULL, error);
    scaling->programs_to =
        scaling->programs_from == NULL ? NULL : gt_model_kernels(w, scaling->to, scaling->from, false, NULL, error);
    return scaling->programs_to == NULL ? -1 : 0;
}

/* How much longer the launch's program takes; 0 where it has none, or it could not be run. */
static double program_factor(const struct scaling *scaling, gt_op_index op)
{
    const struct gt_kernel_model_launch *from = gt_kernel_model_launch(scaling->programs_from, op);
    const struct gt_kernel_model_launch *to = gt_kernel_model_launch(scaling->programs_to, op);
    double from_ps, to_ps;

    if (from == NULL || to == NULL || from->failure != NULL || to->failure != NULL)
        return 0;
    from_ps = (double)gt_launch_run_ps(scaling->from, from);
    to_ps = (double)gt_launch_run_ps(scaling->to, to);
    return from_ps > 0 ? to_ps / from_ps : 0;
}

/* The products of either device: as measured, where both were. */
static int load_products(struct scaling *scaling, struct gt_error *error)
{
    const struct gt_whatif_host *host = scaling->scenario->host;

    gt_all_inputs_find(&scaling->inputs, scaling->scenario->workload);
    if (scaling->inputs.known == 0)
        return 0;
    if (host->load_products(scaling->from, &scaling->products_from, error) != 0 ||
        host->load_products(scaling->to, &scaling->products_to, error) != 0)
        return -1;
    if (strcmp(scaling->from->product.sweep, scaling->to->product.sweep) != 0 && scaling->products_from->count > 0 &&
        scaling->products_to->count > 0)
        return 0;
    gt_product_sweep_free(scaling->products_from);
    gt_product_sweep_free(scaling->products_to);
    scaling->products_from = gt_product_sweep_new(scaling->from);
    scaling->products_to = gt_product_sweep_new(scaling->to);
    return 0;
}

/* How much longer the product takes that the launch is of; 0 where it is of none. */
static double product_factor(const struct scaling *scaling, const struct gt_op *op, const char *name)
{
    gt_range_index range = scaling->inputs.operator_of[op->call];
    struct gt_product product;
    double from_us;

    if (scaling->products_from == NULL || range == GT_NONE || gt_kernel_family_of(name) != GT_FAMILY_GEMM ||
        !gt_product_of(gt_operator_name(scaling->scenario->workload, range), gt_inputs_of(&scaling->inputs, range),
                       name, &product))
        return 0;
    from_us = gt_product_us(&product, scaling->products_from);
    return from_us > 0 ? gt_product_us(&product, scaling->products_to) / from_us : 0;
}

/* What its name tells of arithmetic may be wrong: attention of single queries reads more than it computes. */
static enum gt_kernel_bound bound_of(const struct scaling *scaling, const struct gt_op *op, gt_time_ps stated)
{
    const struct gt_workload *w = scaling->scenario->workload;
    const struct gt_kernel *kernel = &w->kernels[op->kernel];
    const char *name = gt_name_text(w, kernel->name), *by;
    enum gt_kernel_bound bound = gt_kernel_bound_of(name, kernel, stated, scaling->from);
    gt_range_index range = scaling->inputs.operator_of[op->call];
    struct gt_roofline roofline;
    struct gt_work work;

    if ((bound != GT_BOUND_TENSOR && bound != GT_BOUND_FP32) || range == GT_NONE)
        return bound;
    by = gt_operator_name(w, range);
    return gt_work_part_of(by, name) == GT_WORK_MAIN &&
                   gt_work_of(by, gt_inputs_of(&scaling->inputs, range), NULL, name, &work) &&
                   gt_roofline_of(&work, (double)stated / 1e6, scaling->from, &roofline)
               ? roofline.roof
               : bound;
}

/* The least time for the bytes of work that streams. */
static double moved_us(const struct gt_work *work, const struct gt_device *device)
{
    return work->bytes / (device->warp.dram_gbps * device->warp.dram_efficiency * device->kernel.dram_part * 1e3);
}

/* How much longer a kernel takes that moves its bytes slower than DRAM could: its instructions bound it, or the other
 * DRAM does; 0 where it is none, or nothing tells. */
static double issue_factor(const struct scaling *scaling, const struct gt_op *op, const char *name, gt_time_ps stated)
{
    const struct gt_workload *w = scaling->scenario->workload;
    gt_range_index range = scaling->inputs.operator_of[op->call];
    double took_us = (double)stated / 1e6;
    struct gt_work work;

    if (range == GT_NONE || gt_work_part_of(gt_operator_name(w, range), name) != GT_WORK_MAIN ||
        !gt_work_of(gt_operator_name(w, range), gt_inputs_of(&scaling->inputs, range), NULL, name, &work) ||
        moved_us(&work, scaling->from) >= scaling->from->kernel.bound_part * took_us)
        return 0;
    return fmax(gt_kernel_issue_factor(&w->kernels[op->kernel], scaling->from, scaling->to),
                moved_us(&work, scaling->to) / took_us);
}

static void note(struct scaled *way, double from_ps, double to_ps, double factor)
{
    way->least = way->launches == 0 || factor < way->least ? factor : way->least;
    way->most = way->launches == 0 || factor > way->most ? factor : way->most;
    way->launches++;
    way->from_us += from_ps / 1e6;
    way->to_us += to_ps / 1e6;
}

static void scale_op(struct scaling *scaling, gt_op_index index)
{
    const struct gt_workload *w = scaling->scenario->workload;
    struct gt_op *op = &w->ops[index];
    const struct gt_kernel *kernel = &w->kernels[op->kernel];
    const char *name = gt_name_text(w, kernel->name);
    gt_time_ps stated = gt_op_stated_ps(w, op), fixed_ps;
    double factor = program_factor(scaling, index), from_ps = (double)stated, to_ps;
    int way = BY_PROGRAM;

    if (stated == GT_TIME_NONE)
        return;
    if (factor == 0 && (factor = product_factor(scaling, op, name)) > 0)
        way = BY_PRODUCT;
    if (factor == 0) {
        enum gt_kernel_bound bound = bound_of(scaling, op, stated);

        way = BY_ISSUE;
        if (bound != GT_BOUND_DRAM || (factor = issue_factor(scaling, op, name, stated)) == 0) {
            way = (int)bound;
            factor = gt_kernel_bound_factor(bound, kernel, scaling->from, scaling->to);
        }
    }
    fixed_ps = stated < gt_kernel_fixed_ps ? stated : gt_kernel_fixed_ps;
    if (way == BY_PRODUCT) /* a product's start is in its factor */
        fixed_ps = 0;
    to_ps = (double)fixed_ps + (from_ps - (double)fixed_ps) * factor;
    op->duration_ps = gt_whole_ps(to_ps);
    note(&scaling->ways[way], from_ps, to_ps, factor);
}

/* "x1.40", or "x1.20 to x1.60" */
static void describe_factor(const struct scaled *way, char *text, size_t bytes)
{
    if (way->most - way->least < 0.005)
        snprintf(text, bytes, "x%.2f", way->most);
    else
        snprintf(text, bytes, "x%.2f to x%.2f", way->least, way->most);
}

static void tell(const struct scaling *scaling)
{
    double total_us = 0;

    for (int i = 0; i < WAYS; i++)
        total_us += scaling->ways[i].from_us;
    for (int i = 0; i < WAYS; i++) {
        const struct scaled *way = &scaling->ways[i];
        char factor[64];
        double pct = total_us > 0 ? 100 * way->from_us / total_us : 0;

        if (way->launches == 0)
            continue;
        describe_factor(way, factor, sizeof factor);
        if (i == BY_PROGRAM)
            gt_scenario_assume(
                scaling->scenario, GT_TRUST_MEDIUM,
                "scaled by their programs, run on both devices: %llu kernel launches, %.0f%% of kernel "
                "time, %s",
                (unsigned long long)way->launches, pct, factor);
        else if (i == BY_PRODUCT)
            gt_scenario_assume(
                scaling->scenario, GT_TRUST_LOW,
                "scaled as the matrix products of their operators: %llu kernel launches, %.0f%% of kernel time, %s",
                (unsigned long long)way->launches, pct, factor);
        else if (i == BY_ISSUE)
            gt_scenario_assume(scaling->scenario, GT_TRUST_LOW,
                               "assumed bound by their instructions, as they move their operators' bytes slower than "
                               "DRAM could: %llu "
                               "kernel launches, %.0f%% of kernel time, %s",
                               (unsigned long long)way->launches, pct, factor);
        else
            gt_scenario_assume(
                scaling->scenario, GT_TRUST_LOW,
                "assumed bound by %s, from name, sizes and duration: %llu kernel launches, %.0f%% of kernel time, %s",
                gt_kernel_bound_names[i], (unsigned long long)way->launches, pct, factor);
    }
}

/* How far such times were off where others published theirs. */
static void tell_compared(struct scaling *scaling)
{
    const struct gt_device *to = scaling->to;
    uint64_t launches = 0;

    for (int i = 0; i < WAYS; i++)
        launches += i == BY_PROGRAM || i == GT_BOUND_LAUNCH ? 0 : scaling->ways[i].launches;
    if (launches == 0 || to->kernel.compared_pct == 0 || strcmp(scaling->from->name, to->name) == 0)
        return;
    scaling->scenario->kernels_off = to->kernel.compared_pct / 100;
    gt_scenario_assume(
        scaling->scenario, GT_TRUST_LOW,
        "Of kernel times that others published for a GPU like %s, 9 of 10 are within %.0f%% of predictions such "
        "as these; the interval allows for it",
        to->name, to->kernel.compared_pct);
}

/* Libraries choose a kernel that fits the GPU: one that does not stands for another of its kind, with all the shared memory
 * and registers that a block may have. */
static bool make_fit(struct gt_kernel *kernel, const struct gt_device *device)
{
    struct gt_occupancy occupancy;
    struct gt_error error;

    if (gt_occupancy_of(device, kernel, &occupancy, &error) == 0)
        return false;
    if (kernel->static_shared_bytes > device->shared_bytes_per_block)
        kernel->static_shared_bytes = device->shared_bytes_per_block;
    if (kernel->dynamic_shared_bytes > device->shared_bytes_per_block - kernel->static_shared_bytes)
        kernel->dynamic_shared_bytes = device->shared_bytes_per_block - kernel->static_shared_bytes;
    if (kernel->registers_per_thread > device->registers_per_thread_max)
        kernel->registers_per_thread = device->registers_per_thread_max;
    return gt_occupancy_of(device, kernel, &occupancy, &error) == 0;
}

static void make_all_fit(struct gt_scenario *scenario)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < scenario->workload->kernel_count; i++)
        count += make_fit(&scenario->workload->kernels[i], &scenario->device);
    if (count > 0)
        gt_scenario_assume(
            scenario, GT_TRUST_LOW,
            "%u kernels need more resources than a block may have there; assumes that versions that fit take as long",
            count);
}

int gt_scale_kernels(struct gt_scenario *scenario, struct gt_error *error)
{
    struct gt_device from = scenario->recorded;
    struct scaling scaling = { .scenario = scenario, .from = &from, .to = &scenario->device };
    int result;

    if (!take_kernel_keys(&scenario->recorded, &scenario->device))
        return 0;
    result = load_products(&scaling, error);
    if (result == 0)
        result = run_programs(&scaling, error);
    for (gt_op_index i = 0; i < scenario->workload->op_count && result == 0; i++)
        if (scenario->workload->ops[i].kind == GT_OP_KERNEL)
            scale_op(&scaling, i);
    if (result == 0) {
        tell(&scaling);
        tell_compared(&scaling);
        make_all_fit(scenario);
    }
    gt_product_sweep_free(scaling.products_from);
    gt_product_sweep_free(scaling.products_to);
    gt_all_inputs_free(&scaling.inputs);
    gt_kernel_model_free(scaling.programs_from);
    gt_kernel_model_free(scaling.programs_to);
    return result;
}
