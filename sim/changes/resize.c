#include "sim/changes/resize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/machine/durations.h"
#include "sim/shapes/kernel_time.h"
#include "sim/shapes/roles.h"
#include "sim/workload/ranges.h"

static const double largest_bytes = (double)(UINT64_C(1) << 62);

struct work { /* on the workload */
    struct gt_resize *r;
    struct gt_workload *w;
    gt_resize_rule *rule;
    const void *how;
    bool *optimiser;        /* by range: of an optimiser's step */
    bool *of_list;          /* by call: of an operator on a list of parameters, whose sizes are not recorded */
    double *product_us;     /* by range: of an operator's product, of all its kernels */
    double *product_factor; /* likewise: how many times as long they take; 0: not known yet */
};

int gt_resize_begin(struct gt_resize *resize, struct gt_scenario *scenario, struct gt_error *error)
{
    *resize = (struct gt_resize){ .scenario = scenario };
    gt_all_inputs_find(&resize->inputs, scenario->workload);
    if (resize->inputs.known == 0)
        return gt_error_set(error, "the trace has no operators' inputs; record with record_shapes=True");
    return scenario->host->load_products(&scenario->recorded, &resize->products, error);
}

void gt_resize_end(struct gt_resize *resize)
{
    gt_product_sweep_free(resize->products);
    gt_all_inputs_free(&resize->inputs);
}

static void mark_calls(const struct gt_workload *w, const struct gt_range *range, bool *marks)
{
    for (gt_call_index call = range->first_call; call < range->end_call; call++)
        marks[call] |= gt_range_has_call(w, range, call);
}

/* The optimiser works on parameters, in PyTorch on lists of them; so do clipping of gradients and averages of weights. */
static void find_optimiser(struct work *s)
{
    bool *in_step = gt_calloc(s->w->call_count + 1ull, sizeof *in_step);

    s->optimiser = gt_ranges_of_optimiser(s->w);
    s->of_list = gt_calloc(s->w->call_count + 1ull, sizeof *s->of_list);
    for (gt_range_index i = 0; i < s->w->range_count; i++) {
        const struct gt_range *range = &s->w->ranges[i];

        if (gt_range_is_optimiser_step(s->w, range))
            mark_calls(s->w, range, in_step);
        if (strncmp(gt_operator_name(s->w, i), "_foreach_", 9) == 0)
            mark_calls(s->w, range, s->of_list);
    }
    for (gt_call_index i = 0; i < s->w->call_count; i++)
        s->of_list[i] |= in_step[i] && s->r->inputs.operator_of[i] == GT_NONE;
    free(in_step);
}

static double us_of(const struct gt_workload *w, const struct gt_op *op)
{
    gt_time_ps stated = gt_op_stated_ps(w, op); /* of others their blocks cost, of which there will be more */

    return stated == GT_TIME_NONE ? 0 : (double)stated / 1e6;
}

static enum gt_kernel_family family_of(const struct work *s, const struct gt_op *op)
{
    return gt_kernel_family_of(gt_name_text(s->w, s->w->kernels[op->kernel].name));
}

/* Of each operator's product: how long all its kernels take, a sum over its parts among them. */
static void sum_products(struct work *s)
{
    s->product_us = gt_calloc(s->w->range_count + 1ull, sizeof *s->product_us);
    s->product_factor = gt_calloc(s->w->range_count + 1ull, sizeof *s->product_factor);
    for (gt_op_index i = 0; i < s->w->op_count; i++) {
        gt_range_index range = s->r->inputs.operator_of[s->w->ops[i].call];

        if (range != GT_NONE && s->w->ops[i].kind == GT_OP_KERNEL && family_of(s, &s->w->ops[i]) == GT_FAMILY_GEMM)
            s->product_us[range] += us_of(s->w, &s->w->ops[i]);
    }
}

/* What the operator is given after the change. */
static void inputs_after(const struct work *s, gt_range_index range, struct gt_inputs *to)
{
    if (s->optimiser[range] && s->r->parameters == 0)
        *to = *gt_inputs_of(&s->r->inputs, range);
    else
        s->rule(s->how, range, to);
}

