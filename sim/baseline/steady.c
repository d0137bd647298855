#include "sim/baseline/steady.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/baseline/startup.h"
#include "sim/rewrite/call_kinds.h"
#include "sim/rewrite/rebuild.h"
#include "sim/workload/host_waits.h"

/* A step is irregular where its host does so many times what it does in others, or that part of it, and the difference is so much of
 * the work of the step; or where it submits so much more or less work. */
static const double host_differs = 1.25, host_matters = 0.1, submits_differ = 0.1;
/* A steady state has so many steps at least: the first fills queues, the last drains them. */
enum { LEAST_STEPS = 8 };

static bool is_step(const struct gt_range *range)
{
    return range->kind == GT_RANGE_STEP && range->end_call > range->first_call;
}

/* Is all work that of one process? */
static bool is_one_process(const struct gt_workload *w)
{
    uint64_t process = 0;
    bool any = false;

    for (gt_call_index i = 0; i < w->call_count; i++) {
        if (w->calls[i].ops == 0)
            continue;
        if (any && w->threads[w->calls[i].thread].process != process)
            return false;
        process = w->threads[w->calls[i].thread].process;
        any = true;
    }
    return any;
}

static void measure(struct gt_steady_step *step, const struct gt_workload *w, gt_thread_index thread)
{
    for (gt_call_index i = step->first; i < step->behind; i++) {
        const struct gt_call *call = &w->calls[i];

        step->submits += call->ops > 0;
        step->kept_ps += call->kept_ps;
        for (gt_op_index op = call->first_op; op < call->first_op + call->ops; op++)
            step->gpu_ps += w->ops[op].duration_ps != GT_TIME_NONE ? w->ops[op].duration_ps : 0;
        step->waits += gt_call_synchronises(call) || call->flags & GT_CALL_WAITS;
        step->allocations += gt_call_allocates(w, call);
        if (call->thread == thread || call->ops > 0)
            step->host_ps +=
                call->before_ps - call->kept_ps + (call->duration_ps != GT_TIME_NONE ? call->duration_ps : 0);
    }
}

/* A step lasts until the next one begins; the last as long as its range. */
static struct gt_steady_step *find_steps(const struct gt_workload *w, uint32_t *count)
{
    struct gt_steady_step *steps = gt_calloc(w->range_count + 1ull, sizeof *steps);
    gt_thread_index thread = 0;

    *count = 0;
    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];

        if (!is_step(range) || (*count > 0 && range->first_call < steps[*count - 1].behind))
            continue;
        if (*count > 0)
            steps[*count - 1].behind = range->first_call;
        thread = range->thread;
        steps[(*count)++] = (struct gt_steady_step){ .first = range->first_call, .behind = range->end_call };
    }
    for (uint32_t i = 0; i < *count; i++)
        measure(&steps[i], w, thread);
    return steps;
}

/* The value at a part of the steps, rising: what most do at 1 / 2, what those that do little do at 1 / 4. */
static uint64_t at_part(const struct gt_steady_step *steps, uint32_t count, size_t field, size_t bytes, uint32_t part)
{
    uint64_t *values = gt_calloc(count, sizeof *values), value;

    for (uint32_t i = 0; i < count; i++)
        memcpy(&values[i], (const char *)&steps[i] + field, bytes);
    qsort(values, count, sizeof *values, gt_by_u64);
    value = values[(count - 1) / part];
    free(values);
    return value;
}

#define AT_PART(part, steps, count, field) \
    at_part(steps, count, offsetof(struct gt_steady_step, field), sizeof(steps)->field, part)

static uint32_t least_allocations(const struct gt_steady_step *steps, uint32_t count)
{
    uint32_t least = UINT32_MAX;

    for (uint32_t i = 0; i < count; i++)
        least = steps[i].allocations < least ? steps[i].allocations : least;
    return least;
}

static bool host_is_regular(const struct gt_steady_step *step, double usual_ps)
{
    double host_ps = (double)step->host_ps;

    if (fabs(host_ps - usual_ps) <=
        host_matters * fmax(usual_ps, (double)(step->gpu_ps > step->kept_ps ? step->gpu_ps : step->kept_ps)))
        return true;
    return host_ps <= host_differs * usual_ps && host_ps * host_differs >= usual_ps;
}

