/* grade.h - how far an answer is to be trusted, beside what its change itself assumes: the rules, in one place. */
#ifndef GRIDTIDE_SIM_WHATIF_GRADE_H
#define GRIDTIDE_SIM_WHATIF_GRADE_H

#include "sim/baseline/profiler.h"
#include "sim/baseline/steady.h"
#include "sim/baseline/steps.h"
#include "sim/frameworks/framework.h"
#include "sim/whatif/bound.h"

/* What the rules go by: of the recording and its replay. */
struct gt_grade_facts {
    double measured_us, replay_us, baseline_us; /* measured_us: NAN where nothing was */
    double alike_us; /* the replay where kernels of the same work last equally long (stated.h) */
    uint64_t inferred_waits, dropped, too_short; /* see stated.h */
    bool profiled;                               /* a profiler recorded it, and what it cost was taken off: */
    struct gt_profiler_removed removed;
    bool host_fitted; /* the host's pace is that of a step that the user timed */
    struct gt_steps steps;
};

/* That the scenario's own run, in which so many were dropped, or the recording's gave up inferred dependencies. */
void gt_grade_dropped(struct gt_scenario *scenario, const struct gt_grade_facts *facts, uint64_t dropped);

/* Add to the scenario what the facts make it assume, with the grade that each allows.  `low_us`, `high_us`: the interval of a
 * step; `part`: what it is bound by (bound.h). */
void gt_grade(struct gt_scenario *scenario, const struct gt_grade_facts *facts, const struct gt_steady *steady,
              double low_us, double high_us, const double part[GT_BOUNDS_BY]);

/* 1 to 1 where nothing is taken off the host's time, or the user timed a step (--step). */
struct gt_paces gt_host_paces(const struct gt_framework *framework, const struct gt_grade_facts *facts,
                              const struct gt_steady *steady);

/* How far a prediction of a step may be off, as a part, with the host's pace known. */
double gt_model_varies(const struct gt_framework *framework, const struct gt_grade_facts *facts);

/* In `to`, a copy of `from`, which states its times, the host takes `pace` times as long. */
void gt_host_at_pace(struct gt_workload *to, const struct gt_workload *from, double pace);

#endif
