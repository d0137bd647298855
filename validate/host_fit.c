/* Fits costs of the host to what calls of played traces told (host_samples.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "validate/host_samples.h"

/* Where a device has them. */
#define AT(field) offsetof(struct gt_device, field)
#define NOWHERE   SIZE_MAX
static const struct place {
    size_t call, extra;
} places[GT_HOST_ROWS] = {
    [GT_HOST_LAUNCH] = { AT(launch_call_ps), AT(launch_extra) },
    [GT_HOST_COPY] = { AT(copy_call_ps), AT(copy_extra) },
    [GT_HOST_COPY_WITHIN] = { AT(copy_within_call_ps), NOWHERE }, /* its extras are a copy's */
    [GT_HOST_MEMSET] = { AT(memset_call_ps), AT(memset_extra) },
    [GT_HOST_HOST_FUNCTION] = { AT(host_function_call_ps), AT(host_function_extra) },
    [GT_HOST_EVENT] = { AT(event_call_ps), AT(event_extra) },
    [GT_HOST_SYNC] = { AT(sync_call_ps), NOWHERE },
};

/* The median of what is left of the samples that have `extra` (GT_EXTRAS: of all) without the other terms. */
static double left_ps(const struct gt_host_samples *samples, enum gt_host_extra extra, double base_ps,
                      const double *extras_ps, uint64_t *count)
{
    double *left = gt_calloc(samples->count + 1, sizeof *left), median;

    *count = 0;
    for (uint64_t i = 0; i < samples->count; i++) {
        const struct gt_host_sample *sample = &samples->values[i];

        if (extra != GT_EXTRAS && !sample->has[extra])
            continue;
        left[*count] = sample->ps - (extra == GT_EXTRAS ? 0 : base_ps);
        for (int j = 0; j < GT_EXTRAS; j++)
            if (j != (int)extra && sample->has[j])
                left[*count] -= extras_ps[j];
        ++*count;
    }
    median = gt_median(left, *count);
    free(left);
    return *count == 0 ? 0 : median;
}

/* Least absolute deviations, term after term: each the median of what the others leave. */
enum { ROUNDS = 40 };
static double fit(const struct gt_host_samples *samples, bool with_extras, double *extras_ps)
{
    uint64_t count;
    double base_ps = left_ps(samples, GT_EXTRAS, 0, extras_ps, &count);

    for (int round = 0; round < ROUNDS && with_extras; round++) {
        base_ps = left_ps(samples, GT_EXTRAS, 0, extras_ps, &count);
        for (int extra = 0; extra < GT_EXTRAS; extra++) {
            double more_ps = left_ps(samples, (enum gt_host_extra)extra, base_ps, extras_ps, &count);

            extras_ps[extra] = count >= GT_HOST_COSTS_LEAST ? fmax(0, more_ps) : 0;
        }
    }
    return fmax(0, base_ps);
}

static void put(struct gt_device *device, size_t place, double ps)
{
    *(uint64_t *)(void *)((char *)device + place) = (uint64_t)ps;
}

/* What the fit of a row begins with: nothing; but the extras of copies within the device are a copy's, as the device has
 * them by now. */
static void take_extras(const struct gt_device *device, enum gt_host_row row, double *extras_ps)
{
    const struct gt_call_extra *extra = &device->copy_extra;
    const bool within = row == GT_HOST_COPY_WITHIN;

    extras_ps[GT_EXTRA_COLD] = within ? (double)extra->cold_ps : 0;
    extras_ps[GT_EXTRA_FIRST] = within ? (double)extra->first_ps : 0;
    extras_ps[GT_EXTRA_AFTER] = within ? (double)extra->after_ps : 0;
}

/* All parts of a graph launch by the median of what launches took, of what they would by the device. */
static void apply_graphs(const struct gt_host_costs *costs, struct gt_device *device)
{
    double *ratios = gt_calloc(costs->graph_count + 1, sizeof *ratios), ratio;
    uint64_t count = 0;

    for (uint64_t i = 0; i < costs->graph_count; i++) {
        const struct gt_host_graph *g = &costs->graphs[i];
        double ps = (double)device->graph_call_ps + g->groups * (double)device->graph_group_ps +
                    g->nodes * (double)device->graph_node_ps + g->copies * (double)device->graph_copy_ps;

        if (ps > 0)
            ratios[count++] = g->ps / ps;
    }
    ratio = gt_median(ratios, count);
    free(ratios);
    if (count < GT_HOST_COSTS_LEAST)
        return;
    device->graph_call_ps = (uint64_t)((double)device->graph_call_ps * ratio);
    device->graph_group_ps = (uint64_t)((double)device->graph_group_ps * ratio);
    device->graph_node_ps = (uint64_t)((double)device->graph_node_ps * ratio);
    device->graph_copy_ps = (uint64_t)((double)device->graph_copy_ps * ratio);
}

/* How fast the host copies one way, 0 where too few tell, from copies of more than the staging buffers hold: of one in
 * the host stages all but the first chunk between the copy's start and the call's end, one out it empties once the
 * first chunk is there.  Smaller ones do not tell: by eight of 1 MiB again and again one host copied at 10, 14 and 19
 * GB/s from process to process. */
