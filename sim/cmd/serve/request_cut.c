#include "sim/cmd/serve/request_cut.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/baseline/stated.h"
#include "sim/rewrite/rebuild.h"
#include "sim/workload/range_calls.h"

static gt_range_index find_range(const struct gt_workload *w, const char *name)
{
    gt_range_index begins = GT_NONE;

    for (gt_range_index i = 0; i < w->range_count; i++) {
        const char *own = gt_name_text(w, w->ranges[i].name);

        if (strcmp(own, name) == 0)
            return i;
        if (begins == GT_NONE && gt_begins(own, strlen(own), name))
            begins = i;
    }
    return begins;
}

/* A thread's own work before its first call is what it does since the request begins, not since its recording did. */
static void begin_at(struct gt_workload *request, const struct gt_workload *recorded,
                     const gt_call_index *recorded_call, gt_time_ps start_ps)
{
    bool *begun = gt_calloc(request->thread_count, sizeof *begun);

    for (gt_call_index i = 0; i < request->call_count; i++) {
        gt_time_ps at_ps = recorded->calls[recorded_call[i]].start_ps;

        if (!begun[request->calls[i].thread] && at_ps != GT_TIME_NONE)
            request->calls[i].before_ps = at_ps > start_ps ? at_ps - start_ps : 0;
        begun[request->calls[i].thread] = true;
    }
    free(begun);
}

static gt_time_ps earliest_ps(const struct gt_workload *w)
{
    gt_time_ps earliest_ps = GT_TIME_NONE;

    for (gt_call_index i = 0; i < w->call_count; i++)
        if (w->calls[i].start_ps < earliest_ps)
            earliest_ps = w->calls[i].start_ps;
    return earliest_ps;
}

/* The calls of `range`, or all of them where that is GT_NONE. */
static struct gt_workload *cut(const struct gt_workload *stated, const struct gt_workload *recorded,
                               gt_range_index range)
{
    gt_call_index *recorded_call = gt_calloc(stated->call_count + 1ull, sizeof *recorded_call);
    gt_time_ps start_ps = range == GT_NONE ? earliest_ps(recorded) : recorded->ranges[range].start_ps;
    struct gt_rebuild rebuild;
    struct gt_workload *request;

    gt_rebuild_begin(&rebuild, stated);
    for (gt_call_index i = 0; i < stated->call_count; i++)
        if (range == GT_NONE || gt_range_has_call(stated, &stated->ranges[range], i))
            recorded_call[gt_rebuild_copy(&rebuild, i)] = i;
    request = gt_rebuild_end(&rebuild);
    if (start_ps != GT_TIME_NONE)
        begin_at(request, recorded, recorded_call, start_ps);
    free(recorded_call);
    return request;
}

/* What one request may not have, as the simulator has no way to do it again and again. */
static int check(const struct gt_workload *w, struct gt_error *error)
{
    if (w->call_count == 0)
        return gt_error_set(error, "a request without a call; name a range that has some");
    if (w->gpu_count > 1)
        return gt_error_set(error, "a request uses %u GPUs; it may use one", w->gpu_count);
    if (w->child_launch_count > 0)
        return gt_error_set(error, "a request whose kernels launch kernels cannot be served");
    for (gt_kernel_index i = 0; i < w->kernel_count; i++) {
        if (w->kernels[i].collective.kind != GT_COLLECTIVE_NONE)
            return gt_error_set(error, "a request with collectives cannot be served");
        if (w->kernels[i].tasks != NULL)
            return gt_error_set(error, "a request whose kernels execute task graphs cannot be served");
    }
    return 0;
}

struct gt_workload *gt_request_cut(const struct gt_workload *workload, const struct gt_device *recorded,
                                   const char *range, struct gt_error *error)
{
    const struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_stated stated;
    struct gt_workload *request;
    gt_range_index found = GT_NONE;

    if (range != NULL && (found = find_range(workload, range)) == GT_NONE) {
        gt_error_set(error, "no range '%.60s' in the trace; gridtide stats lists those of a run", range);
        return NULL;
    }
    gt_state(&stated, workload, recorded, &options);
    request = cut(stated.workload, workload, found);
    gt_workload_free(stated.workload);
    if (check(request, error) == 0)
        return request;
    gt_workload_free(request);
    return NULL;
}
