/* places.c - addresses for the accesses of a program, of which a profile says means alone: sectors, lines, passes and what
 * caches had.
 *
 * Fractions are owed from one execution to the next, so that sums over a launch are the profile's.  A load goes
 *   - to what its thread block loaded last, where it is to hit L1;
 *   - to what other thread blocks have loaded, where it is to miss L1 and hit L2;
 *   - else to addresses where nobody was.
 * Stores have addresses of their own, or come back to those of their thread block where they are to hit L1.  Atomics come back to those before them where L2 is to
 * have them, and to one place as far as one slice of L2 has more of them than others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "traces/accelsim/internal.h"

enum {
    LINE_SECTORS = GT_LINE_BYTES / GT_SECTOR_BYTES,
    RECENT = 256,          /* sectors that a thread block has loaded last */
    LOADED = 1 << 19,      /* sectors that other thread blocks have loaded: 16 MiB, less than any L2 */
    BULK_LOADED = 1 << 12, /* bulk copies likewise */
    ATOMICS = 1 << 10,     /* sectors of atomics that others may come back to */
    STRIDES = 6,           /* of shared memory: 1, 2, 4 .. 32 times the width */
    SHARED_BYTES_MASK = (1 << 15) - 1,
    LOCAL_BYTES_MASK = (1 << 24) - 1,
    FEWEST_WORD_BYTES = 4
};

/* Where parts of memory begin, apart from the windows of shared and local memory (write_kernel.c). */
#define LOADS_BEGIN   (0x700000000000u / GT_SECTOR_BYTES)
#define STORES_BEGIN  (0x710000000000u / GT_SECTOR_BYTES)
#define ATOMICS_BEGIN (0x720000000000u / GT_SECTOR_BYTES)
#define HOT_ATOMICS   (0x730000000000u / GT_SECTOR_BYTES)

/* Of atomics that are spread over all slices of L2, the share that the busiest one gets. */
#define EVEN_SLICE_SHARE 0.016

/* Sectors that were asked for, the last ones of many. */
struct ring {
    uint64_t *sector;
    uint32_t room;
    uint64_t count, at; /* at: the next to be read of those, round and round */
};

/* What an instruction is owed. */
struct debt {
    float threads, sectors, lines, passes, l1_miss, l2_miss, hot, operations;
};

struct gt_accelsim_places {
    const struct gt_program *program;
    const struct gt_warp_paths *paths;
    const struct gt_memory_use *use;
    struct debt *debts; /* [instruction] */
    struct ring recent, stored, loaded, bulk, atomics;
    double operations; /* of L2 for an atomic of a warp: more than sectors where threads change the same word */
    uint64_t own_from; /* in `loaded`: of this thread block */
    uint64_t next_load, next_store, next_atomic; /* sectors that nobody has asked for */
    /* Passes of shared memory by width (1 << 2, 3, 4, matrices), threads and stride; 0: not worked out. */
    uint8_t passes[4][GT_ACCELSIM_LANES + 1][STRIDES];
};

static void ring_begin(struct ring *ring, uint32_t room)
{
    *ring = (struct ring){ .sector = gt_calloc(room, sizeof *ring->sector), .room = room };
}

static void ring_add(struct ring *ring, uint64_t sector)
{
    ring->sector[ring->count++ % ring->room] = sector;
}

static double atomic_operations(const struct gt_warp_launch *launch, const struct gt_memory_use *use)
{
    const struct gt_program *program = launch->program;
    double executed = 0;

    for (uint32_t i = 0; i < program->instruction_count; i++) {
        const struct gt_instruction *in = &program->instructions[i];

        if ((in->action == GT_ACTION_ATOMIC || in->action == GT_ACTION_REDUCE) && in->memory != GT_NONE &&
            program->memory[in->memory].sectors > 0)
            executed += (double)in->executions;
    }
    executed *= (double)launch->blocks * launch->warps_per_block / fmax(1, (double)program->warps);
    return executed > 0 ? (double)use->l2_atomic_sectors / executed : 0;
}