/* More blocks in the direction that has the most. */
static gt_kernel_index with_grid(struct gt_workload *w, gt_kernel_index index, double factor)
{
    struct gt_kernel kernel = w->kernels[index];
    int side = kernel.grid[0] >= kernel.grid[1] && kernel.grid[0] >= kernel.grid[2] ? 0
               : kernel.grid[1] >= kernel.grid[2]                                   ? 1
                                                                                    : 2;
    uint32_t unit = kernel.cluster[side] > 1 ? kernel.cluster[side] : 1;
    double blocks = ceil(kernel.grid[side] * factor / unit - 1e-9) * unit;

    kernel.grid[side] = (uint32_t)fmin(fmax(blocks, unit), (side == 0 ? INT32_MAX : UINT16_MAX) / unit * unit);
    return kernel.grid[side] == w->kernels[index].grid[side] ? index : gt_workload_kernel(w, &kernel);
}

/* All kernels of a product take so many times as long as the first that took any time. */
static double factor_of(struct work *s, gt_range_index range, struct gt_kernel_case *c)
{
    if (c->family != GT_FAMILY_GEMM || c->took_us <= 0)
        return gt_kernel_time_factor(c, s->r->products);
    if (s->product_factor[range] == 0) {
        c->product_us = s->product_us[range];
        s->product_factor[range] = gt_kernel_time_factor(c, s->r->products);
    }
    return s->product_factor[range];
}

/* Beyond a start the time follows the bytes. */
static gt_time_ps after_start_ps(gt_time_ps took_ps, uint64_t start_ps, double growth)
{
    double start = fmin((double)start_ps, (double)took_ps);

    return gt_whole_ps(start + ((double)took_ps - start) * growth);
}

static void size_list(struct work *s, struct gt_op *op)
{
    double growth = s->r->parameters;

    s->r->of_optimiser++;
    s->r->optimiser_us += us_of(s->w, op);
    if (growth == 0 || growth == 1)
        return;
    if (gt_op_stated_ps(s->w, op) != GT_TIME_NONE)
        op->duration_ps = after_start_ps(gt_op_stated_ps(s->w, op), s->r->scenario->recorded.kernel.least_ps, growth);
    op->kernel = with_grid(s->w, op->kernel, growth);
}

static void size_kernel(struct work *s, gt_op_index index)
{
    struct gt_op *op = &s->w->ops[index];
    gt_range_index range = s->r->inputs.operator_of[op->call];
    struct gt_inputs to;
    struct gt_kernel_case c = { .name = gt_name_text(s->w, s->w->kernels[op->kernel].name),
                                .kernel = &s->w->kernels[op->kernel],
                                .device = &s->r->scenario->recorded,
                                .family = family_of(s, op),
                                .to = &to,
                                .took_us = us_of(s->w, op) };

    s->r->all_us += c.took_us;
    if (s->of_list[op->call]) {
        size_list(s, op);
        return;
    }
    if (range == GT_NONE) {
        s->r->unknown++;
        s->r->unknown_us += c.took_us;
        return;
    }
    inputs_after(s, range, &to);
    c.operator_name = gt_operator_name(s->w, range);
    c.from = gt_inputs_of(&s->r->inputs, range);
    if (memcmp(&to, c.from, sizeof to) == 0)
        return;
    s->r->family_us[c.family] += c.took_us;
    if (gt_op_stated_ps(s->w, op) != GT_TIME_NONE)
        op->duration_ps = gt_whole_ps((double)gt_op_stated_ps(s->w, op) * factor_of(s, range, &c));
    op->kernel = with_grid(s->w, op->kernel, gt_kernel_grid_factor(&c));
}

/* Copies and memsets of as much more as their operator has. */
static int size_bytes(struct work *s, gt_op_index index, struct gt_error *error)
{
    struct gt_op *op = &s->w->ops[index];
    gt_range_index range = s->r->inputs.operator_of[op->call];
    const struct gt_inputs *from = gt_inputs_of(&s->r->inputs, range);
    struct gt_inputs to;
    double before, after;

    if (from == NULL || op->bytes == 0)
        return 0;
    inputs_after(s, range, &to);
    before = gt_tensor_bytes(&from->tensors[0]);
    after = gt_tensor_bytes(&to.tensors[0]);
    if (before <= 0 || after == before)
        return 0;
    if ((double)op->bytes * after / before > largest_bytes)
        return gt_error_set(error, "a %s of '%.100s' would be of more than 2^62 bytes; is the size meant?",
                            gt_op_kind_names[op->kind], gt_operator_name(s->w, range));
    op->bytes = (uint64_t)fmax(1, (double)op->bytes * after / before);
    if (op->duration_ps != GT_TIME_NONE)
        op->duration_ps = after_start_ps(op->duration_ps, gt_kernel_fixed_ps, after / before);
    return 0;
}

