#include "traces/explain/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "traces/explain/part.h"

static const struct gt_loaded_op *op_of(const struct gt_loaded_run *t, gt_op_index op)
{
    return &t->ops[op];
}

static gt_gpu_index gpu_of(const struct gt_loaded_run *t, gt_op_index op)
{
    return t->streams[t->ops[op].stream].gpu;
}

/* Kernels by end, those of one name together. */
static int by_meeting(const void *left, const void *right, void *user)
{
    const struct gt_loaded_run *t = user;
    gt_op_index a = *(const gt_op_index *)left, b = *(const gt_op_index *)right;
    int names;

    GT_ORDER(op_of(t, a)->end_ps, op_of(t, b)->end_ps);
    names = strcmp(t->kernels[op_of(t, a)->kernel].name, t->kernels[op_of(t, b)->kernel].name);
    if (names != 0)
        return names;
    GT_ORDER(gpu_of(t, a), gpu_of(t, b));
    GT_ORDER(a, b);
    return 0;
}

static bool together(const struct gt_loaded_run *t, gt_op_index a, gt_op_index b)
{
    return op_of(t, a)->end_ps == op_of(t, b)->end_ps &&
           strcmp(t->kernels[op_of(t, a)->kernel].name, t->kernels[op_of(t, b)->kernel].name) == 0;
}

static gt_op_index *sorted_kernels(const struct gt_loaded_run *t, uint32_t *count)
{
    gt_op_index *kernels = gt_calloc(t->started + 1ull, sizeof *kernels);

    *count = 0;
    for (uint32_t i = 0; i < t->started; i++)
        if (op_of(t, t->by_start[i])->kind == GT_OP_KERNEL && gt_part_has_op(t, t->by_start[i]))
            kernels[(*count)++] = t->by_start[i];
    if (*count > 0)
        qsort_r(kernels, *count, sizeof *kernels, by_meeting, (void *)t);
    return kernels;
}

/* The first of by_start that may overlap what starts then: none lasts longer than `longest_ps`. */
static uint32_t first_beside(const struct gt_loaded_run *t, gt_time_ps start_ps, gt_time_ps longest_ps)
{
    uint32_t low = 0, high = t->started;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (op_of(t, t->by_start[middle])->start_ps + longest_ps < start_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of the part's time, in which nothing else ran on its GPU. */
static gt_time_ps alone_ps(const struct gt_loaded_run *t, gt_op_index part, gt_time_ps longest_ps)
{
    const struct gt_loaded_op *own = op_of(t, part);
    uint32_t first = first_beside(t, own->start_ps, longest_ps);
    gt_time_ps at_ps = own->start_ps, alone = 0;

    for (uint32_t i = first; i < t->started && op_of(t, t->by_start[i])->start_ps < own->end_ps; i++) {
        const struct gt_loaded_op *other = op_of(t, t->by_start[i]);

        if (t->by_start[i] == part || other->end_ps <= at_ps || gpu_of(t, t->by_start[i]) != gpu_of(t, part))
            continue;
        alone += other->start_ps > at_ps ? other->start_ps - at_ps : 0;
        at_ps = other->end_ps;
    }
    return alone + (at_ps < own->end_ps ? own->end_ps - at_ps : 0);
}

/* What a GPU did for longest between two times. */
static void find_busy(const struct gt_loaded_run *t, struct gt_rank_waits *rank, gt_time_ps from_ps, gt_time_ps to_ps,
                      gt_time_ps longest_ps)
{
    rank->busy = GT_NONE;
    rank->busy_ps = 0;
    for (uint32_t i = first_beside(t, from_ps, longest_ps);
         i < t->started && op_of(t, t->by_start[i])->start_ps < to_ps; i++) {
        const struct gt_loaded_op *op = op_of(t, t->by_start[i]);
        gt_time_ps start_ps = op->start_ps > from_ps ? op->start_ps : from_ps;
        gt_time_ps end_ps = op->end_ps < to_ps ? op->end_ps : to_ps;

        if (gpu_of(t, t->by_start[i]) != rank->gpu || end_ps <= start_ps || end_ps - start_ps <= rank->busy_ps)
            continue;
        rank->busy = t->by_start[i];
        rank->busy_ps = end_ps - start_ps;
    }
}

static void take_meeting(const struct gt_loaded_run *t, const gt_op_index *parts, uint32_t count,
                         gt_time_ps longest_ps, struct gt_rank_waits *of_gpu)
{
    gt_op_index last = parts[0], first = parts[0];
    struct gt_rank_waits *late;
    gt_time_ps kept_ps = 0;

    for (uint32_t i = 1; i < count; i++) {
        last = op_of(t, parts[i])->start_ps > op_of(t, last)->start_ps ? parts[i] : last;
        first = op_of(t, parts[i])->start_ps < op_of(t, first)->start_ps ? parts[i] : first;
    }
    if (op_of(t, first)->start_ps == op_of(t, last)->start_ps)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct gt_rank_waits *own = &of_gpu[gpu_of(t, parts[i])];
        gt_time_ps waited_ps = op_of(t, last)->start_ps - op_of(t, parts[i])->start_ps;
        gt_time_ps alone = alone_ps(t, parts[i], longest_ps);

        own->collectives++;
        own->waited_ps += waited_ps;
        own->exposed_ps += alone;
        own->hidden_ps += op_of(t, parts[i])->end_ps - op_of(t, parts[i])->start_ps - alone;
        kept_ps += waited_ps;
    }
    late = &of_gpu[gpu_of(t, last)];
    late->last++;
    late->kept_ps += kept_ps;
    if (late->worst == GT_NONE || kept_ps > late->worst_ps) {
        late->worst = last;
        late->worst_ps = kept_ps;
        gt_why(t, last, op_of(t, first)->start_ps, op_of(t, last)->start_ps, &late->hold);
        find_busy(t, late, op_of(t, first)->start_ps, op_of(t, last)->start_ps, longest_ps);
    }
}

struct gt_rank_waits *gt_rank_waits(const struct gt_loaded_run *t, size_t *count)
{
    struct gt_rank_waits *of_gpu = gt_calloc(t->gpu_count + 1ull, sizeof *of_gpu);
    uint32_t kernels;
    gt_op_index *sorted = sorted_kernels(t, &kernels);
    gt_time_ps longest_ps = 0;

    for (uint32_t i = 0; i < t->gpu_count; i++)
        of_gpu[i] = (struct gt_rank_waits){ .gpu = i, .worst = GT_NONE, .busy = GT_NONE };
    for (uint32_t i = 0; i < t->started; i++) {
        const struct gt_loaded_op *op = op_of(t, t->by_start[i]);

        longest_ps = op->end_ps - op->start_ps > longest_ps ? op->end_ps - op->start_ps : longest_ps;
    }
    for (uint32_t i = 0, behind; i < kernels && t->gpu_count > 1; i = behind) {
        for (behind = i + 1; behind < kernels && together(t, sorted[i], sorted[behind]); behind++)
            ;
        if (behind - i > 1 && gpu_of(t, sorted[i]) != gpu_of(t, sorted[behind - 1]))
            take_meeting(t, &sorted[i], behind - i, longest_ps, of_gpu);
    }
    free(sorted);
    *count = 0;
    for (uint32_t i = 0; i < t->gpu_count; i++)
        if (of_gpu[i].collectives > 0)
            of_gpu[(*count)++] = of_gpu[i];
    return of_gpu;
}
