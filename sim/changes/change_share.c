/* The processes of a trace share their GPU in another way. */
#include <string.h>

#include "sim/changes/change.h"
#include "sim/workload/processes.h"

static bool applies(const struct gt_scenario *scenario, const char *argument)
{
    (void)argument;
    return gt_process_count(scenario->workload) > 1;
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    struct gt_workload *w = scenario->workload;
    struct gt_sharing sharing;

    if (gt_sharing_parse(argument, strlen(argument), &sharing, error) != 0)
        return -1;
    if (gt_process_count(w) < 2)
        return gt_error_set(error,
                            "the trace has one process; several traces run together with 'gridtide run A B --share'");
    for (gt_thread_index i = 0; i < w->thread_count; i++)
        w->threads[i].sharing = sharing;
    if (sharing.how == GT_SHARE_MIG)
        gt_scenario_assume(
            scenario, GT_TRUST_LOW,
            "MIG instances have SMs as NVIDIA documents, and share memory, L2 cache and copy engines as without MIG");
    gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                       "a kernel takes as long as recorded, plus the time for which it is stopped; processes slow "
                       "each other down in caches "
                       "and memory only if their kernels have machine code");
    return 0;
}

static const char *const tried[] = { "mps", NULL };

const struct gt_change_kind gt_change_share = {
    .name = "share",
    .argument = "sliced|mps[:PERCENT]|green:SMS|mig:PROFILE",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "let processes share a GPU in time slices, as MPS clients, or each on SMs of its own",
    .tried = tried,
    .applies = applies,
    .apply = apply,
};
