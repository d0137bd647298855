#include "validate/shrink_trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/simulate.h"
#include "sim/warp/kernel_model.h"
#include "sim/workload/child_launches.h"
#include "validate/host_measure.h"
#include "validate/proxy_kernel.h"
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

/* One trial on its way. */
struct trial_work {
    const struct gt_validation *validation;
    const struct gt_device *device;
    struct gt_workload *workload;
    const struct gt_kernel_model *modelled; /* of its kernels with programs; NULL: none has one */
    struct gt_measured_host *runs;          /* the measured ones */
    uint32_t run_count;
    struct gt_trial *trial;
    struct gt_error *error;
};

/* Of a run that has told when its operations ran. */
static int makespan_us(const struct gt_measured_host *run, double *us, struct gt_error *error)
{
    const struct gt_workload *w = &run->workload;
    gt_time_ps start_ps = GT_TIME_NONE, end_ps = 0;

    for (uint32_t i = 0; i < w->op_count; i++) {
        const struct gt_op *op = &w->ops[i];

        if (op->start_ps == GT_TIME_NONE && gt_child_launch_of(w, i) != NULL)
            continue; /* its launch failed */
        if (op->start_ps == GT_TIME_NONE)
            return gt_error_set(error, "operation %u was not seen to run", i);
        start_ps = op->start_ps < start_ps ? op->start_ps : start_ps;
        end_ps = op->start_ps + op->duration_ps > end_ps ? op->start_ps + op->duration_ps : end_ps;
    }
    *us = w->op_count == 0 ? 0 : (double)(end_ps - start_ps) / 1e6;
    return 0;
}

/* With the calls of `host`, or (NULL) with simulated ones. */
static int simulate(struct trial_work *work, const struct gt_measured_host *host, double *us)
{
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_measured_host run;
    struct gt_summary summary;
    struct gt_probe probe;
    int result;

    options.seed = work->validation->seed;
    options.recorded_on = work->validation->recorded_on;
    options.program_cost = work->validation->program_cost;
    options.modelled = work->modelled;
    options.host = host != NULL ? &host->workload : NULL;
    gt_measured_host_make(&run, work->workload);
    probe = gt_measured_host_probe(&run);
    result = gt_simulate(work->workload, work->device, &options, &probe, &summary, work->error);
    if (result == 0)
        result = makespan_us(&run, us, work->error);
    gt_measured_host_free(&run);
    return result;
}

/* What is open, the first time thrown away. */
static int play_all(struct trial_work *work, struct gt_player *player)
{
    const struct gt_players *players = work->validation->players;
    struct gt_play_result warm = { .counter_count = 0 };

    if (players->play(player, NULL, &warm, work->error) != 0)
        return -1;
    for (uint32_t i = 0; i < work->run_count; i++) {
        struct gt_probe probe = gt_measured_host_probe(&work->runs[i]);
        struct gt_play_result result = { .counter_count = 0 };

        if (players->play(player, &probe, &result, work->error) != 0)
            return -1;
    }
    return 0;
}

static int play_trial(struct trial_work *work)
{
    const struct gt_play_options options = { .seed = work->validation->seed,
                                             .recorded_on = work->validation->recorded_on };
    struct gt_player *player = work->validation->players->open(work->workload, &options, work->error);
    int result;

    if (player == NULL)
        return -1;
    result = play_all(work, player);
    work->validation->players->close(player);
    return result;
}

/* The range of what was played, and the GPU's part beside the median run. */
static int judge(struct trial_work *work)
{
    struct gt_trial *trial = work->trial;
    double *times_us = gt_calloc(2ull * work->run_count, sizeof *times_us), *sorted_us = times_us + work->run_count;
    uint32_t median = 0;
    int result = 0;

    for (uint32_t i = 0; i < work->run_count && result == 0; i++) {
        result = makespan_us(&work->runs[i], &times_us[i], work->error);
        sorted_us[i] = times_us[i];
    }
    if (result == 0) {
        trial->median_us = gt_median(sorted_us, work->run_count); /* and they are sorted */
        trial->least_us = sorted_us[0];
        trial->most_us = sorted_us[work->run_count - 1];
        while (times_us[median] != trial->median_us)
            median++;
        result = simulate(work, &work->runs[median], &trial->gpu_us);
    }
    free(times_us);
    return result;
}

int gt_trial_run(const struct gt_validation *validation, const struct gt_device *device, struct gt_workload *workload,
                 uint32_t repetitions, struct gt_trial *trial, struct gt_error *error)
{
    struct trial_work work = { validation, device, workload, NULL, NULL, repetitions, trial, error };
    struct gt_kernel_model *modelled = NULL;
    int result = -1;

    memset(trial, 0, sizeof *trial);
    if (gt_workload_check(workload, error) != 0 ||
        gt_proxy_kernels_make(workload, validation->recorded_on, false, error) < 0)
        return -1;
    if (gt_has_programs(workload)) {
        work.modelled = modelled = gt_model_kernels(workload, device, validation->recorded_on, false, NULL, error);
        if (modelled == NULL)
            return -1;
    }
    work.runs = gt_calloc(repetitions, sizeof *work.runs);
    for (uint32_t i = 0; i < repetitions; i++)
        gt_measured_host_make(&work.runs[i], workload);
    /* What cannot be simulated to its end might not come to one on the GPU. */
    if (simulate(&work, NULL, &trial->simulated_us) == 0 && play_trial(&work) == 0)
        result = judge(&work);
    for (uint32_t i = 0; i < repetitions; i++)
        gt_measured_host_free(&work.runs[i]);
    free(work.runs);
    gt_kernel_model_free(modelled);
    return result;
}

double gt_trial_beyond_us(const struct gt_trial *trial, double simulated_us)
{
    if (simulated_us > trial->most_us)
        return simulated_us - trial->most_us;
    return simulated_us < trial->least_us ? simulated_us - trial->least_us : 0;
}

double gt_trial_error_pct(const struct gt_trial *trial, double simulated_us)
{
    return trial->median_us > 0 ? 100 * (simulated_us - trial->median_us) / trial->median_us : 0;
}
