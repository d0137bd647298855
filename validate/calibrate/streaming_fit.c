#include "validate/calibrate/streaming_fit.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/shapes/kernel_time.h"
#include "validate/calibrate/analysis.h"

enum { LEAST, L2, DRAM, HOLDS, SPILLS, PARAMETERS, MOST_ROUNDS = 100 };
static const char *const keys[PARAMETERS] = { "kernel.least_us", "kernel.l2_part", "kernel.dram_part",
                                              "kernel.l2_holds_part", "kernel.l2_spills_part" };
static const double first_step = 2, last_step = 1.0005, least_above_0 = 1e-3;

static void set(struct gt_device *device, const double *values)
{
    device->kernel.least_ps = (uint64_t)(values[LEAST] * 1e6 + 0.5);
    device->kernel.l2_part = values[L2];
    device->kernel.dram_part = values[DRAM];
    device->kernel.l2_holds_part = values[HOLDS];
    device->kernel.l2_spills_part = values[SPILLS];
}

static double predicted_us(const struct gt_device *device, double bytes)
{
    return (double)device->kernel.least_ps / 1e6 + gt_kernel_bytes_us(device, bytes);
}

static double error_of(struct gt_device *device, const double *values, const struct gt_streaming *kernels,
                       size_t count)
{
    double sum = 0;

    if (values[SPILLS] < values[HOLDS])
        return INFINITY;
    set(device, values);
    for (size_t i = 0; i < count; i++)
        sum += pow(log(predicted_us(device, kernels[i].bytes) / kernels[i].us), 2);
    return sum;
}

static double within(int parameter, double value)
{
    const struct gt_key *key = gt_device_find_key(keys[parameter]);

    return fmin(fmax(value, fmax(key->low, least_above_0)), key->high);
}

/* Try that parameter larger and smaller by a factor; keep what is better. */
static bool improve(struct gt_device *device, double *values, int parameter, double factor, double *error,
                    const struct gt_streaming *kernels, size_t count)
{
    double before = values[parameter],
           tried[] = { within(parameter, before * factor), within(parameter, before / factor) };

    for (int i = 0; i < 2; i++) {
        values[parameter] = tried[i];
        double now = error_of(device, values, kernels, count);
        if (now < *error) {
            *error = now;
            return true;
        }
    }
    values[parameter] = before;
    return false;
}

double gt_streaming_fit(struct gt_device *device, const struct gt_streaming *kernels, size_t count)
{
    const struct gt_kernel_costs *costs = &device->kernel;
    double values[PARAMETERS] = { INFINITY, costs->l2_part, costs->dram_part, costs->l2_holds_part,
                                  costs->l2_spills_part };
    double *errors = gt_calloc(count, sizeof *errors), error, median;

    for (size_t i = 0; i < count; i++)
        values[LEAST] = fmin(values[LEAST], kernels[i].us);
    values[LEAST] = within(LEAST, values[LEAST]);
    error = error_of(device, values, kernels, count);
    for (double step = first_step; step > last_step; step = sqrt(step)) {
        bool better = true;
        for (int round = 0; round < MOST_ROUNDS && better; round++) {
            better = false;
            for (int i = 0; i < PARAMETERS; i++)
                better |= improve(device, values, i, step, &error, kernels, count);
        }
    }
    set(device, values);
    for (size_t i = 0; i < count; i++)
        errors[i] = fabs(predicted_us(device, kernels[i].bytes) / kernels[i].us - 1);
    median = gt_summarise(errors, count).median;
    free(errors);
    return median;
}
