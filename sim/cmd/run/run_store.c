/* run_store.c - a trace, its measured run and what was simulated, into a store. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "sim/cmd/input/run_input.h"
#include "sim/cmd/run/run_parts.h"
#include "traces/compare/verdict.h"
#include "traces/import/warnings.h"
#include "traces/store/answers.h"

/* The workload of a variant that is another one is a trace of its own; its runs are held against the recorded one's. */
static int define_played(struct gt_run_work *work, struct gt_run_variant *variant, const char *what)
{
    char *name;

    variant->trace_id = work->trace_id;
    if (variant->played == NULL)
        return 0;
    name = gt_format("%s (%s)", work->name, what);
    variant->trace_id = gt_store_put_trace(work->store, variant->played, name, work->error);
    free(name);
    if (variant->trace_id < 0 ||
        gt_store_put_trace_file(work->store, variant->trace_id, work->arguments->trace, work->error) != 0)
        return -1;
    return gt_store_base(work->store, variant->trace_id, work->trace_id, work->error);
}

static int define_devices(struct gt_run_work *work)
{
    work->asked.device_id = gt_store_put_device(work->store, &work->asked.device, work->error);
    if (work->asked.device_id < 0 || !work->changed)
        return work->asked.device_id < 0 ? -1 : 0;
    work->without.device_id = work->asked.device_id;
    if (gt_run_same_device(&work->asked.device, &work->without.device))
        return 0;
    work->without.device_id = gt_store_put_device(work->store, &work->without.device, work->error);
    return work->without.device_id < 0 ? -1 : 0;
}

static int define(struct gt_run_work *work)
{
    if (define_devices(work) != 0)
        return -1;
    work->trace_id = gt_store_put_trace(work->store, work->workload, work->name, work->error);
    if (work->trace_id < 0 ||
        gt_store_put_trace_file(work->store, work->trace_id, work->arguments->trace, work->error) != 0)
        return -1;
    if (define_played(work, &work->without, "baseline") != 0)
        return -1;
    return define_played(work, &work->asked, work->engine.asked ? work->engine.answer.change : "");
}

static int store_recorded(struct gt_run_work *work)
{
    struct gt_run_writer *writer =
        gt_run_writer_begin(work->store, work->trace_id, work->asked.device_id, "measured", "", 0, work->workload);
    int64_t operations = gt_measured_play(work->workload, gt_run_writer_probe(writer), work->error);

    gt_run_writer_keep_kernels(writer, NULL);
    if (operations < 0 || (operations == 0 && work->workload->profile_count == 0)) {
        gt_run_writer_free(writer);
        return operations == 0 ? 0 : -1;
    }
    gt_run_writer_counter(writer, "operations", (double)operations, work->error);
    work->measured_run = gt_run_writer_end(writer, work->error);
    return work->measured_run < 0 ? -1 : 0;
}

/* Programs that were recorded each by itself were not measured together. */
static int store_measured(struct gt_run_work *work)
{
    if (work->arguments->trace_count > 1)
        return 0;
    return store_recorded(work);
}

/* Kernels that have a program in cycles, before the timeline that may need them. */
static int model_kernels(struct gt_run_work *work, struct gt_run_variant *variant, bool quiet)
{
    if (!gt_has_programs(work->workload))
        return 0;
    gt_progress_begin(&work->progress, "modelling kernels", work->arguments->model.quiet);
    variant->modelled = gt_run_kernels(work->workload, &variant->device, &variant->recorded, work->arguments->full,
                                       &work->progress, &variant->model_us, work->error);
    gt_progress_end(&work->progress);
    if (variant->modelled == NULL)
        return -1;
    if (!quiet)
        gt_run_kernels_warn(work->workload, variant->modelled);
    return 0;
}

