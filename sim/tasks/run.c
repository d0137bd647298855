#include "sim/tasks/run.h"

#include <math.h>
#include <stdlib.h>

#include "sim/tasks/atomic.h"

enum { SIDE_BY_SIDE = 32 }; /* lanes of the warp that polls, signals and lets go */
enum { SM_LANES = 128 };    /* of an SM, that do an instruction a cycle */

static gt_time_ps now_of(const struct gt_task_run *run)
{
    return run->tasks->events.now_ps;
}

static void schedule(struct gt_task_run *run, gt_time_ps time_ps, enum gt_task_event what, uint32_t subject)
{
    gt_task_event_schedule(&run->tasks->events, time_ps, what, run->id, subject);
}

/* Its work begins then. */
static void start_at(struct gt_task_run *run, gt_worker_index worker, gt_time_ps start_ps)
{
    struct gt_task_worker *w = &run->workers[worker];
    gt_time_ps cost_ps = gt_task_cost_ps(run->graph, w->task, run->seed);

    w->state = GT_WORKER_BUSY;
    w->start_ps = start_ps;
    if (cost_ps == GT_TIME_NONE)
        schedule(run, start_ps, GT_TASK_EVENT_START, worker);
    else
        schedule(run, start_ps + cost_ps, GT_TASK_EVENT_END, worker);
}

/* It has read what its task is, and what that waits for. */
static gt_time_ps polls_from_ps(const struct gt_task_run *run, const struct gt_task_worker *w)
{
    return w->taken_ps + run->costs->overhead_ps + run->costs->load_ps;
}

void gt_task_run_give(struct gt_task_run *run, gt_worker_index worker, const struct gt_task_take *take)
{
    struct gt_task_worker *w = &run->workers[worker];
    bool between = w->task != GT_NONE && run->graph->between_ps != GT_TIME_NONE;

    w->state = GT_WORKER_BUSY;
    w->task = take->task;
    if (take->task == GT_TASK_OVER) {
        schedule(run, take->known_ps + run->costs->end_ps, GT_TASK_EVENT_GONE, worker);
        return;
    }
    w->taken_ps = take->known_ps;
    w->start_ps = 0;
    w->stolen = take->stolen;
    w->cause = run->causes != NULL ? run->causes[take->task] : GT_NONE;
    w->wait = run->graph->tasks[take->task].first_wait;
    if (run->policy->polls && run->graph->tasks[take->task].waits > 0)
        schedule(run, polls_from_ps(run, w), GT_TASK_EVENT_TAKEN, worker);
    else
        start_at(run, worker, w->taken_ps + (between ? run->graph->between_ps : run->costs->overhead_ps));
}

void gt_task_run_wake(struct gt_task_run *run, gt_time_ps time_ps)
{
    schedule(run, time_ps, GT_TASK_EVENT_WAKE, ++run->wake_stamp);
}

void gt_task_run_step(struct gt_task_run *run, gt_worker_index worker, gt_time_ps time_ps)
{
    schedule(run, time_ps, GT_TASK_EVENT_STEP, worker);
}

static void ask(struct gt_task_run *run, gt_worker_index worker)
{
    struct gt_task_worker *w = &run->workers[worker];
    struct gt_task_take take;

    w->asked_ps = now_of(run);
    w->state = GT_WORKER_AWAITS;
    take = run->policy->ask(run, worker, now_of(run));
    if (take.task != GT_TASK_LATER)
        gt_task_run_give(run, worker, &take);
}

/* Into the row of those that wait for the counter, which stand by rising threshold. */
static void wait_for(struct gt_task_run *run, gt_worker_index worker)
{
    const struct gt_task_wait *waits = run->graph->waits;
    struct gt_task_worker *w = &run->workers[worker];
    uint32_t *link = &run->counters.states[waits[w->wait].counter].head;

    while (*link != GT_NONE && waits[run->workers[*link].wait].threshold <= waits[w->wait].threshold)
        link = &run->workers[*link].next;
    w->next = *link;
    *link = worker;
}

/* When it begins to poll the last of its counters: SIDE_BY_SIDE others have been looked at before. */
static gt_time_ps last_looks_ps(const struct gt_task_run *run, gt_worker_index worker)
{
    const struct gt_task_worker *w = &run->workers[worker];
    uint32_t rounds = (run->graph->tasks[w->task].waits + SIDE_BY_SIDE - 1u) / SIDE_BY_SIDE;

    return polls_from_ps(run, w) + (rounds - 1) * run->costs->poll_ps;
}

