#include "sim/workload/critical_path.h"

/* What ran just before `now_ps`, behind which all is told. */
struct walk {
    const struct gt_path_run *run;
    struct gt_error *error;
    gt_time_ps now_ps;
    enum { AT_NOTHING, AT_OP, AT_CALL } at;
    struct gt_path_op op;
    struct gt_path_call call;
};

static int pass(struct walk *walk, gt_time_ps from_ps, enum gt_stretch_kind kind, gt_op_index op, gt_call_index call)
{
    struct gt_stretch stretch = { kind, from_ps, walk->now_ps, op, call };

    if (stretch.from_ps < walk->run->origin_ps)
        stretch.from_ps = walk->run->origin_ps;
    if (stretch.from_ps >= walk->now_ps)
        return 0;
    walk->now_ps = stretch.from_ps;
    return walk->run->tell(walk->run->context, &stretch, walk->error);
}

static int read_op(struct walk *walk, gt_op_index number, struct gt_path_op *op)
{
    return number != GT_NONE ? walk->run->op(walk->run->context, number, op, walk->error) : 0;
}

static int read_call(struct walk *walk, gt_call_index number, struct gt_path_call *call)
{
    return number != GT_NONE ? walk->run->call(walk->run->context, number, call, walk->error) : 0;
}

static gt_time_ps earlier(gt_time_ps a, gt_time_ps b)
{
    return a < b ? a : b;
}

/* When a call had asked for the operation: inside the call, and not after now. */
static gt_time_ps asked_at(const struct walk *walk, const struct gt_path_op *op, const struct gt_path_call *call)
{
    gt_time_ps asked_ps = call->end_ps;

    if (op->call == call->call && op->submit_ps != GT_TIME_NONE && op->submit_ps >= call->start_ps)
        asked_ps = earlier(op->submit_ps, call->end_ps);
    return earlier(asked_ps, walk->now_ps);
}

static int step_op(struct walk *walk)
{
    struct gt_path_op op = walk->op, before;
    struct gt_path_call call;
    int result;

    walk->at = AT_NOTHING;
    if (pass(walk, op.start_ps, GT_STRETCH_OP, op.op, GT_NONE) != 0)
        return -1;
    result = read_op(walk, op.cause_op, &before);
    if (result == 1) {
        walk->at = AT_OP;
        walk->op = before;
        return pass(walk, before.end_ps, GT_STRETCH_GAP, op.op, GT_NONE);
    }
    if (result == 0)
        result = read_call(walk, op.cause_call, &call);
    if (result != 1)
        return result;
    walk->at = AT_CALL;
    walk->call = call;
    return pass(walk, asked_at(walk, &op, &call), GT_STRETCH_LAUNCH, op.op, call.call);
}

/* Back to the call before on the same thread; before a thread's first call it was at its own work. */
static int step_thread(struct walk *walk)
{
    struct gt_path_call before = { 0 };
    gt_call_index number = walk->call.call;
    int result = 0;

    walk->at = AT_NOTHING;
    while (result == 0 && number < walk->run->calls && (number = walk->run->call_before[number]) != GT_NONE)
        result = read_call(walk, number, &before);
    if (result < 0)
        return -1;
    if (result == 0)
        return pass(walk, walk->run->origin_ps, GT_STRETCH_HOST, GT_NONE, GT_NONE);
    walk->at = AT_CALL;
    walk->call = before;
    return pass(walk, before.end_ps, GT_STRETCH_HOST, GT_NONE, GT_NONE);
}

static int step_call(struct walk *walk)
{
    const struct gt_path_call call = walk->call;
    struct gt_path_op releaser;
    int result = call.blocked_ps > 0 ? read_op(walk, call.cause_op, &releaser) : 0;

    if (result < 0)
        return -1;
    if (result == 1 && releaser.end_ps >= call.start_ps && releaser.end_ps <= walk->now_ps) {
        walk->at = AT_OP;
        walk->op = releaser;
        return pass(walk, releaser.end_ps, GT_STRETCH_RETURN, GT_NONE, call.call);
    }
    if (pass(walk, call.start_ps, GT_STRETCH_CALL, GT_NONE, call.call) != 0)
        return -1;
    return step_thread(walk);
}

static int begin(struct walk *walk)
{
    int result = read_op(walk, walk->run->last_op, &walk->op);

    if (result == 1) {
        walk->at = AT_OP;
        walk->now_ps = walk->op.end_ps;
    } else if (result == 0 && (result = read_call(walk, walk->run->last_call, &walk->call)) == 1) {
        walk->at = AT_CALL;
        walk->now_ps = walk->call.end_ps;
    }
    return result;
}

int gt_critical_path(const struct gt_path_run *run, gt_time_ps *end_ps, struct gt_error *error)
{
    struct walk walk = { .run = run, .error = error, .now_ps = run->origin_ps };
    /* Causes of a damaged store may run in a circle: a sound walk meets an operation once, and a call once and once for each operation
     * that it let start. */
    uint64_t steps_left = 2 * run->operations + run->calls + 1;

    if (begin(&walk) < 0)
        return -1;
    *end_ps = walk.now_ps;
    while (walk.now_ps > run->origin_ps && walk.at != AT_NOTHING && steps_left-- > 0)
        if ((walk.at == AT_OP ? step_op(&walk) : step_call(&walk)) != 0)
            return -1;
    return pass(&walk, run->origin_ps, GT_STRETCH_UNKNOWN, GT_NONE, GT_NONE);
}
