#include "validate/host_gaps.h"

#include "sim/replay/replay.h"

gt_time_ps gt_host_first_ps(const struct gt_workload *workload)
{
    gt_time_ps first_ps = GT_TIME_NONE;

    for (uint32_t i = 0; i < workload->call_count; i++)
        if (workload->calls[i].start_ps < first_ps) /* not known is later than all */
            first_ps = workload->calls[i].start_ps;
    return first_ps;
}

gt_time_ps gt_host_gap_ps(const struct gt_call *call, gt_time_ps *at_ps)
{
    gt_time_ps from_ps = *at_ps, end_ps = gt_call_measured_end(call);

    if (end_ps == GT_TIME_NONE || from_ps == GT_TIME_NONE || end_ps > from_ps)
        *at_ps = end_ps;
    if (call->start_ps == GT_TIME_NONE || from_ps == GT_TIME_NONE || from_ps > call->start_ps)
        return 0;
    return call->start_ps - from_ps;
}
