#include "sim/whatif/host_pace.h"

#include <math.h>

struct gt_paces gt_host_paces(const struct gt_framework *framework, const struct gt_grade_facts *facts,
                              const struct gt_steady *steady)
{
    if (!facts->profiled || facts->host_fitted)
        return (struct gt_paces){ 1, 1 };
    if (steady->single)
        return steady->cold ? framework->interval.cold : framework->interval.single;
    return framework->interval.steps;
}

double gt_model_varies(const struct gt_framework *framework, const struct gt_grade_facts *facts)
{
    return isnan(facts->measured_us) ? 0 : framework->interval.model_part;
}

static gt_time_ps times(gt_time_ps time_ps, double pace)
{
    return time_ps != GT_TIME_NONE ? (gt_time_ps)(pace * (double)time_ps) : time_ps;
}

void gt_host_at_pace(struct gt_workload *to, const struct gt_workload *from, double pace)
{
    for (gt_call_index i = 0; i < from->call_count; i++) {
        to->calls[i].duration_ps = times(from->calls[i].duration_ps, pace);
        to->calls[i].before_ps = times(from->calls[i].before_ps, pace);
        to->calls[i].kept_ps = times(from->calls[i].kept_ps, pace);
    }
    for (gt_op_index i = 0; i < from->op_count; i++)
        to->ops[i].visible_ps = times(from->ops[i].visible_ps, pace);
}
