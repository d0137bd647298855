#include "sim/base/fair_share.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/error.h"

/* Levels that differ by no more than this part are one: the difference is rounding. */
#define ROUNDING 1e-9

/* Make room for one more of `count`. */
#define GROW(array, count, room)                                    \
    do {                                                            \
        if ((count) == (room)) {                                    \
            (room) = (room) == 0 ? 64 : (room)*2;                   \
            (array) = gt_realloc((array), (room), sizeof *(array)); \
        }                                                           \
    } while (0)

void gt_maxmin_clear(struct gt_maxmin *maxmin)
{
    maxmin->consumer_count = maxmin->demand_count = maxmin->resource_count = 0;
}

uint32_t gt_maxmin_add_resource(struct gt_maxmin *maxmin, double capacity)
{
    GROW(maxmin->resources, maxmin->resource_count, maxmin->resource_room);
    maxmin->resources[maxmin->resource_count] = (struct gt_maxmin_resource){ .capacity = fmax(0, capacity) };
    return maxmin->resource_count++;
}

uint32_t gt_maxmin_add_consumer(struct gt_maxmin *maxmin, double bound, double speed)
{
    GROW(maxmin->consumers, maxmin->consumer_count, maxmin->consumer_room);
    maxmin->consumers[maxmin->consumer_count] =
        (struct gt_maxmin_consumer){ .bound = bound, .speed = speed, .first_demand = maxmin->demand_count };
    return maxmin->consumer_count++;
}

void gt_maxmin_add_demand(struct gt_maxmin *maxmin, uint32_t resource, double amount)
{
    if (!(amount > 0))
        return;
    GROW(maxmin->demands, maxmin->demand_count, maxmin->demand_room);
    maxmin->demands[maxmin->demand_count++] = (struct gt_maxmin_demand){ resource, amount };
    maxmin->consumers[maxmin->consumer_count - 1].demands++;
}

/* How fast the use of each resource grows, by the consumers that still grow. */
static void sum_rising(struct gt_maxmin *maxmin)
{
    for (uint32_t r = 0; r < maxmin->resource_count; r++)
        maxmin->resources[r].rising = 0;
    for (uint32_t u = 0; u < maxmin->consumer_count; u++) {
        const struct gt_maxmin_consumer *consumer = &maxmin->consumers[u];

        for (uint32_t i = consumer->first_demand;
             !consumer->settled && i < consumer->first_demand + consumer->demands; i++)
            maxmin->resources[maxmin->demands[i].resource].rising += maxmin->demands[i].amount * consumer->speed;
    }
}

/* The level at which it is used up; without growing consumers never. */
static double full_at(const struct gt_maxmin_resource *resource)
{
    if (!(resource->rising > 0))
        return INFINITY;
    return fmax(0, resource->capacity - resource->used) / resource->rising;
}

/* The next level at which someone stops growing. */
static double next_level(const struct gt_maxmin *maxmin)
{
    double level = INFINITY;

    for (uint32_t u = 0; u < maxmin->consumer_count; u++)
        if (!maxmin->consumers[u].settled)
            level = fmin(level, maxmin->consumers[u].bound / maxmin->consumers[u].speed);
    for (uint32_t r = 0; r < maxmin->resource_count; r++)
        level = fmin(level, full_at(&maxmin->resources[r]));
    return level;
}

/* Does it take part of a resource that is used up at this level? */
static bool blocked(const struct gt_maxmin *maxmin, const struct gt_maxmin_consumer *consumer, double level)
{
    for (uint32_t i = consumer->first_demand; i < consumer->first_demand + consumer->demands; i++)
        if (full_at(&maxmin->resources[maxmin->demands[i].resource]) <= level * (1 + ROUNDING))
            return true;
    return false;
}

/* Settle who stops growing at `level`; returns how many. */
static uint32_t settle(struct gt_maxmin *maxmin, double level)
{
    uint32_t settled = 0;

    for (uint32_t u = 0; u < maxmin->consumer_count; u++) {
        struct gt_maxmin_consumer *consumer = &maxmin->consumers[u];
        bool limited = consumer->bound / consumer->speed <= level;

        if (consumer->settled || (!limited && !blocked(maxmin, consumer, level)))
            continue;
        consumer->rate = limited ? consumer->bound : level * consumer->speed;
        consumer->settled = true;
        settled++;
    }
    return settled;
}

/* What the settled consumers take. */
static void sum_used(struct gt_maxmin *maxmin)
{
    for (uint32_t r = 0; r < maxmin->resource_count; r++)
        maxmin->resources[r].used = 0;
    for (uint32_t u = 0; u < maxmin->consumer_count; u++) {
        const struct gt_maxmin_consumer *consumer = &maxmin->consumers[u];

        for (uint32_t i = consumer->first_demand; consumer->settled && i < consumer->first_demand + consumer->demands;
             i++)
            maxmin->resources[maxmin->demands[i].resource].used += maxmin->demands[i].amount * consumer->rate;
    }
}

void gt_maxmin_solve(struct gt_maxmin *maxmin)
{
    for (uint32_t u = 0; u < maxmin->consumer_count; u++)
        maxmin->consumers[u].settled = false;
    for (uint32_t left = maxmin->consumer_count; left > 0;) {
        sum_used(maxmin);
        sum_rising(maxmin);
        left -= settle(maxmin, next_level(maxmin));
    }
}

void gt_maxmin_free(struct gt_maxmin *maxmin)
{
    free(maxmin->consumers);
    free(maxmin->demands);
    free(maxmin->resources);
    *maxmin = (struct gt_maxmin){ 0 };
}
