/* Simulated against measured, with what may differ: thresholds are rows of table metric. */
#include <math.h>
#include <stdlib.h>

#include "sim/base/sort.h"
#include "traces/compare/correlation.h"
#include "traces/compare/repetitions.h"
#include "traces/store/internal.h"

/* A start may be off by 1 % of the makespan, and by 2 us in any case. */
static const double allowed_share = 0.01, allowed_least_us = 2;

static double excess_pct(const struct gt_repeats *repeats)
{
    return isnan(repeats->placement_floor_pct) ? NAN
         : fmax(0, repeats->placement_pct - repeats->placement_floor_pct);
}

static int threshold_of(struct gt_store *store, const char *metric, double *threshold, struct gt_error *error)
{
    sqlite3_stmt *query = gt_store_prepare(store, "SELECT threshold FROM metric WHERE metric = ?", error);
    int code;

    *threshold = NAN;
    if (query == NULL)
        return -1;
    sqlite3_bind_text(query, 1, metric, -1, SQLITE_STATIC);
    code = sqlite3_step(query);
    if (code == SQLITE_ROW && sqlite3_column_type(query, 0) != SQLITE_NULL)
        *threshold = sqlite3_column_double(query, 0);
    sqlite3_finalize(query);
    return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : gt_store_fail(store, error);
}

struct value { const char *metric; double value; };

/* A value that is not there exceeds nothing. */
static int hold_against(struct gt_store *store, const struct value *values, size_t count, bool *within,
                        struct gt_error *error)
{
    *within = true;
    for (size_t i = 0; i < count; i++) {
        double threshold;

        if (threshold_of(store, values[i].metric, &threshold, error) != 0)
            return -1;
        if (fabs(values[i].value) > threshold) /* false with a NAN */
            *within = false;
    }
    return 0;
}

static int keep_values(struct gt_store *store, const struct gt_verdict *judgement,
                       const struct value *values, size_t count, struct gt_error *error)
{
    sqlite3_stmt *insert;
    int result = 0;

    if (gt_store_comparison(store, judgement->simulated_run, judgement->repeats.median_run,
                            &judgement->comparison, error) != 0
        || gt_store_begin(store, error) != 0)
        return -1;
    /* A store that was made before a metric was thought of does not get it. */
    insert = gt_store_prepare(store, "INSERT OR REPLACE INTO comparison SELECT ?1, ?2, metric, ?4 FROM metric"
                              " WHERE metric = ?3", error);
    result = insert == NULL ? -1 : 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        sqlite3_bind_int64(insert, 1, judgement->simulated_run);
        sqlite3_bind_int64(insert, 2, judgement->repeats.median_run);
        sqlite3_bind_text(insert, 3, values[i].metric, -1, SQLITE_STATIC);
        sqlite3_bind_double(insert, 4, values[i].value); /* SQLite makes NULL of a NAN */
        result = gt_store_step(store, insert, error);
    }
    sqlite3_finalize(insert);
    return gt_store_finish(store, result, error);
}

int gt_verdict_of(struct gt_store *store, int64_t simulated_run, bool keep, struct gt_verdict *judgement,
             struct gt_error *error)
{
    struct gt_comparison *comparison = &judgement->comparison;
    struct gt_repeats *repeats = &judgement->repeats;

    *judgement = (struct gt_verdict){ .simulated_run = simulated_run };
    if (gt_repeats_of(store, simulated_run, repeats, error) != 0
            || gt_compare(store, simulated_run, repeats->median_run, comparison, error) != 0)
        return -1;
    judgement->start_allowed_share = comparison->start_error_us.median
        / fmax(allowed_share * comparison->makespan_measured_us, allowed_least_us);
    judgement->placement_excess_pct = excess_pct(repeats);

