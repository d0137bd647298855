/* scheduler.c - which of a sub-partition's ready warps issues.
 *
 * greedy-oldest: the warp that issued last as long as it can, then the one that is resident longest
 * (GTO: Rogers, O'Connor, Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012).
 * greedy-youngest: the same, then the one that came last (Huerta et al., "Analyzing Modern NVIDIA GPU
 * cores", 2025, measured it on Ampere).  round-robin: the next place behind the one that issued last.
 */
#include "sim/base/named_table.h"
#include "sim/warp/internal.h"

/* When place `i` could issue. */
static inline uint64_t when(const struct gt_smsp *sub, uint32_t i)
{
    uint64_t free = sub->free[sub->gate[i]];

    return sub->ready[i] > free ? sub->ready[i] : free;
}

static int greedy(const struct gt_smsp *sub, uint64_t now, uint64_t *next, uint32_t flip)
{
    uint64_t soonest = GT_WARP_NEVER;
    uint32_t best_age = UINT32_MAX;
    int best = -1;

    if (when(sub, sub->last) <= now)
        return (int)sub->last;
    for (uint32_t i = 0; i < sub->places; i++) {
        uint64_t at = when(sub, i);

        if (at <= now && (sub->age[i] ^ flip) < best_age) {
            best_age = sub->age[i] ^ flip;
            best = (int)i;
        }
        soonest = at < soonest ? at : soonest;
    }
    *next = soonest;
    return best;
}

static int greedy_oldest(const struct gt_smsp *sub, uint64_t now, uint64_t *next)
{
    return greedy(sub, now, next, 0);
}

static int greedy_youngest(const struct gt_smsp *sub, uint64_t now, uint64_t *next)
{
    return greedy(sub, now, next, UINT32_MAX >> 1);
}

static int round_robin(const struct gt_smsp *sub, uint64_t now, uint64_t *next)
{
    uint64_t soonest = GT_WARP_NEVER;

    for (uint32_t i = 1; i <= sub->places; i++) {
        uint32_t place = (sub->last + i) % sub->places;
        uint64_t at = when(sub, place);

        if (at <= now)
            return (int)place;
        soonest = at < soonest ? at : soonest;
    }
    *next = soonest;
    return -1;
}

static const struct gt_warp_policy policies[] = {
    { "greedy-oldest", "the warp that issued last, then the one that is resident longest", greedy_oldest },
    { "greedy-youngest", "the warp that issued last, then the one that came last", greedy_youngest },
    { "round-robin", "warps take turns", round_robin },
};

const struct gt_warp_policy *gt_warp_policy_find(const char *name, struct gt_error *error)
{
    return gt_named_find(policies, sizeof policies / sizeof policies[0], sizeof policies[0], "warp.policy",
                          name, error);
}
