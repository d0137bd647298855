/* collective-sms=N: no collective holds more than N SMs (NCCL_MAX_CTAS=N). */
#include "sim/changes/change.h"
#include "sim/training/ranks.h"

/* Kernels of collectives; of `unsized` of them nobody recorded how many bytes they move. */
static uint32_t count_collectives(const struct gt_workload *w, uint32_t *unsized)
{
    uint32_t count = 0;

    *unsized = 0;
    for (uint32_t i = 0; i < w->kernel_count; i++) {
        bool is_one = w->kernels[i].collective.kind != GT_COLLECTIVE_NONE;

        count += is_one;
        *unsized += is_one && w->kernels[i].collective.bytes == 0;
    }
    return count;
}

static int apply(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    uint32_t most, unsized;

    if (gt_count_parse(argument, "how many SMs a collective may hold", 1, 64, &most, error) != 0)
        return -1;
    if (count_collectives(scenario->workload, &unsized) == 0)
        return gt_error_set(error, "the trace has no collectives; give ddp=N before it to add them");
    scenario->device.collective.most_channels = most;
    gt_scenario_assume(
        scenario, GT_TRUST_MEDIUM,
        "Collectives use at most %u SMs and are slower where NCCL would use more; recorded ones keep their "
        "bandwidth",
        most);
    if (unsized > 0)
        gt_scenario_assume(scenario, GT_TRUST_LOW,
                           "%u kinds of collectives have no size in the trace; they keep their recorded duration",
                           unsized);
    return 0;
}

const struct gt_change_kind gt_change_collective_sms = {
    .name = "collective-sms",
    .argument = "N",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "limit each collective to N SMs (NCCL_MAX_CTAS)",
    .apply = apply,
};
