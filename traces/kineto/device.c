/* device.c - the device block of a Kineto profile, as keys of a device file. */
#include "traces/kineto/internal.h"

#include <string.h>

#include "traces/import/device.h"

/* A key and the number of the profile that is its value. */
static const struct {
    const char *key;
    enum kineto_property property;
} numbers[] = {
    { "chip.sms", KINETO_GPU_SMS },
    { "chip.compute_major", KINETO_GPU_MAJOR },
    { "chip.compute_minor", KINETO_GPU_MINOR },
    { "sm.threads", KINETO_GPU_SM_THREADS },
    { "sm.warp_threads", KINETO_GPU_WARP_THREADS },
    { "sm.registers", KINETO_GPU_SM_REGISTERS },
    { "sm.shared_bytes", KINETO_GPU_SM_SHARED },
    { "block.threads", KINETO_GPU_BLOCK_THREADS },
};

static bool has(const struct kineto_gpu *gpu, enum kineto_property property)
{
    return gpu->present >> property & 1;
}

/* What follows from the numbers of the block rather than stands there. */
static void set_derived(struct gt_import_device *draft, const struct kineto_gpu *gpu)
{
    const int64_t *number = gpu->number;
    int64_t warp = number[KINETO_GPU_WARP_THREADS];

    if (has(gpu, KINETO_GPU_BLOCK_SHARED_OPTIN) || has(gpu, KINETO_GPU_BLOCK_SHARED))
        gt_import_device_set(draft, "block.shared_bytes",
                             number[has(gpu, KINETO_GPU_BLOCK_SHARED_OPTIN) ? KINETO_GPU_BLOCK_SHARED_OPTIN
                                                                            : KINETO_GPU_BLOCK_SHARED]);
    if (has(gpu, KINETO_GPU_WARP_THREADS) && has(gpu, KINETO_GPU_SM_THREADS) && warp > 0)
        gt_import_device_set(draft, "sm.warps", number[KINETO_GPU_SM_THREADS] / warp);
    if (has(gpu, KINETO_GPU_MAJOR) && has(gpu, KINETO_GPU_MINOR))
        gt_import_device_capability(draft, number[KINETO_GPU_MAJOR], number[KINETO_GPU_MINOR], true);
}

/* The block of the GPU that works first in the profile; the first one where no GPU works. */
static const struct kineto_gpu *find_gpu(const struct kineto *kineto)
{
    const struct gt_workload *workload = kineto->import.workload;
    uint32_t id = kineto->import.op_count == 0
                      ? GT_NONE
                      : workload->gpus[workload->streams[kineto->import.ops[0].stream].gpu].id;

    for (uint32_t i = 0; i < kineto->gpu_count; i++)
        if (has(&kineto->gpus[i], KINETO_GPU_ID) && kineto->gpus[i].number[KINETO_GPU_ID] == id)
            return &kineto->gpus[i];
    return kineto->gpu_count > 0 ? &kineto->gpus[0] : NULL;
}

static void name_gpus(struct kineto *kineto)
{
    struct gt_workload *workload = kineto->import.workload;

    for (uint32_t i = 0; i < kineto->gpu_count; i++) {
        const struct kineto_gpu *gpu = &kineto->gpus[i];

        for (uint32_t n = 0; n < workload->gpu_count && has(gpu, KINETO_GPU_ID) && gpu->name[0] != '\0'; n++)
            if (gpu->number[KINETO_GPU_ID] == workload->gpus[n].id)
                workload->gpus[n].name = gt_name(workload, gpu->name, strlen(gpu->name));
    }
}

uint32_t kineto_sms(const struct kineto *kineto)
{
    const struct kineto_gpu *gpu = kineto->gpus;

    return kineto->gpu_count > 0 && has(gpu, KINETO_GPU_SMS) && gpu->number[KINETO_GPU_SMS] > 0 &&
                   gpu->number[KINETO_GPU_SMS] < UINT32_MAX
               ? (uint32_t)gpu->number[KINETO_GPU_SMS]
               : 0;
}

void kineto_describe_device(struct kineto *kineto)
{
    const struct kineto_gpu *gpu = find_gpu(kineto);
    struct gt_import_device draft;

    name_gpus(kineto);
    if (gpu == NULL) {
        gt_import_device_unknown(kineto->import.workload);
        return;
    }
    gt_import_device_begin(&draft, kineto->import.workload, gpu->name);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (has(gpu, numbers[i].property))
            gt_import_device_set(&draft, numbers[i].key, gpu->number[numbers[i].property]);
    set_derived(&draft, gpu);
    gt_import_device_end(&draft);
}