static void find_regular(struct gt_steady *steady, struct gt_steady_step *steps, uint32_t count)
{
    /* Start-up is in the first half; in the other one some steps may do more, but hardly any does less. */
    double host_ps = (double)AT_PART(4, steps + count / 2, count - count / 2, host_ps);
    double submits = (double)AT_PART(2, steps, count, submits);
    uint32_t allocations = least_allocations(steps, count);
    uint32_t waits = (uint32_t)AT_PART(2, steps, count, waits);

    for (uint32_t i = 0; i < count; i++) {
        double differ = steps[i].submits / submits - 1;

        steps[i].regular = host_is_regular(&steps[i], host_ps) && fabs(differ) <= submits_differ &&
                           steps[i].allocations == allocations;
        /* The last one may lack the wait that ends the others. */
        if (i + 1 == count && steps[i].waits < waits && steady->regular > 0)
            steps[i].regular = false;
        steady->regular += steps[i].regular;
        steady->irregular += !steps[i].regular;
        if (!steps[i].regular)
            steady->irregular_us += ((double)steps[i].host_ps - host_ps) / 1e6;
    }
}

/* Ranges of recorded steps, for their copies. */
struct copying {
    const struct gt_workload *from;
    struct gt_workload *to;
    gt_range_index *now;   /* by range of `from`: its last copy */
    gt_range_index *order; /* ranges by step, in their order */
    uint32_t *first;       /* by step: its first in `order`; and behind the last step's last */
};

static bool is_within(const struct gt_range *range, const struct gt_steady_step *step)
{
    return !(range->kind == GT_RANGE_STEP && step->single) && range->first_call >= step->first &&
           range->end_call <= step->behind && range->first_call < step->behind;
}

/* The step that the range is within; `count`: none. */
static uint32_t step_of_range(const struct gt_range *range, const struct gt_steady_step *steps, uint32_t count)
{
    uint32_t low = GT_LOWER_BOUND(middle, 0, count, steps[middle].behind <= range->first_call);
    return low < count && is_within(range, &steps[low]) ? low : count;
}

static void sort_ranges(struct copying *copying, const struct gt_steady_step *steps, uint32_t count)
{
    const struct gt_workload *w = copying->from;
    uint32_t *next = gt_calloc(count + 2ull, sizeof *next);

    copying->now = gt_calloc(w->range_count + 1ull, sizeof *copying->now);
    copying->order = gt_calloc(w->range_count + 1ull, sizeof *copying->order);
    copying->first = gt_calloc(count + 2ull, sizeof *copying->first);
    for (gt_range_index i = 0; i < w->range_count; i++)
        copying->first[step_of_range(&w->ranges[i], steps, count) + 1]++;
    for (uint32_t i = 0; i <= count; i++)
        next[i] = copying->first[i] += i > 0 ? copying->first[i - 1] : 0;
    for (gt_range_index i = 0; i < w->range_count; i++)
        copying->order[next[step_of_range(&w->ranges[i], steps, count)]++] = i;
    free(next);
}

static void copy_ranges(struct copying *copying, const struct gt_steady_step *steps, uint32_t index,
                        gt_call_index first)
{
    const struct gt_steady_step *step = &steps[index];

    for (uint32_t i = copying->first[index]; i < copying->first[index + 1]; i++) {
        const struct gt_range *range = &copying->from->ranges[copying->order[i]];
        gt_range_index added = gt_workload_add_range(copying->to);
        struct gt_range *copy = &copying->to->ranges[added];

        *copy = *range;
        copy->first_call = first + (range->first_call - step->first);
        copy->end_call = first + (range->end_call - step->first);
        copy->start_ps = copy->duration_ps = GT_TIME_NONE;
        copy->parent = range->parent != GT_NONE && is_within(&copying->from->ranges[range->parent], step)
                           ? copying->now[range->parent]
                           : GT_NONE;
        copying->now[copying->order[i]] = added;
    }
}

/* A recorded run without steps has no range that is one. */
static void mark_single(struct gt_workload *w, const struct gt_steady_step *step, gt_call_index first)
{
    gt_range_index added = gt_workload_add_range(w);

    w->ranges[added].kind = GT_RANGE_STEP;
    w->ranges[added].thread = w->calls[first].thread;
    w->ranges[added].name = gt_name(w, "recorded run", 12);
    w->ranges[added].first_call = first;
    w->ranges[added].end_call = first + (step->behind - step->first);
}

