#include "sim/cmd/input/run_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "traces/names/short_name.h"

enum { WARNINGS = 10, NAME_COLUMNS = 100 };

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

struct gt_kernel_model *gt_run_kernels(const struct gt_workload *workload, const struct gt_device *device,
                                       const struct gt_device *profiled, bool full, struct gt_progress *progress,
                                       double *wall_us, struct gt_error *error)
{
    const struct gt_probe probe = { .user = progress, .progress = gt_progress_probe };
    double start_us = now_us();
    struct gt_kernel_model *modelled = gt_model_kernels(workload, device, profiled, full, &probe, error);

    *wall_us = now_us() - start_us;
    return modelled;
}

void gt_run_kernels_warn(const struct gt_workload *workload, const struct gt_kernel_model *modelled)
{
    uint32_t failures = 0;

    for (uint32_t i = 0; i < modelled->count; i++) {
        const struct gt_kernel_model_launch *launch = &modelled->launches[i];
        char *name;

        if (launch->failure == NULL || failures++ >= WARNINGS)
            continue;
        name = gt_short_name(gt_name_text(workload, workload->kernels[workload->ops[launch->op].kernel].name),
                             NAME_COLUMNS);
        fprintf(stderr, "gridtide: warning: no cycles for kernel '%s': %s\n", name, launch->failure);
        free(name);
    }
    if (failures > WARNINGS)
        fprintf(stderr, "gridtide: warning: no cycles for %u more kernels\n", failures - WARNINGS);
}
