/* scheduler.c - which of a sub-partition's ready warps issues.
 *
 * greedy-oldest: the warp that issued last as long as it can, then the one that is resident longest
 * (GTO: Rogers, O'Connor, Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012).
 * greedy-youngest: the same, then the one that came last (Huerta et al., "Analyzing Modern NVIDIA GPU
 * cores", 2025, measured it on Ampere).  round-robin: the next place behind the one that issued last.
 */
#include "sim/warp/scheduler.h"

static int greedy(const struct gt_smsp *sub, uint64_t now, uint64_t *next, uint32_t flip)
{
    uint64_t soonest = GT_WARP_NEVER;
    uint32_t best_age = UINT32_MAX;
    int best = -1;

    if (gt_ready_at(sub, sub->last) <= now)
        return (int)sub->last;
    for (uint32_t i = 0; i < sub->places; i++) {
        uint64_t at = gt_ready_at(sub, i);

        if (at <= now && (sub->age[i] ^ flip) < best_age) {
            best_age = sub->age[i] ^ flip;
            best = (int)i;
        }
        soonest = at < soonest ? at : soonest;
    }
    *next = soonest;
    return best;
}

static int greedy_oldest(void *state, const struct gt_smsp *sub, const double *parameters, uint64_t now,
                         uint64_t *next)
{
    (void)state;
    (void)parameters;
    return greedy(sub, now, next, 0);
}

static int greedy_youngest(void *state, const struct gt_smsp *sub, const double *parameters, uint64_t now,
                           uint64_t *next)
{
    (void)state;
    (void)parameters;
    return greedy(sub, now, next, UINT32_MAX >> 1);
}

static int round_robin(void *state, const struct gt_smsp *sub, const double *parameters, uint64_t now, uint64_t *next)
{
    uint64_t soonest = GT_WARP_NEVER;

    (void)state;
    (void)parameters;
    for (uint32_t i = 1; i <= sub->places; i++) {
        uint32_t place = (sub->last + i) % sub->places;
        uint64_t at = gt_ready_at(sub, place);

        if (at <= now)
            return (int)place;
        soonest = at < soonest ? at : soonest;
    }
    *next = soonest;
    return -1;
}

static const struct gt_scheduler_policy policies[] = {
    { .named = { .name = "greedy-oldest",
                 .help = "the warp that issued last, then the one that is resident longest" },
      .pick = greedy_oldest },
    { .named = { .name = "greedy-youngest", .help = "the warp that issued last, then the one that came last" },
      .pick = greedy_youngest },
    { .named = { .name = "round-robin", .help = "warps take turns" }, .pick = round_robin },
};

const struct gt_scheduler_policy *gt_scheduler_find(const char *text, const struct gt_scheduler_policy *more,
                                                    double *parameters, struct gt_error *error)
{
    static const char key[] = "warp.policy";
    const struct gt_scheduler_policy *found = more;

    if (more == NULL || !gt_named_is(&more->named, text))
        found = gt_named_find(policies, sizeof policies / sizeof policies[0], sizeof policies[0], key, text, error);
    if (found == NULL || gt_named_parameters(&found->named, key, text, parameters, error) != 0)
        return NULL;
    return found;
}
