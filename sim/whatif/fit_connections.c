#include "sim/whatif/fit_connections.h"

#include <math.h>

#include "sim/whatif/timeline.h"

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

uint32_t gt_fit_connections(const struct gt_workload *workload, const struct gt_device *device,
                            const struct gt_options *options, double measured_us, double off)
{
    uint32_t best = 0;
    double least = near_enough;

    if (isnan(measured_us) || fabs(off) <= near_enough || workload->stream_count < 2)
        return 0;
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        double other =
            tried[i] != device->connections ? off_with(tried[i], workload, device, options, measured_us) : INFINITY;

        if (other < least) {
            least = other;
            best = tried[i];
        }
    }
    return best;
}
