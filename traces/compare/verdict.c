/* Simulated against measured, with what may differ: thresholds are rows of table metric. */
#include "traces/compare/verdict.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/sort.h"
#include "traces/compare/kernel_error.h"
#include "traces/compare/metrics.h"
#include "traces/store/query.h"

/* A start may be off by 1 % of the makespan, and by 2 us in any case. */
static const double allowed_share = 0.01, allowed_least_us = 2;

static double excess_pct(const struct gt_repeats *repeats)
{
    return isnan(repeats->placement_floor_pct) ? NAN : fmax(0, repeats->placement_pct - repeats->placement_floor_pct);
}

/* A value or a threshold that is not there exceeds nothing. */
static int hold(struct gt_store *store, const struct gt_metric_row *metric, double value, bool *within,
                struct gt_error *error)
{
    double threshold;

    if (isnan(value))
        return 0;
    if (gt_store_threshold(store, metric, &threshold, error) != 0)
        return -1;
    if (fabs(value) > threshold) /* false with a NAN */
        *within = false;
    return 0;
}

static int hold_all(struct gt_store *store, struct gt_verdict *verdict, struct gt_error *error)
{
    verdict->within = true;
    for (size_t i = 0; i < gt_metric_count && verdict->repeats.median_run != 0; i++)
        if (hold(store, &gt_metrics[i].row, verdict->values[i], &verdict->within, error) != 0)
            return -1;
    return 0;
}

static int compute(struct gt_store *store, struct gt_verdict *verdict, struct gt_error *error)
{
    struct gt_comparison *comparison = &verdict->comparison;
    struct gt_repeats *repeats = &verdict->repeats;

    if (gt_repeats_of(store, verdict->simulated_run, repeats, error) != 0 ||
        gt_compare(store, verdict->simulated_run, repeats->median_run, comparison, error) != 0)
        return -1;
    verdict->start_allowed_share =
        comparison->start_error_us.median / fmax(allowed_share * comparison->makespan_measured_us, allowed_least_us);
    verdict->placement_excess_pct = excess_pct(repeats);
    for (size_t i = 0; i < gt_metric_count; i++) {
        const struct gt_metric *metric = &gt_metrics[i];

        verdict->values[i] = metric->compute == NULL ? gt_metric_get(metric, verdict) : NAN;
    }
    for (size_t i = 0; i < gt_metric_count && repeats->median_run != 0; i++)
        if (gt_metrics[i].compute != NULL && gt_metrics[i].compute(store, verdict, &verdict->values[i], error) != 0)
            return -1;
    return 0;
}

/* The measured run that the store has compared, where it has as many measured runs as it had then; 0. */
static int stored_median(struct gt_store *store, int64_t simulated_run, int64_t *measured_run, struct gt_error *error)
{
    static const char sql[] =
        "SELECT c.measured_run_id FROM comparison c WHERE c.simulated_run_id = ?1 AND c.metric = 'repetitions'"
        " AND c.value = (SELECT count(*) FROM run s JOIN trace t ON t.trace_id = s.trace_id"
        "   JOIN run m ON m.trace_id = coalesce(t.base_trace_id, t.trace_id) AND m.kind = 'measured'"
        "     AND m.whole = 1 WHERE s.run_id = ?1)";

    *measured_run = 0;
    return gt_query_one(gt_store_database(store), sql, simulated_run, 0, measured_run, error) < 0 ? -1 : 0;
}

/* What the store holds of it: 1; 0 where it lacks a metric, or all; -1. */
static int read_stored(struct gt_store *store, struct gt_verdict *verdict, struct gt_error *error)
{
    struct gt_metric_value values[GT_METRICS_MAX];
    int64_t measured_run;
    size_t found;

    if (stored_median(store, verdict->simulated_run, &measured_run, error) != 0)
        return -1;
    if (measured_run == 0)
        return 0;
    for (size_t i = 0; i < gt_metric_count; i++)
        values[i] = (struct gt_metric_value){ gt_metrics[i].row.name, NAN };
    if (gt_store_get_comparison(store, verdict->simulated_run, measured_run, values, gt_metric_count, &found,
                                error) != 0)
        return -1;
    if (found < gt_metric_count)
        return 0;
    verdict->repeats.median_run = measured_run;
    for (size_t i = 0; i < gt_metric_count; i++) {
        verdict->values[i] = values[i].value;
        if (gt_metrics[i].compute == NULL)
            gt_metric_set(&gt_metrics[i], verdict, values[i].value);
    }
    return 1;
}

