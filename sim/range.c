#include "sim/range.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/sort.h"

/* When operations of the GPU ran. */
struct extent {
    const struct gt_workload *workload;
    gt_time_ps start_ps, end_ps;
};

static int take_op(void *user, const struct gt_op_record *record, struct gt_error *error)
{
    struct extent *extent = user;

    (void)error;
    if (extent->workload->ops[record->op].kind == GT_OP_HOST_FUNCTION)
        return 0;
    if (record->start_ps < extent->start_ps)
        extent->start_ps = record->start_ps;
    if (record->end_ps > extent->end_ps)
        extent->end_ps = record->end_ps;
    return 0;
}

/* 0 where no operation ran. */
static int makespan_us(const struct gt_workload *workload, const struct gt_device *device,
                       const struct gt_options *options, double *us, struct gt_error *error)
{
    struct extent extent = { workload, GT_TIME_NONE, 0 };
    const struct gt_probe probe = { .user = &extent, .op = take_op };
    struct gt_summary summary;

    if (gt_simulate(workload, device, options, &probe, &summary, error) != 0)
        return -1;
    *us = extent.start_ps < extent.end_ps ? (double)(extent.end_ps - extent.start_ps) / 1e6 : 0;
    return 0;
}

/* Does the host's time come from the device file, all of it?  Its own work states how long it takes. */
static bool host_is_simulated(const struct gt_workload *workload)
{
    for (uint32_t i = 0; i < workload->call_count; i++)
        if (workload->calls[i].duration_ps != GT_TIME_NONE && workload->calls[i].kind != GT_CALL_HOST_WORK)
            return false;
    return true;
}

/* Real makespans of one simulated: the middles of equally likely parts of the distribution of what it is off by. */
enum { ERRORS = 20 };
static void spread_error(double simulated_us, double mean_pct, double *real_us)
{
    for (int i = 0; i < ERRORS; i++) {
        double part = (i + 0.5) / ERRORS;

        real_us[i] = simulated_us * exp(mean_pct / 100 * (part < 0.5 ? log(2 * part) : -log(2 * (1 - part))));
    }
}

/* Between the values below which `pct` of 100 lie and the others; they are sorted. */
static double point(const double *values, uint32_t count, uint32_t pct)
{
    uint32_t at = count * pct / 100;

    return (values[at - 1] + values[at]) / 2;
}

static void find_ends(double usual_us, double *real_us, struct gt_makespan_range *range)
{
    enum { ALL = GT_RANGE_DRAWS * ERRORS };

    qsort(real_us, ALL, sizeof *real_us, gt_by_double);
    range->draws = GT_RANGE_DRAWS;
    range->low_us = fmin(usual_us, point(real_us, ALL, 5));
    range->high_us = fmax(usual_us, point(real_us, ALL, 95));
}

/* Else all draws are alike. */
static bool has_noise(const struct gt_device *device)
{
    return device->noise_hosts_pct > 0 || device->noise_run_pct > 0 || device->noise_call_pct > 0 ||
           device->noise_pick_up_pct > 0 || (device->interrupts_per_ms > 0 && device->interrupt_ps > 0);
}

int gt_range_of(const struct gt_workload *workload, const struct gt_device *device, const struct gt_options *options,
                const struct gt_summary *usual, struct gt_makespan_range *range, struct gt_error *error)
{
    struct gt_options drawn = *options;
    double real_us[GT_RANGE_DRAWS * ERRORS], usual_us, draw_us;

    range->draws = 0;
    if (usual->events > GT_RANGE_EVENTS_MOST || options->host != NULL || !host_is_simulated(workload))
        return 0;
    if (makespan_us(workload, device, options, &usual_us, error) != 0)
        return -1;
    draw_us = usual_us;
    drawn.noise_draws = GT_RANGE_DRAWS;
    for (uint32_t i = 0; i < GT_RANGE_DRAWS && usual_us > 0; i++) {
        drawn.noise_draw = i + 1;
        if (has_noise(device) && makespan_us(workload, device, &drawn, &draw_us, error) != 0)
            return -1;
        spread_error(draw_us, device->error_pct, &real_us[i * ERRORS]);
    }
    if (usual_us > 0)
        find_ends(usual_us, real_us, range);
    return 0;
}
