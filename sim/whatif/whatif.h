/* whatif.h - answers about what was not recorded: a trace, its baseline, and one answer a scenario. */
#ifndef GRIDTIDE_SIM_WHATIF_WHATIF_H
#define GRIDTIDE_SIM_WHATIF_WHATIF_H

#include "sim/baseline/stated.h"
#include "sim/baseline/steady.h"
#include "sim/baseline/timeline.h"
#include "sim/changes/changes.h"
#include "sim/machine/options.h"
#include "sim/shapes/reserved_memory.h"
#include "sim/whatif/bound.h"
#include "sim/whatif/grade.h"

/* What is asked about: lent, outlives the answers. */
struct gt_whatif_subject {
    const struct gt_workload *workload; /* as recorded, or typed */
    const struct gt_device *device;     /* that it was recorded on; the one to play a typed one on */
    struct gt_options options;          /* blocks, seed, kernels' models; the rest is set here */
    const struct gt_whatif_host *host;
    double step_us; /* how long a step takes that nobody records, where the user says it (--step); 0: not said */
};

struct gt_whatif {
    struct gt_whatif_subject subject;
    struct gt_workload *told;    /* the subject's with what its times tell; NULL: nothing more */
    struct gt_learned learned;   /* constants of the recording */
    struct gt_scenario baseline; /* nothing changed: the recorded run in stated form */
    /* measured_us: first call to last end as recorded, NAN where it was not; replay_us: the same, simulated as recorded,
     * with what the profiler cost; baseline_us: without that: what predictions are held against */
    struct gt_grade_facts facts;
    struct gt_steady steady; /* of the baseline: its regular steps alone, which tell what a step takes */
    double step_us;          /* of the baseline, a step */
    double peak_bytes;       /* as recorded: see gt_answer */
    struct gt_reserved_memory reserved;
    gt_stream_index crowded_stream; /* of the baseline: see gt_timeline_crowded() */
};

/* The answer to one scenario.  What is not known is NAN. */
struct gt_answer {
    char *change;   /* the specs, joined by " + " */
    double step_us; /* a step of the steady state; NAN: the recording does not tell, but low_us and high_us hold it */
    double low_us, high_us;             /* 9 of 10 real steps are expected between */
    double change_pct;                  /* of a step, against the baseline's: below 0 it is faster */
    double predicted_us;                /* all of the recorded run, start-up included */
    double peak_bytes;                  /* the most memory that a GPU has allocated at a time; NAN: not known */
    struct gt_reserved_memory reserved; /* for that, on the scenario's device */
    enum gt_bound bound_by;             /* what has the largest part of the step's critical path, */
    double part[GT_BOUNDS_BY];          /* and all parts */
    struct gt_scenario scenario;        /* of all of the run: its trust and assumptions are the answer's */
};

/* Replay the subject and make its baseline.  Returns 0; -1 with the reason.  Either way gt_whatif_free() ends it. */
int gt_whatif_begin(struct gt_whatif *whatif, const struct gt_whatif_subject *subject, struct gt_error *error);
void gt_whatif_free(struct gt_whatif *whatif);

/* Simulate the baseline (again) as it is now: facts.baseline_us, step_us and crowded_stream are of that.  Returns 0; -1 with the
 * reason. */
int gt_whatif_play_baseline(struct gt_whatif *whatif, struct gt_error *error);

/* One scenario of all these changes.  What is told of its run goes to `probe` too (NULL: nobody).  Returns 0; -1 with
 * why there is none.  Either way gt_answer_free() ends the answer. */
int gt_whatif_answer(const struct gt_whatif *whatif, const struct gt_change *changes, size_t count,
                     const struct gt_probe *probe, struct gt_answer *answer, struct gt_error *error);
/* How long a step of such a scenario takes, and how far its changes are to be trusted, without an interval: a fifth of the work.
 * Returns 0; -1 with why there is none. */
int gt_whatif_step(const struct gt_whatif *whatif, const struct gt_change *changes, size_t count, double *step_us,
                   enum gt_trust *trust, struct gt_error *error);
void gt_answer_free(struct gt_answer *answer);

/* Simulate a scenario of the subject, for `probe` (NULL: nobody), into *timeline, which gt_timeline_free() ends.  Returns 0; -1
 * with the reason. */
int gt_whatif_timeline(const struct gt_whatif *whatif, const struct gt_scenario *scenario,
                       const struct gt_probe *probe, struct gt_timeline *timeline, struct gt_error *error);

/* Simulate a scenario of the subject (again), for `probe`.  Returns 0; -1 with the reason. */
int gt_whatif_play(const struct gt_whatif *whatif, const struct gt_scenario *scenario, const struct gt_probe *probe,
                   struct gt_summary *summary, struct gt_error *error);

/* What `whatif --all` tries on this trace: into *changes (malloced, as are their specs: gt_whatif_free_tried()). */
size_t gt_whatif_tried(const struct gt_whatif *whatif, struct gt_change **changes);
void gt_whatif_free_tried(struct gt_change *changes, size_t count);

#endif
