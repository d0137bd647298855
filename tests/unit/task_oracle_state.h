/* task_oracle_state.h - what task_oracle.h keeps of a simulation, and its events. */
#ifndef GRIDTIDE_TESTS_UNIT_TASK_ORACLE_STATE_H
#define GRIDTIDE_TESTS_UNIT_TASK_ORACLE_STATE_H

#include <string.h>

#include "sim/simulate.h"
#include "sim/workload/block_cost.h"
#include "sim/workload/task_graph.h"

enum { TASKS = 64, WORKERS = 40, AT_ONCE = 8, LANES = 4 * AT_ONCE, EVENTS = 4 * WORKERS };
enum { SHARED, READY, STEAL, STATIC, MIXED, POLICIES };

enum what {
    NOTHING,
    ASKS,
    KNOWS,
    READ,
    LOOKS,
    SEES,
    LOOKED,
    STARTS,
    ENDS,
    SIGNALS, /* where workers poll: whose number is the task's */
    BEGINS_TO_PUBLISH,
    PUBLISHES,
    STEALS,
    TRIES,
    LEAVES
};

struct oracle {
    const struct gt_task_graph *graph;
    const struct gt_task_costs *costs;
    int policy;
    uint64_t seed;
    uint32_t workers;
    struct event {
        gt_time_ps time_ps;
        uint64_t order;
        enum what what;
        uint32_t worker;
    } events[EVENTS];
    uint64_t order;
    gt_time_ps now_ps;
    struct {
        gt_time_ps reached_ps[2 * TASKS]; /* when each signal was there */
        gt_time_ps free_ps;
        uint32_t signals;
    } counters[TASKS];
    struct {
        struct gt_task_record record;
        uint32_t place; /* ready: its ticket; steal: in its turn round the others */
        uint64_t thief, turn;
        bool own;                              /* tries to take its own, and not another's */
        uint32_t tries[LANES], changes[LANES]; /* deques that it saw filled, and how often they had changed */
        uint32_t first_try, try_count;
        bool seen, knew; /* ... a task */
        uint32_t fresh[TASKS], fresh_count, rounds, lots;
    } of[WORKERS];
    uint32_t lacks[TASKS];
    uint32_t next_list[WORKERS], next_shared, next_worker, left;
    gt_time_ps head_ps, tail_ps;
    uint32_t tickets, filled, queue[TASKS];
    struct {
        uint32_t tasks[TASKS], count, changes, claims;
    } own[WORKERS];
    uint64_t thieves;
    uint32_t thieving; /* who look or try */
    uint32_t taken;
    gt_time_ps taken_ps;
    struct gt_task_record records[TASKS];
    gt_time_ps end_ps;
};

static void later(struct oracle *o, gt_time_ps time_ps, enum what what, uint32_t worker)
{
    int i = 0;

    while (o->events[i].what != NOTHING)
        i++;
    o->events[i] = (struct event){ time_ps, o->order++, what, worker };
}

static gt_time_ps served(gt_time_ps *free_ps, gt_time_ps at_ps, gt_time_ps serial_ps)
{
    gt_time_ps when_ps = at_ps < *free_ps ? *free_ps : at_ps;

    *free_ps = when_ps + serial_ps;
    return when_ps;
}

#endif
