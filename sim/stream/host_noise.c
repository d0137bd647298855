#include "sim/stream/host_noise.h"

#include <math.h>

#include "sim/machine/durations.h"
#include "sim/workload/block_cost.h"

/* The normal distribution's value below which a part of it lies, in 60 halvings; it is asked for once a run. */
static double normal_quantile(double part)
{
    double low = -9, high = 9;

    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;

        if (erfc(-middle / M_SQRT2) / 2 < part)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

double gt_noise_run_factor(const struct gt_device *device, const struct gt_options *options)
{
    double spread = hypot(device->noise_run_pct, device->noise_hosts_pct) / 100;

    if (options->noise_draw == 0)
        return 1;
    return exp(spread * normal_quantile((options->noise_draw - 0.5) / options->noise_draws));
}

/* What is drawn for one call or operation, numbers that have nothing to do with each other. */
enum drawn { RADIUS, ANGLE, INTERRUPTED, LENGTH, DRAWN };

static double chance(const struct gt_machine *m, bool of_op, uint32_t index, enum drawn drawn)
{
    const struct gt_options *options = m->options;

    /* more than 0, of which there is a logarithm */
    return (gt_random_bits(options->seed, options->noise_draw, ((uint64_t)index * 2 + of_op) * DRAWN + drawn) + 0.5) /
           0x1p64;
}

/* Log-normal, 1 in the median (Box and Muller, 1958). */
static double factor(const struct gt_machine *m, bool of_op, uint32_t index, uint32_t spread_pct)
{
    double normal = sqrt(-2 * log(chance(m, of_op, index, RADIUS))) * cos(2 * M_PI * chance(m, of_op, index, ANGLE));

    return exp(spread_pct / 100.0 * normal);
}

/* As many of them as there are, as one. */
static double interruption_ps(const struct gt_machine *m, bool of_op, uint32_t index, double ps)
{
    double rate = m->device->interrupts_per_ms * ps / 1e9;

    if (chance(m, of_op, index, INTERRUPTED) >= 1 - exp(-rate))
        return 0;
    return -log(chance(m, of_op, index, LENGTH)) * (double)m->device->interrupt_ps;
}

gt_time_ps gt_noise_call_ps(const struct gt_machine *m, gt_call_index call, gt_time_ps usual_ps)
{
    double ps = (double)usual_ps * m->noise_run_factor;

    if (m->options->noise_draw == 0)
        return usual_ps;
    ps *= factor(m, false, call, m->device->noise_call_pct);
    return gt_whole_ps(ps + interruption_ps(m, false, call, ps));
}

gt_time_ps gt_noise_pick_up_ps(const struct gt_machine *m, gt_op_index op, gt_time_ps usual_ps)
{
    if (m->options->noise_draw == 0)
        return usual_ps;
    return gt_whole_ps((double)usual_ps * factor(m, true, op, m->device->noise_pick_up_pct));
}
