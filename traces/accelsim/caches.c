/* caches.c - hit rates of a launch, by its addresses.
 *
 * L1 is written through: stores go on to L2 and change nothing but lines of local memory, which stay until they are read.
 * L2 is written back.  It reads memory.dram_burst_bytes of DRAM at once; a sector of these that nobody had asked for is not
 * read again, but counts as a miss when it is asked for first, as the profiler has it.  Sectors of 32 bytes in lines of
 * 128, sixteen lines a set, of which the one that was used longest ago makes room.  Lines are spread over slices, of which
 * the one with most atomics is told.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/devices/occupancy.h"
#include "traces/accelsim/internal.h"

enum {
    WAYS = 16,
    LINE_SECTORS = GT_LINE_BYTES / GT_SECTOR_BYTES,
    ALL_SECTORS = (1 << LINE_SECTORS) - 1,
    SLICE_BITS = 6,           /* slices of L2, about; addresses are spread over them */
    UNIFIED_BYTES = 256 << 10 /* assumed where the compute capability is not known */
};

struct way {
    uint64_t line;                /* + 1; 0: empty */
    uint64_t used;                /* at this access, counted by cache */
    uint8_t valid, dirty, beside; /* a bit a sector; beside: read of DRAM with another, and not asked for yet */
};

struct cache {
    struct way *ways; /* [set * WAYS + way] */
    uint64_t sets, now;
};

/* Sectors asked for and found. */
struct rate {
    uint64_t asked, found;
};

struct gt_accelsim_caches {
    struct cache *l1, l2; /* an L1 for each SM, made when it is first used */
    uint64_t l1_bytes;
    uint32_t sms, burst_sectors;
    bool two_partitions;
    struct rate l1_load, local_load, local_store, l2_read, l2_write, l2_atomic;
    uint64_t dram_read, dram_written;  /* sectors */
    uint64_t atomics[1 << SLICE_BITS]; /* [slice]: operations */
};

static void cache_begin(struct cache *cache, uint64_t bytes)
{
    cache->sets = bytes / GT_LINE_BYTES / WAYS;
    if (cache->sets == 0)
        cache->sets = 1;
    cache->ways = gt_calloc(cache->sets * WAYS, sizeof *cache->ways);
}

/* The line's place, or the one that it gets, with what was there before. */
static struct way *find(struct cache *cache, uint64_t line)
{
    struct way *set = &cache->ways[(line ^ line >> 17) % cache->sets * WAYS], *oldest = set;

    cache->now++;
    for (struct way *way = set; way < set + WAYS; way++) {
        if (way->line == line + 1) {
            way->used = cache->now;
            return way;
        }
        if (way->used < oldest->used)
            oldest = way;
    }
    oldest->used = cache->now;
    return oldest;
}

static uint32_t bits(unsigned mask)
{
    return (uint32_t)__builtin_popcount(mask);
}

static void count(struct rate *rate, uint8_t asked, uint8_t found)
{
    rate->asked += bits(asked);
    rate->found += bits(found);
}

/* Whole pieces of what DRAM reads at once. */
static uint8_t with_burst(const struct gt_accelsim_caches *caches, uint8_t sectors)
{
    uint8_t whole = 0;

    for (uint32_t first = 0; first < LINE_SECTORS; first += caches->burst_sectors) {
        uint8_t piece = (uint8_t)(((1u << caches->burst_sectors) - 1) << first & ALL_SECTORS);

        whole |= (sectors & piece) != 0 ? piece : 0;
    }
    return whole;
}

static struct way *find_in_l2(struct gt_accelsim_caches *caches, uint64_t line)
{
    struct way *way = find(&caches->l2, line);

    if (way->line == line + 1)
        return way;
    caches->dram_written += bits(way->dirty);
    way->line = line + 1;
    way->valid = way->dirty = way->beside = 0;
    return way;
}

static void read_l2(struct gt_accelsim_caches *caches, uint64_t line, uint8_t sectors, struct rate *rate)
{
    struct way *way = find_in_l2(caches, line);
    uint8_t had = sectors & way->valid, fetched;

    count(rate, sectors, had);
    fetched = with_burst(caches, (sectors ^ had) & (uint8_t)~way->beside);
    fetched ^= fetched & (way->valid | way->beside);
    caches->dram_read += bits(fetched);
    way->valid |= sectors;
    way->beside = (way->beside | fetched) & (uint8_t)~way->valid;
}

static void write_l2(struct gt_accelsim_caches *caches, uint64_t line, uint8_t sectors)
{
    struct way *way = find_in_l2(caches, line);

    count(&caches->l2_write, sectors, sectors & way->valid);
    way->valid |= sectors;
    way->dirty |= sectors;
}

/* The sectors that L1 had; it has them all now. */
static uint8_t touch_l1(struct gt_accelsim_caches *caches, uint32_t sm, uint64_t line, uint8_t sectors, bool dirty)
{
    struct way *way;
    uint8_t had;

    if (caches->l1[sm].ways == NULL)
        cache_begin(&caches->l1[sm], caches->l1_bytes);
    way = find(&caches->l1[sm], line);
    if (way->line != line + 1) {
        if (way->dirty != 0)
            write_l2(caches, way->line - 1, way->dirty);
        way->line = line + 1;
        way->valid = way->dirty = 0;
    }
    had = way->valid & sectors;
    way->valid |= sectors;
    way->dirty |= dirty ? sectors : 0;
    return had;
}

void gt_accelsim_caches_access(struct gt_accelsim_caches *caches, uint32_t sm, uint64_t line, uint8_t sectors,
                               enum gt_accelsim_way way, bool local)
{
    uint8_t had;

