#include "validate/validate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/range.h"
#include "sim/simulate.h"
#include "traces/import/warnings.h"
#include "traces/store/recorded.h"
#include "validate/host_measure.h"
#include "validate/proxy_kernel.h"
#include "validate/strip_times.h"

/* One trace on its way through: what its parts share. */
struct work {
    const struct gt_validation *validation;
    struct gt_workload *workload;
    const char *name;
    const struct gt_device *device;
    int64_t device_id, trace_id, simulated_run;
    struct gt_validated *validated;
    struct gt_error *error;
};

static void tell(const struct work *work, const char *what, uint32_t done, uint32_t total)
{
    if (work->validation->tell != NULL)
        work->validation->tell(work->validation->user, what, done, total);
}

static bool stopped(const struct work *work)
{
    return work->validation->stop != NULL && work->validation->stop(work->validation->user);
}

static struct gt_other_gpu_users others_now(const struct gt_validation *validation)
{
    struct gt_other_gpu_users others = { 0, 0 };

    if (validation->players->others != NULL)
        validation->players->others(&others);
    return others;
}

/* In the store this stands with the trace. */
static void warn_of_others(struct gt_workload *workload, const struct gt_other_gpu_users *others)
{
    if (others->processes > 0 || others->busy_pct > 0)
        gt_import_warn(workload, "gpu-shared", others->processes > 0 ? others->processes : 1);
}

static struct gt_run_writer *begin(const struct work *work, const char *kind, const char *options,
                                   uint32_t repetition)
{
    struct gt_run_writer *writer = gt_run_writer_begin(work->validation->store, work->trace_id, work->device_id, kind,
                                                       options, repetition, work->workload);

    gt_run_writer_keep_placement(writer, work->validation->blocks);
    return writer;
}

/* A copy within the device that is kept apart is told to last so much longer. Measured, November 2026: those of up to
 * 1 KiB in 71 random traces, median 0.77 us and 2.40 us. */
static const gt_time_ps kept_apart_ps = 1630000;

/* The device as the instrument that measured the trace shows it. */
static struct gt_device device_shown(const struct work *work)
{
    struct gt_device device = *work->device;

    if (work->validation->players->kept_copies_apart != NULL &&
        work->validation->players->kept_copies_apart(work->workload)) {
        device.copy_within_alone = 1;
        device.d2d.latency_ps += kept_apart_ps;
    }
    return device;
}

/* `host`: whose calls the run takes, measured in run `host_run`; or NULL, and it simulates them. */
static int simulate(struct work *work, const struct gt_workload *host, int64_t host_run)
{
    struct gt_options options = GT_OPTIONS_DEFAULT;
    struct gt_workload played; /* the store keeps what the trace says */
    const struct gt_device device = device_shown(work);
    struct gt_summary summary;
    struct gt_makespan_range range = { .draws = 0 };
    struct gt_run_writer *writer;
    struct gt_kernel_model *modelled = NULL;
    char text[96];
    int64_t run;
    int result = 0;

    options.seed = work->validation->seed;
    options.recorded_on = work->validation->recorded_on;
    options.program_cost = work->validation->program_cost;
    options.no_inference = work->validation->no_inference;
    options.host = host;
    snprintf(text, sizeof text, "blocks=on seed=%" PRIu64 "%s%s%s%s", options.seed,
             work->validation->program_cost ? " cost=program" : "", options.no_inference ? " infer=off" : "",
             work->validated->surrogates ? " kernels=surrogates" : "", host != NULL ? " host=measured" : "");
    writer = begin(work, "simulated", text, 0);
    if (host == NULL)
        gt_run_writer_await(writer); /* whatever ends the program, no such run stays without a measured one */
    tell(work, "simulating", 0, 0);
    gt_proxy_kernels_as_played(work->workload, &played);
    if (gt_has_programs(&played)) {
        modelled = gt_model_kernels(&played, work->device, options.recorded_on, false, NULL, work->error);
        options.modelled = modelled;
        result = modelled != NULL ? 0 : -1;
    }
    if (result == 0)
        result = gt_simulate(&played, &device, &options, gt_run_writer_probe(writer), &summary, work->error);
    if (result == 0 && host == NULL)
        result = gt_range_of(&played, &device, &options, &summary, &range, work->error);
    gt_kernel_model_free(modelled);
    free(played.kernels);
    if (result != 0) {
        gt_run_writer_free(writer);
        return -1;
    }
    gt_run_writer_summary(writer, &summary);
    gt_run_writer_range(writer, &range, work->error);
    if (host != NULL)
        gt_run_writer_counter(writer, GT_COUNTER_HOST_OF_RUN, (double)host_run, work->error);
    run = gt_run_writer_end(writer, work->error);
    if (host == NULL)
        work->simulated_run = run;
    for (int i = 0; host == NULL && i < GT_RULES; i++)
        work->validated->fired[i] = summary.fired[i] > 0;
    return run < 0 ? -1 : 0;
}

