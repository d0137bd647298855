/* Best-effort kernels only while no critical request is there; those on the GPU when one comes are taken off it (dispatcher.c). */
#include "sim/serve/policy.h"

bool gt_policy_reset_launch(const struct gt_policy_view *view, const struct gt_policy_kernel *kernel)
{
    return view->critical == 0 || view->load->tenants[kernel->tenant].critical;
}