/* Its work begins once it sees that all its counters are there; `there_ps`: the last one was from then on.  The latest of
 * these times is kept where its work's start will stand. */
static void go_on_polling(struct gt_task_run *run, gt_worker_index worker, gt_time_ps there_ps)
{
    struct gt_task_worker *w = &run->workers[worker];
    const struct gt_task *task = &run->graph->tasks[w->task];

    w->state = GT_WORKER_POLLS;
    w->start_ps = there_ps > w->start_ps ? there_ps : w->start_ps;
    for (; w->wait < task->first_wait + task->waits; w->wait++) {
        const struct gt_task_wait *wait = &run->graph->waits[w->wait];
        const struct gt_task_counter_state *counter = &run->counters.states[wait->counter];
        gt_time_ps reached_ps;

        if (counter->value < wait->threshold) {
            wait_for(run, worker);
            return;
        }
        reached_ps = gt_task_counter_reached_ps(counter, wait->threshold, run->costs->queue_serial_ps);
        w->start_ps = reached_ps > w->start_ps ? reached_ps : w->start_ps;
    }
    start_at(run, worker,
             gt_task_seen(last_looks_ps(run, worker), w->start_ps, run->costs->poll_ps) + run->costs->found_ps);
}

/* A counter has been counted up by a task: who polls it looks further. */
static void let_go(struct gt_task_run *run, gt_task_counter_index counter, gt_task_index by, gt_time_ps there_ps)
{
    struct gt_task_counter_state *state = &run->counters.states[counter];

    while (state->head != GT_NONE) {
        gt_worker_index worker = state->head;
        struct gt_task_worker *w = &run->workers[worker];

        if (run->graph->waits[w->wait].threshold > state->value)
            return;
        state->head = w->next;
        w->wait++;
        w->cause = by;
        go_on_polling(run, worker, there_ps);
    }
}

/* What a worker finds out about tasks that it lets go, SIDE_BY_SIDE at a time. */
struct letting_go {
    gt_task_index *end; /* of the row of those that lack nothing more */
    uint32_t ready;     /* how many these are */
    uint32_t rounds;    /* in which tasks are counted down */
    uint32_t lots;      /* of those, with such tasks: they are published */
};

/* Tasks are read and counted down; those that lack nothing more are published. */
static gt_time_ps count_down_ps(const struct gt_task_run *run)
{
    return run->costs->poll_ps + run->costs->queue_ps + run->costs->fence_ps;
}

static gt_time_ps publish_ps(const struct gt_task_run *run)
{
    return run->costs->queue_ps + run->costs->fence_ps;
}

/* A task lacks one thing less.  Is that all? */
static bool bring(struct gt_task_run *run, gt_task_index task, struct letting_go *letting)
{
    if (--run->counters.lacks[task] > 0)
        return false;
    *letting->end = task;
    letting->end = &run->next_task[task];
    *letting->end = GT_NONE;
    letting->ready++;
    return true;
}

/* So many tasks were let go together; is any of them `ready` now? */
static void count_lot(uint32_t tasks, bool ready, struct letting_go *letting)
{
    uint32_t rounds = (tasks + SIDE_BY_SIDE - 1) / SIDE_BY_SIDE;

    letting->rounds += rounds;
    letting->lots += ready ? rounds : 0;
}

static void let_tasks_go(struct gt_task_run *run, gt_task_counter_index counter, struct letting_go *letting)
{
    struct gt_task_counters *counters = &run->counters;
    struct gt_task_counter_state *state = &counters->states[counter];
    uint32_t first = state->head;
    bool ready = false;

    while (state->head < counters->ends[counter] &&
           run->graph->waits[counters->waits[state->head].wait].threshold <= state->value)
        ready |= bring(run, counters->waits[state->head++].task, letting);
    count_lot(state->head - first, ready, letting);
}

/* A task's signals have reached their counters, and nobody waits for an answer. */
static void signal_polled(struct gt_task_run *run, gt_task_index index)
{
    const struct gt_task *task = &run->graph->tasks[index];

    for (uint32_t i = task->first_signal; i < task->first_signal + task->signals; i++) {
        gt_task_counter_index counter = run->graph->signals[i];
        gt_time_ps there_ps =
            gt_task_counter_signal(&run->counters.states[counter], now_of(run), run->costs->queue_serial_ps);

        let_go(run, counter, index, there_ps);
    }
}

