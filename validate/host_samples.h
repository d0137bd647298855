/* host_samples.h - what the calls of played traces told of the host, before anything is made of it: host_costs.c
 * gathers it, host_fit.c fits costs to it. */
#ifndef GRIDTIDE_VALIDATE_HOST_SAMPLES_H
#define GRIDTIDE_VALIDATE_HOST_SAMPLES_H

#include <stdbool.h>

#include "validate/host_costs.h"

/* What may come on top of a call, as in sim/stream/call_times.h. */
enum gt_host_extra { GT_EXTRA_COLD, GT_EXTRA_FIRST, GT_EXTRA_AFTER, GT_EXTRAS };

/* Kinds of call that share a row of the device file. */
enum gt_host_row {
    GT_HOST_LAUNCH,
    GT_HOST_COPY,
    GT_HOST_COPY_WITHIN,
    GT_HOST_MEMSET,
    GT_HOST_HOST_FUNCTION,
    GT_HOST_EVENT,
    GT_HOST_SYNC,
    GT_HOST_ROWS
};

struct gt_host_sample {
    double ps;
    bool has[GT_EXTRAS];
    uint32_t run;    /* the trace's number among those played */
    uint8_t row;     /* of those in `contended` */
    uint32_t others; /* of samples in `contended`: threads that were inside a call that submits work as it began */
};
struct gt_host_samples {
    struct gt_host_sample *values;
    uint64_t count, room;
};

struct gt_host_costs {
    struct gt_host_samples rows[GT_HOST_ROWS], returns, pick_ups;
    struct gt_host_samples contended; /* calls of traces of several threads */
    struct gt_host_graph {
        double ps, groups, nodes, copies; /* what the call took, and what it wrote (sim/replay/graph_launch.h) */
    } * graphs;
    uint64_t graph_count, graph_room;
    struct gt_host_staged {
        double ps, bytes; /* of a copy of pageable memory: from its start on the GPU to its call's end */
        bool out;
    } * staged;
    uint64_t staged_count, staged_room;
    uint32_t runs; /* traces played */
};

/* host_fit.c: what a call of this row takes on `device`, by itself. */
double gt_host_usual_ps(const struct gt_device *device, enum gt_host_row row, const struct gt_host_sample *sample);

/* host_noise_fit.c: how far calls lie from that, into the keys host.noise_* and host.interrupt* of `device`, whose
 * other keys are of this host already.  Keys that too few calls tell about stay. */
void gt_host_noise_apply(const struct gt_host_costs *costs, struct gt_device *device);

#endif
