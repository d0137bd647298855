/* The GPU's part of the error alone: the host's calls taken from the measured run. */
#include <math.h>

#include "traces/compare/metrics.h"
#include "traces/store/query.h"

/* The newest simulated run of the trace on the same device that has the measured run's host; 0: there is none. */
static int find_run(struct gt_store *store, const struct gt_verdict *verdict, int64_t *run, struct gt_error *error)
{
    static const char sql[] =
        "SELECT r.run_id FROM run s JOIN run r ON r.trace_id = s.trace_id AND r.device_id = s.device_id"
        "   AND r.kind = 'simulated' AND r.whole = 1"
        " JOIN counter c ON c.run_id = r.run_id AND c.name = '" GT_COUNTER_HOST_OF_RUN "' AND c.value = ?2"
        " WHERE s.run_id = ?1 ORDER BY r.run_id DESC LIMIT 1";

    *run = 0;
    return gt_query_one(gt_store_database(store), sql, verdict->simulated_run, verdict->repeats.median_run, run,
                        error) < 0
               ? -1
               : 0;
}

int gt_metric_gpu_error_pct(struct gt_store *store, const struct gt_verdict *verdict, double *value,
                            struct gt_error *error)
{
    struct gt_comparison comparison;
    int64_t run;

    *value = NAN;
    if (find_run(store, verdict, &run, error) != 0)
        return -1;
    if (run == 0)
        return 0;
    if (gt_compare(store, run, verdict->repeats.median_run, &comparison, error) != 0)
        return -1;
    *value = comparison.makespan_error_pct;
    return 0;
}
