/* The table of dispatch policies. */
#include "sim/serve/policy.h"

const char *const gt_tenant_class_names[2] = { "critical", "best-effort" };

#define MOST_BLOCKS 4294967295.0

const struct gt_serve_policy gt_serve_policies[] = {
    { .named = { "none", "all launches go to the GPU at once, with equal priority", { { 0 } } },
      .slice_parameter = -1,
      .reset_parameter = -1 },
    { .named = { "fifo", "one request at a time has the GPU, in the order of arrival", { { 0 } } },
      .may_begin = gt_policy_fifo_begin,
      .first_only = true,
      .slice_parameter = -1,
      .reset_parameter = -1 },
    { .named = { "priority", "critical tenants' streams have the highest priority, others' the lowest", { { 0 } } },
      .priorities = true,
      .slice_parameter = -1,
      .reset_parameter = -1 },
    { .named = { "gate",
                 "priority; a best-effort kernel is launched only while no critical request is there, one at a time",
                 { { 0 } } },
      .may_launch = gt_policy_gate_launch,
      .priorities = true,
      .slice_parameter = -1,
      .reset_parameter = -1 },
    { .named = { "slices",
                 "gate; kernels of best-effort tenants are launched in pieces (Tally, LithOS)",
                 { { "blocks", "blocks of a piece, at most", 264, 1, MOST_BLOCKS } } },
      .may_launch = gt_policy_gate_launch,
      .priorities = true,
      .slice_parameter = 0,
      .reset_parameter = -1 },
    { .named = { "reset",
                 "priority; when a critical request comes, best-effort kernels are taken off the GPU, and run anew "
                 "once it is done (REEF)",
                 { { "us", "from the request's arrival until they are off, microseconds", 20, 0, 1e6 } } },
      .may_launch = gt_policy_reset_launch,
      .priorities = true,
      .slice_parameter = -1,
      .reset_parameter = 0 },
    { .named = { "orion",
                 "priority; beside a critical kernel only best-effort kernels that are small and use what it does "
                 "not (Orion)",
                 { { "sms", "SMs that such a best-effort kernel takes, at most", 66, 0, MOST_BLOCKS },
                   { "outstanding_pct",
                     "time alone of best-effort kernels launched and not ended, at most, in percent of a critical "
                     "request's",
                     2.5, 0, 1e6 } } },
      .may_launch = gt_policy_orion_launch,
      .priorities = true,
      .slice_parameter = -1,
      .reset_parameter = -1 },
};
const size_t gt_serve_policy_count = sizeof gt_serve_policies / sizeof *gt_serve_policies;

int gt_serve_policy_find(struct gt_load *load, const char *text, struct gt_error *error)
{
    const struct gt_serve_policy *policy =
        gt_named_find(gt_serve_policies, gt_serve_policy_count, sizeof *gt_serve_policies, "policy", text, error);

    if (policy == NULL || gt_named_parameters(&policy->named, "policy", text, load->parameters, error) != 0)
        return -1;
    load->policy = policy;
    return 0;
}
