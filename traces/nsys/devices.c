/* devices.c - TARGET_INFO_CUDA_DEVICE: which of the machine's GPUs a process means by a device's number.
 *
 * CUDA numbers the devices that a process may see: where CUDA_VISIBLE_DEVICES gives each process one, each calls it 0.
 */
#include "traces/nsys/internal.h"

#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"

enum { PROCESS, DEVICE, GPU, DEVICE_COLUMNS };
static const struct gt_nsys_column device_columns[DEVICE_COLUMNS] = {
    [PROCESS] = { "pid", GT_NSYS_VALUE, GT_NSYS_ANY },
    [DEVICE] = { "cudaId", GT_NSYS_VALUE, GT_NSYS_DEVICE },
    [GPU] = { "gpuId", GT_NSYS_VALUE, GT_NSYS_DEVICE },
};
static const struct gt_nsys_table device_table = { "TARGET_INFO_CUDA_DEVICE", device_columns, DEVICE_COLUMNS };

struct gt_nsys_device {
    uint64_t shown_process;
    int64_t device, gpu;
};

static int by_device(const void *left, const void *right)
{
    const struct gt_nsys_device *a = left, *b = right;

    GT_ORDER(a->shown_process, b->shown_process);
    GT_ORDER(a->device, b->device);
    return 0;
}

static int read_device(void *user, const struct gt_nsys_rows *rows, struct gt_error *error)
{
    struct gt_nsys *nsys = user;

    (void)error;
    gt_array_grow(nsys->devices, nsys->device_count, nsys->device_room);
    nsys->devices[nsys->device_count++] = (struct gt_nsys_device){
        .shown_process = (uint64_t)rows->value[PROCESS],
        .device = rows->value[DEVICE],
        .gpu = rows->value[GPU],
    };
    return 0;
}

int gt_nsys_read_devices(struct gt_nsys *nsys, struct gt_error *error)
{
    if (gt_nsys_each_row(&nsys->db, &device_table, read_device, nsys, error) != 0)
        return -1;
    if (nsys->device_count > 1)
        qsort(nsys->devices, nsys->device_count, sizeof *nsys->devices, by_device);
    return 0;
}

uint32_t gt_nsys_gpu(const struct gt_nsys *nsys, uint64_t process, int64_t device)
{
    const struct gt_nsys_device key = { gt_nsys_shown_process(process), device, 0 }, *found = NULL;

    if (nsys->device_count > 0)
        found = bsearch(&key, nsys->devices, nsys->device_count, sizeof key, by_device);
    return (uint32_t)(found != NULL ? found->gpu : device);
}
