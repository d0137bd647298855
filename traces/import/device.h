/* device.h - what a profile says about its GPU, as the workload's device and settings. */
#ifndef GRIDTIDE_TRACES_IMPORT_DEVICE_H
#define GRIDTIDE_TRACES_IMPORT_DEVICE_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* Settings are taken one by one, each held to its key's range; together they are looked at in the end. */
struct gt_import_device {
    struct gt_workload *workload;
    struct gt_device device;
    uint64_t refused;
};

/* `name` as the profile has it ("NVIDIA H200"; "" where it has none): chip.name, and the device file
 * that goes with it. */
void gt_import_device_begin(struct gt_import_device *draft, struct gt_workload *workload, const char *name);
void gt_import_device_set(struct gt_import_device *draft, const char *key, int64_t value);
/* What profiles leave out but a compute capability implies: the shared memory that the driver keeps
 * and, where `blocks_too`, the blocks of an SM. */
void gt_import_device_capability(struct gt_import_device *draft, int64_t major, int64_t minor, bool blocks_too);
/* Count what was refused ("device-values-refused") or does not fit together ("device-inconsistent"). */
void gt_import_device_end(struct gt_import_device *draft);
/* Instead of all these: count "device-unknown". */
void gt_import_device_unknown(struct gt_workload *workload);

#endif