static int keep_values(struct gt_store *store, const struct gt_verdict *verdict, struct gt_error *error)
{
    struct gt_metric_row rows[2 * GT_METRICS_MAX];
    struct gt_metric_value values[GT_METRICS_MAX];

    for (size_t i = 0; i < gt_metric_count; i++) {
        rows[i] = gt_metrics[i].row;
        values[i] = (struct gt_metric_value){ rows[i].name, verdict->values[i] };
    }
    for (size_t i = 0; i < gt_suite_metric_count; i++)
        rows[gt_metric_count + i] = gt_suite_metrics[i].row;
    return gt_store_put_comparison(store, verdict->simulated_run, verdict->repeats.median_run, rows,
                                   gt_metric_count + gt_suite_metric_count, values, gt_metric_count, error);
}

int gt_verdict_of(struct gt_store *store, int64_t simulated_run, bool keep, struct gt_verdict *verdict,
                  struct gt_error *error)
{
    int stored;

    *verdict = (struct gt_verdict){ .simulated_run = simulated_run };
    stored = read_stored(store, verdict, error);
    if (stored < 0 || (stored == 0 && compute(store, verdict, error) != 0))
        return -1;
    if (stored == 0 && keep && verdict->repeats.median_run != 0 && keep_values(store, verdict, error) != 0)
        return -1;
    return hold_all(store, verdict, error);
}

double gt_verdict_value(const struct gt_verdict *verdict, const char *metric)
{
    const struct gt_metric *found = gt_metric_find(metric);

    return found != NULL ? verdict->values[found - gt_metrics] : NAN;
}

int gt_verdict_find_measured(struct gt_store *store, int64_t simulated_run, int64_t *measured_run,
                             struct gt_error *error)
{
    struct gt_repeats repeats;

    if (stored_median(store, simulated_run, measured_run, error) != 0)
        return -1;
    if (*measured_run != 0)
        return 0;
    if (gt_repeats_median(store, simulated_run, &repeats, error) != 0)
        return -1;
    *measured_run = repeats.median_run;
    return 0;
}

int gt_verdict_find_runs(struct gt_store *store, int64_t *simulated_run, int64_t *measured_run,
                         struct gt_error *error)
{
    static const char sql[] = "SELECT max(run_id) FROM run WHERE kind = 'simulated' AND whole = 1"
                              " AND run_id " GT_RUN_SIMULATES_ALL;

    *simulated_run = *measured_run = 0;
    if (gt_query_one(gt_store_database(store), sql, 0, 0, simulated_run, error) < 0)
        return -1;
    if (*simulated_run == 0)
        return 0;
    return gt_verdict_find_measured(store, *simulated_run, measured_run, error);
}

static double share_pct(uint32_t part, uint32_t whole)
{
    return whole == 0 ? NAN : 100.0 * part / whole;
}

/* Pearson's r of the measured and the simulated makespans. */
static double correlation(const struct gt_verdict *verdicts, uint32_t count)
{
    struct gt_correlation r = { 0 };

    for (uint32_t i = 0; i < count; i++) {
        const struct gt_comparison *c = &verdicts[i].comparison;

        if (!isnan(c->makespan_error_pct))
            gt_correlation_add(&r, c->makespan_measured_us, c->makespan_simulated_us);
    }
    return gt_correlation_r(&r);
}

static void count_off(const struct gt_verdict *verdicts, uint32_t count, double allowed_excess_pct,
                      struct gt_suite *suite)
{
    uint32_t starts_off = 0, placed = 0, placed_off = 0, ordered = 0, order_off = 0;

    for (uint32_t i = 0; i < count; i++) {
        starts_off += verdicts[i].start_allowed_share > 1;
        placed += !isnan(verdicts[i].placement_excess_pct);
        placed_off += verdicts[i].placement_excess_pct > allowed_excess_pct;
        if (!(verdicts[i].repeats.order.pairs > 0))
            continue; /* false with a NAN */
        ordered++;
        order_off += verdicts[i].repeats.order.wrong > 0;
        suite->order_pairs += verdicts[i].repeats.order.pairs;
        suite->order_wrong += verdicts[i].repeats.order.wrong;
    }
    suite->order_off_pct = share_pct(order_off, ordered);
    suite->start_off_pct = share_pct(starts_off, suite->traces);
    suite->placement_off_pct = share_pct(placed_off, placed);
    suite->placement_within_pct = share_pct(placed - placed_off, placed);
}

