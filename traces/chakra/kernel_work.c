#include "traces/chakra/kernel_work.h"

#include <stdlib.h>

#include "sim/shapes/work.h"

struct finding {
    const struct gt_workload *w;
    struct gt_all_inputs inputs;
    double *range_ps; /* by range: time of all kernels that do its operator's work */
};

/* The operator whose work the operation does; GT_NONE: none whose inputs are known, or it only prepares data for that. */
static gt_range_index operator_of(const struct finding *f, gt_op_index op)
{
    gt_range_index range = f->inputs.operator_of[f->w->ops[op].call];

    if (f->w->ops[op].kind != GT_OP_KERNEL || range == GT_NONE ||
        gt_work_part_of(gt_operator_name(f->w, range),
                        gt_name_text(f->w, f->w->kernels[f->w->ops[op].kernel].name)) != GT_WORK_MAIN)
        return GT_NONE;
    return range;
}

static void find_one(const struct finding *f, gt_op_index op, struct gt_kernel_work *found)
{
    gt_range_index range = operator_of(f, op);
    struct gt_work work;
    double share;

    if (range == GT_NONE || f->range_ps[range] <= 0 ||
        !gt_work_of(gt_operator_name(f->w, range), gt_inputs_of(&f->inputs, range), NULL, GT_WORK_MAIN,
                    gt_name_text(f->w, f->w->kernels[f->w->ops[op].kernel].name), &work))
        return;
    share = (double)f->w->ops[op].duration_ps / f->range_ps[range];
    found->operations = work.flops < 9e18 ? (uint64_t)(work.flops * share) : 0;
    found->bytes = work.bytes < 9e18 ? (uint64_t)(work.bytes * share) : 0;
}

struct gt_kernel_work *gt_kernel_work_find(const struct gt_workload *w)
{
    struct finding f = { .w = w };
    struct gt_kernel_work *found = NULL;

    gt_all_inputs_find(&f.inputs, w);
    if (f.inputs.known > 0) {
        found = gt_calloc(w->op_count + 1ull, sizeof *found);
        f.range_ps = gt_calloc(w->range_count + 1ull, sizeof *f.range_ps);
        for (gt_op_index i = 0; i < w->op_count; i++)
            if (operator_of(&f, i) != GT_NONE)
                f.range_ps[operator_of(&f, i)] += (double)w->ops[i].duration_ps;
        for (gt_op_index i = 0; i < w->op_count; i++)
            find_one(&f, i, &found[i]);
    }
    free(f.range_ps);
    gt_all_inputs_free(&f.inputs);
    return found;
}
