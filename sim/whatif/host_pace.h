/* host_pace.h - how certain it is how fast a program's host is, and a workload with another one. */
#ifndef GRIDTIDE_SIM_WHATIF_HOST_PACE_H
#define GRIDTIDE_SIM_WHATIF_HOST_PACE_H

#include "sim/baseline/steady.h"
#include "sim/frameworks/framework.h"
#include "sim/whatif/grade.h"

/* 1 to 1 where nothing is taken off the host's time, or the user timed a step (--step). */
struct gt_paces gt_host_paces(const struct gt_framework *framework, const struct gt_grade_facts *facts,
                              const struct gt_steady *steady);

/* How far a prediction of a step may be off, as a part, with the host's pace known. */
double gt_model_varies(const struct gt_framework *framework, const struct gt_grade_facts *facts);

/* In `to`, a copy of `from`, which states its times, the host takes `pace` times as long. */
void gt_host_at_pace(struct gt_workload *to, const struct gt_workload *from, double pace);

#endif
