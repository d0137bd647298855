#include "sim/devices/occupancy.h"

#include "sim/workload/task_graph.h"

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return unit <= 1 ? value : (value + unit - 1) / unit * unit;
}

/* The division of an SM's memory that `bytes` of shared memory ask for. */
static uint32_t carveout_of(const struct gt_device *device, uint64_t bytes)
{
    for (uint32_t i = 0; i < device->shared_carveouts; i++) {
        if (bytes <= (uint64_t)device->shared_carveouts_kib[i] * 1024)
            return device->shared_carveouts_kib[i] * 1024;
    }
    return 0;
}

/* Where blocks use no shared memory, an idle SM is set to more than their reserve: to so much for each block
 * that its threads have room for, or what more blocks than that have. */
static uint32_t sets_of(const struct gt_device *device, uint64_t threads, uint32_t carveout_bytes)
{
    uint64_t bytes = device->threads_per_sm / threads * device->idle_block_bytes;
    uint32_t sets_bytes = carveout_of(device, bytes < device->idle_most_bytes ? bytes : device->idle_most_bytes);

    return carveout_bytes > 0 && sets_bytes > carveout_bytes ? sets_bytes : carveout_bytes;
}

/* Where blocks use some, an idle SM is set to room for twice a full load, up to what the device spares, or for one
 * where a block takes all registers, or half of the threads. */
static uint32_t spares_of(const struct gt_device *device, uint64_t threads, uint32_t blocks_per_sm, uint64_t shared)
{
    uint64_t bytes = blocks_per_sm * shared,
             twice = blocks_per_sm > 1 && 2 * threads < device->threads_per_sm ? 2 * bytes : 0;

    twice = twice < device->spare_most_bytes ? twice : device->spare_most_bytes;
    return carveout_of(device, twice > bytes ? twice : bytes);
}

/* Blocks of the clusters that one GPC of so many SMs holds at once: each block of a cluster has an SM of its own, two
 * of them a TPC where an SM holds several. */
static uint64_t clustered_on(uint64_t sms, const struct gt_occupancy *occupancy)
{
    uint64_t cluster = occupancy->cluster_blocks, per_sm = occupancy->blocks_per_sm;
    uint64_t pairs = sms / 2, cluster_pairs = (cluster + 1) / 2;

    if (cluster == 1 || (per_sm == 1 && sms >= cluster))
        return sms * per_sm / cluster * cluster;
    return per_sm > 1 && pairs >= cluster_pairs ? pairs * per_sm / cluster_pairs * cluster : 0;
}

/* Blocks of clusters that the device holds at one time. */
static uint64_t clustered_blocks(const struct gt_device *device, const struct gt_occupancy *occupancy)
{
    uint64_t blocks = 0;

    if (device->gpcs == 0 || occupancy->cluster_blocks == 1)
        return clustered_on(device->sms, occupancy);
    for (uint32_t i = 0; i < device->gpcs; i++)
        blocks += clustered_on(device->gpc_sms[i], occupancy);
    return blocks;
}

/* Clusters came with compute capability 9.0; before, their blocks are blocks like any. */
enum { CLUSTERS_FROM_MAJOR = 9 };

static int find_waves(const struct gt_device *device, const struct gt_kernel *kernel, struct gt_occupancy *occupancy,
                      struct gt_error *error)
{
    uint64_t blocks = gt_kernel_blocks(kernel), at_once;

    occupancy->cluster_blocks =
        device->compute_major < CLUSTERS_FROM_MAJOR ? 1 : (uint32_t)gt_kernel_cluster_blocks(kernel);
    at_once = clustered_blocks(device, occupancy);
    if (at_once == 0)
        return gt_error_set(error, "no GPC of %s has room for a cluster of %u blocks", device->name,
                            occupancy->cluster_blocks);
    occupancy->waves = blocks / at_once + (blocks % at_once != 0);
    return 0;
}

/* Registers of an SM that such warps can have: each has all of its own in one sub-partition. */
static uint64_t registers_for(const struct gt_device *device, uint64_t registers_per_warp)
{
    uint64_t partition = device->registers_per_sm / device->register_partitions;

    return registers_per_warp == 0
               ? 0
               : partition / registers_per_warp * registers_per_warp * device->register_partitions;
}

