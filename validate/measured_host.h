/* measured_host.h - the host's part of one measured run, for simulating the GPU's part alone. No CUDA. */
#ifndef GRIDTIDE_VALIDATE_MEASURED_HOST_H
#define GRIDTIDE_VALIDATE_MEASURED_HOST_H

#include "sim/workload/probe.h"
#include "sim/workload/workload.h"

/* The workload's calls and operations with measured times in place of stated ones; everything else is the
 * workload's own, which must outlast it. */
struct gt_measured_host {
    struct gt_workload workload; /* for gt_options.host */
};

/* Without any time yet. gt_measured_host_free() ends it. */
void gt_measured_host_make(struct gt_measured_host *host, const struct gt_workload *workload);
void gt_measured_host_free(struct gt_measured_host *host);

/* Takes in a run's calls and operations; its other callbacks are NULL. Good as long as `host`. */
struct gt_probe gt_measured_host_probe(struct gt_measured_host *host);

#endif
