/* Best-effort kernels one at a time, and only while no critical request is there: a critical request waits for one of them
 * at most. */
#include "sim/serve/policy.h"

bool gt_policy_gate_launch(const struct gt_policy_view *view, const struct gt_policy_kernel *kernel)
{
    const struct gt_tenant *tenant = &view->load->tenants[kernel->tenant];

    if (tenant->critical)
        return true;
    return view->critical == 0 && view->best_effort_kernels == 0;
}
