/* Changes of the device: a key, or all of them. */
#include <stdlib.h>
#include <string.h>

#include "sim/changes/change.h"

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

/* More than the default are worth a try where there are more streams than that. */
static const char *const tried_connections[] = { "16", "32", NULL };

static bool connections_apply(const struct gt_scenario *scenario, const char *argument)
{
    const struct gt_workload *w = scenario->workload;
    bool *used = gt_calloc(w->stream_count + 1ull, sizeof *used);
    uint32_t streams = 0, number = (uint32_t)strtoul(argument, NULL, 10);

    for (uint32_t i = 0; i < w->op_count; i++) {
        streams += !used[w->ops[i].stream];
        used[w->ops[i].stream] = true;
    }
    free(used);
    return number > scenario->device.connections && streams > scenario->device.connections;
}

static int apply_connections(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    return set_key(scenario, "scheduling.connections", argument, error);
}

static int apply_launch_cost(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    return set_key(scenario, "host.launch_call_us", argument, error);
}

/* Keys of the host and of the driver on it: another GPU does not change them, and device files of GPUs that nobody has
 * measured hold guesses there. */
static const char *const host_keys[] = { "host.",
                                         "latency.",
                                         "profiler.",
                                         "copy.staging_",
                                         "copy.inline_",
                                         "copy.pageable_",
                                         "scheduling.connections",
                                         "scheduling.launch_queue_depth" };

static bool of_host(const struct gt_key *key)
{
    for (size_t i = 0; i < sizeof host_keys / sizeof host_keys[0]; i++)
        if (strncmp(key->key, host_keys[i], strlen(host_keys[i])) == 0)
            return true;
    return false;
}

static int apply_device(struct gt_scenario *scenario, const char *argument, struct gt_error *error)
{
    struct gt_device device;

    if (scenario->host->load_device(argument, &device, error) != 0)
        return -1;
    for (size_t i = 0; i < gt_device_key_count; i++)
        if (of_host(&gt_device_keys[i]))
            gt_device_take_key(&device, &scenario->device, &gt_device_keys[i]);
    if (gt_device_check(&device, error) != 0)
        return -1;
    scenario->device = device;
    gt_scenario_assume(scenario, GT_TRUST_MEDIUM,
                       "Host times and launch latencies stay as recorded; copies use the rates of the device file "
                       "%s",
                       argument);
    return 0;
}

const struct gt_change_kind gt_change_device = {
    .name = "device",
    .argument = "NAME",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "simulate another GPU; NAME is its device file",
    .apply = apply_device,
};
const struct gt_change_kind gt_change_connections = {
    .name = "connections",
    .argument = "N",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "set the number of hardware queues (CUDA_DEVICE_MAX_CONNECTIONS)",
    .tried = tried_connections,
    .applies = connections_apply,
    .apply = apply_connections,
};
const struct gt_change_kind gt_change_launch_cost = {
    .name = "launch-cost",
    .argument = "US",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "set the CPU time of a kernel launch, in us (key host.launch_call_us)",
    .apply = apply_launch_cost,
};
const struct gt_change_kind gt_change_key = {
    .argument = "KEY=VALUE",
    .takes = GT_ARGUMENT_NEEDED,
    .help = "change a value of the device file",
    .apply = apply_key,
};
