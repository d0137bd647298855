/* whatif_store.c - the baseline and the scenarios as runs of a store, beside the recording. */
#include <stdlib.h>

#include "sim/cmd/run/whatif_parts.h"
#include "traces/store/answers.h"

/* What is written, and what the scenarios' runs are held against. */
struct keeping {
    struct gt_store *store;
    const struct gt_whatif *whatif;
    const char *name, *file;
    int64_t recorded_trace, baseline_run;
};

/* The trace's number, or -1. */
static int64_t put_trace(struct keeping *keeping, const struct gt_workload *workload, const char *name,
                         struct gt_error *error)
{
    int64_t trace_id = gt_store_put_trace(keeping->store, workload, name, error);

    return trace_id < 0 || gt_store_put_trace_file(keeping->store, trace_id, keeping->file, error) != 0 ? -1
                                                                                                        : trace_id;
}

static int keep_recorded(struct keeping *keeping, struct gt_error *error)
{
    const struct gt_whatif_subject *subject = &keeping->whatif->subject;
    int64_t device_id = gt_store_put_device(keeping->store, subject->device, error), operations;
    struct gt_run_writer *writer;

    keeping->recorded_trace = device_id < 0 ? -1 : put_trace(keeping, subject->workload, keeping->name, error);
    if (keeping->recorded_trace < 0)
        return -1;
    writer =
        gt_run_writer_begin(keeping->store, keeping->recorded_trace, device_id, "measured", "", 0, subject->workload);
    operations = gt_measured_play(subject->workload, gt_run_writer_probe(writer), error);
    if (operations <= 0) {
        gt_run_writer_free(writer);
        return operations < 0 ? -1 : 0;
    }
    return gt_run_writer_end(writer, error) < 0 ? -1 : 0;
}

/* A trace of its own for the scenario's workload; its base is the recorded one where operations are the same. */
static int64_t keep_trace(struct keeping *keeping, const struct gt_scenario *scenario, const char *name,
                          struct gt_error *error)
{
    int64_t trace_id = put_trace(keeping, scenario->workload, name, error);

    if (trace_id < 0 || scenario->workload->op_count != keeping->whatif->subject.workload->op_count)
        return trace_id;
    return gt_store_base(keeping->store, trace_id, keeping->recorded_trace, error) != 0 ? -1 : trace_id;
}

/* The run's number, or -1. */
static int64_t keep_run(struct keeping *keeping, const struct gt_scenario *scenario, const char *name,
                        const char *options, struct gt_error *error)
{
    int64_t device_id = gt_store_put_device(keeping->store, &scenario->device, error);
    int64_t trace_id = device_id < 0 ? -1 : keep_trace(keeping, scenario, name, error);
    struct gt_summary summary;
    struct gt_run_writer *writer;

    if (trace_id < 0)
        return -1;
    writer = gt_run_writer_begin(keeping->store, trace_id, device_id, "simulated", options, 0, scenario->workload);
    gt_run_writer_ranges_as(writer, keeping->whatif->subject.workload);
    if (gt_whatif_play(keeping->whatif, scenario, gt_run_writer_probe(writer), &summary, error) != 0 ||
        (keeping->baseline_run > 0 &&
         gt_run_writer_counter(writer, GT_COUNTER_WITHOUT_RUN, (double)keeping->baseline_run, error) != 0)) {
        gt_run_writer_free(writer);
        return -1;
    }
    gt_run_writer_summary(writer, &summary);
    return gt_run_writer_end(writer, error);
}

static int put_answer(const struct keeping *keeping, int64_t run, const struct gt_answer *answer,
                      struct gt_error *error)
{
    struct gt_stored_answer stored = {
        .change = answer->change,
        .trust = gt_scenario_trust_text(&answer->scenario),
        .bound_by = gt_bound_names[answer->bound_by],
        .predicted_us = answer->predicted_us,
        .step_us = answer->step_us,
        .change_pct = answer->change_pct,
        .low_us = answer->low_us,
        .high_us = answer->high_us,
        .bound_pct = 100 * answer->part[answer->bound_by],
        .assumptions = (const char *const *)answer->scenario.assumptions,
        .assumption_count = answer->scenario.assumption_count,
    };

    return gt_store_put_answer(keeping->store, run, &stored, error);
}

static int keep_answer(struct keeping *keeping, const struct gt_answer *answer, struct gt_error *error)
{
    char *name = gt_format("%s (%s)", keeping->name, answer->change);
    char *options = gt_format("whatif %s", answer->change);
    int64_t run = keep_run(keeping, &answer->scenario, name, options, error);

    free(name);
    free(options);
    return run < 0 || put_answer(keeping, run, answer, error) != 0 ? -1 : 0;
}

/* The best answer last: the newest run is the one that stats and report show. */
static int keep_all(struct keeping *keeping, const struct gt_answer *answers, size_t count, struct gt_error *error)
{
    char *name = gt_format("%s (baseline)", keeping->name);
    int result = keep_recorded(keeping, error);

    if (result == 0)
        keeping->baseline_run = keep_run(keeping, &keeping->whatif->baseline, name, "whatif baseline", error);
    free(name);
    if (result != 0 || keeping->baseline_run < 0)
        return -1;
    for (size_t i = count; i-- > 0;)
        if (keep_answer(keeping, &answers[i], error) != 0)
            return -1;
    return 0;
}

int gt_whatif_keep(const char *path, const char *name, const char *file, const struct gt_whatif *whatif,
                   const struct gt_answer *answers, size_t count, struct gt_error *error)
{
    struct keeping keeping = { .whatif = whatif, .name = name, .file = file, .store = gt_store_create(path, error) };

    if (keeping.store == NULL)
        return -1;
    if (keep_all(&keeping, answers, count, error) != 0) {
        gt_store_abandon(keeping.store);
        return -1;
    }
    return gt_store_commit(keeping.store, error);
}