static int hold_suite(struct gt_store *store, const struct gt_verdict *verdicts, uint32_t count,
                      struct gt_suite *suite, struct gt_error *error)
{
    if (count == 1) {
        suite->within = verdicts[0].within;
        return 0;
    }
    suite->within = true;
    for (size_t i = 0; i < gt_suite_metric_count; i++) {
        const struct gt_suite_metric *metric = &gt_suite_metrics[i];
        double value = *(const double *)(const void *)((const char *)suite + metric->member);

        if (hold(store, &metric->row, value, &suite->within, error) != 0)
            return -1;
    }
    return 0;
}

/* Of |makespan error| with the host's calls as they were measured, where that was simulated. */
static void sum_up_gpu_part(const struct gt_verdict *verdicts, uint32_t count, struct gt_suite *suite)
{
    double *errors = gt_calloc(count + 1ull, sizeof *errors);
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; i++) {
        double error_pct = fabs(gt_verdict_value(&verdicts[i], "makespan_error_gpu_pct"));

        if (!isnan(error_pct))
            errors[found++] = error_pct;
    }
    qsort(errors, found, sizeof *errors, gt_by_double);
    suite->gpu_median_pct = found > 0 ? gt_percentile(errors, found, 50) : NAN;
    suite->gpu_p95_pct = found > 0 ? gt_percentile(errors, found, 95) : NAN;
    suite->gpu_max_pct = found > 0 ? gt_percentile(errors, found, 100) : NAN;
    free(errors);
}

/* Of traces that a range was stated for. */
static void sum_up_ranges(const struct gt_verdict *verdicts, uint32_t count, struct gt_suite *suite)
{
    double *widths = gt_calloc(count + 1ull, sizeof *widths), within = 0, runs = 0;
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; i++) {
        double in_range = gt_verdict_value(&verdicts[i], "range_runs");

        if (isnan(in_range))
            continue;
        within += in_range;
        runs += verdicts[i].repeats.count;
        widths[found++] =
            100 * (gt_verdict_value(&verdicts[i], "range_high_us") - gt_verdict_value(&verdicts[i], "range_low_us")) /
            verdicts[i].comparison.makespan_simulated_us;
    }
    suite->range_runs_pct = runs > 0 ? 100 * within / runs : NAN;
    suite->range_width_pct = found > 0 ? gt_median(widths, found) : NAN;
    free(widths);
}

int gt_verdict_suite(struct gt_store *store, const struct gt_verdict *verdicts, uint32_t count,
                     struct gt_suite *suite, struct gt_error *error)
{
    double *errors = gt_calloc(count + 1ull, sizeof *errors), allowed_excess_pct, sum = 0;
    const struct gt_metric *excess = gt_metric_find("placement_excess_pct");

    *suite = (struct gt_suite){ .within = true };
    for (uint32_t i = 0; i < count; i++) {
        double error_pct = fabs(verdicts[i].comparison.makespan_error_pct);

        if (isnan(error_pct))
            continue;
        errors[suite->traces++] = error_pct;
        sum += error_pct;
    }
    qsort(errors, suite->traces, sizeof *errors, gt_by_double);
    suite->error_median_pct = gt_percentile(errors, suite->traces, 50);
    suite->error_p95_pct = gt_percentile(errors, suite->traces, 95);
    suite->error_max_pct = gt_percentile(errors, suite->traces, 100);
    suite->mape_pct = suite->traces == 0 ? NAN : sum / suite->traces;
    suite->pearson = correlation(verdicts, count);
    free(errors);
    sum_up_gpu_part(verdicts, count, suite);
    sum_up_ranges(verdicts, count, suite);
    if (gt_store_threshold(store, &excess->row, &allowed_excess_pct, error) != 0)
        return -1;
    count_off(verdicts, count, allowed_excess_pct, suite);
    return hold_suite(store, verdicts, count, suite, error);
}

/* The GPU's part of the error alone: the host's calls taken from the measured run. */

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

/* Measured makespans held against the range that the simulation stated. */

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
