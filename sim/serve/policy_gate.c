/* Best-effort kernels one at a time, and only while no critical request is there: a critical request waits for one of them
 * at most. */
#include "sim/serve/policy.h"

bool gt_policy_gate_launch(const struct gt_policy_view *view, const struct gt_policy_kernel *kernel)
{
    return view->load->tenants[kernel->tenant].critical || (view->critical == 0 && view->kernels[0] == 0);
}
