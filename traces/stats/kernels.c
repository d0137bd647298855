/* Launches by kernel name: times over all shapes, occupancy of the shape that took most time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/devices/kernel_bound.h"
#include "sim/devices/occupancy.h"
#include "traces/stats/internal.h"

/* One launch shape that was launched. */
struct shape {
    const char *name;
    uint32_t kernel; /* kernel_no */
    struct gt_launches launches;
};

static int by_name_then_time(const void *left, const void *right)
{
    const struct shape *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    if (order != 0)
        return order;
    if (a->launches.total_ps != b->launches.total_ps)
        return a->launches.total_ps > b->launches.total_ps ? -1 : 1;
    return a->kernel < b->kernel ? -1 : a->kernel > b->kernel;
}

static int by_total(const void *left, const void *right)
{
    const struct gt_stats_kernel *a = left, *b = right;

    if (a->total_ps != b->total_ps)
        return a->total_ps > b->total_ps ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void set_occupancy(struct gt_stats_kernel *out, const struct gt_device *device, const struct gt_kernel *shape)
{
    struct gt_occupancy occupancy;

    memcpy(out->grid, shape->grid, sizeof out->grid);
    memcpy(out->block, shape->block, sizeof out->block);
    out->blocks = gt_kernel_blocks(shape);
    out->recorded_occupancy = shape->recorded_occupancy_pct == 0 ? NAN : shape->recorded_occupancy_pct / 100.0;
    out->waves = out->occupancy = NAN;
    if (gt_kernel_threads(shape) == 0 || gt_occupancy_of(device, shape, &occupancy, NULL) != 0)
        return;
    out->blocks_per_sm = occupancy.blocks_per_sm;
    out->limiter = occupancy.limiter;
    out->waves = (double)out->blocks / ((double)device->sms * occupancy.blocks_per_sm);
    out->occupancy = (double)occupancy.blocks_per_sm * occupancy.need.warps / device->warps_per_sm;
}

static void add_shape(struct gt_stats_kernel *out, gt_time_ps *wait_ps, const struct gt_launches *launches)
{
    if (out->shapes++ == 0 || launches->min_ps < out->min_ps)
        out->min_ps = launches->min_ps;
    if (launches->max_ps > out->max_ps)
        out->max_ps = launches->max_ps;
    out->count += launches->count;
    out->total_ps = gt_time_add(out->total_ps, launches->total_ps);
    *wait_ps = gt_time_add(*wait_ps, launches->wait_resource_ps);
}

/* The launched shapes, same names together, each name's longest first. */
static size_t list_shapes(const struct gt_stats_work *work, const struct gt_launches *launches, struct shape *shapes)
{
    size_t count = 0;

    for (size_t i = 0; i < work->kernels; i++)
        if (launches[i].count > 0)
            shapes[count++] = (struct shape){ work->kernel_names[i], (uint32_t)i, launches[i] };
    qsort(shapes, count, sizeof *shapes, by_name_then_time);
    return count;
}

void gt_stats_kernels(struct gt_stats_work *work, const struct gt_launches *launches, bool waits_known)
{
    struct gt_stats *stats = work->stats;
    struct shape *shapes = gt_calloc(work->kernels + 1, sizeof *shapes);
    size_t count = list_shapes(work, launches, shapes);
    gt_time_ps all_ps = 0;

    stats->kernels = gt_calloc(count + 1, sizeof *stats->kernels);
    for (size_t i = 0; i < count;) {
        struct gt_stats_kernel *out = &stats->kernels[stats->kernel_count++];
        gt_time_ps wait_ps = 0;
        size_t first = i;

        out->name = strdup(shapes[first].name);
        set_occupancy(out, &stats->run.device, &work->shapes[shapes[first].kernel]);
        for (; i < count && strcmp(shapes[i].name, shapes[first].name) == 0; i++)
            add_shape(out, &wait_ps, &shapes[i].launches);
        out->mean_ps = (double)out->total_ps / (double)out->count;
        out->family = gt_kernel_family_names[gt_kernel_family_of(out->name)];
        out->bound = gt_kernel_bound_names[gt_kernel_bound_of(out->name, &work->shapes[shapes[first].kernel],
                                                              (gt_time_ps)out->mean_ps, &stats->run.device)];
        out->mean_wait_resource_ps = waits_known ? (double)wait_ps / (double)out->count : NAN;
        all_ps = gt_time_add(all_ps, out->total_ps);
    }
    for (size_t i = 0; i < stats->kernel_count; i++)
        stats->kernels[i].share = all_ps == 0 ? NAN : (double)stats->kernels[i].total_ps / (double)all_ps;
    qsort(stats->kernels, stats->kernel_count, sizeof *stats->kernels, by_total);
    free(shapes);
}
