#include "sim/baseline/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* A replay within this part of what was measured says that nothing is missing; and one that is off by no more than this part
 * of what it is off by else, that this was. */
static const double much_nearer = 1 / 3.0;
/* Streams that are tried; in traces of so many operations each takes a moment. */
enum { MOST_TRIED = 8, MOST_OPS = 20000 };

/* Importers of profiles that do not say priorities count this warning (traces/import). */
bool gt_priorities_unknown(const struct gt_workload *w)
{
    for (uint32_t i = 0; i < w->warning_count; i++)
        if (strcmp(w->warnings[i].kind, "priorities-unknown") == 0)
            return true;
    return false;
}

/* How far the replay is off with that stream before all others; INFINITY where there is none. */
static double off_with_priority(struct gt_workload *w, gt_stream_index stream, const struct gt_device *device,
                                const struct gt_options *options, double measured_us)
{
    struct gt_options played = *options;
    struct gt_timeline timeline;
    struct gt_error error;
    double off = INFINITY;

    played.recorded_on = device;
    w->streams[stream].priority = device->priority_high;
    if (gt_timeline_play(&timeline, w, device, &played, NULL, &error) == 0) {
        off = fabs(gt_timeline_us(&timeline) / measured_us - 1);
        gt_timeline_free(&timeline);
    }
    w->streams[stream].priority = 0;
    return off;
}

/* Streams with kernels: one alone goes before nobody. */
static uint32_t find_streams(const struct gt_workload *w, gt_stream_index *streams)
{
    bool *has = gt_calloc(w->stream_count + 1ull, sizeof *has);
    uint32_t count = 0;

    for (gt_op_index i = 0; i < w->op_count; i++)
        has[w->ops[i].stream] |= w->ops[i].kind == GT_OP_KERNEL;
    for (gt_stream_index i = 0; i < w->stream_count; i++)
        if (has[i])
            streams[count++] = i;
    free(has);
    return count;
}

gt_stream_index gt_fit_priority(const struct gt_workload *workload, const struct gt_device *device,
                                const struct gt_options *options, double measured_us, double off)
{
    gt_stream_index *streams, best = GT_NONE;
    struct gt_workload *w;
    uint32_t count;
    double least = fmax(near_enough, much_nearer * fabs(off));

    if (isnan(measured_us) || fabs(off) <= near_enough || !gt_priorities_unknown(workload) ||
        workload->op_count > MOST_OPS)
        return GT_NONE;
    streams = gt_calloc(workload->stream_count + 1ull, sizeof *streams);
    count = find_streams(workload, streams);
    w = gt_workload_copy(workload);
    for (uint32_t i = 0; i < count && count > 1 && count <= MOST_TRIED; i++) {
        double other = off_with_priority(w, streams[i], device, options, measured_us);

        if (other < least) {
            least = other;
            best = streams[i];
        }
    }
    gt_workload_free(w);
    free(streams);
    return best;
}
