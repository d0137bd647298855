/* collective-sms=N: no collective holds more than N SMs (NCCL_MAX_CTAS=N). */
#include "sim/changes/change.h"
#include "sim/training/rank_count.h"

static bool has_collectives(const struct gt_workload *w)
{
    for (uint32_t i = 0; i < w->kernel_count; i++)
        if (w->kernels[i].collective.kind != GT_COLLECTIVE_NONE)
            return true;
    return false;
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    uint32_t most;

    if (gt_count_parse(argument, "how many SMs a collective may hold", 1, 64, &most, error) != 0)
        return -1;
    if (!has_collectives(scenario->workload))
        return gt_error_set(error, "the trace has no collectives; ddp and dp, given before it, bring them");
    scenario->device.collective.most_channels = most;
    gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                       "collectives hold %u SMs at most, and are slower where NCCL would take more; those that were "
                       "recorded move their data as fast as they did",
                       most);
    return 0;
}

const struct gt_change_kind gt_change_collective_sms = {
    .name = "collective-sms",
    .argument = "N",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "no collective holds more than N SMs (NCCL_MAX_CTAS)",
    .apply = apply,
};