    switch (way) {
    case GT_ACCELSIM_LOAD:
        had = touch_l1(caches, sm % caches->sms, line, sectors, false);
        count(local ? &caches->local_load : &caches->l1_load, sectors, had);
        if (had != sectors)
            read_l2(caches, line, sectors ^ had, &caches->l2_read); /* `had` is a part of `sectors` */
        break;
    case GT_ACCELSIM_PAST_L1: read_l2(caches, line, sectors, &caches->l2_read); break;
    case GT_ACCELSIM_STORE:
        if (local)
            count(&caches->local_store, sectors, touch_l1(caches, sm % caches->sms, line, sectors, true));
        else
            write_l2(caches, line, sectors);
        break;
    case GT_ACCELSIM_ATOMIC:
        read_l2(caches, line, sectors, &caches->l2_atomic);
        find_in_l2(caches, line)->dirty |= sectors;
        break;
    }
}

static double part(const struct rate *rate)
{
    return rate->asked > 0 ? (double)rate->found / (double)rate->asked : -1;
}

void gt_accelsim_caches_atomics(struct gt_accelsim_caches *caches, uint64_t line, uint32_t operations)
{
    caches->atomics[line * 0x9e3779b97f4a7c15u >> (64 - SLICE_BITS)] += operations;
}

/* Atomics: what misses does so with the first operation on a sector. */
static void atomic_use(const struct gt_accelsim_caches *caches, struct gt_memory_use *use)
{
    uint64_t missed = caches->l2_atomic.asked - caches->l2_atomic.found, most = 0;

    use->l2_atomic_hit = use->l2_atomic_slice_share = -1;
    for (uint32_t slice = 0; slice < 1 << SLICE_BITS; slice++) {
        use->l2_atomic_sectors += caches->atomics[slice];
        most = caches->atomics[slice] > most ? caches->atomics[slice] : most;
    }
    if (use->l2_atomic_sectors == 0)
        return;
    use->l2_atomic_hit = 1 - (double)missed / (double)use->l2_atomic_sectors;
    use->l2_atomic_slice_share = (double)most / (double)use->l2_atomic_sectors;
}

void gt_accelsim_caches_use(const struct gt_accelsim_caches *caches, struct gt_memory_use *use)
{
    *use = (struct gt_memory_use){
        .l1_load_hit = part(&caches->l1_load),
        .l1_store_hit = -1,
        .local_load_hit = part(&caches->local_load),
        .local_store_hit = part(&caches->local_store),
        .l2_read_hit = part(&caches->l2_read),
        .l2_write_hit = part(&caches->l2_write),
        .l2_read_sectors = caches->l2_read.asked,
        .l2_write_sectors = caches->l2_write.asked,
        .dram_read_bytes = caches->dram_read * GT_SECTOR_BYTES,
        .dram_write_bytes = caches->dram_written * GT_SECTOR_BYTES,
    };
    atomic_use(caches, use);
    /* Addresses are spread over both partitions of L2: half of what moves crosses. */
    if (caches->two_partitions)
        use->l2_fabric_sectors = (use->l2_read_sectors + use->l2_write_sectors) / 2;
}

struct gt_accelsim_caches *gt_accelsim_caches_new(const struct gt_device *device, uint64_t l1_bytes)
{
    struct gt_accelsim_caches *caches = gt_calloc(1, sizeof *caches);
    uint32_t burst = (uint32_t)(device->warp.dram_burst_bytes / GT_SECTOR_BYTES);

    caches->sms = device->sms;
    caches->burst_sectors = burst < 1 ? 1 : burst > LINE_SECTORS ? LINE_SECTORS : burst;
    caches->two_partitions = device->warp.l2_far_latency > device->warp.l2_near_latency;
    caches->l1 = gt_calloc(caches->sms, sizeof *caches->l1);
    caches->l1_bytes = l1_bytes;
    cache_begin(&caches->l2, device->warp.l2_bytes);
    return caches;
}

void gt_accelsim_caches_free(struct gt_accelsim_caches *caches)
{
    if (caches == NULL)
        return;
    for (uint32_t sm = 0; sm < caches->sms; sm++)
        free(caches->l1[sm].ways);
    free(caches->l1);
    free(caches->l2.ways);
    free(caches);
}

uint64_t gt_accelsim_unified_bytes(uint32_t binary_version)
{
    /* clang-format off */
    static const struct { uint32_t version; uint32_t kib; } sizes[] = {
        { 70, 128 }, { 72, 128 }, { 75, 96 }, { 80, 192 }, { 86, 128 }, { 87, 192 }, { 89, 128 }, { 90, 256 },
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i].version == binary_version)
            return (uint64_t)sizes[i].kib << 10;
    return 0;
}

uint64_t gt_accelsim_l1_bytes(const struct gt_device *device, const struct gt_kernel *kernel, uint32_t binary_version)
{
    uint64_t known = gt_accelsim_unified_bytes(binary_version), all = known > 0 ? known : UNIFIED_BYTES;
    uint64_t shared = device->shared_bytes_per_sm;
    struct gt_occupancy occupancy;
    struct gt_error error;

    if (gt_occupancy_of(device, kernel, &occupancy, &error) == 0)
        shared = device->shared_carveouts > 0 ? occupancy.need.sets_bytes
                                              : (uint64_t)occupancy.need.shared_bytes * occupancy.blocks_per_sm;
    return shared < all ? all - shared : GT_LINE_BYTES;
}
