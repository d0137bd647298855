/* batch=N, seq=N: operators get other sizes, and their kernels take as long as they then do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/changes/change.h"
#include "sim/machine/durations.h"
#include "sim/shapes/kernel_time.h"
#include "sim/shapes/memory.h"
#include "sim/shapes/sizes.h"
#include "sim/workload/ranges.h"

static const uint64_t largest = 1u << 24;

struct sizing {
    struct gt_scenario *scenario;
    struct gt_workload *w;
    struct gt_all_inputs inputs;
    struct gt_sizes sizes;
    struct gt_product_sweep *products;
    struct gt_memory_sizing memory;
    bool *optimiser;        /* by range: of an optimiser's step */
    double *product_us;     /* by range: of an operator's product, of all its kernels */
    double *product_factor; /* likewise: how many times as long they take; 0: not known yet */
    double all_us, unknown_us;
    uint64_t unknown, changed; /* launches of unknown operators; ranges with other inputs than before */
};

/* The number that the text up to `end` is; 0: it is none from 1 on. */
static uint64_t size_of(const char *text, const char *end)
{
    uint64_t size = 0;

    for (; text < end; text++) {
        if (*text < '0' || *text > '9' || size > largest)
            return 0;
        size = 10 * size + (uint64_t)(*text - '0');
    }
    return size <= largest ? size : 0;
}

/* "N" or "FROM:N" */
static int read_argument(const char *argument, uint64_t *from, uint64_t *to, struct gt_error *error)
{
    const char *colon = strchr(argument, ':'), *last = colon != NULL ? colon + 1 : argument;

    *from = colon != NULL ? size_of(argument, colon) : 0;
    *to = size_of(last, last + strlen(last));
    if (*to == 0 || (colon != NULL && *from == 0))
        return gt_error_set(error, "'%.40s' is no size; it takes a number N from 1 to 16777216, or RECORDED:N",
                            argument);
    return 0;
}

/* An optimiser works on parameters, whose sizes stay. */
static void find_optimiser(struct sizing *s)
{
    s->optimiser = gt_calloc(s->w->range_count + 1ull, sizeof *s->optimiser);
    for (gt_range_index i = 0; i < s->w->range_count; i++)
        s->optimiser[i] = gt_range_is_optimiser_step(s->w, &s->w->ranges[i]) ||
                          (s->w->ranges[i].parent != GT_NONE && s->optimiser[s->w->ranges[i].parent]);
}

static double us_of(const struct gt_workload *w, const struct gt_op *op)
{
    gt_time_ps stated = gt_op_stated_ps(w, op); /* of others their blocks cost, of which there will be more */

    return stated == GT_TIME_NONE ? 0 : (double)stated / 1e6;
}

static enum gt_kernel_family family_of(const struct sizing *s, const struct gt_op *op)
{
    return gt_kernel_family_of(gt_name_text(s->w, s->w->kernels[op->kernel].name));
}

