/* Changes of the device: a key, or all of them. */
#include <stdlib.h>
#include <string.h>

#include "sim/whatif/change.h"

static int set_key(struct gt_scenario *scenario, const char *key, const char *value, struct gt_error *error)
{
    if (gt_device_set(&scenario->device, key, value, error) != 0)
        return -1;
    return gt_device_check(&scenario->device, error);
}

/* "KEY=VALUE" */
static int apply_key(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    const char *equals = strchr(argument, '=');
    char *key = gt_strndup(argument, (size_t)(equals - argument));
    int result = set_key(scenario, key, equals + 1, error);

    free(key);
    return result;
}

static int apply_connections(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    return set_key(scenario, "scheduling.connections", argument, error);
}

static int apply_launch_cost(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    return set_key(scenario, "host.launch_call_us", argument, error);
}

static int apply_device(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    return scenario->host->load_device(argument, &scenario->device, error);
}

const struct gt_change_kind gt_change_device = {
    .name = "device",
    .argument = "NAME",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "another GPU, by the name of its device file",
    .apply = apply_device,
};
const struct gt_change_kind gt_change_connections = {
    .name = "connections",
    .argument = "N",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "so many hardware queues (CUDA_DEVICE_MAX_CONNECTIONS)",
    .apply = apply_connections,
};
const struct gt_change_kind gt_change_launch_cost = {
    .name = "launch-cost",
    .argument = "US",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "CPU time of a kernel launch, in us (key host.launch_call_us)",
    .apply = apply_launch_cost,
};
const struct gt_change_kind gt_change_key = {
    .argument = "KEY=VALUE",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "another value for a key of the device",
    .apply = apply_key,
};
