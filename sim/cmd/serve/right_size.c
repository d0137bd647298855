#include "sim/cmd/serve/right_size.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cmd/serve/serve_result.h"

static const double slack = 1.1; /* of the p99 on all SMs, where there is no deadline */

bool gt_serve_is_right_sized(const struct gt_serve_load *serve)
{
    return strcmp(serve->share, GT_SHARE_RIGHT_SIZED) == 0;
}

/* What is asked of every simulation on the way. */
struct sizing {
    struct gt_serve_load *serve;
    uint64_t seed;
    bool noise, quiet;
};

/* The tenant's p99 alone on so many SMs. */
static int p99_us(const struct sizing *sizing, uint32_t tenant, uint32_t sms, double *us, struct gt_error *error)
{
    struct gt_serve_result *result = gt_calloc(1, sizeof *result);
    struct gt_progress progress;
    const struct gt_serve_asked asked = { .seed = sizing->seed,
                                          .noise = sizing->noise,
                                          .sink = gt_serve_result_take,
                                          .user = result,
                                          .progress = &progress };
    int status;

    result->serve = sizing->serve;
    sizing->serve->sharings[tenant] = (struct gt_sharing){ .how = GT_SHARE_GREEN, .green_sms = (uint16_t)sms };
    gt_progress_begin(&progress, "sizing", sizing->quiet);
    status = gt_serve_simulate_one(sizing->serve, tenant, &asked, error);
    gt_progress_end(&progress);
    gt_serve_result_finish(result);
    *us = gt_serve_percentile_us(&result->tenants[0], 99);
    gt_serve_result_free(result);
    free(result);
    return status;
}

/* The fewest steps of SMs that are enough, by halving: more SMs never make it slower. */
static int size_one(const struct sizing *sizing, uint32_t tenant, uint32_t *sms, struct gt_error *error)
{
    const struct gt_tenant *own = &sizing->serve->load.tenants[tenant];
    uint32_t step = sizing->serve->device.green_step_sms, all = sizing->serve->device.sms, low = 1,
             high = (all + step - 1) / step;
    struct gt_error too_few;
    double us, target_us;

    if (own->arrivals.kind == GT_ARRIVALS_CLOSED && own->arrivals.most == 0 && own->arrivals.until_ps == GT_TIME_NONE)
        return gt_error_set(error, "tenant '%.60s' never ends alone: give it \"requests\", or the load \"seconds\"",
                            own->name);
    if (p99_us(sizing, tenant, all, &us, error) != 0)
        return -1;
    target_us = own->deadline_ps != GT_TIME_NONE ? (double)own->deadline_ps / 1e6 : slack * us;
    if (us > target_us)
        return gt_error_set(error, "tenant '%.60s' misses its deadline even on all SMs: its p99 is %.1f us",
                            own->name, us);
    while (low < high) {
        uint32_t middle = (low + high) / 2;

        /* Too few for a kernel whose blocks must all fit at once: not enough, as well. */
        if (p99_us(sizing, tenant, middle * step, &us, &too_few) == 0 && us <= target_us)
            high = middle;
        else
            low = middle + 1;
    }
    *sms = low * step < all ? low * step : all;
    return 0;
}

/* What is left, in whole steps, for each of the others. */
static int divide(struct gt_serve_load *serve, uint32_t used, uint32_t others, uint32_t *sms, struct gt_error *error)
{
    uint32_t step = serve->device.green_step_sms, left = used < serve->device.sms ? serve->device.sms - used : 0;

    for (uint32_t i = 0; others > 0 && i < serve->load.tenant_count; i++)
        if (!serve->load.tenants[i].critical)
            sms[i] = left / others / step * step;
    if (used <= serve->device.sms && (others == 0 || left / others >= step))
        return 0;
    return gt_error_set(error, "critical tenants need %u of the device's %u SMs, too many beside the others", used,
                        serve->device.sms);
}

int gt_serve_right_size(struct gt_serve_load *serve, uint64_t seed, bool noise, bool quiet, struct gt_error *error)
{
    const struct sizing sizing = { serve, seed, noise, quiet };
    uint32_t sms[GT_LOAD_TENANTS_MAX] = { 0 }, used = 0, others = 0;
    char *text = NULL;

    for (uint32_t i = 0; i < serve->load.tenant_count; i++) {
        if (serve->load.tenants[i].critical && size_one(&sizing, i, &sms[i], error) != 0)
            return -1;
        used += sms[i];
        others += !serve->load.tenants[i].critical;
    }
    if (divide(serve, used, others, sms, error) != 0)
        return -1;
    for (uint32_t i = 0; i < serve->load.tenant_count; i++) {
        char *longer = gt_format("%s%s%u", text != NULL ? text : "green:", text != NULL ? "," : "", sms[i]);

        serve->sharings[i] = (struct gt_sharing){ .how = GT_SHARE_GREEN, .green_sms = (uint16_t)sms[i] };
        free(text);
        text = longer;
    }
    free(serve->sized);
    serve->sized = text;
    if (!quiet)
        fprintf(stderr, "gridtide: right-sized: %s\n", text);
    return 0;
}
