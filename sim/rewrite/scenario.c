#include "sim/rewrite/scenario.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"

const char *const gt_trust_names[GT_TRUSTS] = { "high", "medium", "low" };

const char *gt_scenario_trust_text(const struct gt_scenario *scenario)
{
    return scenario->extrapolated ? "low, extrapolated" : gt_trust_names[scenario->trust];
}

void gt_scenario_begin(struct gt_scenario *scenario, const struct gt_workload *workload,
                       const struct gt_device *device, const struct gt_device *recorded,
                       const struct gt_whatif_host *host)
{
    *scenario = (struct gt_scenario){
        .workload = gt_workload_copy(workload),
        .device = *device,
        .recorded = *recorded,
        .host = host,
        .host_pace = 1,
    };
}

void gt_scenario_free(struct gt_scenario *scenario)
{
    gt_workload_free(scenario->workload);
    for (uint32_t i = 0; i < scenario->assumption_count; i++)
        free(scenario->assumptions[i]);
    free(scenario->assumptions);
    memset(scenario, 0, sizeof *scenario);
}

gt_time_ps gt_scenario_host_ps(const struct gt_scenario *scenario, gt_time_ps calm_ps)
{
    return (gt_time_ps)(scenario->host_pace * (double)calm_ps);
}

void gt_scenario_replace(struct gt_scenario *scenario, struct gt_workload *workload)
{
    if (workload == scenario->workload)
        return;
    gt_workload_free(scenario->workload);
    scenario->workload = workload;
}

static bool told(const struct gt_scenario *scenario, const char *text)
{
    for (uint32_t i = 0; i < scenario->assumption_count; i++)
        if (strcmp(scenario->assumptions[i], text) == 0)
            return true;
    return false;
}

void gt_scenario_assume(struct gt_scenario *scenario, enum gt_trust most, const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    text = gt_vformat(format, arguments);
    va_end(arguments);
    if (most > scenario->trust)
        scenario->trust = most;
    if (told(scenario, text)) {
        free(text);
        return;
    }
    gt_array_grow(scenario->assumptions, scenario->assumption_count, scenario->assumption_room);
    scenario->assumptions[scenario->assumption_count++] = text;
}
