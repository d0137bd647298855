/* pinned: what was copied from or to pageable memory is in pinned memory. */
#include "sim/baseline/stated.h"
#include "sim/changes/change.h"
#include "sim/frameworks/framework.h"

static bool is_pageable(const struct gt_op *op)
{
    return op->kind == GT_OP_COPY && op->memory == GT_MEMORY_PAGEABLE &&
           (op->direction == GT_H2D || op->direction == GT_D2H);
}

static bool applies(const struct gt_scenario *scenario, const char *argument)
{
    (void)argument;
    for (uint32_t i = 0; i < scenario->workload->op_count; i++)
        if (is_pageable(&scenario->workload->ops[i]))
            return true;
    return false;
}

/* The host's own work behind the call, up to the launch of a kernel: a staged copy left nothing else in its caches. */
static void keep_caches(struct gt_workload *w, gt_call_index copy, double warm_part)
{
    for (gt_call_index i = copy + 1; i < w->call_count; i++) {
        struct gt_call *call = &w->calls[i];

        if (call->thread != w->calls[copy].thread)
            continue;
        call->before_ps = call->kept_ps + (gt_time_ps)(warm_part * (double)(call->before_ps - call->kept_ps));
        if (call->kind == GT_CALL_LAUNCH || call->kind == GT_CALL_COPY)
            return;
    }
}

/* The time that the call took the host was copying into or out of buffers, and the copy's that of doing so: both are
 * the device's now. */
static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    const struct gt_framework *framework = scenario->host->framework;
    struct gt_workload *w = scenario->workload;
    uint32_t count = 0;

    (void)argument;
    (void)error;
    for (uint32_t i = 0; i < w->op_count; i++) {
        struct gt_op *op = &w->ops[i];

        if (!is_pageable(op))
            continue;
        op->memory = GT_MEMORY_PINNED;
        op->duration_ps = GT_TIME_NONE;
        if (w->calls[op->call].kind == GT_CALL_COPY)
            gt_stated_forget(w, op->call);
        if (op->direction == GT_H2D && op->bytes >= framework->pinned.evicts_bytes)
            keep_caches(w, op->call, framework->pinned.warm_part);
        count++;
    }
    if (count > 0)
        gt_scenario_assume(scenario, GT_TRUST_HIGH,
                           "%u copies of pageable memory take the time that the device file gives for pinned "
                           "memory; "
                           "allocating pinned memory once is not counted",
                           count);
    return 0;
}

static const char *const tried[] = { "", NULL };
const struct gt_change_kind gt_change_pinned = {
    .name = "pinned",
    .takes = GT_ARGUMENT_NONE,
    .help = "replace pageable host memory of copies by pinned memory",
    .tried = tried,
    .applies = applies,
    .apply = apply,
};