/* The regular steps in their order, again and again. */
static struct gt_workload *rebuild_regular(const struct gt_workload *w, const struct gt_steady_step *steps,
                                           uint32_t count, struct gt_steady *steady)
{
    uint32_t turns = (LEAST_STEPS + steady->regular - 1) / steady->regular;
    struct gt_rebuild rebuild;
    struct copying copying = { .from = w };
    gt_call_index first = 0;

    gt_rebuild_begin(&rebuild, w);
    for (uint32_t turn = 0; turn < turns; turn++)
        for (uint32_t i = 0; i < count; i++)
            for (gt_call_index call = steps[i].first; call < steps[i].behind && steps[i].regular; call++)
                gt_rebuild_copy(&rebuild, call);
    copying.to = gt_rebuild_end(&rebuild);
    copying.to->range_count = 0;
    sort_ranges(&copying, steps, count);
    for (uint32_t turn = 0; turn < turns; turn++)
        for (uint32_t i = 0; i < count; i++) {
            if (!steps[i].regular)
                continue;
            if (steady->single)
                mark_single(copying.to, &steps[i], first);
            copy_ranges(&copying, steps, i, first);
            first += steps[i].behind - steps[i].first;
        }
    free(copying.now);
    free(copying.order);
    free(copying.first);
    steady->steps = turns * steady->regular;
    return copying.to;
}

/* All of a run without steps: from the first call of whom the first work is to the last that submits work, with the wait behind that,
 * if there is one. */
static bool find_whole(struct gt_steady_step *step, const struct gt_workload *w)
{
    gt_call_index last = GT_NONE;
    gt_thread_index thread = GT_NONE;

    *step = (struct gt_steady_step){ .first = GT_NONE, .single = true, .regular = true };
    for (gt_call_index i = 0; i < w->call_count; i++) {
        if (w->calls[i].ops == 0)
            continue;
        thread = thread == GT_NONE ? w->calls[i].thread : thread;
        last = i;
    }
    for (gt_call_index i = 0; i < w->call_count && step->first == GT_NONE; i++)
        if (w->calls[i].thread == thread)
            step->first = i;
    if (last == GT_NONE)
        return false;
    step->behind = last + 1;
    for (gt_call_index i = last + 1; i < w->call_count; i++)
        if (gt_call_synchronises(&w->calls[i])) {
            step->behind = i + 1;
            break;
        }
    return true;
}

/* The one recorded step, if there is one, without what it does once. */
static void repeat_single(struct gt_steady *steady, const struct gt_workload *w, const struct gt_device *device,
                          const struct gt_framework *framework, const struct gt_steady_step *found)
{
    struct gt_workload *warm = gt_workload_copy(w);
    struct gt_steady_step step;
    bool any = find_whole(&step, warm);

    if (found != NULL) {
        step.first = found->first;
        step.behind = found->behind > step.behind ? found->behind : step.behind;
    }
    if (any) {
        steady->single = true;
        steady->regular = 1;
        steady->cold = gt_startup_remove(warm, device, framework, step.first, step.behind, &steady->irregular_us);
        steady->workload = rebuild_regular(warm, &step, 1, steady);
    }
    gt_workload_free(warm);
}

void gt_steady_find(struct gt_steady *steady, const struct gt_workload *w, const struct gt_device *device,
                    const struct gt_framework *framework, bool recorded)
{
    struct gt_steady_step *steps;
    uint32_t count;

    memset(steady, 0, sizeof *steady);
    if (!is_one_process(w))
        return;
    steps = find_steps(w, &count);
    if (count >= 2) {
        find_regular(steady, steps, count);
        if (steady->regular > 0)
            steady->workload = rebuild_regular(w, steps, count, steady);
        steady->recorded = steps;
        steps = NULL;
    } else if (recorded) {
        repeat_single(steady, w, device, framework, count > 0 ? &steps[0] : NULL);
    }
    free(steps);
}

void gt_steady_free(struct gt_steady *steady)
{
    gt_workload_free(steady->workload);
    free(steady->recorded);
    memset(steady, 0, sizeof *steady);
}
