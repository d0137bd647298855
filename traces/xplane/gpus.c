/* gpus.c - stats of GPU planes: names of the GPUs, and a part of a device file. */
#include <string.h>

#include "sim/base/array.h"
#include "traces/import/device.h"
#include "traces/import/warnings.h"
#include "traces/xplane/internal.h"

void xplane_take_gpu(struct xplane *xplane, uint32_t id)
{
    struct xplane_value values[XPLANE_STATS] = { { .text = NULL } };
    struct xplane_gpu *gpu;
    const char *vendor, *name;

    xplane_read_stats(xplane, xplane->plane->stats, xplane->plane->n_stats, values);
    vendor = values[XPLANE_VENDOR].text;
    name = values[XPLANE_GPU_NAME].text;
    xplane->foreign |= vendor != NULL && strcmp(vendor, "Nvidia") != 0;
    gt_array_grow(xplane->gpus, xplane->gpu_count, xplane->gpu_room);
    gpu = &xplane->gpus[xplane->gpu_count++];
    *gpu = (struct xplane_gpu){
        .id = id,
        .name = name != NULL && *name != '\0' ? gt_name(xplane->import.workload, name, strlen(name)) : GT_NONE,
        .clock_khz = values[XPLANE_CLOCK_KHZ].number,
        .sms = values[XPLANE_SMS].number,
        .major = values[XPLANE_CAPABILITY_MAJOR].number,
        .minor = values[XPLANE_CAPABILITY_MINOR].number,
    };
}

static void describe(struct gt_workload *workload, const struct xplane_gpu *gpu)
{
    struct gt_import_device draft;

    gt_import_device_begin(&draft, workload, gpu->name != GT_NONE ? gt_name_text(workload, gpu->name) : "");
    if (gpu->sms > 0)
        gt_import_device_set(&draft, "chip.sms", gpu->sms);
    if (gpu->clock_khz >= 1000)
        gt_import_device_set(&draft, "chip.clock_mhz", gpu->clock_khz / 1000);
    if (gpu->major > 0 && gpu->minor >= 0) {
        gt_import_device_set(&draft, "chip.compute_major", gpu->major);
        gt_import_device_set(&draft, "chip.compute_minor", gpu->minor);
        gt_import_device_capability(&draft, gpu->major, gpu->minor, true);
    }
    gt_import_device_end(&draft);
}

void xplane_describe_gpus(struct xplane *xplane)
{
    struct gt_workload *workload = xplane->import.workload;

    for (uint32_t i = 0; i < xplane->gpu_count; i++) {
        const struct xplane_gpu *gpu = &xplane->gpus[i];

        for (uint32_t n = 0; n < workload->gpu_count; n++) {
            if (workload->gpus[n].id != gpu->id || workload->gpus[n].name != GT_NONE)
                continue;
            workload->gpus[n].name = gpu->name;
            if (n == 0 && workload->setting_count == 0)
                describe(workload, gpu);
        }
    }
    if (workload->setting_count == 0 && xplane->gpu_count > 0)
        gt_import_device_unknown(workload);
    gt_import_warn(workload, GT_WARNING_UNMODELLED, xplane->foreign);
}
