/* One request at a time, in the order of arrival over all tenants. */
#include "sim/serve/policy.h"

bool gt_policy_fifo_begin(const struct gt_policy_view *view, const struct gt_policy_request *request)
{
    return view->serving == 0 && request->arrival_ps == view->earliest_ps;
}
