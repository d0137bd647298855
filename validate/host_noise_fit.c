/* How far calls of played traces lie from what they usually take: a run's as a whole, each by itself, and what
 * interrupted them. */
#include <math.h>
#include <stdlib.h>

#include "sim/base/sort.h"
#include "validate/host_samples.h"

/* Calls that take less are too short for the host's clock. */
static const double least_ps = 1e6;

/* What a call took, of what is usual. */
struct part {
    double log, usual_ps;
    uint32_t run;
};
struct parts {
    struct part *values;
    uint64_t count;
};

static int by_run(const void *left, const void *right)
{
    const struct part *a = left, *b = right;

    GT_ORDER(a->run, b->run);
    GT_ORDER(a->log, b->log);
    return 0;
}

/* Of calls with a cost of their own, whose rows the device has by now, by their runs; a wait's may be the GPU's. */
static void take_parts(const struct gt_host_costs *costs, const struct gt_device *device, struct parts *parts)
{
    uint64_t count = 0;

    for (int row = 0; row < GT_HOST_SYNC; row++)
        count += costs->rows[row].count;
    parts->values = gt_calloc(count + 1, sizeof *parts->values);
    for (int row = 0; row < GT_HOST_SYNC; row++) {
        for (uint64_t i = 0; i < costs->rows[row].count; i++) {
            const struct gt_host_sample *sample = &costs->rows[row].values[i];
            double usual_ps = gt_host_usual_ps(device, (enum gt_host_row)row, sample);

            if (usual_ps >= least_ps && sample->ps > 0)
                parts->values[parts->count++] = (struct part){ log(sample->ps / usual_ps), usual_ps, sample->run };
        }
    }
    qsort(parts->values, parts->count, sizeof *parts->values, by_run);
}

/* The standard deviation, in %, of a normal distribution with the same middle 80 %, which rare long calls do not
 * touch. Sorts the values. */
static uint32_t spread_pct(double *values, uint64_t count)
{
    static const double deviations = 2.5631031310892007; /* from the 10 % point to the 90 % point */
    double spread;

    qsort(values, count, sizeof *values, gt_by_double);
    spread = (gt_percentile(values, count, 90) - gt_percentile(values, count, 10)) / deviations;
    return (uint32_t)(100 * fmin(spread, 1) + 0.5);
}

/* Takes each run's own factor, the median of its calls', out of them, and drops runs with too few: how many are left,
 * their factors in `runs`. */
static uint64_t take_out_runs(struct parts *parts, double *runs)
{
    uint64_t kept = 0, run_count = 0, end;

    for (uint64_t first = 0; first < parts->count; first = end) {
        double median;

        for (end = first; end < parts->count && parts->values[end].run == parts->values[first].run;)
            end++;
        if (end - first < GT_HOST_COSTS_LEAST)
            continue;
        median = parts->values[first + (end - first - 1) / 2].log; /* they are sorted */
        runs[run_count++] = median;
        for (uint64_t i = first; i < end; i++) {
            struct part part = parts->values[i];

            part.log -= median;
            part.usual_ps *= exp(median);
            parts->values[kept++] = part;
        }
    }
    parts->count = kept;
    return run_count;
}

/* A call that takes longer than its own noise explains was interrupted, for what it takes beyond that. */
enum { DEVIATIONS = 3 };
static void apply_interruptions(const struct parts *parts, struct gt_device *device)
{
    const double most = exp(DEVIATIONS * device->noise_call_pct / 100.0);
    double all_ps = 0, interrupted_ps = 0;
    uint64_t interruptions = 0;

    for (uint64_t i = 0; i < parts->count; i++) {
        const struct part *part = &parts->values[i];
        double beyond_ps = part->usual_ps * (exp(part->log) - most);

        all_ps += part->usual_ps;
        if (beyond_ps <= 0)
            continue;
        interruptions++;
        interrupted_ps += beyond_ps;
    }
    device->interrupts_per_ms = fmin(1000, (double)interruptions / (all_ps / 1e9));
    if (interruptions > 0)
        device->interrupt_ps = (uint64_t)(interrupted_ps / (double)interruptions);
}

static void apply_pick_ups(const struct gt_host_costs *costs, struct gt_device *device)
{
    double *logs = gt_calloc(costs->pick_ups.count + 1, sizeof *logs);
    uint64_t count = 0;

    for (uint64_t i = 0; i < costs->pick_ups.count; i++)
        if (costs->pick_ups.values[i].ps > 0)
            logs[count++] = log(costs->pick_ups.values[i].ps);
    if (count >= GT_HOST_COSTS_LEAST)
        device->noise_pick_up_pct = spread_pct(logs, count);
    free(logs);
}

void gt_host_noise_apply(const struct gt_host_costs *costs, struct gt_device *device)
{
    struct parts parts = { NULL, 0 };
    double *runs = gt_calloc(costs->runs + 1ull, sizeof *runs), *logs;
    uint64_t run_count;

    take_parts(costs, device, &parts);
    run_count = take_out_runs(&parts, runs);
    logs = gt_calloc(parts.count + 1, sizeof *logs);
    for (uint64_t i = 0; i < parts.count; i++)
        logs[i] = parts.values[i].log;
    if (run_count >= GT_HOST_COSTS_LEAST) {
        device->noise_hosts_pct = 0; /* it is this host */
        device->noise_run_pct = spread_pct(runs, run_count);
        device->noise_call_pct = spread_pct(logs, parts.count);
        apply_interruptions(&parts, device);
    }
    apply_pick_ups(costs, device);
    free(logs);
    free(runs);
    free(parts.values);
}