/* Signal, and put the tasks that became ready where the policy keeps them. */
static void signal_and_publish(struct gt_task_run *run, gt_worker_index worker)
{
    struct gt_task_worker *w = &run->workers[worker];
    const struct gt_task *task = &run->graph->tasks[w->task];
    struct letting_go letting = { .end = &w->fresh };
    gt_time_ps known_ps = now_of(run);
    bool ready = false;

    w->fresh = GT_NONE;
    for (uint32_t i = task->first_signal; i < task->first_signal + task->signals; i++) {
        gt_task_counter_index counter = run->graph->signals[i];
        gt_time_ps there_ps =
            gt_task_counter_signal(&run->counters.states[counter], now_of(run), run->costs->queue_serial_ps);

        known_ps = there_ps > known_ps ? there_ps : known_ps;
        let_tasks_go(run, counter, &letting);
    }
    for (uint32_t i = task->first_made; i < task->first_made + task->made; i++)
        ready |= bring(run, run->graph->made[i], &letting);
    count_lot(task->made, ready, &letting);
    known_ps += task->signals > 0 ? run->costs->queue_ps / 2 + run->costs->poll_ps : 0;
    if (letting.lots == 0) {
        schedule(run, known_ps + letting.rounds * count_down_ps(run), GT_TASK_EVENT_ASK, worker);
    } else { /* the first ones of many do not wait for the last */
        uint32_t later = (letting.ready - 1) / SIDE_BY_SIDE;

        known_ps += (letting.rounds - later) * count_down_ps(run) + (letting.lots - later - 1) * publish_ps(run);
        schedule(run, known_ps, GT_TASK_EVENT_KNOWN, worker);
    }
}

/* What the worker has made ready, or the first of much, is there for others. */
static void publish(struct gt_task_run *run, gt_worker_index worker)
{
    struct gt_task_worker *w = &run->workers[worker];

    for (uint32_t i = 0; i < SIDE_BY_SIDE && w->fresh != GT_NONE; i++) {
        gt_task_index task = w->fresh;

        w->fresh = run->next_task[task];
        if (run->causes != NULL)
            run->causes[task] = w->task;
        run->policy->push(run, worker, task, now_of(run));
    }
    if (w->fresh != GT_NONE)
        schedule(run, now_of(run) + count_down_ps(run), GT_TASK_EVENT_KNOWN, worker);
    else
        ask(run, worker);
}

static void tell_ended(const struct gt_task_run *run, gt_worker_index worker)
{
    const struct gt_task_listener *listener = &run->tasks->listener;
    const struct gt_task_worker *w = &run->workers[worker];
    /* clang-format off */
    struct gt_task_record record = {
        .op = run->op, .task = w->task, .worker = worker, .asked_ps = w->asked_ps, .taken_ps = w->taken_ps,
        .start_ps = w->start_ps, .end_ps = now_of(run), .cause_task = w->cause, .stolen = w->stolen,
    };
    /* clang-format on */

    if (listener->task != NULL)
        listener->task(listener->user, &record);
}

static void end_task(struct gt_task_run *run, gt_worker_index worker)
{
    gt_task_index index = run->workers[worker].task;
    const struct gt_task *task = &run->graph->tasks[index];
    gt_time_ps signalled_ps = now_of(run) + (task->signals > 0 ? run->costs->signal_ps : 0);

    tell_ended(run, worker);
    run->ended[index / 64] |= UINT64_C(1) << index % 64;
    run->left--;
    if (task->signals + task->made == 0) {
        ask(run, worker);
    } else if (run->policy->polls) {
        schedule(run, signalled_ps + run->costs->flight_ps, GT_TASK_EVENT_SIGNAL, index);
        schedule(run, signalled_ps, GT_TASK_EVENT_ASK, worker);
    } else {
        schedule(run, signalled_ps, GT_TASK_EVENT_SIGNAL, worker);
    }
}

