#include "sim/whatif/bound.h"

#include <stdlib.h>
#include <string.h>

#include "sim/workload/critical_path.h"

const char *const gt_bound_names[GT_BOUNDS_BY] = { "host", "gpu", "copy", "launch" };

/* What the stretches of the critical path went to. */
struct bounding {
    const struct gt_workload *w;
    const struct gt_timeline *timeline;
    double ps[GT_BOUNDS_BY];
};

static enum gt_bound bound_of_op(const struct gt_op *op)
{
    switch ((enum gt_op_kind)op->kind) {
    case GT_OP_COPY: return GT_BOUND_BY_COPY;
    case GT_OP_HOST_FUNCTION: return GT_BOUND_BY_HOST;
    default: return GT_BOUND_BY_GPU;
    }
}

static enum gt_bound bound_of(const struct bounding *bounding, const struct gt_stretch *stretch)
{
    switch (stretch->kind) {
    case GT_STRETCH_OP: return bound_of_op(&bounding->w->ops[stretch->op]);
    case GT_STRETCH_GAP: return GT_BOUND_BY_GPU;
    case GT_STRETCH_LAUNCH:
    case GT_STRETCH_RETURN: return GT_BOUND_BY_LAUNCH;
    case GT_STRETCH_CALL: return bounding->w->calls[stretch->call].ops > 0 ? GT_BOUND_BY_LAUNCH : GT_BOUND_BY_HOST;
    default: return GT_BOUND_BY_HOST;
    }
}

static int read_op(void *context, gt_op_index number, struct gt_path_op *op, struct gt_error *error)
{
    const struct bounding *bounding = context;
    const struct gt_op_record *record = &bounding->timeline->ops[number];

    (void)error;
    *op = (struct gt_path_op){
        .op = number,
        .submit_ps = record->submit_ps,
        .start_ps = record->start_ps,
        .end_ps = record->end_ps,
        .call = bounding->w->ops[number].call,
        .cause_op = record->cause == GT_CAUSE_OP ? record->cause_index : GT_NONE,
        .cause_call = record->cause == GT_CAUSE_CALL ? record->cause_index : GT_NONE,
    };
    return 1;
}

static int read_call(void *context, gt_call_index number, struct gt_path_call *call, struct gt_error *error)
{
    const struct bounding *bounding = context;
    const struct gt_call_record *record = &bounding->timeline->calls[number];

    (void)error;
    *call = (struct gt_path_call){
        .call = number,
        .start_ps = record->start_ps,
        .end_ps = record->end_ps,
        .blocked_ps = record->blocked_ps,
        .cause_op = record->cause_op,
    };
    return 1;
}

static int tell(void *context, const struct gt_stretch *stretch, struct gt_error *error)
{
    struct bounding *bounding = context;

    (void)error;
    bounding->ps[bound_of(bounding, stretch)] += (double)(stretch->to_ps - stretch->from_ps);
    return 0;
}

static gt_call_index *calls_before(const struct gt_workload *w)
{
    gt_call_index *before = gt_realloc(NULL, w->call_count + 1ull, sizeof *before);
    gt_call_index *last = gt_realloc(NULL, w->thread_count + 1ull, sizeof *last);

    memset(last, 0xff, w->thread_count * sizeof *last);
    for (gt_call_index i = 0; i < w->call_count; i++) {
        before[i] = last[w->calls[i].thread];
        last[w->calls[i].thread] = i;
    }
    free(last);
    return before;
}

static void find_ends(struct gt_path_run *run, const struct bounding *bounding)
{
    const struct gt_timeline *timeline = bounding->timeline;

    run->last_op = run->last_call = GT_NONE;
    for (gt_op_index i = 0; i < bounding->w->op_count; i++)
        if (run->last_op == GT_NONE || timeline->ops[i].end_ps > timeline->ops[run->last_op].end_ps)
            run->last_op = i;
    for (gt_call_index i = 0; i < bounding->w->call_count; i++)
        if (run->last_call == GT_NONE || timeline->calls[i].end_ps > timeline->calls[run->last_call].end_ps)
            run->last_call = i;
}

enum gt_bound gt_bound_of(const struct gt_workload *w, const struct gt_timeline *timeline, double part[GT_BOUNDS_BY])
{
    struct bounding bounding = { .w = w, .timeline = timeline };
    gt_call_index *before = calls_before(w);
    struct gt_path_run run = {
        .context = &bounding,
        .op = read_op,
        .call = read_call,
        .tell = tell,
        .call_before = before,
        .operations = w->op_count,
        .calls = w->call_count,
        .origin_ps = timeline->first_ps,
    };
    enum gt_bound most = GT_BOUND_BY_HOST;
    struct gt_error never;
    gt_time_ps end_ps;
    double all_ps;

    find_ends(&run, &bounding);
    gt_critical_path(&run, &end_ps, &never);
    all_ps = (double)(end_ps - run.origin_ps);
    for (int i = 0; i < GT_BOUNDS_BY; i++) {
        part[i] = all_ps > 0 ? bounding.ps[i] / all_ps : 0;
        most = part[i] > part[most] ? (enum gt_bound)i : most;
    }
    free(before);
    return most;
}
