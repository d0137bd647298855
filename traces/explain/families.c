#include "traces/explain/families.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "traces/explain/part.h"

static int by_time(const void *left, const void *right)
{
    const struct gt_family_time *a = left, *b = right;

    GT_ORDER(b->time_ps, a->time_ps);
    GT_ORDER(a->family, b->family);
    return 0;
}

static void add(const struct gt_loaded_run *t, gt_op_index index, struct gt_family_time *family)
{
    const struct gt_loaded_op *op = &t->ops[index];
    const struct gt_loaded_kernel *kernel = &t->kernels[op->kernel];
    gt_time_ps took_ps = op->end_ps - op->start_ps;

    if (family->launches++ == 0 || took_ps > t->ops[family->longest].end_ps - t->ops[family->longest].start_ps)
        family->longest = index;
    family->time_ps += took_ps;
    family->bound_ps[gt_kernel_bound_of(kernel->name, &kernel->shape, took_ps, &t->device)] += took_ps;
}

size_t gt_family_times(const struct gt_loaded_run *t, struct gt_family_time families[GT_FAMILIES])
{
    enum gt_kernel_family *family_of = gt_calloc(t->kernel_count + 1ull, sizeof *family_of);
    gt_time_ps all_ps = 0;
    size_t count = 0;

    memset(families, 0, GT_FAMILIES * sizeof *families);
    for (uint32_t i = 0; i < t->kernel_count; i++)
        family_of[i] = gt_kernel_family_of(t->kernels[i].name);
    for (uint32_t i = 0; i < t->started; i++)
        if (t->ops[t->by_start[i]].kind == GT_OP_KERNEL && gt_part_has_op(t, t->by_start[i]))
            add(t, t->by_start[i], &families[family_of[t->ops[t->by_start[i]].kernel]]);
    free(family_of);
    for (int i = 0; i < GT_FAMILIES; i++) {
        families[i].family = (enum gt_kernel_family)i;
        all_ps += families[i].time_ps;
        if (families[i].launches > 0)
            families[count++] = families[i];
    }
    for (size_t i = 0; i < count; i++)
        families[i].share = all_ps > 0 ? (double)families[i].time_ps / (double)all_ps : 0;
    qsort(families, count, sizeof *families, by_time);
    return count;
}
