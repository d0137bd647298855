#include "sim/baseline/fit_connections.h"

#include <math.h>
#include <stdlib.h>

#include "sim/baseline/timeline.h"

/* A replay within this part of what was measured says that the machine is right. */
static const double near_enough = 0.03;

/* What the variable may be set to that makes a difference. */
static const uint32_t tried[] = { 1, 2, 4, 8, 16, 32 };

/* How far the replay is off with so many; INFINITY where there is none. */
static double off_with(uint32_t connections, const struct gt_workload *workload, const struct gt_device *device,
                       const struct gt_options *options, double measured_us)
{
    struct gt_device other = *device;
    struct gt_options played = *options;
    struct gt_timeline timeline;
    struct gt_error error;
    double off;

    other.connections = connections;
    played.recorded_on = &other;
    if (gt_timeline_play(&timeline, workload, &other, &played, NULL, &error) != 0)
        return INFINITY;
    off = fabs(gt_timeline_us(&timeline) / measured_us - 1);
    gt_timeline_free(&timeline);
    return off;
}

/* Streams that work was asked for in: branches of a graph share its connection. */
static uint32_t count_streams(const struct gt_workload *w)
{
    bool *used = gt_calloc(w->stream_count + 1ull, sizeof *used);
    uint32_t count = 0;

    for (gt_call_index i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];

        if (call->ops == 0 || call->stream == GT_NONE || used[call->stream])
            continue;
        used[call->stream] = true;
        count++;
    }
    free(used);
    return count;
}

uint32_t gt_fit_connections(const struct gt_workload *workload, const struct gt_device *device,
                            const struct gt_options *options, double measured_us, double off)
{
    uint32_t best = 0, streams;
    double least = near_enough;

    if (isnan(measured_us) || fabs(off) <= near_enough)
        return 0;
    streams = count_streams(workload);
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        bool differs = tried[i] < device->connections
                           ? tried[i] < streams
                           : tried[i] > device->connections && streams > device->connections;
        double other = differs ? off_with(tried[i], workload, device, options, measured_us) : INFINITY;

        if (other < least) {
            least = other;
            best = tried[i];
        }
    }
    return best;
}
