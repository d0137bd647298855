#include "sim/baseline/startup.h"

#include <stdlib.h>

#include "sim/base/sort.h"
#include "sim/rewrite/call_kinds.h"
#include "sim/stream/call_times.h"
#include "sim/workload/host_waits.h"

/* Times so many times longer than most are start-up; a step whose host would take less than this part without is cold. */
static const double longer = 5, cold_part = 0.5;

struct limits {
    double submit_ps, other_ps, before_ps;
    const struct gt_device *device;
    const struct gt_framework *framework;
    uint32_t *marks; /* by call: operators that begin or end before it; NULL: the recording has none */
};

/* The time in the middle of the calls that submit work, or that do not; 0: there are none. */
static double middle_ps(const struct gt_workload *w, gt_call_index first, gt_call_index behind, bool before,
                        bool submits)
{
    double *times_ps = gt_calloc(behind - first + 1ull, sizeof *times_ps), found;
    uint64_t count = 0;

    for (gt_call_index i = first; i < behind; i++) {
        const struct gt_call *call = &w->calls[i];
        gt_time_ps time_ps = before ? call->before_ps : call->duration_ps;

        if ((call->ops > 0) == submits && time_ps != GT_TIME_NONE && !gt_call_allocates(w, call))
            times_ps[count++] = (double)time_ps;
    }
    found = count > 0 ? gt_median(times_ps, count) : 0;
    free(times_ps);
    return found;
}

static gt_time_ps limited(gt_time_ps time_ps, double limit_ps)
{
    return time_ps != GT_TIME_NONE && (double)time_ps > limit_ps ? (gt_time_ps)limit_ps : time_ps;
}

static uint32_t *count_marks(const struct gt_workload *w)
{
    uint32_t *marks = gt_calloc(w->call_count + 1ull, sizeof *marks);
    bool any = false;

    for (gt_range_index i = 0; i < w->range_count; i++) {
        if (w->ranges[i].kind != GT_RANGE_OPERATOR)
            continue;
        any = true;
        marks[w->ranges[i].first_call]++;
        marks[w->ranges[i].end_call]++;
    }
    if (any)
        return marks;
    free(marks);
    return NULL;
}

/* The call's own time and the one before it, within what a warm host takes for a framework's operators. */
static void limit_to_warm(const struct gt_workload *w, gt_call_index index, struct gt_call *call,
                          const struct limits *limits)
{
    const struct gt_framework *framework = limits->framework;
    bool other = call->ops == 0 && !gt_call_synchronises(call);
    gt_time_ps warm_ps =
        (other ? framework->warm.other_ps : framework->warm.gap_ps) + limits->marks[index] * framework->warm.mark_ps;

    if (other)
        call->duration_ps = limited(call->duration_ps, (double)framework->warm.other_ps);
    if (call->kind == GT_CALL_LAUNCH)
        call->duration_ps = limited(call->duration_ps, (double)gt_call_row_ps(w, limits->device, call));
    call->before_ps = call->kept_ps + limited(call->before_ps - call->kept_ps, (double)warm_ps);
}

/* Cut a call's times to the limits of the step. */
static void limit(const struct gt_workload *w, gt_call_index index, struct gt_call *call, const struct limits *limits)
{
    if (gt_call_allocates(w, call) || call->kind == GT_CALL_STREAM_CREATE) {
        call->kind = GT_CALL_OTHER;
        call->name = GT_NONE;
        call->buffer = GT_NONE;
        call->stream = GT_NONE;
        call->duration_ps = 0;
        call->before_ps = call->kept_ps;
        return;
    }
    call->duration_ps = limited(call->duration_ps, call->ops > 0 ? limits->submit_ps : limits->other_ps);
    call->before_ps = call->kept_ps + limited(call->before_ps - call->kept_ps, limits->before_ps);
    if (limits->marks != NULL)
        limit_to_warm(w, index, call, limits);
}

static double host_ps(const struct gt_call *call)
{
    return (double)call->before_ps + (call->duration_ps != GT_TIME_NONE ? (double)call->duration_ps : 0);
}

/* A profiler sets itself up in what it records first: 2 ms before the first launch. */
static double limit_first_gaps(struct gt_workload *w, gt_call_index first, gt_call_index behind,
                               const struct limits *limits)
{
    double removed_ps = 0;

    for (gt_call_index i = first; i < behind; i++) {
        gt_time_ps before_ps = w->calls[i].before_ps;

        w->calls[i].before_ps = w->calls[i].kept_ps + limited(before_ps - w->calls[i].kept_ps, limits->before_ps);
        removed_ps += (double)(before_ps - w->calls[i].before_ps);
        if (w->calls[i].ops > 0)
            break;
    }
    return removed_ps;
}

bool gt_startup_remove(struct gt_workload *w, const struct gt_device *device, const struct gt_framework *framework,
                       gt_call_index first, gt_call_index behind, double *removed_us)
{
    struct limits limits = {
        .device = device,
        .framework = framework,
        .marks = count_marks(w),
        .submit_ps = longer * middle_ps(w, first, behind, false, true),
        .other_ps = longer * middle_ps(w, first, behind, false, false),
        .before_ps = longer * middle_ps(w, first, behind, true, true),
    };
    double all_ps = 0, left_ps = 0;
    bool cold;

    limits.other_ps = limits.other_ps > limits.submit_ps ? limits.other_ps : limits.submit_ps;
    *removed_us += limit_first_gaps(w, first, behind, &limits) / 1e6;
    for (gt_call_index i = first; i < behind; i++) {
        struct gt_call call = w->calls[i];

        all_ps += host_ps(&call);
        limit(w, i, &call, &limits);
        left_ps += host_ps(&call);
    }
    cold = left_ps < cold_part * all_ps;
    for (gt_call_index i = first; i < behind && cold; i++) {
        gt_time_ps whole_ps = w->calls[i].duration_ps;

        limit(w, i, &w->calls[i], &limits);
        for (uint32_t op = w->calls[i].first_op; op < w->calls[i].first_op + w->calls[i].ops; op++)
            if (whole_ps != w->calls[i].duration_ps)
                w->ops[op].visible_ps = limited(w->ops[op].visible_ps, limits.submit_ps);
    }
    *removed_us += cold ? (all_ps - left_ps) / 1e6 : 0;
    free(limits.marks);
    return cold;
}
