#include "traces/tasks/recorded_costs.h"

#include <stdlib.h>

#include "sim/base/array.h"
#include "sim/workload/block_cost.h"

enum { LATER, FIRST, PLACES };
#define PS_A_NS 1000

/* Times of a kind's tasks at a place, in the order in which they are given. */
struct pool {
    gt_time_ps *times_ps;
    uint32_t count, room, next;
};

struct gt_recorded_costs {
    gt_time_ps *times_ps; /* by slice */
    struct pool (*kinds)[PLACES];
    uint32_t kind_count;
    uint64_t gaps_ns, gaps;
};

static gt_time_ps to_ps(uint64_t time_ns)
{
    return time_ns < GT_TIME_LIMIT_PS / PS_A_NS ? time_ns * PS_A_NS : GT_TIME_LIMIT_PS;
}

static void add(struct pool *pool, gt_time_ps time_ps)
{
    gt_array_grow(pool->times_ps, pool->count, pool->room);
    pool->times_ps[pool->count++] = time_ps;
}

/* The tasks of the worker of slices[first], and where the next worker's begin. */
static uint32_t add_worker(struct gt_recorded_costs *costs, const struct gt_task_slices *slices, uint32_t first)
{
    const struct gt_task_slice *slice = &slices->slices[first], *start = slice;
    uint64_t end_ns = slice->start_ns;

    for (; first < slices->count && slice->worker == start->worker; slice = &slices->slices[++first]) {
        uint64_t from_ns = slice->start_ns > end_ns ? slice->start_ns : end_ns;

        costs->times_ps[first] = to_ps(slice->end_ns > from_ns ? slice->end_ns - from_ns : 0);
        add(&costs->kinds[slice->kind][slice == start ? FIRST : LATER], costs->times_ps[first]);
        costs->gaps_ns += from_ns - end_ns;
        costs->gaps += slice != start;
        end_ns = slice->end_ns > end_ns ? slice->end_ns : end_ns;
    }
    return first;
}

static void shuffle(struct pool *pool, uint64_t number)
{
    for (uint32_t left = pool->count; left > 1; left--) {
        uint32_t drawn = (uint32_t)((unsigned __int128)gt_random_bits(0, number, left) * left >> 64);
        gt_time_ps time_ps = pool->times_ps[drawn];

        pool->times_ps[drawn] = pool->times_ps[left - 1];
        pool->times_ps[left - 1] = time_ps;
    }
}

struct gt_recorded_costs *gt_recorded_costs_new(const struct gt_task_slices *slices)
{
    struct gt_recorded_costs *costs = gt_calloc(1, sizeof *costs);

    costs->kind_count = slices->kind_count;
    costs->kinds = gt_calloc(slices->kind_count, sizeof *costs->kinds);
    costs->times_ps = gt_calloc(slices->count + 1ull, sizeof *costs->times_ps);
    for (uint32_t i = 0; i < slices->count;)
        i = add_worker(costs, slices, i);
    for (uint32_t k = 0; k < costs->kind_count; k++)
        for (int place = 0; place < PLACES; place++)
            shuffle(&costs->kinds[k][place], (uint64_t)k * PLACES + (uint64_t)place);
    return costs;
}

void gt_recorded_costs_free(struct gt_recorded_costs *costs)
{
    for (uint32_t k = 0; k < costs->kind_count; k++)
        for (int place = 0; place < PLACES; place++)
            free(costs->kinds[k][place].times_ps);
    free(costs->kinds);
    free(costs->times_ps);
    free(costs);
}

gt_time_ps gt_recorded_costs_time(const struct gt_recorded_costs *costs, uint32_t slice)
{
    return costs->times_ps[slice];
}

gt_time_ps gt_recorded_costs_draw(struct gt_recorded_costs *costs, uint32_t kind, bool first)
{
    struct pool *pool = &costs->kinds[kind][first ? FIRST : LATER];

    if (pool->count == 0)
        pool = &costs->kinds[kind][first ? LATER : FIRST];
    return pool->count == 0 ? GT_TIME_NONE : pool->times_ps[pool->next++ % pool->count];
}

gt_time_ps gt_recorded_costs_between(const struct gt_recorded_costs *costs)
{
    unsigned __int128 total_ps = (unsigned __int128)costs->gaps_ns * PS_A_NS;

    if (costs->gaps == 0)
        return GT_TIME_NONE;
    return total_ps / costs->gaps < GT_TIME_LIMIT_PS ? (gt_time_ps)(total_ps / costs->gaps) : GT_TIME_LIMIT_PS;
}