/* Of each operator's product: how long all its kernels take, a sum over its parts among them. */
static void sum_products(struct sizing *s)
{
    s->product_us = gt_calloc(s->w->range_count + 1ull, sizeof *s->product_us);
    for (gt_op_index i = 0; i < s->w->op_count; i++) {
        gt_range_index range = s->inputs.operator_of[s->w->ops[i].call];

        if (range != GT_NONE && s->w->ops[i].kind == GT_OP_KERNEL && family_of(s, &s->w->ops[i]) == GT_FAMILY_GEMM)
            s->product_us[range] += us_of(s->w, &s->w->ops[i]);
    }
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
static double factor_of(struct sizing *s, gt_range_index range, struct gt_kernel_case *c)
{
    if (c->family != GT_FAMILY_GEMM || c->took_us <= 0)
        return gt_kernel_time_factor(c, s->products);
    if (s->product_factor[range] == 0) {
        c->product_us = s->product_us[range];
        s->product_factor[range] = gt_kernel_time_factor(c, s->products);
    }
    return s->product_factor[range];
}

static void size_kernel(struct sizing *s, gt_op_index index)
{
    struct gt_op *op = &s->w->ops[index];
    gt_range_index range = s->inputs.operator_of[op->call];
    struct gt_inputs to;
    struct gt_kernel_case c = { .name = gt_name_text(s->w, s->w->kernels[op->kernel].name),
                                .kernel = &s->w->kernels[op->kernel],
                                .device = &s->scenario->recorded,
                                .family = family_of(s, op),
                                .to = &to,
                                .took_us = us_of(s->w, op) };

    s->all_us += c.took_us;
    if (range == GT_NONE) {
        s->unknown++;
        s->unknown_us += c.took_us;
        return;
    }
    if (s->optimiser[range])
        return;
    gt_sizes_apply(&s->sizes, range, &to);
    c.operator_name = gt_operator_name(s->w, range);
    c.from = gt_inputs_of(&s->inputs, range);
    if (gt_op_stated_ps(s->w, op) != GT_TIME_NONE)
        op->duration_ps = gt_whole_ps((double)gt_op_stated_ps(s->w, op) * factor_of(s, range, &c));
    op->kernel = with_grid(s->w, op->kernel, gt_kernel_grid_factor(&c));
}

/* Copies and memsets of as much more as their operator has; their time follows the bytes. */
static void size_bytes(struct sizing *s, gt_op_index index)
{
    struct gt_op *op = &s->w->ops[index];
    gt_range_index range = s->inputs.operator_of[op->call];
    const struct gt_inputs *from = gt_inputs_of(&s->inputs, range);
    struct gt_inputs to;
    double before, after, fixed_ps = (double)gt_kernel_fixed_ps;

    if (from == NULL || s->optimiser[range] || op->bytes == 0)
        return;
    gt_sizes_apply(&s->sizes, range, &to);
    before = gt_tensor_bytes(&from->tensors[0]);
    after = gt_tensor_bytes(&to.tensors[0]);
    if (before <= 0 || after == before)
        return;
    op->bytes = (uint64_t)fmin(fmax(1, (double)op->bytes * after / before), (double)(UINT64_C(1) << 62));
    if (op->duration_ps != GT_TIME_NONE)
        op->duration_ps = gt_whole_ps(fmin(fixed_ps, (double)op->duration_ps) +
                                      fmax(0, (double)op->duration_ps - fixed_ps) * after / before);
}

static void size_all(struct sizing *s)
{
    find_optimiser(s);
    gt_allocations_resize(s->w, &s->sizes, s->optimiser, &s->memory);
    sum_products(s);
    s->product_factor = gt_calloc(s->w->range_count + 1ull, sizeof *s->product_factor);
    for (gt_op_index i = 0; i < s->w->op_count; i++) {
        if (s->w->ops[i].kind == GT_OP_KERNEL)
            size_kernel(s, i);
        else
            size_bytes(s, i);
    }
    free(s->optimiser);
    free(s->product_us);
    free(s->product_factor);
}

/* What operators are given from now on, for whatever change comes next. */
static void state_inputs(struct sizing *s)
{
    struct gt_inputs to;
    char *text;

    for (gt_range_index i = 0; i < s->w->range_count; i++) {
        if (gt_inputs_of(&s->inputs, i) == NULL)
            continue;
        gt_sizes_apply(&s->sizes, i, &to);
        if (memcmp(&to, gt_inputs_of(&s->inputs, i), sizeof to) == 0)
            continue;
        s->changed++;
        text = gt_tensors_text(to.tensors, to.count);
        s->w->ranges[i].inputs = gt_name(s->w, text, strlen(text));
        free(text);
    }
}

/* What was asked: of the batch, or of the length of sequences. */
struct question {
    bool seq;
    const char *what;
    uint64_t elected, stated, from, to; /* 0: not to be seen, not stated */
};

/* Allocations that fit nothing are told from this part of all on. */
static const double least_unknown_part = 0.02;

static void assume_memory(struct sizing *s, const struct question *q)
{
    const struct gt_memory_sizing *m = &s->memory;
    double gib = 0x1p30, all = m->fitted + m->grown + m->kept;

    if (s->w->allocation_count == 0) {
        gt_scenario_assume(s->scenario, GT_TRUST_HIGH,
                           "The profile has no allocations, so that peak memory is not known: record with "
                           "profile_memory=True");
        return;
    }
    gt_scenario_assume(
        s->scenario, GT_TRUST_MEDIUM,
        "Peak memory: of %.2f GiB that were allocated before the recording, %.2f GiB follow the %s: inputs "
        "that no recorded allocation made; the rest stays, %.2f GiB of it of unknown use",
        m->held_bytes / gib, m->held.data / gib, q->what, m->held.unknown / gib);
    if (m->grown > least_unknown_part * all)
        gt_scenario_assume(s->scenario, GT_TRUST_MEDIUM,
                           "Peak memory: %.0f%% of the allocated bytes are no size that follows from the operators' "
                           "inputs; they grow as these do",
                           100 * m->grown / all);
}

static void assume(struct sizing *s, const struct question *q)
{
    gt_scenario_assume(s->scenario, q->stated != 0 ? GT_TRUST_HIGH : GT_TRUST_MEDIUM,
                       "The recorded %s is %llu%s; it becomes %llu", q->what, (unsigned long long)q->from,
                       q->stated != 0 ? "" : ", by the inputs of the operators", (unsigned long long)q->to);
    if (q->stated != 0 && q->elected != 0 && q->stated != q->elected)
        gt_scenario_assume(s->scenario, GT_TRUST_MEDIUM, "The inputs of the operators look as if it were %llu",
                           (unsigned long long)q->elected);
    gt_scenario_assume(
        s->scenario, GT_TRUST_MEDIUM,
        "Kernel times at other sizes come from the models of gridtide-model(7); host times stay as recorded");
    if (s->unknown_us > 0.001 * s->all_us)
        gt_scenario_assume(s->scenario, s->unknown_us > 0.05 * s->all_us ? GT_TRUST_LOW : GT_TRUST_MEDIUM,
                           "%llu launches, %.1f%% of the kernels' time, are of operators without recorded inputs and "
                           "stay as recorded",
                           (unsigned long long)s->unknown, 100 * s->unknown_us / s->all_us);
    assume_memory(s, q);
    if (s->products->count == 0)
        gt_scenario_assume(s->scenario, GT_TRUST_LOW,
                           "No matrix products were measured on this GPU (key product.sweep): the model alone holds");
    if (gt_sizes_seq_is_unclear(&s->sizes))
        gt_scenario_assume(s->scenario, GT_TRUST_LOW,
                           "%llu is the length of sequences and a size of the model, too: which side is which was "
                           "guessed; record a length that is no other size",
                           (unsigned long long)s->sizes.change.seq);
}

static int check_question(const struct sizing *s, const struct question *q, struct gt_error *error)
{
    const char *name = q->seq ? "seq" : "batch";

    if (s->inputs.known == 0)
        return gt_error_set(error, "the trace has no operators' inputs; record with record_shapes=True");
    if (q->from == 0)
        return gt_error_set(error,
                            "the recorded %s cannot be found in the operators' inputs; state it: %s=RECORDED:N",
                            q->what, name);
    if (q->from > largest)
        return gt_error_set(error, "the recorded %s is %llu, which is more than %llu; state it: %s=RECORDED:N",
                            q->what, (unsigned long long)q->from, (unsigned long long)largest, name);
    if (q->seq && q->from == 1)
        return gt_error_set(error,
                            "a recorded length of 1 cannot be told from other sizes; record a longer sequence");
    return 0;
}

static int answer(struct sizing *s, const struct question *q, const struct gt_size_change *change,
                  struct gt_error *error)
{
    int result = 0;

    gt_sizes_find(&s->sizes, &s->inputs, change);
    size_all(s);
    state_inputs(s);
    if (s->changed == 0 && q->from != q->to)
        result = gt_error_set(error, "no operator's input follows a recorded %s of %llu%s", q->what,
                              (unsigned long long)q->from, q->stated != 0 ? "; is that what was recorded?" : "");
    else
        assume(s, q);
    gt_sizes_free(&s->sizes);
    return result;
}

static int apply(struct gt_scenario *scenario, const char *argument, bool seq, struct gt_error *error)
{
    struct sizing s = { .scenario = scenario, .w = scenario->workload };
    struct question q = { .seq = seq, .what = seq ? "length of sequences" : "batch" };
    struct gt_size_change change;
    int result = read_argument(argument, &q.stated, &q.to, error);

    if (result != 0)
        return -1;
    gt_all_inputs_find(&s.inputs, scenario->workload);
    change.batch = change.new_batch = gt_recorded_batch(&s.inputs);
    change.seq = change.new_seq = gt_recorded_seq(&s.inputs);
    q.elected = seq ? change.seq : change.batch;
    q.from = q.stated != 0 ? q.stated : q.elected;
    *(seq ? &change.seq : &change.batch) = q.from;
    *(seq ? &change.new_seq : &change.new_batch) = q.to;
    if (change.batch == 0 || change.batch > largest)
        change.batch = change.new_batch = 1;
    if (change.seq > largest)
        change.seq = change.new_seq = 0;
    result = check_question(&s, &q, error);
    if (result == 0)
        result = scenario->host->load_products(&scenario->recorded, &s.products, error);
    if (result == 0)
        result = answer(&s, &q, &change, error);
    gt_product_sweep_free(s.products);
    gt_all_inputs_free(&s.inputs);
    return result;
}

static int apply_batch(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    return apply(scenario, argument, false, error);
}

static int apply_seq(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    return apply(scenario, argument, true, error);
}

const struct gt_change_kind gt_change_batch = {
    .name = "batch",
    .argument = "N",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "give operators inputs of another batch size; RECORDED:N also states the recorded one",
    .apply = apply_batch,
};
const struct gt_change_kind gt_change_seq = {
    .name = "seq",
    .argument = "N",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "the same with sequences of another length",
    .apply = apply_seq,
};