struct gt_accelsim_places *gt_accelsim_places_new(const struct gt_warp_launch *launch,
                                                  const struct gt_warp_paths *paths)
{
    struct gt_accelsim_places *places = gt_calloc(1, sizeof *places);

    places->program = launch->program;
    places->paths = paths;
    places->use = launch->use != NULL ? launch->use : &launch->program->use;
    places->operations = atomic_operations(launch, places->use);
    places->debts = gt_calloc(launch->program->instruction_count, sizeof *places->debts);
    ring_begin(&places->recent, RECENT);
    ring_begin(&places->stored, RECENT);
    ring_begin(&places->loaded, LOADED);
    ring_begin(&places->bulk, BULK_LOADED);
    ring_begin(&places->atomics, ATOMICS);
    places->next_load = LOADS_BEGIN;
    places->next_store = STORES_BEGIN;
    places->next_atomic = ATOMICS_BEGIN;
    return places;
}

void gt_accelsim_places_free(struct gt_accelsim_places *places)
{
    if (places == NULL)
        return;
    free(places->debts);
    free(places->recent.sector);
    free(places->stored.sector);
    free(places->loaded.sector);
    free(places->bulk.sector);
    free(places->atomics.sector);
    free(places);
}

void gt_accelsim_places_block(struct gt_accelsim_places *places)
{
    places->recent.count = places->stored.count = 0;
    places->own_from = places->loaded.count;
}

/* A whole number from `least` to `most`, so that their sum over executions goes with `mean`. */
static uint32_t whole(float *owed, double mean, double least, double most)
{
    double number = fmin(most, fmax(least, floor(*owed + mean + 0.5)));

    *owed = (float)fmin(most, fmax(-most, *owed + mean - number));
    return (uint32_t)number;
}

/* Is an event of this share due? */
static bool due(float *owed, double share)
{
    *owed += (float)share;
    if (*owed < 0.5f)
        return false;
    *owed -= 1;
    return true;
}

/* `count` sectors in `lines` lines where nobody was; alone it lies beside the one before. */
static void put_new(uint64_t *next, uint32_t count, uint32_t lines, uint64_t *sectors)
{
    if (count > 1)
        *next = (*next + LINE_SECTORS - 1) / LINE_SECTORS * LINE_SECTORS;
    for (uint32_t k = 0, line = 0, in_line = 0; k < count; k++, in_line++) {
        if (k * lines / count != line) {
            line = k * lines / count;
            in_line = 0;
        }
        sectors[k] = *next + (uint64_t)line * LINE_SECTORS + in_line;
    }
    *next += count > 1 ? (uint64_t)lines * LINE_SECTORS : 1;
}

/* The last `count` of them; false where there are fewer. */
static bool put_last(const struct ring *ring, uint32_t count, uint64_t *sectors)
{
    if (ring->count < count || count > ring->room)
        return false;
    for (uint32_t k = 0; k < count; k++)
        sectors[k] = ring->sector[(ring->count - count + k) % ring->room];
    return true;
}

/* Sectors in turn, of the first `known` that were added; false where there are fewer than `count`. */
static bool put_in_turn(struct ring *ring, uint64_t known, uint32_t count, uint64_t *sectors)
{
    uint64_t first = ring->count > ring->room ? ring->count - ring->room : 0;

    if (known < first + count)
        return false;
    for (uint32_t k = 0; k < count; k++) {
        if (ring->at < first || ring->at >= known)
            ring->at = first;
        sectors[k] = ring->sector[ring->at++ % ring->room];
    }
    return true;
}

static void put_load(struct gt_accelsim_places *places, uint32_t i, uint32_t count, uint32_t lines, uint64_t *sectors)
{
    struct debt *debt = &places->debts[i];
    double l1_miss, l2_miss;
    bool known = true;

    gt_warp_paths_misses(places->paths, i, &l1_miss, &l2_miss);
    if (!due(&debt->l1_miss, l1_miss)) {
        if (put_last(&places->recent, count, sectors))
            return;
        debt->l1_miss -= 1;
    }
    if (due(&debt->l2_miss, l2_miss)) {
        known = false;
    } else if (!put_in_turn(&places->loaded, places->own_from, count, sectors)) {
        debt->l2_miss -= 1;
        known = false;
    }
    if (!known) {
        put_new(&places->next_load, count, lines, sectors);
        for (uint32_t k = 0; k < count; k++)
            ring_add(&places->loaded, sectors[k]);
    }
    for (uint32_t k = 0; k < count; k++)
        ring_add(&places->recent, sectors[k]);
}

