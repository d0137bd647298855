/* dtype=TYPE: operators get inputs of another floating type, as of a model in another precision. */
#include <stdlib.h>
#include <string.h>

#include "sim/changes/change.h"
#include "sim/changes/resize.h"
#include "sim/rewrite/without.h"
#include "sim/shapes/types.h"

struct question {
    struct gt_resize r;
    struct gt_type_change change;
    bool stated, mixed; /* the user said what changes; inputs of the other class are there, and stay apart */
    uint64_t casts;     /* launches that are no longer needed */
};

static bool read_type(const char *text, size_t length, enum gt_type *type)
{
    for (int i = 0; i < GT_TYPES; i++) {
        if (strlen(gt_type_names[i]) == length && memcmp(gt_type_names[i], text, length) == 0) {
            *type = (enum gt_type)i;
            return true;
        }
    }
    return false;
}

/* "TYPE" or "RECORDED:TYPE" */
static int read_argument(const char *argument, struct question *q, struct gt_error *error)
{
    const char *colon = strchr(argument, ':'), *last = colon != NULL ? colon + 1 : argument;
    enum gt_type from = GT_TYPE_FP32;

    if (!read_type(last, strlen(last), &q->change.to) ||
        (colon != NULL && (!read_type(argument, (size_t)(colon - argument), &from) || from == GT_TYPE_FP8)))
        return gt_error_set(error, "'%.40s' is no type; it takes bf16, fp16, fp32, tf32 or fp8, or RECORDED:TYPE",
                            argument);
    q->stated = colon != NULL;
    q->change.from = from == GT_TYPE_BF16 || from == GT_TYPE_FP16 ? GT_CLASS_HALF : GT_CLASS_SINGLE;
    return 0;
}

/* gt_resize_rule */
static void follow(const void *how, gt_range_index range, struct gt_inputs *to)
{
    const struct question *q = how;

    gt_types_apply(&q->r.inputs, &q->change, range, to);
}

static double family_part(const struct question *q, enum gt_kernel_family family)
{
    return q->r.all_us > 0 ? q->r.family_us[family] / q->r.all_us : 0;
}

/* Is the operator a part of to(), which does nothing where the type is right? */
static bool is_conversion(const struct gt_workload *w, gt_range_index range)
{
    for (gt_range_index outer = w->ranges[range].parent; outer != GT_NONE; outer = w->ranges[outer].parent) {
        const char *name = gt_operator_name(w, outer);

        if (strcmp(name, "to") == 0 || strcmp(name, "_to_copy") == 0)
            return true;
    }
    return false;
}

/* By operation: casts between types that become the same are not made.  Asked before the inputs change. */
static bool *find_casts(struct question *q)
{
    const struct gt_workload *w = q->r.scenario->workload;
    bool *gone = gt_calloc(w->op_count + 1ull, sizeof *gone);

    for (gt_op_index i = 0; i < w->op_count; i++) {
        gt_range_index range = q->r.inputs.operator_of[w->ops[i].call];
        const struct gt_inputs *from = gt_inputs_of(&q->r.inputs, range);
        struct gt_inputs to;

        if (w->ops[i].kind != GT_OP_KERNEL || from == NULL || !gt_is_cast(gt_operator_name(w, range), from) ||
            !is_conversion(w, range))
            continue;
        follow(q, range, &to);
        gone[i] = !gt_is_cast(gt_operator_name(w, range), &to);
        q->casts += gone[i];
    }
    return gone;
}

static void assume_types(const struct question *q)
{
    static const char *const classes[] = { "16-bit floating-point", "float32" };
    struct gt_scenario *scenario = q->r.scenario;
    const char *to = gt_type_names[q->change.to];

    gt_scenario_assume(scenario, q->stated ? GT_TRUST_HIGH : GT_TRUST_MEDIUM, "%s inputs of operators become %s%s",
                       classes[q->change.from], to,
                       q->stated ? "" : "; most products and convolutions were recorded with them");
    if (q->mixed)
        gt_scenario_assume(scenario, GT_TRUST_MEDIUM, "%s inputs stay: both types were recorded, as autocast has it",
                           classes[q->change.from == GT_CLASS_HALF ? GT_CLASS_SINGLE : GT_CLASS_HALF]);
    if (q->casts > 0)
        gt_scenario_assume(
            scenario, GT_TRUST_MEDIUM,
            "%llu launches that convert to the same type are left out; the host's work around them stays",
            (unsigned long long)q->casts);
}