static int size_all(struct work *s, struct gt_error *error)
{
    double sum_ps = 0;

    for (gt_op_index i = 0; i < s->w->op_count; i++) {
        const struct gt_op *op = &s->w->ops[i];

        if (op->kind == GT_OP_KERNEL)
            size_kernel(s, i);
        else if (size_bytes(s, i, error) != 0)
            return -1;
        if (op->kind == GT_OP_KERNEL)
            sum_ps += us_of(s->w, op) * 1e6;
        else if (op->duration_ps != GT_TIME_NONE)
            sum_ps += (double)op->duration_ps;
        if (sum_ps >= (double)GT_TIME_LIMIT_PS)
            return gt_error_set(error, "the operators would take more than 53 days; is the size meant?");
    }
    return 0;
}

static void state_inputs(struct work *s)
{
    struct gt_inputs to;
    char *text;

    for (gt_range_index i = 0; i < s->w->range_count; i++) {
        if (gt_inputs_of(&s->r->inputs, i) == NULL)
            continue;
        inputs_after(s, i, &to);
        if (memcmp(&to, gt_inputs_of(&s->r->inputs, i), sizeof to) == 0)
            continue;
        s->r->changed++;
        text = gt_tensors_text(to.tensors, to.count);
        s->w->ranges[i].inputs = gt_name(s->w, text, strlen(text));
        free(text);
    }
}

int gt_resize_apply(struct gt_resize *resize, gt_resize_rule *rule, const void *how, struct gt_error *error)
{
    struct work s = { .r = resize, .w = resize->scenario->workload, .rule = rule, .how = how };
    int result;

    find_optimiser(&s);
    sum_products(&s);
    result = size_all(&s, error);
    if (result == 0)
        state_inputs(&s);
    free(s.optimiser);
    free(s.of_list);
    free(s.product_us);
    free(s.product_factor);
    return result;
}

/* By the places where operators take parameters, or a backward pass adds up their gradients. */
static void sum_parameters(const struct work *s, bool gradients, double *before, double *after)
{
    const struct gt_workload *w = s->w;

    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_inputs *from = gt_inputs_of(&s->r->inputs, i);
        const char *name = gt_operator_name(w, i), *roles = gt_roles_of(name);
        struct gt_inputs to;

        if (from == NULL || *roles == '\0' || (strstr(name, "AccumulateGrad") != NULL) != gradients)
            continue;
        s->rule(s->how, i, &to);
        for (int j = 0; j < from->count && roles[j] != '\0'; j++) {
            *before += roles[j] == GT_ROLE_PARAMETER ? gt_tensor_bytes(&from->tensors[j]) : 0;
            *after += roles[j] == GT_ROLE_PARAMETER ? gt_tensor_bytes(&to.tensors[j]) : 0;
        }
    }
}

double gt_resize_parameters(struct gt_resize *resize, gt_resize_rule *rule, const void *how)
{
    const struct work s = { .r = resize, .w = resize->scenario->workload, .rule = rule, .how = how };
    double before = 0, after = 0;

    sum_parameters(&s, true, &before, &after);
    if (before == 0)
        sum_parameters(&s, false, &before, &after);
    return before > 0 ? after / before : 1;
}

void gt_resize_assume_parameters(const struct gt_resize *resize)
{
    if (resize->of_optimiser == 0)
        return;
    if (resize->parameters == 1)
        gt_scenario_assume(resize->scenario, GT_TRUST_MEDIUM,
                           "Parameters, and what the optimiser does with them, stay");
    else
        gt_scenario_assume(resize->scenario, GT_TRUST_MEDIUM,
                           "Parameters, gradients and the optimiser's state have %.3g times as many bytes, and its "
                           "kernels handle them in as many launches",
                           resize->parameters);
}

void gt_resize_assume(const struct gt_resize *resize)
{
    gt_scenario_assume(
        resize->scenario, GT_TRUST_MEDIUM,
        "Kernel times at other sizes come from the models of gridtide-model(7); host times stay as recorded");
    if (resize->unknown_us > 0.001 * resize->all_us)
        gt_scenario_assume(resize->scenario,
                           resize->unknown_us > 0.05 * resize->all_us ? GT_TRUST_LOW : GT_TRUST_MEDIUM,
                           "%llu launches, %.1f%% of the kernels' time, are of operators without recorded inputs and "
                           "stay as recorded",
                           (unsigned long long)resize->unknown, 100 * resize->unknown_us / resize->all_us);
    if (resize->products->count == 0)
        gt_scenario_assume(resize->scenario, GT_TRUST_LOW,
                           "No matrix products were measured on this GPU (key product.sweep): the model alone holds");
}
