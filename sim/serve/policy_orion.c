/* Orion's gate (Strati et al., EuroSys 2024, section 5): a best-effort kernel is launched while no critical kernel is
 * on the GPU, or beside one if it needs few SMs and one of the two is bound by memory and the other is not.  What best-effort
 * kernels on the GPU take together is limited to a part of a critical request's time. */
#include "sim/serve/policy.h"

enum { SMS, OUTSTANDING_PCT };

/* Of the critical tenant with the shortest request; GT_TIME_NONE: there is none. */
static gt_time_ps shortest_critical_ps(const struct gt_load *load)
{
    gt_time_ps shortest_ps = GT_TIME_NONE;

    for (uint32_t i = 0; i < load->tenant_count; i++)
        if (load->tenants[i].critical && load->tenants[i].alone_ps < shortest_ps)
            shortest_ps = load->tenants[i].alone_ps;
    return shortest_ps;
}

bool gt_policy_orion_launch(const struct gt_policy_view *view, const struct gt_policy_kernel *kernel)
{
    gt_time_ps shortest_ps = shortest_critical_ps(view->load);
    double most_ps = view->parameters[OUTSTANDING_PCT] / 100 * (double)shortest_ps;

    if (view->load->tenants[kernel->tenant].critical || shortest_ps == GT_TIME_NONE)
        return true;
    /* One is always let through, or a kernel longer than the limit never would be. */
    if (view->best_effort_kernels > 0 && (double)view->best_effort_ps + (double)kernel->duration_ps > most_ps)
        return false;
    if (view->critical_kernels == 0)
        return true;
    return kernel->sms <= view->parameters[SMS] && kernel->profiled && view->latest_critical.profiled &&
           kernel->memory_bound != view->latest_critical.memory_bound;
}