static bool between_classes(const struct question *q)
{
    return (q->change.to == GT_TYPE_BF16 || q->change.to == GT_TYPE_FP16) != (q->change.from == GT_CLASS_HALF);
}

static void assume_kernels(const struct question *q)
{
    struct gt_scenario *scenario = q->r.scenario;
    double attention = family_part(q, GT_FAMILY_ATTENTION), convolution = family_part(q, GT_FAMILY_CONVOLUTION);

    if (q->change.to == GT_TYPE_FP8) {
        gt_scenario_assume(scenario, GT_TRUST_LOW,
                           "FP8 products take twice the arithmetic rate and half the bytes of 16-bit ones; none were "
                           "measured, and scaling factors and conversions to FP8 take no time");
        return;
    }
    if (between_classes(q) && attention > 0)
        gt_scenario_assume(scenario, attention > 0.05 ? GT_TRUST_LOW : GT_TRUST_MEDIUM,
                           "Fused attention, %.1f%% of the kernels' time, is the memory-efficient kernel for 32-bit "
                           "numbers, cuDNN's or FlashAttention for 16-bit ones",
                           100 * attention);
    if (between_classes(q) && convolution > 0)
        gt_scenario_assume(
            scenario, convolution > 0.05 ? GT_TRUST_LOW : GT_TRUST_MEDIUM,
            "Convolutions, %.1f%% of the kernels' time, keep their algorithm, with TF32 for 32-bit numbers",
            100 * convolution);
}

static int check(struct question *q, struct gt_error *error)
{
    const struct gt_device *device = &q->r.scenario->recorded;

    if (!q->stated && !gt_recorded_class(&q->r.inputs, &q->change.from))
        return gt_error_set(error, "no operator has inputs of bfloat16, float16 or float32");
    if (!gt_class_is_there(&q->r.inputs, q->change.from))
        return gt_error_set(error, "no operator has inputs of that type");
    q->mixed = gt_class_is_there(&q->r.inputs, q->change.from == GT_CLASS_HALF ? GT_CLASS_SINGLE : GT_CLASS_HALF) &&
               (between_classes(q) == (q->change.from == GT_CLASS_SINGLE));
    if (q->change.to == GT_TYPE_FP8 && device->compute_major * 10 + device->compute_minor < 89)
        return gt_error_set(error, "%s has no tensor cores for FP8 (compute capability 8.9)", device->name);
    return 0;
}

static int answer(struct question *q, struct gt_error *error)
{
    bool *gone;
    int result;

    if (check(q, error) != 0)
        return -1;
    q->r.parameters = gt_resize_parameters(&q->r, follow, q);
    gone = find_casts(q);
    result = gt_resize_apply(&q->r, follow, q, error);
    if (result == 0) {
        if (q->casts > 0)
            gt_scenario_replace(q->r.scenario, gt_workload_without(q->r.scenario->workload, gone));
        assume_types(q);
        assume_kernels(q);
        gt_resize_assume_parameters(&q->r);
        gt_resize_assume(&q->r);
    }
    free(gone);
    return result;
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    struct question q = { .casts = 0 };
    int result = read_argument(argument, &q, error);

    if (result != 0)
        return -1;
    result = gt_resize_begin(&q.r, scenario, error);
    if (result == 0)
        result = answer(&q, error);
    gt_resize_end(&q.r);
    return result;
}

const struct gt_change_kind gt_change_dtype = {
    .name = "dtype",
    .argument = "TYPE",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "give operators bf16, fp16, fp32, tf32 or fp8 inputs; RECORDED:TYPE also states which change",
    .allocates = true,
    .apply = apply,
};
