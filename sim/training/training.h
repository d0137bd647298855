/* training.h - a recorded training step: whose thread it is, and when which gradient is ready.
 *
 * PyTorch's backward pass has a thread of its own, for which the one that asked waits; nothing in a trace says so, but that
 * their calls never overlap.  Here such threads are taken as one.
 */
#ifndef GRIDTIDE_SIM_TRAINING_TRAINING_H
#define GRIDTIDE_SIM_TRAINING_TRAINING_H

#include "sim/rewrite/rebuild.h"
#include "sim/rewrite/scenario.h"

/* A gradient is ready once all that was asked for until the call `behind` is done. */
struct gt_gradient {
    gt_call_index behind;
    uint64_t bytes;
    gt_range_index range; /* that made it ready; GT_NONE: not recorded */
    uint32_t step;
};

struct gt_training_step {
    gt_call_index first, behind; /* its calls, of all threads of the process */
    uint32_t first_gradient, gradients;
    uint32_t passes; /* forward and backward, each of as many gradients, which are added up (sim/training/passes.h) */
    uint32_t through; /* so many of a pass's first gradients are another model's, through which these come; 0 */
    uint32_t of;      /* the step that was recorded, of which an optimiser's step may have parted it (gradients.c) */
    bool kept;        /* gradients are kept for a later step, with whose they are added up */
};

struct gt_training {
    struct gt_gradient *gradients; /* in the order in which they get ready */
    uint32_t gradient_count;
    struct gt_training_step *steps;
    uint32_t step_count;
    uint32_t normalisations; /* of batches with running means, a pass: three buffers each, which ranks keep alike */
    uint64_t gradient_bytes; /* of a pass; of a recorded step that optimisers part, a pass of each part */
    uint32_t passes;         /* the most that a step has */
    uint32_t repeated;       /* so often a change made each step's passes, 1: as recorded */
    gt_thread_index main;    /* that marks the steps */
    bool *joined;            /* by thread: its calls are as good as main's */
    gt_stream_index stream;  /* that the backward pass computes in */
    bool spread;             /* where gradients get ready was not recorded: evenly over the backward pass */
    bool equivalent;         /* how large each is was not: all the same */
    bool untold;             /* neither was what tells passes apart: a recorded step is taken to have one */
};

/* The steps are `steps` from now on, which it takes; gradients go with theirs. */
void gt_training_replace_steps(struct gt_training *training, struct gt_training_step *steps, uint32_t count);

/* Of a step's gradients, in the order of all: the first of the last pass. */
uint32_t gt_training_last_pass(const struct gt_training_step *step);

/* Find them in a workload in stated form.  0, or -1 with why there is no training step of one GPU in it.  Either way
 * gt_training_free() ends it. */
int gt_training_find(struct gt_training *training, const struct gt_scenario *scenario, struct gt_error *error);
void gt_training_free(struct gt_training *training);

/* The step that has the call; GT_NONE: none. */
uint32_t gt_training_step_of(const struct gt_training *training, gt_call_index call);

/* gt_rebuild_copy(), with the call on the main thread where its own is as good as that.  `last`: the call copied before, of
 * those; GT_NONE before the first. */
gt_call_index gt_training_copy(struct gt_rebuild *rebuild, const struct gt_training *training, gt_call_index call,
                               gt_call_index *last);
/* Where a backward pass has a thread of its own, it and the one that waits for it are one from now on; gradients that are given and were
 * not recorded have ranges from now on; else nothing changes, and it is false. */
bool gt_training_join_threads(struct gt_scenario *scenario);
/* gt_rebuild_end(): ranges of joined threads are the main thread's, too, and gradients are ready where they were. */
struct gt_workload *gt_training_end(struct gt_rebuild *rebuild, const struct gt_training *training);

#endif
