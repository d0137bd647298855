/* task_oracle.h - a simulation of a task graph that plays everything one by one: each look at a counter, at a place of
 * the queue and at another worker's tasks is an event of its own, and the next event is found by looking at all.
 */
#ifndef GRIDTIDE_TESTS_UNIT_TASK_ORACLE_H
#define GRIDTIDE_TESTS_UNIT_TASK_ORACLE_H

#include "tests/unit/task_oracle_steal.h"

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

static void ask(struct oracle *o, uint32_t w)
{
    static void (*const asks[POLICIES])(struct oracle *, uint32_t) = { ask_queue, ask_ready, ask_own, ask_list,
                                                                       ask_list };

    o->of[w].record.asked_ps = o->now_ps;
    o->of[w].record.stolen = false;
    asks[o->policy](o, w);
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
