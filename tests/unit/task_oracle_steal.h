/* task_oracle_steal.h - of task_oracle.h: workers that take each other's tasks. */
#ifndef GRIDTIDE_TESTS_UNIT_TASK_ORACLE_STEAL_H
#define GRIDTIDE_TESTS_UNIT_TASK_ORACLE_STEAL_H

#include "tests/unit/task_oracle_state.h"

/* A task of a deque has been taken by then. */
static void take_note(struct oracle *o, gt_time_ps taken_ps)
{
    o->taken++;
    o->taken_ps = taken_ps > o->taken_ps ? taken_ps : o->taken_ps;
}

static gt_time_ps has_ps(const struct oracle *o)
{
    return o->costs->queue_ps / 2 + o->costs->fence_ps + o->costs->load_ps;
}

/* A look sees what is there in the middle of the poll that ends it. */
static gt_time_ps sees_ps(const struct oracle *o)
{
    return o->costs->look_ps > o->costs->poll_ps / 2 ? o->costs->look_ps - o->costs->poll_ps / 2 : 0;
}

static void become_thief(struct oracle *o, uint32_t w, gt_time_ps from_ps)
{
    o->of[w].record.task = o->graph->task_count;
    o->of[w].place = 0;
    o->of[w].turn = 0;
    o->of[w].thief = o->thieves++;
    o->thieving++;
    later(o, from_ps + sees_ps(o), STEALS, w);
}

static void take_task(struct oracle *o, uint32_t w, uint32_t victim, bool newest, gt_time_ps known_ps)
{
    uint32_t *tasks = o->own[victim].tasks, count = --o->own[victim].count;

    o->of[w].record.task = newest ? tasks[count] : tasks[0];
    if (!newest)
        memmove(tasks, tasks + 1, count * sizeof *tasks);
    o->own[victim].changes++;
    take_note(o, known_ps);
    later(o, known_ps, KNOWS, w);
}

static void try_next(struct oracle *o, uint32_t w, gt_time_ps when_ps)
{
    o->own[o->of[w].tries[o->of[w].first_try]].claims++;
    later(o, when_ps, TRIES, w);
}

static void ask_own(struct oracle *o, uint32_t w)
{
    const struct gt_task_costs *costs = o->costs;
    gt_time_ps seen_ps = o->now_ps + costs->poll_ps + costs->found_ps;

    if (o->own[w].count == 0) {
        become_thief(o, w, seen_ps + costs->look_ps);
    } else if (o->thieving == 0) {
        take_task(o, w, w, true, seen_ps + costs->queue_ps / 2 + has_ps(o));
    } else {
        o->of[w].own = true;
        o->of[w].tries[0] = w;
        o->of[w].changes[0] = o->own[w].changes;
        o->of[w].first_try = 0;
        o->of[w].try_count = 1;
        try_next(o, w, seen_ps + costs->queue_ps / 2);
    }
}

/* A look at others' tasks, or the one behind a turn, sees what is there. */
static void steal(struct oracle *o, uint32_t w)
{
    uint32_t first = (uint32_t)(gt_random_bits(o->seed, o->of[w].thief, o->of[w].turn) % o->workers);
    gt_time_ps less_ps = sees_ps(o) + has_ps(o);
    bool found = false;

    if (o->of[w].place >= o->workers) {
        o->of[w].turn++;
        o->of[w].place = 0;
        if (o->taken == o->graph->task_count && o->taken_ps <= o->now_ps)
            later(o, o->now_ps + o->costs->look_ps - sees_ps(o), KNOWS, w);
        else
            later(o, o->now_ps + o->costs->look_ps, STEALS, w);
        return;
    }
    o->of[w].first_try = o->of[w].try_count = 0;
    for (uint32_t i = 0; i < LANES && o->of[w].place < o->workers; i++) {
        uint32_t victim = (first + o->of[w].place++) % o->workers;

        if (o->own[victim].count == 0)
            continue;
        found |= o->own[victim].count > o->own[victim].claims;
        o->of[w].changes[o->of[w].try_count] = o->own[victim].changes;
        o->of[w].tries[o->of[w].try_count++] = victim;
    }
    o->of[w].own = false;
    if (found)
        try_next(o, w, o->now_ps + (o->costs->steal_ps > less_ps ? o->costs->steal_ps - less_ps : 0));
    else
        later(o, o->now_ps + o->costs->look_ps, STEALS, w);
}

/* An atomic has come to a deque. */
static void try_one(struct oracle *o, uint32_t w)
{
    uint32_t at = o->of[w].first_try, victim = o->of[w].tries[at];

    o->own[victim].claims--;
    if (o->own[victim].changes == o->of[w].changes[at]) {
        o->thieving -= !o->of[w].own;
        o->of[w].record.stolen = !o->of[w].own;
        take_task(o, w, victim, o->of[w].own, o->now_ps + has_ps(o));
    } else if (o->own[victim].count > 0) {
        o->of[w].changes[at] = o->own[victim].changes;
        try_next(o, w, o->now_ps + o->costs->queue_ps + o->costs->poll_ps / 2);
    } else if (++o->of[w].first_try < o->of[w].try_count) {
        try_next(o, w, o->now_ps + o->costs->try_ps);
    } else if (o->of[w].own) {
        become_thief(o, w, o->now_ps + o->costs->queue_ps / 2 + o->costs->look_ps);
    } else {
        later(o, o->now_ps + o->costs->try_ps / 2 + sees_ps(o), STEALS, w);
    }
}

#endif