static void put_store(struct gt_accelsim_places *places, uint32_t i, uint32_t count, uint32_t lines,
                      uint64_t *sectors)
{
    double miss = 1 - fmax(0, places->use->l1_store_hit);

    if (!due(&places->debts[i].l1_miss, miss) && put_last(&places->stored, count, sectors))
        return;
    put_new(&places->next_store, count, lines, sectors);
    for (uint32_t k = 0; k < count; k++)
        ring_add(&places->stored, sectors[k]);
}

static void put_atomic(struct gt_accelsim_places *places, uint32_t i, uint32_t count, uint32_t lines,
                       uint64_t *sectors)
{
    double miss = places->use->l2_atomic_hit < 0 ? 0 : 1 - places->use->l2_atomic_hit;

    if (due(&places->debts[i].hot, places->use->l2_atomic_slice_share - EVEN_SLICE_SHARE)) {
        for (uint32_t k = 0; k < count; k++)
            sectors[k] = HOT_ATOMICS + k;
        return;
    }
    if (!due(&places->debts[i].l2_miss, miss) && put_in_turn(&places->atomics, places->atomics.count, count, sectors))
        return;
    put_new(&places->next_atomic, count, lines, sectors);
    for (uint32_t k = 0; k < count; k++)
        ring_add(&places->atomics, sectors[k]);
}

/* Threads, in order, over the sectors: those of a sector side by side, but for `together`, which have the place of its
 * first. */
static void deal_out(uint32_t mask, const uint64_t *sectors, uint32_t count, uint32_t width_bytes, uint32_t together,
                     uint64_t *address)
{
    uint32_t threads = (uint32_t)__builtin_popcount(mask);

    for (uint32_t lane = 0, j = 0, place = 0, k = 0; lane < GT_ACCELSIM_LANES; lane++) {
        if ((mask >> lane & 1) == 0)
            continue;
        if (j * count / threads != k) {
            k = j * count / threads;
            place = 0;
        } else if (j > 0 && together > 0) {
            together--;
        } else {
            place += j > 0;
        }
        address[lane] = sectors[k] * GT_SECTOR_BYTES + (uint64_t)place * width_bytes % GT_SECTOR_BYTES;
        j++;
    }
}

static void global(struct gt_accelsim_places *places, uint32_t i, const struct gt_access *access, uint32_t mask,
                   uint64_t *address)
{
    uint64_t sectors[GT_ACCELSIM_LANES];
    struct debt *debt = &places->debts[i];
    uint32_t threads = (uint32_t)__builtin_popcount(mask), action = places->program->instructions[i].action;
    uint32_t count = whole(&debt->sectors, access->sectors, 1, threads), together = 0;
    double least = ceil((double)count / LINE_SECTORS);
    uint32_t lines = whole(&debt->lines, fmax(least, access->tag_requests), least, count);

    if (action == GT_ACTION_ATOMIC || action == GT_ACTION_REDUCE) {
        together = whole(&debt->operations, fmax(count, places->operations), count, threads) - count;
        put_atomic(places, i, count, lines, sectors);
    } else if (action == GT_ACTION_STORE) {
        put_store(places, i, count, lines, sectors);
    } else {
        put_load(places, i, count, lines, sectors);
    }
    deal_out(mask, sectors, count, access->width_bytes, together, address);
}

/* Threads, in order, at a multiple of their width. */
static void spread(uint32_t mask, uint32_t stride_bytes, uint64_t base, uint64_t *address)
{
    for (uint32_t lane = 0, j = 0; lane < GT_ACCELSIM_LANES; lane++)
        if ((mask >> lane & 1) != 0)
            address[lane] = base + ((uint64_t)j++ * stride_bytes & SHARED_BYTES_MASK);
}

