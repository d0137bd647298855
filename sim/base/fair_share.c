#include "sim/base/fair_share.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/error.h"

/* Levels that differ by no more than this part are one: the difference is rounding. */
#define ROUNDING 1e-9

/* Make room for one more of `count`. */
#define GROW(array, count, room)                                                            \
    do {                                                                                    \
        if ((count) == (room)) {                                                            \
            (room) = (room) == 0 ? 64 : (room) * 2;                                         \
            (array) = gt_realloc((array), (room), sizeof *(array));                         \
        }                                                                                   \
    } while (0)

void gt_share_clear(struct gt_share *share)
{
    share->user_count = share->use_count = share->resource_count = 0;
}

uint32_t gt_share_add_resource(struct gt_share *share, double capacity)
{
    GROW(share->resources, share->resource_count, share->resource_room);
    share->resources[share->resource_count] = (struct gt_share_resource){ .capacity = fmax(0, capacity) };
    return share->resource_count++;
}

uint32_t gt_share_add_user(struct gt_share *share, double limit, double speed)
{
    GROW(share->users, share->user_count, share->user_room);
    share->users[share->user_count] = (struct gt_share_user){ .limit = limit, .speed = speed,
                                                              .first_use = share->use_count };
    return share->user_count++;
}

void gt_share_add_use(struct gt_share *share, uint32_t resource, double amount)
{
    if (!(amount > 0))
        return;
    GROW(share->uses, share->use_count, share->use_room);
    share->uses[share->use_count++] = (struct gt_share_use){ resource, amount };
    share->users[share->user_count - 1].uses++;
}

/* How fast the use of each resource grows, by the users that still grow. */
static void sum_rising(struct gt_share *share)
{
    for (uint32_t r = 0; r < share->resource_count; r++)
        share->resources[r].rising = 0;
    for (uint32_t u = 0; u < share->user_count; u++) {
        const struct gt_share_user *user = &share->users[u];

        for (uint32_t i = user->first_use; !user->settled && i < user->first_use + user->uses; i++)
            share->resources[share->uses[i].resource].rising += share->uses[i].amount * user->speed;
    }
}

/* The level at which it is used up; without growing users never. */
static double full_at(const struct gt_share_resource *resource)
{
    if (!(resource->rising > 0))
        return INFINITY;
    return fmax(0, resource->capacity - resource->used) / resource->rising;
}

/* The next level at which someone stops growing. */
static double next_level(const struct gt_share *share)
{
    double level = INFINITY;

    for (uint32_t u = 0; u < share->user_count; u++)
        if (!share->users[u].settled)
            level = fmin(level, share->users[u].limit / share->users[u].speed);
    for (uint32_t r = 0; r < share->resource_count; r++)
        level = fmin(level, full_at(&share->resources[r]));
    return level;
}

/* Does it take part of a resource that is used up at this level? */
static bool blocked(const struct gt_share *share, const struct gt_share_user *user, double level)
{
    for (uint32_t i = user->first_use; i < user->first_use + user->uses; i++)
        if (full_at(&share->resources[share->uses[i].resource]) <= level * (1 + ROUNDING))
            return true;
    return false;
}

/* Settle who stops growing at `level`; returns how many. */
static uint32_t settle(struct gt_share *share, double level)
{
    uint32_t settled = 0;

    for (uint32_t u = 0; u < share->user_count; u++) {
        struct gt_share_user *user = &share->users[u];
        bool limited = user->limit / user->speed <= level;

        if (user->settled || (!limited && !blocked(share, user, level)))
            continue;
        user->rate = limited ? user->limit : level * user->speed;
        user->settled = true;
        settled++;
    }
    return settled;
}

/* What the settled users take. */
static void sum_used(struct gt_share *share)
{
    for (uint32_t r = 0; r < share->resource_count; r++)
        share->resources[r].used = 0;
    for (uint32_t u = 0; u < share->user_count; u++) {
        const struct gt_share_user *user = &share->users[u];

        for (uint32_t i = user->first_use; user->settled && i < user->first_use + user->uses; i++)
            share->resources[share->uses[i].resource].used += share->uses[i].amount * user->rate;
    }
}

void gt_share_solve(struct gt_share *share)
{
    for (uint32_t u = 0; u < share->user_count; u++)
        share->users[u].settled = false;
    for (uint32_t left = share->user_count; left > 0;) {
        sum_used(share);
        sum_rising(share);
        left -= settle(share, next_level(share));
    }
}

void gt_share_free(struct gt_share *share)
{
    free(share->users);
    free(share->uses);
    free(share->resources);
    *share = (struct gt_share){ 0 };
}
