/* grade.h - how far an answer is to be trusted, beside what its change itself assumes: the rules, in one place. */
#ifndef GRIDTIDE_SIM_WHATIF_GRADE_H
#define GRIDTIDE_SIM_WHATIF_GRADE_H

#include "sim/baseline/profiler.h"
#include "sim/baseline/steps.h"
#include "sim/whatif/bound.h"

/* What the rules go by: of the recording and its replay. */
struct gt_grade_facts {
    double measured_us, replay_us, baseline_us; /* measured_us: NAN where nothing was */
    double alike_us; /* the replay where kernels of the same work last equally long (stated.h) */
    uint64_t inferred_waits, dropped, too_short; /* see stated.h */
    bool profiled;                               /* a profiler recorded it, and what it cost was taken off: */
    struct gt_profiler_removed removed;
    bool host_fitted; /* the host's pace is that of a step that the user timed (fit_host.h) */
    struct gt_steps steps;
};

/* By how much longer, as a part, the host's work may really have taken that is left without the profiler. */
double gt_grade_host_varies(const struct gt_grade_facts *facts);

/* That the scenario's own run, in which so many were dropped, or the recording's gave up inferred dependencies. */
void gt_grade_dropped(struct gt_scenario *scenario, const struct gt_grade_facts *facts, uint64_t dropped);

/* Add to the scenario what the facts make it assume, with the grade that each allows.  `predicted_us`: how long its
 * simulated run takes; `part`: what that is bound by (bound.h); `slower_host`: how much longer, as a part, it would be with a host that takes so much longer. */
void gt_grade(struct gt_scenario *scenario, const struct gt_grade_facts *facts, double predicted_us,
              const double part[GT_BOUNDS_BY], double slower_host);

#endif
