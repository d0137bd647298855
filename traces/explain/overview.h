/* overview.h - a run in a few lines, for `gridtide explain` and the report: what bounds a step, where its time goes, and
 * what would help most, with what it gains as far as that was asked. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_OVERVIEW_H
#define GRIDTIDE_TRACES_EXPLAIN_OVERVIEW_H

#include "traces/explain/breakdown.h"
#include "traces/explain/explain.h"
#include "traces/explain/limits.h"

enum { GT_OVERVIEW_FINDINGS = 3, GT_TRUST_BYTES = 40, GT_CHANGE_BYTES = 64 };

/* What a change of the what-if engine would give, in microseconds: of a step, or of the run from first call to last end. */
struct gt_prediction {
    double baseline_us, predicted_us;
    double low_us, high_us; /* the interval of predicted_us; NAN: none */
    char trust[GT_TRUST_BYTES];
    char change[GT_CHANGE_BYTES]; /* the form of the change that gains most: "graph=step" */
    bool of_step;
    bool profiler_removed; /* from both: what a profiler's recording cost */
};
/* Ask for a change ("pinned"), in all forms of its kind that are worth trying.  1: *prediction is filled; 0: it is not known, or the trace refuses the change. */
typedef int gt_predict_fn(void *user, const char *change, struct gt_prediction *prediction);

/* Who predicts. */
struct gt_predictor {
    gt_predict_fn *predict; /* NULL: nobody */
    void *user;
    const char *why_not; /* why nobody does, or did; NULL or "": nothing to say */
};

struct gt_overview_finding {
    const struct gt_finding *finding; /* in overview->all */
    bool predicted;                   /* its change gains at least 1%: */
    struct gt_prediction prediction;
    double gain_pct; /* of the predicted time; NAN where nothing was predicted */
};

struct gt_overview {
    struct gt_breakdown breakdown;
    const char *bound_by; /* "data loading", "GPU computation", ... */
    double bound_share;   /* of the steps */
    struct gt_overview_finding findings[GT_OVERVIEW_FINDINGS];
    size_t count;
    struct gt_finding *all; /* everything found, most time first */
    size_t all_count;
    bool asked;          /* somebody predicted */
    const char *why_not; /* why there are no gains, the predictor's text; NULL: nothing to say */
};

/* Of the run, or its part.  A finding with a change is kept where that gains at least 1% of a step; where nobody predicts, all
 * are.  Findings about a part of the breakdown stay without a gain.  That of what bounds the step comes first, then those with
 * most to gain.  gt_overview_free() ends it. */
void gt_overview_find(const struct gt_loaded_run *run, const struct gt_stats_task_kernel *tasks, size_t task_count,
                      const struct gt_predictor *predictor, struct gt_overview *overview);
void gt_overview_free(struct gt_overview *overview);

/* "3 steps", "2 steps; the first is left out, ..." (malloced): what the breakdown is of. */
char *gt_overview_steps_text(const struct gt_overview *overview);
/* "predicted: 4.1% shorter, 14.5 s -> 13.9 s (13.8 s to 14.0 s) a step; trust medium" (malloced); NULL: nothing was. */
char *gt_overview_gain_text(const struct gt_overview_finding *finding);
/* What may help (malloced): with "(--change graph alone: less than 1%)" where that was asked; NULL: nothing known. */
char *gt_overview_help_text(const struct gt_overview_finding *finding);
/* `gridtide whatif TRACE --change SPEC` (malloced), for a shell; NULL: there is nothing to ask, or whatif would refuse it
 * for want of a model of the GPU. */
char *gt_finding_ask_text(const struct gt_loaded_run *run, const struct gt_finding *finding);
/* gt_finding_ask_text() where it is worth asking: its change gains something, or nobody has asked yet. */
char *gt_overview_ask_text(const struct gt_loaded_run *run, const struct gt_overview *overview,
                           const struct gt_overview_finding *finding);

#endif
