#include "traces/explain/launch_work.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/sort.h"

/* A kernel, and the operator that launched it. */
struct launch {
    gt_op_index op;
    uint32_t range;
    enum gt_work_part part;
};

static double took_us(const struct gt_loaded_run *t, gt_op_index op)
{
    return (double)(t->ops[op].end_ps - t->ops[op].start_ps) / 1e6;
}

static const char *kernel_name(const struct gt_loaded_run *t, gt_op_index op)
{
    return t->kernels[t->ops[op].kernel].name;
}

static const char *operator_name(const struct gt_loaded_run *t, uint32_t range)
{
    const char *name = t->ranges[range].name;

    return strncmp(name, "aten::", 6) == 0 ? name + 6 : name;
}

/* The innermost range around its call whose inputs are known; GT_NONE. */
static uint32_t operator_of(const struct gt_loaded_run *t, gt_op_index op)
{
    uint32_t range = t->calls[t->ops[op].call].range;

    while (range != GT_NONE && t->ranges[range].inputs == NULL)
        range = t->ranges[range].parent;
    return range;
}

static int by_range(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;

    GT_ORDER(a->range, b->range);
    GT_ORDER(a->part, b->part);
    GT_ORDER(a->op, b->op);
    return 0;
}

static uint32_t list_launches(const struct gt_loaded_run *t, struct launch *launches)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < t->started; i++) {
        gt_op_index op = t->by_start[i];
        uint32_t range = t->ops[op].kind == GT_OP_KERNEL ? operator_of(t, op) : GT_NONE;

        if (range != GT_NONE)
            launches[count++] =
                (struct launch){ op, range, gt_work_part_of(operator_name(t, range), kernel_name(t, op)) };
    }
    if (count > 0)
        qsort(launches, count, sizeof *launches, by_range);
    return count;
}

static bool read_inputs(const struct gt_loaded_run *t, uint32_t range, struct gt_inputs *inputs)
{
    memset(inputs, 0, sizeof *inputs);
    if (t->ranges[range].inputs == NULL)
        return false;
    inputs->count = gt_tensors_read(t->ranges[range].inputs, inputs->tensors);
    return inputs->count > 0;
}

static bool is_within(const struct gt_loaded_run *t, uint32_t range, uint32_t outer)
{
    while (range != GT_NONE && range > outer)
        range = t->ranges[range].parent;
    return range == outer;
}

/* What comes out of a convolution whose strides are not known: what its thread's next operator on images takes.  False: that takes something else. */
static bool find_out(const struct gt_loaded_run *t, uint32_t convolution, const struct gt_inputs *inputs,
                     struct gt_tensor *out)
{
    enum { LOOKED = 64 };

    for (uint32_t i = convolution + 1; i < t->range_count && i < convolution + LOOKED; i++) {
        struct gt_inputs next;

        if (t->ranges[i].thread != t->ranges[convolution].thread || is_within(t, i, convolution) ||
            !read_inputs(t, i, &next) || next.tensors[0].sides != inputs->tensors[0].sides)
            continue;
        *out = next.tensors[0];
        return gt_work_could_be_out(inputs, out);
    }
    return false;
}

static bool work_of(const struct gt_loaded_run *t, const struct launch *launch, struct gt_work *work)
{
    const char *name = operator_name(t, launch->range);
    struct gt_inputs inputs;
    struct gt_tensor out;
    bool has_out;

    if (!read_inputs(t, launch->range, &inputs))
        return false;
    has_out = gt_work_needs_out(name, &inputs) && find_out(t, launch->range, &inputs, &out);
    return gt_work_of(name, &inputs, has_out ? &out : NULL, launch->part, kernel_name(t, launch->op), work);
}

/* The kernels of one part of an operator's work share it by time.  Returns whether it is known. */
static bool share_work(const struct gt_loaded_run *t, const struct launch *launches, uint32_t count,
                       struct gt_launch_work *works)
{
    struct gt_roofline roofline;
    struct gt_work work;
    double all_us = 0;

    for (uint32_t i = 0; i < count; i++)
        all_us += took_us(t, launches[i].op);
    if (!work_of(t, &launches[0], &work) || !gt_roofline_of(&work, all_us, &t->device, &roofline))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct gt_launch_work *of = &works[launches[i].op];
        double share = took_us(t, launches[i].op) / all_us;

        *of = (struct gt_launch_work){ GT_WORK_KNOWN, work, roofline.roof, share * roofline.least_us };
        of->work.flops *= share;
        of->work.bytes *= share;
    }
    return true;
}

/* Kernels of one operator whose names do not tell what they do: what the others leave. */
static void find_part_left(const struct gt_loaded_run *t, struct launch *launches, uint32_t count)
{
    bool made[GT_WORK_PARTS] = { false };
    struct gt_inputs inputs;
    enum gt_work_part left;

    for (uint32_t i = 0; i < count; i++)
        made[launches[i].part] = true;
    if (!made[GT_WORK_MAIN] || !read_inputs(t, launches[0].range, &inputs))
        return;
    left = gt_work_part_left(operator_name(t, launches[0].range), &inputs, made[GT_WORK_INPUT_GRADIENT],
                             made[GT_WORK_WEIGHT_GRADIENT]);
    for (uint32_t i = 0; i < count && launches[i].part == GT_WORK_MAIN; i++)
        launches[i].part = left;
}

/* All kernels of one operator, by part.  Helpers behind the parts: they help what is known. */
static void share_operator(const struct gt_loaded_run *t, const struct launch *launches, uint32_t count,
                           struct gt_launch_work *works)
{
    bool known = true;

    for (uint32_t i = 0, next; i < count && launches[i].part != GT_WORK_HELP; i = next) {
        for (next = i + 1; next < count && launches[next].part == launches[i].part; next++)
            ;
        known &= share_work(t, &launches[i], next - i, works);
    }
    for (uint32_t i = 0; i < count; i++)
        if (launches[i].part == GT_WORK_HELP && known && launches[0].part != GT_WORK_HELP)
            works[launches[i].op].known = GT_WORK_HELPS;
}

/* What a profiler counted, where no operator says more. */
static void set_profiled(const struct gt_loaded_run *t, gt_op_index op, struct gt_launch_work *of)
{
    const struct gt_work *work = &t->profiled[op];
    struct gt_roofline roofline;

    if (work->flops + work->bytes > 0 && gt_roofline_of(work, took_us(t, op), &t->device, &roofline))
        *of = (struct gt_launch_work){ GT_WORK_KNOWN, *work, roofline.roof, roofline.least_us };
}

struct gt_launch_work *gt_launch_works(const struct gt_loaded_run *t)
{
    struct gt_launch_work *works = gt_calloc(t->op_count + 1ull, sizeof *works);
    struct launch *launches = gt_calloc(t->started + 1ull, sizeof *launches);
    uint32_t count = list_launches(t, launches);

    for (uint32_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && launches[next].range == launches[i].range; next++)
            ;
        find_part_left(t, &launches[i], next - i);
        share_operator(t, &launches[i], next - i, works);
    }
    free(launches);
    for (gt_op_index op = 0; op < t->op_count && t->profiled != NULL; op++)
        if (works[op].known == GT_WORK_UNKNOWN && t->ops[op].there)
            set_profiled(t, op, &works[op]);
    return works;
}
