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

/* Of one kernel. */
struct kernel_time {
    uint64_t launches;
    gt_time_ps time_ps;
    gt_op_index longest;
};

static gt_time_ps took_ps(const struct gt_loaded_run *t, gt_op_index op)
{
    return t->ops[op].end_ps - t->ops[op].start_ps;
}

static struct kernel_time *sum_up(const struct gt_loaded_run *t)
{
    struct kernel_time *kernels = gt_calloc(t->kernel_count + 1ull, sizeof *kernels);

    for (uint32_t i = 0; i < t->started; i++) {
        gt_op_index op = t->by_start[i];
        struct kernel_time *kernel;

        if (t->ops[op].kind != GT_OP_KERNEL || !gt_part_has_op(t, op))
            continue;
        kernel = &kernels[t->ops[op].kernel];
        if (kernel->launches++ == 0 || took_ps(t, op) > took_ps(t, kernel->longest))
            kernel->longest = op;
        kernel->time_ps += took_ps(t, op);
    }
    return kernels;
}

/* What bounds a kernel is what bounds a launch of its mean time. */
static void add(const struct gt_loaded_run *t, gt_kernel_index index, const struct kernel_time *kernel,
                struct gt_family_time *family)
{
    const struct gt_loaded_kernel *of = &t->kernels[index];

    if (family->launches == 0 || took_ps(t, kernel->longest) > took_ps(t, family->longest))
        family->longest = kernel->longest;
    family->launches += kernel->launches;
    family->time_ps += kernel->time_ps;
    family->bound_ps[gt_kernel_bound_of(of->name, &of->shape, kernel->time_ps / kernel->launches, &t->device)] +=
        kernel->time_ps;
}

size_t gt_family_times(const struct gt_loaded_run *t, struct gt_family_time families[GT_FAMILIES])
{
    struct kernel_time *kernels = sum_up(t);
    gt_time_ps all_ps = 0;
    size_t count = 0;

    memset(families, 0, GT_FAMILIES * sizeof *families);
    for (uint32_t i = 0; i < t->kernel_count; i++)
        if (kernels[i].launches > 0)
            add(t, i, &kernels[i], &families[gt_kernel_family_of(t->kernels[i].name)]);
    free(kernels);
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