enum { STAGED_LEAST = 3 };
static double staging_gbps(const struct gt_host_costs *costs, const struct gt_device *device, bool out)
{
    const struct gt_copy_cost *link = &device->d2h_pinned;
    double *rates = gt_calloc(costs->staged_count + 1, sizeof *rates), gbps;
    double chunk = (double)device->staging_chunk_bytes;
    double chunk_ps = (double)link->latency_ps + chunk * 1000 / link->gbps;
    uint64_t count = 0;

    for (uint64_t i = 0; i < costs->staged_count; i++) {
        const struct gt_host_staged *s = &costs->staged[i];
        double bytes = out ? s->bytes : s->bytes - chunk, ps = out ? s->ps - chunk_ps : s->ps;

        if (s->out == out && s->bytes > chunk * device->staging_buffers && ps > 0)
            rates[count++] = bytes * 1000 / ps;
    }
    gbps = count < STAGED_LEAST ? 0 : gt_median(rates, count);
    free(rates);
    return gbps;
}

static void apply_staging(const struct gt_host_costs *costs, struct gt_device *device)
{
    double in_gbps = staging_gbps(costs, device, false), out_gbps = staging_gbps(costs, device, true);

    if (device->staging_chunk_bytes == 0)
        return;
    if (in_gbps > 0)
        device->staging_in_gbps = in_gbps;
    if (out_gbps > 0)
        device->staging_out_gbps = out_gbps;
}

double gt_host_usual_ps(const struct gt_device *device, enum gt_host_row row, const struct gt_host_sample *sample)
{
    const struct place *place = &places[row], *extra = row == GT_HOST_COPY_WITHIN ? &places[GT_HOST_COPY] : place;
    double ps = (double)*(const uint64_t *)(const void *)((const char *)device + place->call);

    for (int i = 0; i < GT_EXTRAS && extra->extra != NOWHERE; i++)
        if (sample->has[i])
            ps += (double)((const uint64_t *)(const void *)((const char *)device + extra->extra))[i];
    return ps;
}

/* What launches that began beside others took beyond what they do alone, by the number of the others. */
static void apply_contention(const struct gt_host_costs *costs, struct gt_device *device)
{
    double *more = gt_calloc(costs->contended.count + 1, sizeof *more), median;
    uint64_t count = 0;

    for (uint64_t i = 0; i < costs->contended.count; i++) {
        const struct gt_host_sample *sample = &costs->contended.values[i];

        if (sample->row == GT_HOST_LAUNCH && sample->others > 0)
            more[count++] = (sample->ps - gt_host_usual_ps(device, GT_HOST_LAUNCH, sample)) / sample->others;
    }
    median = gt_median(more, count);
    free(more);
    if (count >= GT_HOST_COSTS_LEAST)
        device->submit_lock_ps = (uint64_t)fmax(0, median);
}

uint64_t gt_host_costs_apply(const struct gt_host_costs *costs, struct gt_device *device)
{
    double extras_ps[GT_EXTRAS] = { 0 };
    uint64_t count, calls = costs->returns.count + costs->graph_count;

    for (int row = 0; row < GT_HOST_ROWS; row++) {
        const struct gt_host_samples *samples = &costs->rows[row];
        bool with_extras = places[row].extra != NOWHERE;

        calls += samples->count;
        if (samples->count < GT_HOST_COSTS_LEAST)
            continue;
        take_extras(device, (enum gt_host_row)row, extras_ps);
        put(device, places[row].call, fit(samples, with_extras, extras_ps));
        for (int extra = 0; extra < GT_EXTRAS && with_extras; extra++)
            put(device, places[row].extra + (size_t)extra * sizeof(uint64_t), extras_ps[extra]);
    }
    memset(extras_ps, 0, sizeof extras_ps);
    if (costs->pick_ups.count >= GT_HOST_COSTS_LEAST)
        device->host_function_ps = (uint64_t)fmax(0, left_ps(&costs->pick_ups, GT_EXTRAS, 0, extras_ps, &count));
    apply_graphs(costs, device);
    apply_staging(costs, device);
    apply_contention(costs, device);
    if (costs->returns.count >= GT_HOST_COSTS_LEAST)
        device->sync_return_ps = (uint64_t)fmax(0, left_ps(&costs->returns, GT_EXTRAS, 0, extras_ps, &count));
    gt_host_noise_apply(costs, device);
    return calls;
}

static uint64_t in_proportion(uint64_t ps, uint64_t now_ps, uint64_t before_ps)
{
    return before_ps > 0 ? (uint64_t)((double)ps * (double)now_ps / (double)before_ps) : ps;
}

/* Seen on three hosts: copies to another GPU took 0.97 to 1.05 times as long as copies from the host (2.4, 3.0, 4.9 us), and
 * 0.8 to 1.2 times that more where they were pulled; a lock was handed on in 6.6 us where a launch took 4.0, and in about
 * 9 where it took 5.8. */
void gt_host_scale_others(struct gt_device *device, const struct gt_device *before)
{
    uint64_t *const of_links[] = { &device->link_call_ps, &device->link_pull_call_ps, &device->link_host_call_ps,
                                   &device->link_host_piece_call_ps };

    for (size_t i = 0; i < sizeof of_links / sizeof of_links[0]; i++)
        *of_links[i] = in_proportion(*of_links[i], device->copy_call_ps, before->copy_call_ps);
    device->lock_ps = in_proportion(device->lock_ps, device->launch_call_ps, before->launch_call_ps);
}