static int store_counters(struct gt_run_work *work, const struct gt_run_variant *variant,
                          struct gt_run_writer *writer, const struct gt_summary *summary)
{
    gt_run_writer_summary(writer, summary);
    gt_run_writer_range(writer, &variant->range, work->error);
    if (work->changed && variant == &work->asked &&
        gt_run_writer_counter(writer, GT_COUNTER_WITHOUT_RUN, (double)work->without.run_id, work->error) != 0)
        return -1;
    if (variant->modelled == NULL)
        return 0;
    gt_run_writer_keep_kernels(writer, variant->modelled);
    return gt_run_writer_counter(writer, "model_us", variant->model_us, work->error);
}

/* What only the simulation found. */
static int warn(struct gt_run_work *work, const struct gt_summary *summary)
{
    const struct {
        const char *kind;
        uint64_t count;
    } found[] = {
        { GT_WARNING_CONTENTION, summary->too_short },
        { GT_WARNING_CONTRADICTING, summary->dropped },
        { GT_WARNING_EXTRAPOLATED, summary->extrapolated },
        { GT_WARNING_PENDING, summary->refused[GT_REFUSED_PENDING] },
        { GT_WARNING_DEPTH, summary->refused[GT_REFUSED_DEPTH] },
    };

    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        const struct gt_warning *warning =
            gt_run_warn_of_found(work->workload, found[i].kind, found[i].count, work->arguments->model.quiet);

        if (warning != NULL && gt_store_put_warning(work->store, work->trace_id, warning, work->error) != 0)
            return -1;
    }
    return 0;
}

/* What real runs of it are expected to take: of what was asked for alone. */
static int find_range(struct gt_run_work *work, struct gt_run_variant *variant, const struct gt_summary *summary)
{
    variant->extrapolated = summary->extrapolated;
    if (variant != &work->asked)
        return 0;
    return gt_range_of(work->workload, &variant->device, &variant->simulated, summary, &variant->range, work->error);
}

/* A variant on its way into the store. */
struct playing {
    struct gt_run_variant *variant;
    struct gt_run_writer *writer;
    struct gt_summary summary;
    const char *progress;
};

/* Nothing of it is in the store yet. */
static void begin(struct gt_run_work *work, struct playing *playing, struct gt_run_variant *variant)
{
    const struct gt_workload *workload = variant->played != NULL ? variant->played : work->workload;

    *playing = (struct playing){
        .variant = variant,
        .progress = work->changed && variant == &work->without ? "simulating without the change" : "simulating",
    };
    variant->simulated.learned = variant->played != NULL ? &work->learned : NULL;
    variant->simulated.recorded_on = &variant->recorded;
    playing->writer = gt_run_writer_begin(work->store, variant->trace_id, variant->device_id, "simulated",
                                          variant->options, 0, workload);
    gt_run_writer_ranges_as(playing->writer, work->workload);
}

static int play(struct gt_run_work *work, struct playing *playing)
{
    struct gt_run_variant *variant = playing->variant;
    const struct gt_workload *workload = variant->played != NULL ? variant->played : work->workload;
    int result;

    if (model_kernels(work, variant, variant == &work->without || work->arguments->model.quiet) != 0)
        return -1;
    variant->simulated.modelled = variant->played != NULL ? NULL : variant->modelled; /* played: it is stated */
    gt_progress_begin(&work->progress, playing->progress, work->arguments->model.quiet);
    result = gt_simulate(workload, &variant->device, &variant->simulated, gt_run_writer_probe(playing->writer),
                         &playing->summary, work->error);
    if (result == 0)
        result = find_range(work, variant, &playing->summary);
    gt_progress_end(&work->progress);
    return result;
}

static int keep(struct gt_run_work *work, struct playing *playing)
{
    struct gt_run_variant *variant = playing->variant;

    if (store_counters(work, variant, playing->writer, &playing->summary) != 0 || warn(work, &playing->summary) != 0)
        return -1;
    gt_run_writer_belongs(playing->writer, variant->trace_id, variant->device_id);
    gt_progress_begin(&work->progress, "storing", work->arguments->model.quiet);
    variant->run_id = gt_run_writer_end(playing->writer, work->error);
    playing->writer = NULL;
    gt_progress_end(&work->progress);
    return variant->run_id < 0 ? -1 : 0;
}

