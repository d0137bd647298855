/* critical_path.h - a run's critical path: from its last operation's end back through what let each thing happen.
 *
 * An operation's start was let by another one's end or by a call; a blocked call's return by an operation; otherwise a call follows
 * the call before it on its thread.  The stretches that are told add up to the whole.
 */
#ifndef GRIDTIDE_SIM_WORKLOAD_CRITICAL_PATH_H
#define GRIDTIDE_SIM_WORKLOAD_CRITICAL_PATH_H

#include "sim/base/error.h"
#include "sim/workload/workload.h"

/* What a stretch of time went to. */
enum gt_stretch_kind {
    GT_STRETCH_OP,     /* an operation ran */
    GT_STRETCH_GAP,    /* from an operation's end to the start of the one that waited for it */
    GT_STRETCH_LAUNCH, /* from the host's asking to the operation's start */
    GT_STRETCH_CALL,   /* the host was in a call */
    GT_STRETCH_RETURN, /* the host was in a call, on its way back from waiting for an operation */
    GT_STRETCH_HOST,   /* the host's own work between calls */
    GT_STRETCH_UNKNOWN /* before that the run does not say what anything waited for */
};

struct gt_path_op {
    gt_op_index op;
    gt_time_ps submit_ps, start_ps, end_ps; /* submit: GT_TIME_NONE where not known */
    gt_call_index call;                     /* that asked for it */
    gt_op_index cause_op;                   /* whose end let it start; GT_NONE: none, */
    gt_call_index cause_call;               /* but this call; GT_NONE: not known */
};

struct gt_path_call {
    gt_call_index call;
    gt_time_ps start_ps, end_ps, blocked_ps;
    gt_op_index cause_op; /* that let it return, if it was blocked; GT_NONE */
};

struct gt_stretch {
    enum gt_stretch_kind kind;
    gt_time_ps from_ps, to_ps;
    gt_op_index op;     /* of GT_STRETCH_OP, _GAP and _LAUNCH; else GT_NONE */
    gt_call_index call; /* of GT_STRETCH_LAUNCH, _CALL and _RETURN; else GT_NONE */
};

/* A run to walk through. */
struct gt_path_run {
    void *context; /* of these functions, which return -1 with the reason in `error` */
    /* The operation or call of that number: 1 found, 0 there is none. */
    int (*op)(void *context, gt_op_index number, struct gt_path_op *op, struct gt_error *error);
    int (*call)(void *context, gt_call_index number, struct gt_path_call *call, struct gt_error *error);
    /* The stretch before those told so far; 0. */
    int (*tell)(void *context, const struct gt_stretch *stretch, struct gt_error *error);
    const gt_call_index *call_before; /* by call: the one before it on its thread; GT_NONE */
    uint64_t operations, calls;
    gt_time_ps origin_ps;    /* where the path begins */
    gt_op_index last_op;     /* where it ends; GT_NONE: */
    gt_call_index last_call; /* of a run without operations */
};

/* Tell the path, the last stretch first.  *end_ps is where it ends: origin_ps of an empty run.  Returns 0; -1 with the reason. */
int gt_critical_path(const struct gt_path_run *run, gt_time_ps *end_ps, struct gt_error *error);

#endif