/* Its time depends on who else works. */
static void start_work(struct gt_task_run *run, gt_worker_index worker)
{
    struct gt_tasks *tasks = run->tasks;
    const struct gt_task_worker *w = &run->workers[worker];
    struct gt_roofline_task task = { .run = run->id, .worker = worker };

    if (tasks->roofline == NULL)
        tasks->roofline = gt_roofline_new(tasks->device);
    if (!gt_roofline_begin(tasks->roofline, now_of(run), task, w->sm, gt_task_bytes(run->graph, w->task),
                           gt_task_operations(run->graph, w->task)))
        end_task(run, worker);
}

/* What a task that says bytes and operations takes a worker by itself: its threads ask for so many bytes at a time, wait
 * for them and ask again, do operations on as many lanes as they are, and leave the result. */
static double own_ps(const struct gt_task_run *run, gt_task_index task)
{
    const struct gt_device *device = run->tasks->device;
    uint64_t bytes = gt_task_bytes(run->graph, task);
    uint64_t at_a_time = (uint64_t)run->threads * run->costs->thread_bytes;
    double lanes = fmin(1, run->threads / (double)SM_LANES), bytes_ps = 0;
    double operations_ps = (double)gt_task_operations(run->graph, task) /
                           (run->costs->operations_per_cycle * lanes * device->clock_mhz * 1e-6);

    if (at_a_time == 0)
        return 0;
    bytes_ps = (double)run->costs->bytes_ps * ceil((double)bytes / (double)at_a_time);
    return fmax(bytes_ps, operations_ps) + (double)run->costs->bytes_ps;
}

static double cube(double x)
{
    return x * x * x;
}

/* Memory, arithmetic and the worker's own pace hold it up together: more than the slowest of them does alone, less than
 * all one after the other. */
void gt_task_run_work_done(struct gt_task_run *run, gt_worker_index worker, gt_time_ps first_ps)
{
    const struct gt_task_worker *w = &run->workers[worker];
    double first = first_ps > w->start_ps ? (double)(first_ps - w->start_ps) : 0;
    double all = (double)(now_of(run) - w->start_ps), own = own_ps(run, w->task);
    gt_time_ps end_ps = w->start_ps;

    if (own > 0)
        end_ps += (gt_time_ps)fmin(ceil(cbrt(cube(first) + cube(all) + cube(own))), (double)GT_TIME_LIMIT_PS);
    if (end_ps > now_of(run))
        schedule(run, end_ps, GT_TASK_EVENT_END, worker);
    else
        end_task(run, worker);
}

static void leave(struct gt_task_run *run, gt_worker_index worker)
{
    run->workers[worker].state = GT_WORKER_GONE;
    run->resident--;
    run->tasks->listener.worker(run->tasks->listener.user, run, worker);
}

void gt_task_run_event(struct gt_task_run *run, const struct gt_heap_event *event)
{
    switch ((enum gt_task_event)event->handler) {
    case GT_TASK_EVENT_ASK: ask(run, event->subject); break;
    case GT_TASK_EVENT_TAKEN: go_on_polling(run, event->subject, 0); break;
    case GT_TASK_EVENT_START: start_work(run, event->subject); break;
    case GT_TASK_EVENT_END: end_task(run, event->subject); break;
    case GT_TASK_EVENT_SIGNAL: (run->policy->polls ? signal_polled : signal_and_publish)(run, event->subject); break;
    case GT_TASK_EVENT_KNOWN:
        schedule(run, run->policy->publish(run, event->subject, now_of(run)), GT_TASK_EVENT_PUBLISH, event->subject);
        break;
    case GT_TASK_EVENT_PUBLISH: publish(run, event->subject); break;
    case GT_TASK_EVENT_GONE: leave(run, event->subject); break;
    case GT_TASK_EVENT_STEP: run->policy->step(run, event->subject, now_of(run)); break;
    case GT_TASK_EVENT_WAKE:
        if (event->subject == run->wake_stamp)
            run->policy->wake(run, now_of(run));
        break;
    }
}

void gt_task_run_add_worker(struct gt_task_run *run, gt_worker_index worker, uint32_t sm, gt_time_ps start_ps,
                            uint32_t place)
{
    struct gt_task_worker *w = &run->workers[worker];

    w->state = GT_WORKER_BUSY;
    w->task = GT_NONE;
    w->sm = sm;
    w->place = place;
    run->resident++;
    schedule(run, start_ps + run->costs->start_ps, GT_TASK_EVENT_ASK, worker);
}
