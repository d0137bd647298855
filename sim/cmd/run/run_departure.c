/* run_departure.c - a replay that is far from its recording says where it first departs. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/baseline/fit.h"
#include "sim/baseline/timeline.h"
#include "sim/cmd/run/run_parts.h"
#include "traces/explain/departure.h"
#include "traces/names/clean_text.h"

/* Replays within this are taken for what was recorded. */
static const double allowed_pct = 3;

static double us(gt_time_ps ps)
{
    return (double)ps / 1e6;
}

static char *say_departure(const struct gt_departure *departure)
{
    double off_us = us(departure->simulated_ps) - us(departure->recorded_ps);

    if (departure->in_length)
        return gt_format("the first difference is at %.1f us, where %s (operation %" PRIu32 ") takes %.1f us "
                         "instead of %.1f us",
                         us(departure->at_ps), departure->place, departure->op, us(departure->simulated_ps),
                         us(departure->recorded_ps));
    return gt_format("the first difference is at %.1f us, where %s (operation %" PRIu32 ") starts %.1f us %s; in "
                     "the replay it waited for: %s (%s)",
                     us(departure->at_ps), departure->place, departure->op, fabs(off_us),
                     off_us > 0 ? "late" : "early", gt_why_names[departure->hold.why], departure->hold.holder);
}

/* Profiles do not say how many connections there were. */
static char *say_remedy(const struct gt_run_work *work, const struct gt_run_variant *replay, double error_pct)
{
    uint32_t connections = gt_fit_connections(work->workload, &replay->device, &replay->simulated,
                                              gt_recorded_us(work->workload), error_pct / 100);

    if (connections == 0)
        return gt_strdup("what-if predictions from this trace are unreliable");
    return gt_format("CUDA_DEVICE_MAX_CONNECTIONS=%" PRIu32 " would remove the difference: try --set "
                     "scheduling.connections=%" PRIu32,
                     connections, connections);
}

static int warn(struct gt_run_work *work, const struct gt_run_variant *replay, double error_pct,
                const struct gt_departure *departure)
{
    static char kind[] = "replay-departs";
    char *where = departure != NULL ? say_departure(departure)
                                    : gt_format("no single operation differs by more than 1%% of it");
    char *remedy = say_remedy(work, replay, error_pct);
    char *text = gt_format("the replay is %.1f%% %s than the recording: %s; %s", fabs(error_pct),
                           error_pct > 0 ? "longer" : "less", where, remedy);
    struct gt_warning warning = { .kind = kind, .text = text, .count = 1 };
    int result = gt_store_put_warning(work->store, work->trace_id, &warning, work->error);

    if (result == 0 && !work->arguments->model.quiet) {
        char *clean = gt_clean_name(text);

        fprintf(stderr, "gridtide: warning: %s: %s\n", kind, clean);
        free(clean);
    }
    free(where);
    free(remedy);
    free(text);
    return result;
}

int gt_run_warn_of_departure(struct gt_run_work *work)
{
    const struct gt_run_variant *replay = work->changed ? &work->without : &work->asked;
    double error_pct = replay->comparison.makespan_error_pct;
    struct gt_departure departure;
    int found;

    if (work->measured_run == 0 || isnan(error_pct) || fabs(error_pct) <= allowed_pct)
        return 0;
    found = gt_departure_find(gt_store_database(work->store), replay->run_id, work->measured_run, &departure,
                              work->error);
    return found < 0 ? -1 : warn(work, replay, error_pct, found == 1 ? &departure : NULL);
}
