/* The table of metrics. A new one is a row here and, where it is no member of struct gt_verdict yet, a function
 * that computes it, in this file or in one of its own:
 *   1. Write `static int my_metric(struct gt_store *store, const struct gt_verdict *verdict, double *value,
 *      struct gt_error *error)`. verdict->simulated_run and verdict->repeats.median_run are the two runs;
 *      traces/store/query.h reads their rows (view op_error has every operation's two starts).
 *   2. Add the row: { { "my_metric_us", "us", NAN or the largest value within, "what it is" }, COMPUTED(my_metric) }.
 *   3. Test it in tests/unit/compare.c: gt_verdict_value(&verdict, "my_metric_us").
 * That is all: every run is then held against it where it has a threshold, table comparison keeps it, table metric
 * explains it and view error_summary shows it. Stores made before do not have it and are computed anew on reading. */
#include "traces/compare/metrics.h"

#include <math.h>
#include <string.h>

#define MEMBER(name)       offsetof(struct gt_verdict, name)
#define REAL(name)         MEMBER(name), GT_METRIC_REAL, NULL
#define COUNT(name)        MEMBER(name), GT_METRIC_COUNT, NULL
#define COUNT32(name)      MEMBER(name), GT_METRIC_COUNT32, NULL
#define COMPUTED(function) 0, GT_METRIC_REAL, function

const struct gt_metric gt_metrics[] = {
    { { "kernels", "operations", NAN, "kernels of the trace" }, COUNT(comparison.kernels) },
    { { "copies", "operations", NAN, "copies of the trace" }, COUNT(comparison.copies) },
    { { "memsets", "operations", NAN, "memsets of the trace" }, COUNT(comparison.memsets) },
    { { "makespan_measured_us", "us", NAN, "first start to last end of the compared operations, measured" },
      REAL(comparison.makespan_measured_us) },
    { { "makespan_simulated_us", "us", NAN, "first start to last end of the compared operations, simulated" },
      REAL(comparison.makespan_simulated_us) },
    { { "makespan_error_pct", "%", 3, "(simulated - measured) / measured" }, REAL(comparison.makespan_error_pct) },
    { { "makespan_error_gpu_pct", "%", NAN,
        "makespan error of the GPU model alone: host calls are taken from the measured run" },
      COMPUTED(gt_metric_gpu_error_pct) },
    { { "range_low_us", "us", NAN,
        "lower end of the interval expected to contain 9 of 10 measured makespans: gridtide-model(7)" },
      COMPUTED(gt_metric_range_low_us) },
    { { "range_high_us", "us", NAN, "upper end of that interval" }, COMPUTED(gt_metric_range_high_us) },
    { { "range_runs", "runs", NAN, "measured runs whose makespan is in that interval" },
      COMPUTED(gt_metric_range_runs) },
    { { "start_error_median_us", "us", NAN,
        "median |simulated - measured| start time; runs are aligned at their first start" },
      REAL(comparison.start_error_us.median) },
    { { "start_error_p95_us", "us", NAN, "95th percentile of that error, by nearest rank" },
      REAL(comparison.start_error_us.p95) },
    { { "start_error_max_us", "us", NAN, "largest of these errors" }, REAL(comparison.start_error_us.max) },
    { { "start_error_median_pct", "%", NAN, "median start error as a share of the measured makespan" },
      REAL(comparison.start_error_pct.median) },
    { { "start_error_p95_pct", "%", NAN, "95th percentile of the start error as a share of the measured makespan" },
      REAL(comparison.start_error_pct.p95) },
    { { "start_error_max_pct", "%", NAN, "largest start error as a share of the measured makespan" },
      REAL(comparison.start_error_pct.max) },
    { { "start_error_allowed_share", "ratio", 1,
        "median start error / (1 % of the measured makespan or 2 us, whichever is larger)" },
      REAL(start_allowed_share) },
    { { "busy_simulated_pct", "%", NAN, "share of the simulated makespan during which an operation ran" },
      REAL(comparison.busy_simulated_pct) },
    { { "repetitions", "runs", NAN, "measured runs; the one with the median makespan is compared" },
      COUNT32(repeats.count) },
    { { "makespan_spread_pct", "%", NAN, "(longest - shortest) measured makespan / median measured makespan" },
      REAL(repeats.spread_pct) },
    { { "placement_pct", "%", NAN,
        "share of blocks on other SMs than measured: half the sum of differences per SM / all blocks" },
      REAL(repeats.placement_pct) },
    { { "placement_floor_pct", "%", NAN, "the same share between two measured runs, median of all pairs" },
      REAL(repeats.placement_floor_pct) },
    { { "placement_excess_pct", "%", 5, "placement_pct - placement_floor_pct; below 0 is as good as 0" },
      REAL(placement_excess_pct) },
    { { "order_pairs", "pairs", NAN,
        "pairs of kernels that start in the same order, 2 us or more apart, in every measured run" },
      REAL(repeats.order.pairs) },
    { { "order_wrong", "pairs", 0,
        "those of these pairs that start in the opposite order, or at the same time, in the simulated run" },
      REAL(repeats.order.wrong) },
    { { "matched", "operations", NAN, "operations with a time in both runs" }, COUNT(comparison.matched) },
    { { "unmatched", "operations", 0, "operations without a time in one of the runs" }, COUNT(comparison.unmatched) },
};
const size_t gt_metric_count = sizeof gt_metrics / sizeof gt_metrics[0];
_Static_assert(sizeof gt_metrics / sizeof gt_metrics[0] <= GT_METRICS_MAX, "more metrics than a verdict holds");

