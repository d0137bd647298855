#include "sim/training/thread_plans.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/error.h"
#include "sim/base/sort.h"

/* Of steps by DataParallel on 2 H200s (traces/training), cuDNN 9: resnet and vgg with 11 and 7 convolutions that differ, encoder
 * with one attention, whose threads wait for each other; 2.2 and 42 ms there, here on a calm host. */
static const struct preparing {
    const char *operator;
    struct gt_thread_plan plan;
} preparing[] = {
    { "aten::cudnn_convolution", { .beside_ps = UINT64_C(2100000000) } },
    { "aten::_cudnn_attention_forward", { .alone_ps = UINT64_C(38000000000) } },
};
enum { PREPARING = sizeof preparing / sizeof preparing[0] };

/* An operator that was recorded. */
struct use {
    uint64_t kernels; /* a number of those that it started */
    uint32_t what;    /* in preparing */
    gt_call_index call;
};

static int by_use(const void *left, const void *right)
{
    const struct use *a = left, *b = right;

    GT_ORDER(a->what, b->what);
    GT_ORDER(a->kernels, b->kernels);
    GT_ORDER(a->call, b->call);
    return 0;
}

/* FNV-1a over the numbers of kernels, each of which is a name with its shape. */
static uint64_t number_of(const struct gt_workload *w, const struct gt_range *range)
{
    uint64_t number = UINT64_C(14695981039346656037);

    for (gt_call_index i = range->first_call; i < range->behind_call; i++)
        for (uint32_t op = 0; w->calls[i].thread == range->thread && op < w->calls[i].ops; op++)
            number = (number ^ w->ops[w->calls[i].first_op + op].kernel) * UINT64_C(1099511628211);
    return number;
}

static uint32_t what_is(const char *name)
{
    uint32_t i = 0;

    while (i < PREPARING && strcmp(name, preparing[i].operator) != 0)
        i++;
    return i;
}

struct gt_thread_plan *gt_thread_plans_find(const struct gt_workload *w, gt_call_index first, gt_call_index behind)
{
    struct gt_thread_plan *plans = gt_calloc(behind - first + 1ull, sizeof *plans);
    struct use *uses = NULL;
    uint32_t count = 0, room = 0;

    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];
        uint32_t what = what_is(gt_name_text(w, range->name));

        if (what == PREPARING || range->first_call < first || range->first_call >= behind)
            continue;
        gt_array_grow(uses, count, room);
        uses[count++] = (struct use){ number_of(w, range), what, range->first_call };
    }
    if (count > 0)
        qsort(uses, count, sizeof *uses, by_use);
    for (uint32_t i = 0; i < count; i++) {
        struct gt_thread_plan *plan = &plans[uses[i].call - first];

        if (i > 0 && uses[i].what == uses[i - 1].what && uses[i].kernels == uses[i - 1].kernels)
            continue;
        plan->beside_ps += preparing[uses[i].what].plan.beside_ps;
        plan->alone_ps += preparing[uses[i].what].plan.alone_ps;
    }
    free(uses);
    return plans;
}
