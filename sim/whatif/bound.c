#include "sim/whatif/bound.h"

#include <stdlib.h>
#include <string.h>

const char *const gt_bound_names[GT_BOUNDS_BY] = { "host", "gpu", "copy", "launch" };

/* The walk back: where it stands, and what the time behind it went to. */
struct walk {
    const struct gt_workload *w;
    const struct gt_timeline *timeline;
    gt_call_index *before; /* by call: the one before it in its thread; GT_NONE */
    gt_time_ps at_ps;      /* all later time is told */
    double ps[GT_BOUNDS_BY];
};

/* Time back to `from_ps` went to that. */
static void spend(struct walk *walk, enum gt_bound bound, gt_time_ps from_ps)
{
    if (from_ps >= walk->at_ps)
        return;
    walk->ps[bound] += (double)(walk->at_ps - from_ps);
    walk->at_ps = from_ps;
}

static bool submits(const struct gt_call *call)
{
    return call->ops > 0;
}

static enum gt_bound bound_of_op(const struct gt_op *op)
{
    switch ((enum gt_op_kind)op->kind) {
    case GT_OP_COPY: return GT_BOUND_BY_COPY;
    case GT_OP_HOST_FUNCTION: return GT_BOUND_BY_HOST;
    default: return GT_BOUND_BY_GPU;
    }
}

/* What the walk goes on with. */
struct place {
    gt_call_index call; /* GT_NONE: an operation, */
    gt_op_index op;     /* or, GT_NONE too, the beginning */
};

static const struct place nowhere = { GT_NONE, GT_NONE };

static struct place pass_op(struct walk *walk, gt_op_index op)
{
    const struct gt_op_record *record = &walk->timeline->ops[op];

    spend(walk, bound_of_op(&walk->w->ops[op]), record->start_ps);
    if (record->cause == GT_CAUSE_OP) {
        spend(walk, GT_BOUND_BY_GPU, walk->timeline->ops[record->cause_index].end_ps);
        return (struct place){ GT_NONE, record->cause_index };
    }
    return (struct place){ walk->w->ops[op].call, GT_NONE };
}

/* A call that waited follows the operation that let it return; another one the call before it. */
static struct place pass_call(struct walk *walk, gt_call_index call)
{
    const struct gt_call_record *record = &walk->timeline->calls[call];
    gt_op_index cause = record->blocked_ps > 0 ? record->cause_op : GT_NONE;
    gt_call_index before = walk->before[call];

    if (cause != GT_NONE && walk->timeline->ops[cause].end_ps <= walk->at_ps &&
        walk->timeline->ops[cause].end_ps > record->start_ps) {
        spend(walk, GT_BOUND_BY_LAUNCH, walk->timeline->ops[cause].end_ps);
        return (struct place){ GT_NONE, cause };
    }
    spend(walk, submits(&walk->w->calls[call]) ? GT_BOUND_BY_LAUNCH : GT_BOUND_BY_HOST, record->start_ps);
    if (before == GT_NONE)
        return nowhere;
    spend(walk, GT_BOUND_BY_HOST, walk->timeline->calls[before].end_ps);
    return (struct place){ before, GT_NONE };
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

static struct place last_place(const struct walk *walk)
{
    for (gt_op_index i = 0; i < walk->w->op_count; i++)
        if (walk->timeline->ops[i].end_ps == walk->timeline->end_ps)
            return (struct place){ GT_NONE, i };
    for (gt_call_index i = 0; i < walk->w->call_count; i++)
        if (walk->timeline->calls[i].end_ps == walk->timeline->end_ps)
            return (struct place){ i, GT_NONE };
    return nowhere;
}

enum gt_bound gt_bound_of(const struct gt_workload *w, const struct gt_timeline *timeline, double part[GT_BOUNDS_BY])
{
    struct walk walk = {
        .w = w,
        .timeline = timeline,
        .before = calls_before(w),
        .at_ps = timeline->end_ps,
    };
    struct place place = last_place(&walk);
    uint64_t steps = 2ull * w->call_count + 2ull * w->op_count + 2;
    double all_ps = (double)(timeline->end_ps - timeline->first_ps);
    enum gt_bound most = GT_BOUND_BY_HOST;

    while ((place.call != GT_NONE || place.op != GT_NONE) && steps-- > 0)
        place = place.op != GT_NONE ? pass_op(&walk, place.op) : pass_call(&walk, place.call);
    spend(&walk, GT_BOUND_BY_HOST, timeline->first_ps);
    for (int i = 0; i < GT_BOUNDS_BY; i++) {
        part[i] = all_ps > 0 ? walk.ps[i] / all_ps : 0;
        most = part[i] > part[most] ? (enum gt_bound)i : most;
    }
    free(walk.before);
    return most;
}
