/* steps.h - what one step of a program is, and how long it takes. */
#ifndef GRIDTIDE_SIM_BASELINE_STEPS_H
#define GRIDTIDE_SIM_BASELINE_STEPS_H

#include "sim/baseline/timeline.h"

/* How steps were found. */
enum gt_steps_by {
    GT_STEPS_MARKED,    /* ranges that say that they are one (ProfilerStep#3) */
    GT_STEPS_ANNOTATED, /* ranges of one name, but for its digits, that hold nearly all calls */
    GT_STEPS_OPTIMISED, /* each ends with its optimiser's range (Optimizer.step#SGD.step) */
    GT_STEPS_REPEATED,  /* a row of calls that comes again */
    GT_STEPS_ONE        /* none of these: all is one step */
};

struct gt_steps {
    uint32_t count;
    enum gt_steps_by by;
    uint32_t rows; /* GT_STEPS_REPEATED: rows of the same calls in each, told apart by the host's time between them */
    bool waited;   /* then: does the host wait for the GPU in a row? */
};

/* The steps of `workload`, where several processes (ranks of a job) have some, the first one's: where ranges do not mark
 * them, ranges that do are added, behind the others. */
struct gt_steps gt_steps_find(struct gt_workload *workload);

/* Find the steps again after threads were joined: what one of them repeated may have been a part of a step. */
void gt_steps_find_again(struct gt_steps *steps, struct gt_workload *workload);

/* How long a step takes once they follow each other: from one to the next in the middle, by what the host begins or by
 * what the GPU ends, whichever takes longer; so that neither what stands before and behind the steps counts, nor an odd
 * one.  Where fewer than two, or than `count`, have calls of their own, or they are mixed: all of the run, divided by `count`, and
 * *divided is true. */
double gt_steps_us(const struct gt_workload *workload, const struct gt_timeline *timeline, uint32_t count,
                   bool *divided);

#endif
