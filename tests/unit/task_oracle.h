/* task_oracle.h - a simulation of a task graph that plays everything one by one: each look at a counter, at a place of
 * the queue and at another worker's tasks is an event of its own, and the next event is found by looking at all.
 */
#ifndef GRIDTIDE_TESTS_UNIT_TASK_ORACLE_H
#define GRIDTIDE_TESTS_UNIT_TASK_ORACLE_H

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
        bool own;                           /* tries to take its own, and not another's */
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

/* The next task of a list: of `worker`, or those of nobody (GT_NONE) or, in shared, all. */
static uint32_t next_of(const struct oracle *o, uint32_t from, uint32_t worker)
{
    while (from < o->graph->task_count && o->policy != SHARED && o->graph->tasks[from].worker != worker)
        from++;
    return from;
}

/* A list stays near where nobody polls, but for its beginning. */
static gt_time_ps load_ps(const struct oracle *o, uint32_t w)
{
    return o->graph->wait_count > 0 || !o->of[w].knew ? o->costs->load_ps : o->costs->load_ps / 2;
}

static void ask_queue(struct oracle *o, uint32_t w)
{
    gt_time_ps more_ps;

    o->of[w].record.task = o->next_shared = next_of(o, o->next_shared, GT_NONE);
    more_ps = o->policy == MIXED && o->next_shared < o->graph->task_count ? load_ps(o, w) : 0;
    o->next_shared += o->next_shared < o->graph->task_count;
    later(o, served(&o->head_ps, o->now_ps, o->costs->queue_serial_ps) + o->costs->queue_ps + more_ps, KNOWS, w);
}

static void ask_list(struct oracle *o, uint32_t w)
{
    uint32_t task = next_of(o, o->next_list[w], w);

    if (task == o->graph->task_count && o->policy == MIXED) {
        ask_queue(o, w);
        return;
    }
    o->of[w].record.task = task;
    o->next_list[w] = task + 1;
    later(o, o->now_ps + (task < o->graph->task_count ? load_ps(o, w) : 0), KNOWS, w);
}

static void ask_ready(struct oracle *o, uint32_t w)
{
    gt_time_ps known_ps = served(&o->head_ps, o->now_ps, o->costs->queue_serial_ps) + o->costs->queue_ps;

    o->of[w].place = o->tickets++;
    o->of[w].record.task = o->graph->task_count;
    later(o, known_ps, o->of[w].place < o->graph->task_count ? LOOKS : KNOWS, w);
}

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