/* What is known before anything is simulated goes into the store by a thread of its own, on a copy of the work: it fills in numbers of
 * the store alone. */
struct recording {
    struct gt_run_work work;
    struct gt_error error;
    pthread_t thread;
    bool started;
    int result;
};

static void *store_recording(void *argument)
{
    struct recording *recording = argument;

    recording->work.error = &recording->error;
    recording->result = define(&recording->work);
    if (recording->result == 0)
        recording->result = store_measured(&recording->work);
    return NULL;
}

/* Programs of kernels are modelled with the workload: then it is stored first. */
static void begin_recording(struct gt_run_work *work, struct recording *recording)
{
    recording->work = *work;
    gt_store_watch(work->store, NULL, NULL);
    recording->started =
        !gt_has_programs(work->workload) && pthread_create(&recording->thread, NULL, store_recording, recording) == 0;
    if (!recording->started)
        store_recording(recording);
}

static int end_recording(struct gt_run_work *work, struct recording *recording)
{
    if (recording->started && pthread_join(recording->thread, NULL) != 0)
        gt_bug("the thread that stores the recording cannot be joined");
    gt_store_watch(work->store, gt_progress_update, &work->progress);
    work->trace_id = recording->work.trace_id;
    work->measured_run = recording->work.measured_run;
    work->asked.trace_id = recording->work.asked.trace_id;
    work->asked.device_id = recording->work.asked.device_id;
    work->without.trace_id = recording->work.without.trace_id;
    work->without.device_id = recording->work.without.device_id;
    if (recording->result != 0)
        *work->error = recording->error;
    return recording->result;
}

/* The run without the change comes first: the newest one is the one that was asked for. */
static int simulate_all(struct gt_run_work *work)
{
    struct recording *recording = gt_calloc(1, sizeof *recording);
    struct playing playing;
    int result, stored;

    begin(work, &playing, work->changed ? &work->without : &work->asked);
    begin_recording(work, recording);
    result = play(work, &playing);
    stored = end_recording(work, recording);
    free(recording);
    if (stored == 0 && result == 0)
        result = keep(work, &playing);
    gt_run_writer_free(playing.writer);
    if (stored != 0 || !work->changed)
        return stored != 0 ? stored : result;
    if (result != 0)
        return gt_error_prefix(work->error, "without the change: ");
    begin(work, &playing, &work->asked);
    result = play(work, &playing);
    if (result == 0)
        result = keep(work, &playing);
    gt_run_writer_free(playing.writer);
    return result;
}

static int compare_variant(struct gt_run_work *work, struct gt_run_variant *variant)
{
    struct gt_verdict verdict;

    if (gt_verdict_of(work->store, variant->run_id, true, &verdict, work->error) != 0)
        return -1;
    variant->comparison = verdict.comparison;
    return 0;
}

static int compare(struct gt_run_work *work)
{
    if (compare_variant(work, &work->asked) != 0 ||
        gt_kernels_load(work->store, work->asked.run_id, work->changed ? work->without.run_id : work->measured_run,
                        &work->kernels, work->error) != 0)
        return -1;
    if (!work->changed)
        return 0;
    if (compare_variant(work, &work->without) != 0)
        return -1;
    return gt_compare(work->store, work->asked.run_id, work->without.run_id, &work->change, work->error);
}

int gt_run_fill_store(struct gt_run_work *work)
{
    int result;

    work->store = gt_store_create(work->output, work->error);
    if (work->store == NULL)
        return -1;
    gt_store_watch(work->store, gt_progress_update, &work->progress);
    result = simulate_all(work);
    if (result == 0)
        result = compare(work);
    if (result == 0)
        result = gt_run_warn_of_departure(work);
    if (result != 0) {
        gt_store_abandon(work->store);
        return -1;
    }
    return gt_store_commit(work->store, work->error);
}
