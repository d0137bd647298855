/* Measured makespans held against the range that the simulation stated. */
#include <math.h>

#include "traces/compare/metrics.h"
#include "traces/store/query.h"

/* A counter of the simulated run; NAN where it has none. */
static int counter(struct gt_store *store, const struct gt_verdict *verdict, const char *sql, double *value,
                   struct gt_error *error)
{
    struct gt_query *query = gt_query_new(gt_store_database(store), sql, error);
    int row;

    *value = NAN;
    if (query == NULL)
        return -1;
    gt_query_bind(query, 1, verdict->simulated_run);
    row = gt_query_next(query, error);
    if (row == 1)
        *value = gt_query_real(query, 0);
    gt_query_end(query);
    return row < 0 ? -1 : 0;
}

#define COUNTER(name) "SELECT value FROM counter WHERE run_id = ?1 AND name = '" name "'"

int gt_metric_range_low_us(struct gt_store *store, const struct gt_verdict *verdict, double *value,
                           struct gt_error *error)
{
    return counter(store, verdict, COUNTER(GT_COUNTER_RANGE_LOW), value, error);
}

int gt_metric_range_high_us(struct gt_store *store, const struct gt_verdict *verdict, double *value,
                            struct gt_error *error)
{
    return counter(store, verdict, COUNTER(GT_COUNTER_RANGE_HIGH), value, error);
}

int gt_metric_range_runs(struct gt_store *store, const struct gt_verdict *verdict, double *value,
                         struct gt_error *error)
{
    static const char sql[] = "SELECT count(*) FILTER (WHERE us BETWEEN low AND high) FROM"
                              " (SELECT (max(p.end_ps) - min(p.start_ps)) / 1e6 AS us,"
                              "    (" COUNTER(GT_COUNTER_RANGE_LOW) ") AS low, (" COUNTER(
                                  GT_COUNTER_RANGE_HIGH) ") AS high"
                                                         "  FROM run s JOIN trace t ON t.trace_id = s.trace_id"
                                                         "  JOIN run m ON m.trace_id = coalesce(t.base_trace_id, "
                                                         "t.trace_id) AND m.kind = 'measured' AND m.whole = 1"
                                                         "  JOIN run_op p ON p.run_id = m.run_id"
                                                         "  JOIN op o ON o.trace_id = m.trace_id AND o.op_no = "
                                                         "p.op_no AND o.kind <> 'host_function'"
                                                         "  WHERE s.run_id = ?1 GROUP BY m.run_id)"
                                                         " HAVING max(high) IS NOT NULL";

    return counter(store, verdict, sql, value, error);
}