/* Passes that this stride takes. */
static uint32_t passes_of(struct gt_accelsim_places *places, bool matrices, uint32_t width, uint32_t mask,
                          uint32_t stride)
{
    uint32_t kind = matrices ? 3 : width >= 16 ? 2 : width >= 8 ? 1 : 0;
    uint8_t *known = &places->passes[kind][__builtin_popcount(mask)][stride];
    struct gt_accelsim_line line = { .mask = mask };
    struct gt_accelsim_access access;

    if (*known == 0) {
        spread(mask, (matrices ? 16 : width) << stride, 0, line.address);
        gt_accelsim_access_shared(&line, width, matrices, &access);
        *known = (uint8_t)fmax(1, access.wavefronts);
    }
    return *known;
}

static void shared(struct gt_accelsim_places *places, uint32_t i, const struct gt_access *access, uint32_t mask,
                   uint64_t base, uint64_t *address)
{
    uint32_t width = access->width_bytes < FEWEST_WORD_BYTES ? FEWEST_WORD_BYTES : access->width_bytes, best = 0;
    bool matrices = strstr(gt_program_text(places->program, i), "SM.") != NULL; /* LDSM, STSM */
    struct debt *debt = &places->debts[i];

    debt->passes += access->wavefronts;
    for (uint32_t stride = 1; stride < STRIDES; stride++)
        if ((float)passes_of(places, matrices, width, mask, stride) <= debt->passes + 0.5f)
            best = stride;
    if (debt->passes + 0.5f < (float)passes_of(places, matrices, width, mask, 0)) { /* all at one place */
        debt->passes -= 1;
        spread(mask, 0, base, address);
        return;
    }
    debt->passes -= (float)passes_of(places, matrices, width, mask, best);
    spread(mask, (matrices ? 16 : width) << best, base, address);
}

void gt_accelsim_places_choose(struct gt_accelsim_places *places, uint32_t i, uint32_t mask,
                               const struct gt_accelsim_header *header, uint64_t *address)
{
    const struct gt_access *access = &places->program->memory[places->program->instructions[i].memory];

    if (access->space == GT_SPACE_LOCAL) {
        for (uint32_t lane = 0; lane < GT_ACCELSIM_LANES; lane++)
            address[lane] = header->local_base + ((uint32_t)access->address.offset_bytes & LOCAL_BYTES_MASK);
    } else if (access->space == GT_SPACE_SHARED || access->space == GT_SPACE_CLUSTER || access->sectors <= 0) {
        shared(places, i, access, mask, access->space == GT_SPACE_GENERIC ? header->shared_base : 0, address);
    } else {
        global(places, i, access, mask, address);
    }
}

uint32_t gt_accelsim_places_threads(struct gt_accelsim_places *places, uint32_t i, uint32_t active)
{
    const struct gt_instruction *in = &places->program->instructions[i];
    double all = __builtin_popcount(active), share = in->threads > 0 ? fmin(1, in->threads_on / in->threads) : 0;
    uint32_t on = whole(&places->debts[i].threads, all * share, 0, all), mask = 0;

    for (; on > 0; on--) {
        mask |= active & -active;
        active &= active - 1;
    }
    return mask;
}

uint64_t gt_accelsim_places_bulk(struct gt_accelsim_places *places, uint32_t i, uint64_t bytes)
{
    const struct gt_instruction *in = &places->program->instructions[i];
    uint64_t sectors = (bytes + GT_LINE_BYTES - 1) / GT_LINE_BYTES * LINE_SECTORS;
    bool store = in->action == GT_ACTION_BULK_STORE;
    uint64_t *next = store ? &places->next_store : &places->next_load, at;
    double miss = places->use->l2_read_hit < 0 ? 1 : 1 - places->use->l2_read_hit;

    if (!store && !due(&places->debts[i].l2_miss, miss) && put_in_turn(&places->bulk, places->bulk.count, 1, &at))
        return at * GT_SECTOR_BYTES;
    at = (*next + LINE_SECTORS - 1) / LINE_SECTORS * LINE_SECTORS;
    *next = at + sectors;
    if (!store)
        ring_add(&places->bulk, at);
    return at * GT_SECTOR_BYTES;
}