    const struct value values[] = {
        { "makespan_error_pct", comparison->makespan_error_pct },
        { "start_error_allowed_share", judgement->start_allowed_share },
        { "repetitions", repeats->count },
        { "makespan_spread_pct", repeats->spread_pct },
        { "placement_pct", repeats->placement_pct },
        { "placement_floor_pct", repeats->placement_floor_pct },
        { "placement_excess_pct", judgement->placement_excess_pct },
        { "order_pairs", repeats->order.pairs },
        { "order_wrong", repeats->order.wrong },
        { "unmatched", repeats->count > 0 ? (double)comparison->unmatched : NAN },
    };
    const size_t count = sizeof values / sizeof values[0];

    if (hold_against(store, values, count, &judgement->within, error) != 0)
        return -1;
    return keep && repeats->median_run != 0 ? keep_values(store, judgement, values, count, error) : 0;
}

static double share_pct(uint32_t part, uint32_t whole)
{
    return whole == 0 ? NAN : 100.0 * part / whole;
}

/* Pearson's r of the measured and the simulated makespans. */
static double correlation(const struct gt_verdict *judgements, uint32_t count)
{
    struct gt_correlation r = { 0 };

    for (uint32_t i = 0; i < count; i++) {
        const struct gt_comparison *c = &judgements[i].comparison;

        if (!isnan(c->makespan_error_pct))
            gt_correlation_add(&r, c->makespan_measured_us, c->makespan_simulated_us);
    }
    return gt_correlation_r(&r);
}

static void count_off(const struct gt_verdict *judgements, uint32_t count, double allowed_excess_pct,
                      struct gt_suite *suite)
{
    uint32_t starts_off = 0, placed = 0, placed_off = 0, ordered = 0, order_off = 0;

    for (uint32_t i = 0; i < count; i++) {
        starts_off += judgements[i].start_allowed_share > 1;
        placed += !isnan(judgements[i].placement_excess_pct);
        placed_off += judgements[i].placement_excess_pct > allowed_excess_pct;
        if (!(judgements[i].repeats.order.pairs > 0))
            continue;   /* false with a NAN */
        ordered++;
        order_off += judgements[i].repeats.order.wrong > 0;
        suite->order_pairs += judgements[i].repeats.order.pairs;
        suite->order_wrong += judgements[i].repeats.order.wrong;
    }
    suite->order_off_pct = share_pct(order_off, ordered);
    suite->start_off_pct = share_pct(starts_off, suite->traces);
    suite->placement_off_pct = share_pct(placed_off, placed);
    suite->placement_within_pct = share_pct(placed - placed_off, placed);
}

static int judge_limits(struct gt_store *store, const struct gt_verdict *judgements, uint32_t count,
                        struct gt_suite *suite, struct gt_error *error)
{
    const struct value values[] = {
        { "suite_makespan_error_median_pct", suite->error_median_pct },
        { "suite_makespan_error_p95_pct", suite->error_p95_pct },
        { "suite_makespan_error_max_pct", suite->error_max_pct },
        { "suite_start_off_pct", suite->start_off_pct },
        { "suite_placement_off_pct", suite->placement_off_pct },
        { "suite_order_off_pct", suite->order_off_pct },
    };

    if (count == 1) {
        suite->within = judgements[0].within;
        return 0;
    }
    return hold_against(store, values, sizeof values / sizeof values[0], &suite->within, error);
}

int gt_verdict_suite(struct gt_store *store, const struct gt_verdict *judgements, uint32_t count,
                   struct gt_suite *suite, struct gt_error *error)
{
    double *errors = gt_calloc(count + 1ull, sizeof *errors), allowed_excess_pct, sum = 0;

    *suite = (struct gt_suite){ .within = true };
    for (uint32_t i = 0; i < count; i++) {
        double error_pct = fabs(judgements[i].comparison.makespan_error_pct);

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
    suite->pearson = correlation(judgements, count);
    free(errors);
    if (threshold_of(store, "placement_excess_pct", &allowed_excess_pct, error) != 0)
        return -1;
    count_off(judgements, count, allowed_excess_pct, suite);
    return judge_limits(store, judgements, count, suite, error);
}
