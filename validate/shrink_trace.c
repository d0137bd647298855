#include "validate/shrink_trace.h"

#include <math.h>

#include "validate/random/reduce.h"
#include "validate/random/shrink.h"

struct work {
    const struct gt_shrink_trace *shrink;
    struct gt_shrunk *shrunk;
    struct gt_error *error;
    bool failed;
};

/* On which side of the real runs a simulated makespan is, 1 or -1; 0 where that is near enough to their range. */
static int side(const struct gt_trial *trial, double simulated_us)
{
    double beyond_us = gt_trial_beyond_us(trial, simulated_us);

    if (fabs(beyond_us) <= GT_SHRINK_BEYOND_US || fabs(beyond_us) * 100 <= GT_SHRINK_BEYOND_PCT * trial->median_us)
        return 0;
    return beyond_us > 0 ? 1 : -1;
}

/* Play it; what cannot be played shows nothing. */
static bool play(struct work *work, struct gt_workload *candidate, struct gt_trial *trial)
{
    const struct gt_validation *validation = work->shrink->validation;
    struct gt_error why;
    bool played = gt_trial_run(validation, work->shrink->device, candidate, GT_SHRINK_REPETITIONS, trial, &why) == 0;

    work->shrunk->tries++;
    if (validation->players->lost != NULL && validation->players->lost())
        work->shrunk->lost = true;
    return played && side(trial, trial->simulated_us) != 0;
}

static bool keep(struct work *work, const struct gt_workload *candidate, const struct gt_trial *trial)
{
    work->failed = work->shrink->keep(work->shrink->user, candidate, work->error) != 0;
    if (work->failed)
        return false;
    work->shrunk->after = *trial;
    work->shrunk->calls_after = candidate->call_count;
    work->shrunk->operations_after = candidate->op_count;
    return true;
}

/* On the same side: a trace that is too long in place of too short shows something else. */
static bool shows(void *user, struct gt_workload *candidate)
{
    struct work *work = user;
    const struct gt_trial *before = &work->shrunk->before;
    struct gt_trial trial;

    return play(work, candidate, &trial) && side(&trial, trial.simulated_us) == side(before, before->simulated_us) &&
           (!work->shrunk->gpu || side(&trial, trial.gpu_us) == side(before, before->gpu_us)) &&
           keep(work, candidate, &trial);
}

static bool stop(void *user)
{
    const struct work *work = user;

    return work->failed || work->shrunk->lost || work->shrink->stop(work->shrink->user);
}

int gt_shrink_trace(const struct gt_shrink_trace *shrink, const struct gt_workload *workload,
                    struct gt_shrunk *shrunk, struct gt_error *error)
{
    struct work work = { shrink, shrunk, error, false };
    const struct gt_shrinking shrinking = { shows, stop, &work };
    struct gt_workload *whole = gt_reduce(workload, GT_REDUCE_CALLS, 0, 0);

    *shrunk = (struct gt_shrunk){ .calls_before = workload->call_count, .operations_before = workload->op_count };
    shrunk->shows = play(&work, whole, &shrunk->before) && keep(&work, whole, &shrunk->before);
    shrunk->gpu = shrunk->shows && side(&shrunk->before, shrunk->before.gpu_us) != 0;
    if (shrunk->shows)
        gt_workload_free(gt_shrink(whole, &shrinking));
    gt_workload_free(whole);
    return work.failed ? -1 : 0;
}
