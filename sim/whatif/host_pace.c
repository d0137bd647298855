#include "sim/whatif/host_pace.h"

#include <math.h>

/* Real times of steps without a profiler against what was predicted, 5th and 95th percentile: 72 recordings of 18 programs by as many
 * protocols on an H100 (traces/record/protocols.py, set a, seed 26), and 79 answers where the GPU sets the pace.  40 recordings of
 * `gridtide record` (set c, seed 9001) give 0.75 and 1.5. */
static const struct gt_paces recorded = { 0.76, 1.27 };
static const struct gt_paces single = { 0.5, 1.15 };     /* one step, with what the profiler does first in it */
static const struct gt_paces single_cold = { 0.6, 1.9 }; /* with start-up, which an estimate replaces */
static const double model_varies = 0.08;

struct gt_paces gt_host_paces(const struct gt_grade_facts *facts, const struct gt_steady *steady)
{
    if (!facts->profiled || facts->host_fitted)
        return (struct gt_paces){ 1, 1 };
    if (steady->single)
        return steady->cold ? single_cold : single;
    return recorded;
}

double gt_model_varies(const struct gt_grade_facts *facts)
{
    return isnan(facts->measured_us) ? 0 : model_varies;
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
