/* kineto_device.c - the device block of a Kineto profile, as keys of a device file. */
#include "traces/kineto_parts.h"

#include <stdio.h>
#include <string.h>

#include "sim/device.h"
#include "traces/gpu_names.h"

/* What the profile does not tell but its compute capability does: CUDA C++ programming guide, table
 * of technical specifications per compute capability.  A row holds up to the next one. */
static const struct capability {
    int64_t version;            /* 10 x major + minor */
    uint32_t blocks_per_sm, shared_reserved_bytes;
} capabilities[] = {
    {50, 32, 0}, {75, 16, 0}, {80, 32, 1024}, {86, 16, 1024}, {89, 24, 1024}, {90, 32, 1024},
    {120, 24, 1024},
};

/* A key and the number of the profile that is its value. */
static const struct {
    const char *key;
    enum kineto_property property;
} numbers[] = {
    {"chip.sms", KINETO_GPU_SMS},
    {"chip.compute_major", KINETO_GPU_MAJOR},
    {"chip.compute_minor", KINETO_GPU_MINOR},
    {"sm.threads", KINETO_GPU_SM_THREADS},
    {"sm.warp_threads", KINETO_GPU_WARP_THREADS},
    {"sm.registers", KINETO_GPU_SM_REGISTERS},
    {"sm.shared_bytes", KINETO_GPU_SM_SHARED},
    {"block.threads", KINETO_GPU_BLOCK_THREADS},
    {"block.shared_bytes", KINETO_GPU_BLOCK_SHARED},
    {"block.shared_bytes", KINETO_GPU_BLOCK_SHARED_OPTIN},
};

/* Settings that a device takes one by one; together they are looked at in the end. */
struct draft {
    struct gt_workload *workload;
    struct gt_device device;
    uint64_t refused;
};

static void set_text(struct draft *draft, const char *key, const char *value)
{
    struct gt_error error;

    if (gt_device_set(&draft->device, key, value, &error) != 0)
        draft->refused++;
    else
        gt_workload_add_setting(draft->workload, key, value);
}

static void set_number(struct draft *draft, const char *key, int64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)value);
    set_text(draft, key, text);
}

static bool has(const struct kineto_gpu *gpu, enum kineto_property property)
{
    return gpu->present >> property & 1;
}

/* What follows from the numbers of the block rather than stands there. */
static void set_derived(struct draft *draft, const struct kineto_gpu *gpu)
{
    int64_t warp = gpu->number[KINETO_GPU_WARP_THREADS], major = gpu->number[KINETO_GPU_MAJOR];
    const struct capability *capability = NULL;

    if (has(gpu, KINETO_GPU_WARP_THREADS) && has(gpu, KINETO_GPU_SM_THREADS) && warp > 0)
        set_number(draft, "sm.warps", gpu->number[KINETO_GPU_SM_THREADS] / warp);
    for (size_t i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++)
        if (has(gpu, KINETO_GPU_MAJOR) && major < 1000 &&
            capabilities[i].version <= 10 * major + gpu->number[KINETO_GPU_MINOR])
            capability = &capabilities[i];
    if (capability != NULL) {
        set_number(draft, "sm.blocks", capability->blocks_per_sm);
        set_number(draft, "sm.shared_reserved_bytes", capability->shared_reserved_bytes);
    }
}

/* The block of the GPU that works first in the profile; the first one where no GPU works. */
static const struct kineto_gpu *find_gpu(const struct kineto *kineto)
{
    const struct gt_workload *workload = kineto->import.workload;
    uint32_t id = kineto->import.op_count == 0 ? GT_NONE :
                  workload->gpus[workload->streams[kineto->import.ops[0].stream].gpu].id;

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

void kineto_describe_device(struct kineto *kineto)
{
    struct gt_workload *workload = kineto->import.workload;
    const struct kineto_gpu *gpu = find_gpu(kineto);
    struct draft draft = { .workload = workload };
    struct gt_error error;

    name_gpus(kineto);
    if (gpu == NULL) {
        gt_workload_warn(workload, "device-unknown", 1, "the profile does not say what GPU it was recorded on");
        return;
    }
    if (gt_gpu_device_file(gpu->name) != NULL)
        workload->device = strdup(gt_gpu_device_file(gpu->name));
    gt_device_init(&draft.device);
    if (gpu->name[0] != '\0')
        set_text(&draft, "chip.name", gpu->name);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (has(gpu, numbers[i].property))
            set_number(&draft, numbers[i].key, gpu->number[numbers[i].property]);
    set_derived(&draft, gpu);
    gt_workload_warn(workload, "device-values-refused", draft.refused,
                     "numbers of the device block that no GPU can have; they were left out");
    gt_workload_warn(workload, "device-inconsistent", gt_device_check(&draft.device, &error) != 0,
                     "the device block contradicts itself or leaves out too much to build a GPU of it");
}