/* What a block of a kernel has, whatever its tasks are: the most that any kind of them needs. */
static uint32_t registers_of(const struct gt_kernel *kernel)
{
    uint32_t most = kernel->registers_per_thread;

    for (uint32_t i = 0; kernel->tasks != NULL && i < kernel->tasks->kind_count; i++)
        if (kernel->tasks->kinds[i].registers_per_thread > most)
            most = kernel->tasks->kinds[i].registers_per_thread;
    return most;
}

static uint64_t shared_of(const struct gt_kernel *kernel)
{
    uint64_t most = kernel->static_shared_bytes;

    for (uint32_t i = 0; kernel->tasks != NULL && i < kernel->tasks->kind_count; i++)
        if (kernel->tasks->kinds[i].static_shared_bytes > most)
            most = kernel->tasks->kinds[i].static_shared_bytes;
    return most + kernel->dynamic_shared_bytes;
}

struct limit {
    const char *name;
    uint64_t need, have;
};

int gt_occupancy_of(const struct gt_device *device, const struct gt_kernel *kernel, struct gt_occupancy *occupancy,
                    struct gt_error *error)
{
    uint64_t threads = gt_kernel_threads(kernel);
    uint64_t warps = (threads + device->warp_threads - 1) / device->warp_threads;
    uint32_t registers_per_thread = registers_of(kernel);
    uint64_t registers_per_warp =
        round_up((uint64_t)registers_per_thread * device->warp_threads, device->register_unit_per_warp);
    uint64_t registers = warps * registers_per_warp, asked_bytes = shared_of(kernel);
    uint64_t shared = round_up(asked_bytes + device->shared_reserved_bytes, device->shared_unit_bytes);
    const struct limit limits[] = {
        { "blocks", 1, device->blocks_per_sm },
        { "threads", threads, device->threads_per_sm },
        { "warps", warps, device->warps_per_sm },
        { "registers", registers, registers_for(device, registers_per_warp) },
        { "shared memory", shared, device->shared_bytes_per_sm },
    };

    if (threads > device->threads_per_block)
        return gt_error_set(error, "a block of %llu threads is more than %s allows (%u)", (unsigned long long)threads,
                            device->name, device->threads_per_block);
    if (asked_bytes > device->shared_bytes_per_block)
        return gt_error_set(error, "%llu bytes of shared memory a block are more than %s allows (%u)",
                            (unsigned long long)asked_bytes, device->name, device->shared_bytes_per_block);
    if (registers_per_thread > device->registers_per_thread_max)
        return gt_error_set(error, "%u registers a thread are more than %s allows (%u)", registers_per_thread,
                            device->name, device->registers_per_thread_max);
    occupancy->blocks_per_sm = UINT32_MAX;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        uint64_t fit = limits[i].need == 0 ? UINT32_MAX : limits[i].have / limits[i].need;

        if (fit == 0)
            return gt_error_set(error, "one block needs %llu %s of an SM, %s has %llu",
                                (unsigned long long)limits[i].need, limits[i].name, device->name,
                                (unsigned long long)limits[i].have);
        if (fit < occupancy->blocks_per_sm) {
            occupancy->blocks_per_sm = (uint32_t)fit;
            occupancy->limiter = limits[i].name;
        }
    }
    occupancy->need = (struct gt_block_need){
        .threads = (uint32_t)threads,
        .warps = (uint32_t)warps,
        .registers = (uint32_t)registers,
        .shared_bytes = (uint32_t)shared,
        .carveout_bytes = carveout_of(device, occupancy->blocks_per_sm * shared),
    };
    if (warps % device->register_partitions == 0)
        occupancy->need.partition_registers = (uint32_t)registers / device->register_partitions;
    occupancy->need.sets_bytes = spares_of(device, threads, occupancy->blocks_per_sm, shared);
    if (asked_bytes <= device->shared_unit_bytes) /* seen on H200: 128 bytes are like none, 129 are not */
        occupancy->need.sets_bytes = sets_of(device, threads, occupancy->need.carveout_bytes);
    return find_waves(device, kernel, occupancy, error);
}
