/* device.c - device settings out of profiles, none that a device would refuse. */
#include "traces/import/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/import/warnings.h"
#include "traces/names/gpu_names.h"

/* CUDA C++ programming guide, table of technical specifications per compute capability.  A row
 * holds up to the next one. */
static const struct capability {
    int64_t version; /* 10 x major + minor */
    uint32_t blocks_per_sm, shared_reserved_bytes;
} capabilities[] = {
    { 50, 32, 0 },    { 75, 16, 0 },    { 80, 32, 1024 },  { 86, 16, 1024 },
    { 89, 24, 1024 }, { 90, 32, 1024 }, { 120, 24, 1024 },
};

static void set_text(struct gt_import_device *draft, const char *key, const char *value)
{
    struct gt_error error;

    if (gt_device_set(&draft->device, key, value, &error) != 0)
        draft->refused++;
    else
        gt_workload_add_setting(draft->workload, key, value);
}

void gt_import_device_begin(struct gt_import_device *draft, struct gt_workload *workload, const char *name)
{
    const char *file = gt_gpu_device_file(name);

    draft->workload = workload;
    draft->refused = 0;
    gt_device_init(&draft->device);
    if (file != NULL) {
        free(workload->device);
        workload->device = strdup(file);
    }
    if (*name != '\0')
        set_text(draft, "chip.name", name);
}

void gt_import_device_set(struct gt_import_device *draft, const char *key, int64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)value);
    set_text(draft, key, text);
}

void gt_import_device_capability(struct gt_import_device *draft, int64_t major, int64_t minor, bool blocks_too)
{
    const struct capability *capability = NULL;

    if (major < 0 || major > 999 || minor < 0 || minor > 9)
        return;
    for (size_t i = 0; i < sizeof capabilities / sizeof capabilities[0]; i++)
        if (capabilities[i].version <= 10 * major + minor)
            capability = &capabilities[i];
    if (capability == NULL)
        return;
    if (blocks_too)
        gt_import_device_set(draft, "sm.blocks", capability->blocks_per_sm);
    gt_import_device_set(draft, "sm.shared_reserved_bytes", capability->shared_reserved_bytes);
}

void gt_import_device_end(struct gt_import_device *draft)
{
    struct gt_error error;

    gt_import_warn(draft->workload, "device-values-refused", draft->refused);
    gt_import_warn(draft->workload, "device-inconsistent", gt_device_check(&draft->device, &error) != 0);
}

void gt_import_device_unknown(struct gt_workload *workload)
{
    gt_import_warn(workload, "device-unknown", 1);
}
