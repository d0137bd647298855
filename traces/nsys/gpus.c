/* gpus.c - TARGET_INFO_GPU: names of the GPUs, and most of a device file. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/import/device.h"
#include "traces/nsys/internal.h"

enum {
    ID,
    SM_COUNT,
    COMPUTE_MAJOR,
    COMPUTE_MINOR,
    CLOCK_HZ,
    WARPS,
    WARP_THREADS,
    BLOCKS,
    REGISTERS,
    SHARED,
    SHARED_OPTIN,
    BLOCK_THREADS,
    ENGINES,
    GPU_COLUMNS
};
#define COUNT GT_DB_MAY_LACK, 0, INT64_MAX
static const struct gt_db_column gpu_columns[GPU_COLUMNS] = {
    [ID] = { "id", GT_DB_VALUE, GT_DB_ANY },
    [SM_COUNT] = { "smCount", COUNT },
    [COMPUTE_MAJOR] = { "computeMajor", COUNT },
    [COMPUTE_MINOR] = { "computeMinor", COUNT },
    [CLOCK_HZ] = { "clockRate", COUNT },
    [WARPS] = { "maxWarpsPerSm", COUNT },
    [WARP_THREADS] = { "threadsPerWarp", COUNT },
    [BLOCKS] = { "maxBlocksPerSm", COUNT },
    [REGISTERS] = { "maxRegistersPerSm", COUNT },
    [SHARED] = { "maxShmemPerSm", COUNT },
    [SHARED_OPTIN] = { "maxShmemPerBlockOptin", COUNT },
    [BLOCK_THREADS] = { "maxThreadsPerBlock", COUNT },
    [ENGINES] = { "asyncEngines", COUNT },
};
static const struct gt_db_table gpu_table = { "TARGET_INFO_GPU", gpu_columns, GPU_COLUMNS };

/* What is a device key as it stands, divided by `unit`, at most `limit` (0: as it is). */
static const struct {
    int column;
    const char *key;
    int64_t unit, limit;
} direct_keys[] = {
    { SM_COUNT, "chip.sms", 1, 0 },
    { COMPUTE_MAJOR, "chip.compute_major", 1, 0 },
    { CLOCK_HZ, "chip.clock_mhz", 1000000, 0 },
    { WARPS, "sm.warps", 1, 0 },
    { BLOCKS, "sm.blocks", 1, 0 },
    { WARP_THREADS, "sm.warp_threads", 1, 0 },
    { REGISTERS, "sm.registers", 1, 0 },
    { SHARED, "sm.shared_bytes", 1, 0 },
    { BLOCK_THREADS, "block.threads", 1, 0 },
    { SHARED_OPTIN, "block.shared_bytes", 1, 0 },
    /* Engines beyond one a direction and one for copies within the device serve peers. */
    { ENGINES, "copy.engines", 1, 3 },
};

static void set_keys(struct gt_import_device *draft, const int64_t *value)
{
    for (size_t i = 0; i < sizeof direct_keys / sizeof direct_keys[0]; i++) {
        int64_t number = value[direct_keys[i].column];

        if (number == GT_DB_NULL || number < direct_keys[i].unit)
            continue; /* 0 is "not known" */
        number /= direct_keys[i].unit;
        if (direct_keys[i].limit != 0 && number > direct_keys[i].limit)
            number = direct_keys[i].limit;
        gt_import_device_set(draft, direct_keys[i].key, number);
    }
    if (value[COMPUTE_MAJOR] > 0 && value[COMPUTE_MINOR] >= 0) {
        gt_import_device_set(draft, "chip.compute_minor", value[COMPUTE_MINOR]);
        gt_import_device_capability(draft, value[COMPUTE_MAJOR], value[COMPUTE_MINOR], value[BLOCKS] <= 0);
    }
    if (value[WARPS] > 0 && value[WARPS] < 1 << 20 && value[WARP_THREADS] > 0 && value[WARP_THREADS] < 1 << 10)
        gt_import_device_set(draft, "sm.threads", value[WARPS] * value[WARP_THREADS]);
}

/* The name column of row `row`; GT_NONE where there is none. */
static int read_gpu_name(struct gt_nsys *nsys, int64_t row, uint32_t *name, struct gt_error *error)
{
    struct gt_query *query;
    int status;

    *name = GT_NONE;
    query = gt_db_query(&nsys->db, "TARGET_INFO_GPU", "SELECT name FROM main.TARGET_INFO_GPU WHERE rowid = ?1", NULL);
    if (query == NULL)
        return 0;
    gt_query_bind(query, 1, row);
    status = gt_query_next(query, error);
    if (status == 1 && gt_query_is_text(query, 0)) {
        const char *text = gt_query_string(query, 0);

        if (*text != '\0')
            *name = gt_name(nsys->import.workload, text, strlen(text));
    }
    gt_query_end(query);
    return status < 0 ? -1 : 0;
}

/* One of the machine's GPUs: names the workload's, and the first of these describes the device. */
static int read_gpu(void *user, const struct gt_db_rows *rows, struct gt_error *error)
{
    struct gt_nsys *nsys = user;
    struct gt_workload *workload = nsys->import.workload;
    uint32_t name, gpu = 0;

    while (gpu < workload->gpu_count && (int64_t)workload->gpus[gpu].id != rows->value[ID])
        gpu++;
    if (gpu == workload->gpu_count || workload->gpus[gpu].name != GT_NONE)
        return 0; /* not used, or described before (by another host) */
    if (read_gpu_name(nsys, rows->row, &name, error) != 0)
        return -1;
    workload->gpus[gpu].name = name;
    if (gpu == 0) {
        struct gt_import_device draft;

        gt_import_device_begin(&draft, workload, gt_name_text(workload, name));
        set_keys(&draft, rows->value);
        gt_import_device_end(&draft);
    }
    return 0;
}

int gt_nsys_read_gpus(struct gt_nsys *nsys, struct gt_error *error)
{
    if (gt_db_each_row(&nsys->db, &gpu_table, read_gpu, nsys, error) != 0)
        return -1;
    if (nsys->import.workload->setting_count == 0)
        gt_import_device_unknown(nsys->import.workload);
    return 0;
}

/* TARGET_INFO_CUDA_DEVICE: which of the machine's GPUs a process means by a device's number.
 *
 * CUDA numbers the devices that a process may see: where CUDA_VISIBLE_DEVICES gives each process one, each calls it 0.
 */

enum { PROCESS, DEVICE, GPU, DEVICE_COLUMNS };
static const struct gt_db_column device_columns[DEVICE_COLUMNS] = {
    [PROCESS] = { "pid", GT_DB_VALUE, GT_DB_ANY },
    [DEVICE] = { "cudaId", GT_DB_VALUE, GT_NSYS_DEVICE },
    [GPU] = { "gpuId", GT_DB_VALUE, GT_NSYS_DEVICE },
};
static const struct gt_db_table device_table = { "TARGET_INFO_CUDA_DEVICE", device_columns, DEVICE_COLUMNS };

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

static int read_device(void *user, const struct gt_db_rows *rows, struct gt_error *error)
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
    if (gt_db_each_row(&nsys->db, &device_table, read_device, nsys, error) != 0)
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