/* Again, with the calls of the measured run whose makespan is the median: what is left then is the GPU's error. */
static int simulate_gpu_alone(struct work *work)
{
    struct gt_database *database = gt_store_database(work->validation->store);
    struct gt_measured_host host;
    struct gt_recorded recorded;
    struct gt_repeats repeats;
    int result;

    if (gt_repeats_median(work->validation->store, work->simulated_run, &repeats, work->error) != 0)
        return -1;
    gt_measured_host_make(&host, work->workload);
    result = gt_recorded_find(database, work->name, &recorded, work->error);
    if (result == 0) {
        const struct gt_probe probe = gt_measured_host_probe(&host);

        result = gt_recorded_play(database, &recorded, repeats.median_run, &probe, work->error);
    }
    if (result == 0)
        result = simulate(work, &host.workload, repeats.median_run);
    gt_recorded_free(&recorded);
    gt_measured_host_free(&host);
    return result;
}

static void note_unseen(struct gt_validated *validated, const struct gt_play_result *result)
{
    for (uint32_t i = 0; i < result->counter_count; i++)
        if (strcmp(result->counters[i].name, "operations_unseen") == 0 &&
            result->counters[i].value > validated->unseen)
            validated->unseen = (uint64_t)result->counters[i].value;
}

static int play_once(struct work *work, struct gt_player *player, uint32_t repetition)
{
    const struct gt_players *players = work->validation->players;
    struct gt_run_writer *writer = begin(work, "measured", players->describe(player), repetition);
    struct gt_play_result result = { .counter_count = 0 };
    struct gt_other_gpu_users others;

    if (players->play(player, gt_run_writer_probe(writer), &result, work->error) != 0) {
        gt_run_writer_free(writer);
        return -1;
    }
    for (uint32_t i = 0; i < result.counter_count; i++)
        gt_run_writer_counter(writer, result.counters[i].name, result.counters[i].value, work->error);
    if (work->validation->host_calls > 0)
        gt_run_writer_counter(writer, GT_COUNTER_HOST_CALLS, (double)work->validation->host_calls, work->error);
    others = others_now(work->validation);
    gt_run_writer_counter(writer, "other_processes", others.processes, work->error);
    if (gt_run_writer_end(writer, work->error) < 0)
        return -1;
    work->validated->measured++;
    if (others.processes > work->validated->others.processes)
        work->validated->others.processes = others.processes;
    note_unseen(work->validated, &result);
    return 0;
}

static int play_all(struct work *work, struct gt_player *player)
{
    struct gt_play_result unused = { .counter_count = 0 };
    uint32_t total = work->validation->repetitions;

    tell(work, "playing", 0, total);
    if (work->validation->players->play(player, NULL, &unused, work->error) != 0)
        return -1;
    for (uint32_t i = 0; i < total; i++) {
        if (stopped(work)) {
            work->validated->stopped = true;
            return 0;
        }
        if (play_once(work, player, i) != 0)
            return -1;
        tell(work, "playing", i + 1, total);
    }
    return 0;
}

static int play(struct work *work)
{
    const struct gt_players *players = work->validation->players;
    const struct gt_play_options options = {
        .seed = work->validation->seed,
        .surrogates = work->validated->surrogates,
        .recorded_on = work->validation->recorded_on,
    };
    struct gt_player *player;
    int result;

    if (stopped(work)) {
        work->validated->stopped = true;
        return 0;
    }
    tell(work, "preparing", 0, 0);
    player = players->open(work->workload, &options, work->error);
    if (player == NULL)
        return -1;
    result = play_all(work, player);
    players->close(player);
    return result;
}

int gt_validate(const struct gt_validation *validation, struct gt_workload *workload, const char *name,
                const struct gt_device *device, int64_t device_id, struct gt_validated *validated,
                struct gt_error *error)
{
    struct work work = { .validation = validation,
                         .workload = workload,
                         .name = name,
                         .device = device,
                         .device_id = device_id,
                         .validated = validated,
                         .error = error };
    struct gt_error judging;
    int64_t surrogates;
    int result;

    *validated = (struct gt_validated){ .measured = 0 };
    surrogates = gt_proxy_kernels_make(workload, validation->recorded_on, validation->surrogates, error);
    if (surrogates < 0)
        return -1;
    validated->surrogates = surrogates > 0;
    if (validated->surrogates)
        gt_strip_times(workload);
    validated->others = others_now(validation);
    warn_of_others(workload, &validated->others);
    work.trace_id = gt_store_put_trace(validation->store, workload, name, error);
    if (work.trace_id < 0 || simulate(&work, NULL, 0) != 0)
        return -1;
    result = play(&work);
    validated->lost = validation->players->lost != NULL && validation->players->lost();
    if (result == 0 && validated->measured > 0)
        result = simulate_gpu_alone(&work);
    /* Repetitions before a failure count; the failure is what is told. */
    if (validated->measured > 0 && gt_verdict_of(validation->store, work.simulated_run, true, &validated->verdict,
                                                 result == 0 ? error : &judging) != 0)
        return -1;
    return result;
}