static void ask(struct oracle *o, uint32_t w)
{
    static void (*const asks[POLICIES])(struct oracle *, uint32_t) = { ask_queue, ask_ready, ask_own, ask_list,
                                                                       ask_list };

    o->of[w].record.asked_ps = o->now_ps;
    o->of[w].record.stolen = false;
    asks[o->policy](o, w);
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

static bool all_there(const struct oracle *o, uint32_t w)
{
    const struct gt_task *task = &o->graph->tasks[o->of[w].record.task];

    for (uint32_t i = task->first_wait; i < task->first_wait + task->waits; i++) {
        const struct gt_task_wait *wait = &o->graph->waits[i];
        uint32_t there = o->graph->counters[wait->counter].initial;

        for (uint32_t j = 0; j < o->counters[wait->counter].signals; j++)
            there += o->counters[wait->counter].reached_ps[j] <= o->now_ps;
        if (there < wait->threshold)
            return false;
    }
    return true;
}

/* A look begins at counters, or at its place in the queue of ready tasks; its middle; its end. */
static void look(struct oracle *o, uint32_t w)
{
    later(o, o->now_ps + o->costs->poll_ps / 2, SEES, w);
    later(o, o->now_ps + o->costs->poll_ps, LOOKED, w);
}

static void see(struct oracle *o, uint32_t w)
{
    if (o->of[w].record.task < o->graph->task_count)
        o->of[w].seen = all_there(o, w);
    else
        o->of[w].seen = o->of[w].place < o->filled;
}

static void looked(struct oracle *o, uint32_t w)
{
    if (!o->of[w].seen) {
        look(o, w);
    } else if (o->of[w].record.task < o->graph->task_count) {
        later(o, o->now_ps + o->costs->found_ps, STARTS, w);
    } else {
        o->of[w].record.task = o->queue[o->of[w].place];
        later(o, o->now_ps + o->costs->found_ps, KNOWS, w);
    }
}

static bool polls(const struct oracle *o)
{
    return o->policy != READY && o->policy != STEAL;
}

static void put(struct oracle *o, uint32_t w, uint32_t task)
{
    if (o->policy == READY) {
        o->queue[o->filled++] = task;
    } else {
        o->own[w].tasks[o->own[w].count++] = task;
        o->own[w].changes++;
    }
}

static bool bring(struct oracle *o, uint32_t w, uint32_t task)
{
    if (--o->lacks[task] > 0)
        return false;
    o->of[w].fresh[o->of[w].fresh_count++] = task;
    return true;
}

/* Tasks were let go together. */
static void let_lot_go(struct oracle *o, uint32_t w, uint32_t tasks, bool ready)
{
    o->of[w].rounds += (tasks + LANES - 1) / LANES;
    o->of[w].lots += ready ? (tasks + LANES - 1) / LANES : 0;
}

static gt_time_ps count_down_ps(const struct oracle *o)
{
    return o->costs->poll_ps + o->costs->queue_ps + o->costs->fence_ps;
}

/* Tasks whose wait for the counter is met with exactly this signal. */
static void meet(struct oracle *o, uint32_t w, uint32_t counter)
{
    uint32_t value = o->graph->counters[counter].initial + o->counters[counter].signals, met = 0;
    bool ready = false;

    for (uint32_t task = 0; task < o->graph->task_count; task++)
        for (uint32_t i = 0; i < o->graph->tasks[task].waits; i++) {
            const struct gt_task_wait *wait = &o->graph->waits[o->graph->tasks[task].first_wait + i];

            if (wait->counter != counter || wait->threshold != value)
                continue;
            met++;
            ready |= bring(o, w, task);
        }
    let_lot_go(o, w, met, ready);
}

static void signal_polled(struct oracle *o, uint32_t index)
{
    const struct gt_task *task = &o->graph->tasks[index];

    for (uint32_t i = task->first_signal; i < task->first_signal + task->signals; i++) {
        uint32_t counter = o->graph->signals[i];

        o->counters[counter].reached_ps[o->counters[counter].signals++] =
            served(&o->counters[counter].free_ps, o->now_ps, o->costs->queue_serial_ps);
    }
}

static void signal_and_let_go(struct oracle *o, uint32_t w)
{
    const struct gt_task *task = &o->graph->tasks[o->of[w].record.task];
    gt_time_ps known_ps = o->now_ps;
    bool ready = false;
    uint32_t behind;

    o->of[w].fresh_count = o->of[w].rounds = o->of[w].lots = 0;
    for (uint32_t i = task->first_signal; i < task->first_signal + task->signals; i++) {
        uint32_t counter = o->graph->signals[i];
        gt_time_ps there_ps = served(&o->counters[counter].free_ps, o->now_ps, o->costs->queue_serial_ps);

        o->counters[counter].reached_ps[o->counters[counter].signals++] = there_ps;
        known_ps = there_ps > known_ps ? there_ps : known_ps;
        meet(o, w, counter);
    }
    for (uint32_t i = task->first_made; i < task->first_made + task->made; i++)
        ready |= bring(o, w, o->graph->made[i]);
    let_lot_go(o, w, task->made, ready);
    known_ps += task->signals > 0 ? o->costs->queue_ps / 2 + o->costs->poll_ps : 0;
    if (o->of[w].fresh_count == 0) {
        later(o, known_ps + o->of[w].rounds * count_down_ps(o), ASKS, w);
        return;
    }
    behind = (o->of[w].fresh_count - 1) / LANES; /* lots that are counted down when others have been published */
    known_ps += (o->of[w].rounds - behind) * count_down_ps(o);
    later(o, known_ps + (o->of[w].lots - behind - 1) * (o->costs->queue_ps + o->costs->fence_ps), BEGINS_TO_PUBLISH,
          w);
}

static void know(struct oracle *o, uint32_t w)
{
    if (o->of[w].record.task == o->graph->task_count)
        later(o, o->now_ps + o->costs->end_ps, LEAVES, w);
    else
        later(o, o->now_ps + o->costs->overhead_ps, READ, w);
    o->of[w].record.taken_ps = o->now_ps;
    o->of[w].knew = true;
}

static void read_task(struct oracle *o, uint32_t w)
{
    if (!polls(o) || o->graph->tasks[o->of[w].record.task].waits == 0)
        later(o, o->now_ps, STARTS, w);
    else
        later(o, o->now_ps + o->costs->load_ps, LOOKS, w);
}

static void end(struct oracle *o, uint32_t w)
{
    const struct gt_task *task = &o->graph->tasks[o->of[w].record.task];

    o->of[w].record.end_ps = o->now_ps;
    o->of[w].record.worker = w;
    o->records[o->of[w].record.task] = o->of[w].record;
    o->left--;
    if (task->signals + task->made == 0) {
        ask(o, w);
    } else if (polls(o)) {
        later(o, o->now_ps + o->costs->signal_ps + o->costs->flight_ps, SIGNALS, o->of[w].record.task);
        later(o, o->now_ps + o->costs->signal_ps, ASKS, w);
    } else {
        later(o, o->now_ps + (task->signals > 0 ? o->costs->signal_ps : 0), SIGNALS, w);
    }
}

/* So many as go side by side are there; the others are counted down next. */
static void publish(struct oracle *o, uint32_t w)
{
    uint32_t now = o->of[w].fresh_count < LANES ? o->of[w].fresh_count : LANES;

    for (uint32_t i = 0; i < now; i++)
        put(o, w, o->of[w].fresh[i]);
    o->of[w].fresh_count -= now;
    memmove(o->of[w].fresh, o->of[w].fresh + now, o->of[w].fresh_count * sizeof(uint32_t));
    if (o->of[w].fresh_count > 0)
        later(o, o->now_ps + count_down_ps(o), BEGINS_TO_PUBLISH, w);
    else
        ask(o, w);
}

static void come(struct oracle *o)
{
    uint32_t w = o->next_worker++;

    later(o, o->now_ps + o->costs->start_ps, ASKS, w);
}

static void happen(struct oracle *o, enum what what, uint32_t w)
{
    switch (what) {
    case ASKS: ask(o, w); break;
    case KNOWS: know(o, w); break;
    case LOOKS: look(o, w); break;
    case SEES: see(o, w); break;
    case READ: read_task(o, w); break;
    case LOOKED: looked(o, w); break;
    case STARTS:
        o->of[w].record.start_ps = o->now_ps;
        later(o, o->now_ps + gt_task_cost_ps(o->graph, o->of[w].record.task, o->seed), ENDS, w);
        break;
    case ENDS: end(o, w); break;
    case SIGNALS: (polls(o) ? signal_polled : signal_and_let_go)(o, w); break;
    case BEGINS_TO_PUBLISH:
        later(o,
              (o->policy == READY ? served(&o->tail_ps, o->now_ps, o->costs->queue_serial_ps) : o->now_ps) +
                  o->costs->queue_ps + o->costs->fence_ps,
              PUBLISHES, w);
        break;
    case PUBLISHES: publish(o, w); break;
    case STEALS: steal(o, w); break;
    case TRIES: try_one(o, w); break;
    case LEAVES:
        o->end_ps = o->now_ps;
        if (o->next_worker < o->workers)
            come(o);
        break;
    default: break;
    }
}

static bool step(struct oracle *o)
{
    struct event *first = NULL, event;

    for (int i = 0; i < EVENTS; i++) {
        struct event *e = &o->events[i];

        if (e->what != NOTHING && (first == NULL || e->time_ps < first->time_ps ||
                                   (e->time_ps == first->time_ps && e->order < first->order)))
            first = e;
    }
    if (first == NULL)
        return false;
    event = *first;
    first->what = NOTHING;
    o->now_ps = event.time_ps;
    happen(o, event.what, event.worker);
    return true;
}

/* What is there before anybody asks. */
static void begin(struct oracle *o)
{
    uint32_t ready = 0;

    o->left = o->graph->task_count;
    for (uint32_t task = 0; task < o->graph->task_count; task++)
        for (uint32_t i = 0; i < o->graph->tasks[task].waits; i++) {
            const struct gt_task_wait *wait = &o->graph->waits[o->graph->tasks[task].first_wait + i];

            o->lacks[task] += wait->threshold > o->graph->counters[wait->counter].initial;
        }
    for (uint32_t i = 0; i < o->graph->made_count; i++)
        o->lacks[o->graph->made[i]]++;
    for (uint32_t task = 0; task < o->graph->task_count && !polls(o); task++)
        if (o->lacks[task] == 0)
            put(o, ready++ % o->workers, task);
    while (o->next_worker < o->workers && o->next_worker < AT_ONCE)
        come(o);
}

#endif
