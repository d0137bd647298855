#include "traces/explain/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/sort.h"
#include "traces/explain/launch_work.h"
#include "traces/explain/part.h"

static gt_time_ps took_ps(const struct gt_loaded_run *t, gt_op_index op)
{
    return t->ops[op].end_ps - t->ops[op].start_ps;
}

static void add_launch(const struct gt_loaded_run *t, gt_op_index op, const struct gt_launch_work *work,
                       struct gt_kernel_times *times)
{
    if (times->launches++ == 0 || took_ps(t, op) > took_ps(t, times->longest))
        times->longest = op;
    times->time_ps += took_ps(t, op);
    if (work->known != GT_WORK_UNKNOWN)
        times->known_ps += took_ps(t, op);
    if (work->known != GT_WORK_KNOWN)
        return;
    times->work_ps += took_ps(t, op);
    times->bound_ps[work->roof] += took_ps(t, op);
    times->flops += work->work.flops;
    times->bytes += work->work.bytes;
    times->least_us += work->least_us;
    times->precision = work->work.precision;
    times->unless_causal |= work->work.unless_causal;
}

/* What bounds a kernel is what bounds a launch of its mean time; the roof that its work is under says more than its name, and than
 * few warps do where that work takes most of the time. */
static void set_bound(const struct gt_loaded_run *t, gt_kernel_index kernel, struct gt_kernel_times *times)
{
    const struct gt_loaded_kernel *of = &t->kernels[kernel];
    enum gt_kernel_bound bound =
        gt_kernel_bound_of(of->name, &of->shape, times->time_ps / times->launches, &t->device);

    if (times->work_ps > 0 && bound != GT_BOUND_LAUNCH &&
        (bound != GT_BOUND_LATENCY || 2 * times->least_us * 1e6 > (double)times->work_ps))
        bound = gt_most_bound(times);
    memset(times->bound_ps, 0, sizeof times->bound_ps);
    times->bound_ps[bound] = times->time_ps;
}

/* By kernel of the trace, kernel_count of them. */
static struct gt_kernel_times *sum_up(const struct gt_loaded_run *t)
{
    struct gt_kernel_times *kernels = gt_calloc(t->kernel_count + 1ull, sizeof *kernels);
    struct gt_launch_work *works = gt_launch_works(t);

    for (uint32_t i = 0; i < t->started; i++) {
        gt_op_index op = t->by_start[i];

        if (t->ops[op].kind == GT_OP_KERNEL && gt_part_has_op(t, op))
            add_launch(t, op, &works[op], &kernels[t->ops[op].kernel]);
    }
    for (uint32_t i = 0; i < t->kernel_count; i++)
        if (kernels[i].launches > 0)
            set_bound(t, i, &kernels[i]);
    free(works);
    return kernels;
}

static void add(const struct gt_loaded_run *t, const struct gt_kernel_times *kernel, struct gt_kernel_times *sum)
{
    if (sum->launches == 0 || took_ps(t, kernel->longest) > took_ps(t, sum->longest))
        sum->longest = kernel->longest;
    sum->launches += kernel->launches;
    sum->time_ps += kernel->time_ps;
    for (int i = 0; i < GT_BOUNDS; i++)
        sum->bound_ps[i] += kernel->bound_ps[i];
    sum->known_ps += kernel->known_ps;
    sum->work_ps += kernel->work_ps;
    sum->flops += kernel->flops;
    sum->bytes += kernel->bytes;
    sum->least_us += kernel->least_us;
    if (kernel->work_ps > 0)
        sum->precision = kernel->precision;
    sum->unless_causal |= kernel->unless_causal;
}

static double share_of(gt_time_ps time_ps, gt_time_ps all_ps)
{
    return all_ps > 0 ? (double)time_ps / (double)all_ps : 0;
}

static int by_family_time(const void *left, const void *right)
{
    const struct gt_family_time *a = left, *b = right;

    GT_ORDER(b->times.time_ps, a->times.time_ps);
    GT_ORDER(a->family, b->family);
    return 0;
}

size_t gt_family_times(const struct gt_loaded_run *t, struct gt_family_time families[GT_FAMILIES])
{
    struct gt_kernel_times *kernels = sum_up(t);
    gt_time_ps all_ps = 0;
    size_t count = 0;

    memset(families, 0, GT_FAMILIES * sizeof *families);
    for (uint32_t i = 0; i < t->kernel_count; i++)
        if (kernels[i].launches > 0)
            add(t, &kernels[i], &families[gt_kernel_family_of(t->kernels[i].name)].times);
    free(kernels);
    for (int i = 0; i < GT_FAMILIES; i++) {
        families[i].family = (enum gt_kernel_family)i;
        all_ps += families[i].times.time_ps;
        if (families[i].times.launches > 0)
            families[count++] = families[i];
    }
    for (size_t i = 0; i < count; i++)
        families[i].times.share = share_of(families[i].times.time_ps, all_ps);
    qsort(families, count, sizeof *families, by_family_time);
    return count;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct gt_name_time *)left)->name, ((const struct gt_name_time *)right)->name);
}

static int by_name_time(const void *left, const void *right)
{
    const struct gt_name_time *a = left, *b = right;

    GT_ORDER(b->times.time_ps, a->times.time_ps);
    return strcmp(a->name, b->name);
}

struct gt_name_time *gt_name_times(const struct gt_loaded_run *t, size_t *count)
{
    struct gt_kernel_times *kernels = sum_up(t);
    struct gt_name_time *names = gt_calloc(t->kernel_count + 1ull, sizeof *names);
    gt_time_ps all_ps = 0;
    size_t all = 0;

    *count = 0;
    for (uint32_t i = 0; i < t->kernel_count; i++)
        if (kernels[i].launches > 0)
            names[all++] =
                (struct gt_name_time){ t->kernels[i].name, gt_kernel_family_of(t->kernels[i].name), kernels[i] };
    free(kernels);
    qsort(names, all, sizeof *names, by_name);
    for (size_t i = 0; i < all; i++) {
        all_ps += names[i].times.time_ps;
        if (*count > 0 && strcmp(names[*count - 1].name, names[i].name) == 0)
            add(t, &names[i].times, &names[*count - 1].times);
        else
            names[(*count)++] = names[i];
    }
    for (size_t i = 0; i < *count; i++)
        names[i].times.share = share_of(names[i].times.time_ps, all_ps);
    qsort(names, *count, sizeof *names, by_name_time);
    return names;
}

enum gt_kernel_bound gt_most_bound(const struct gt_kernel_times *times)
{
    int most = 0;

    for (int i = 1; i < GT_BOUNDS; i++)
        most = times->bound_ps[i] > times->bound_ps[most] ? i : most;
    return (enum gt_kernel_bound)most;
}

double gt_roofline_part(const struct gt_kernel_times *times)
{
    return times->known_ps > 0 ? times->least_us * 1e6 / (double)times->known_ps : NAN;
}
