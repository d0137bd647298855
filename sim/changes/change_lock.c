/* Threads without the lock that they share: as if each were a process, or the interpreter let go of it. */
#include "sim/changes/change.h"

static uint32_t held(const struct gt_workload *w)
{
    uint32_t threads = 0;

    for (uint32_t i = 0; i < w->thread_count; i++)
        threads += w->threads[i].lock != GT_NONE;
    return threads;
}

static bool applies(const struct gt_scenario *scenario, const char *argument)
{
    (void)argument;
    return held(scenario->workload) > 1;
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    uint32_t threads = held(scenario->workload);

    (void)argument;
    if (threads == 0)
        return gt_error_set(error, "no two threads of the trace share a \"lock\"");
    for (uint32_t i = 0; i < scenario->workload->thread_count; i++)
        scenario->workload->threads[i].lock = GT_NONE;
    gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                       "%u threads make calls without their shared lock; time that they waited for it between "
                       "measured calls stays; each thread has its own core",
                       threads);
    return 0;
}

static const char *const tried[] = { "", NULL };

const struct gt_change_kind gt_change_no_lock = {
    .name = "no-lock",
    .keeps_gpu = true,
    .takes = GT_ARGUMENT_NONE,
    .help = "remove the lock that host threads share (such as Python's GIL)",
    .tried = tried,
    .applies = applies,
    .apply = apply,
};