#define OF_SUITE(name) offsetof(struct gt_suite, name)

const struct gt_suite_metric gt_suite_metrics[] = {
    { { "suite_makespan_error_median_pct", "%", 1, "median |makespan error| of all traces" },
      OF_SUITE(error_median_pct) },
    { { "suite_makespan_error_p95_pct", "%", 3,
        "95th percentile of |makespan error| of all traces, by nearest rank" },
      OF_SUITE(error_p95_pct) },
    { { "suite_makespan_error_max_pct", "%", 8, "largest |makespan error| of all traces" }, OF_SUITE(error_max_pct) },
    { { "suite_start_off_pct", "%", 0, "share of traces whose start error exceeds the allowed one" },
      OF_SUITE(start_off_pct) },
    { { "suite_placement_off_pct", "%", 10, "share of traces whose placement_excess_pct exceeds 5" },
      OF_SUITE(placement_off_pct) },
    { { "suite_order_off_pct", "%", 0, "share of traces with a pair of kernels in the wrong order" },
      OF_SUITE(order_off_pct) },
};
const size_t gt_suite_metric_count = sizeof gt_suite_metrics / sizeof gt_suite_metrics[0];

const struct gt_metric *gt_metric_find(const char *name)
{
    for (size_t i = 0; i < gt_metric_count; i++)
        if (strcmp(gt_metrics[i].row.name, name) == 0)
            return &gt_metrics[i];
    return NULL;
}

double gt_metric_get(const struct gt_metric *metric, const struct gt_verdict *verdict)
{
    const char *member = (const char *)verdict + metric->member;

    switch (metric->type) {
    case GT_METRIC_COUNT: return (double)*(const uint64_t *)(const void *)member;
    case GT_METRIC_COUNT32: return *(const uint32_t *)(const void *)member;
    default: return *(const double *)(const void *)member;
    }
}

void gt_metric_set(const struct gt_metric *metric, struct gt_verdict *verdict, double value)
{
    char *member = (char *)verdict + metric->member;

    switch (metric->type) {
    case GT_METRIC_COUNT: *(uint64_t *)(void *)member = value > 0 && value < 1e18 ? (uint64_t)value : 0; break;
    case GT_METRIC_COUNT32:
        *(uint32_t *)(void *)member = value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;
        break;
    default: *(double *)(void *)member = value; break;
    }
}
