/* steal: a deque a worker.  Whoever finds his own empty looks at the others', one after the other.
 *
 * Looks that find nothing are not played.  As soon as a deque has tasks that their owner does not take, thieves' looks are gone
 * through in the order in which they end, for the first that finds something; where that has gone when the look has come,
 * for the next one. */
#include <stdlib.h>
#include <string.h>

#include "sim/tasks/atomic.h"
#include "sim/tasks/policies.h"
#include "sim/workload/block_cost.h"

enum { LANES = 32 }; /* others that one look sees */

struct deque {
    gt_task_index oldest, newest; /* GT_NONE: empty */
    gt_time_ps free_ps;           /* a thief can take from it then: of several one succeeds, the others try again */
};

struct thief {
    gt_time_ps from_ps;  /* its first look begins */
    gt_time_ps phase_ps; /* that, of the time from look to look */
    uint64_t number;     /* of all so far, which draws where its turns begin */
    gt_worker_index worker;
};

struct stealing {
    struct deque *queues; /* by worker */
    gt_task_index *older; /* of each task in its deque; run->next_task is the newer one */
    uint64_t *filled;     /* bit w of all words: worker w's deque has tasks */
    gt_worker_index filled_count;
    bool newly_filled;     /* the worker that is about to ask has put tasks on its empty deque */
    struct thief *thieves; /* by rising phase, then worker */
    gt_worker_index thief_count;
    gt_time_ps due_ps;   /* the next hit, as far as is known; GT_TIME_NONE: there is none */
    uint64_t begun;      /* thieves so far */
    gt_task_index dealt; /* tasks that were ready at the start */
    gt_task_index taken; /* so many have been ... */
    gt_time_ps taken_ps; /* ... by then */
};

int gt_task_steal_begin(struct gt_task_run *run, struct gt_error *error)
{
    struct stealing *s = run->state = gt_calloc(1, sizeof *s);

    (void)error;
    s->due_ps = GT_TIME_NONE;
    s->queues = gt_realloc(NULL, run->worker_count, sizeof *s->queues);
    s->older = gt_realloc(NULL, run->graph->task_count, sizeof *s->older);
    s->filled = gt_calloc(run->worker_count / 64 + 1ull, sizeof *s->filled);
    s->thieves = gt_realloc(NULL, run->worker_count, sizeof *s->thieves);
    for (gt_worker_index i = 0; i < run->worker_count; i++)
        s->queues[i] = (struct deque){ GT_NONE, GT_NONE, 0 };
    return 0;
}

void gt_task_steal_end(struct gt_task_run *run)
{
    struct stealing *s = run->state;

    free(s->queues);
    free(s->older);
    free(s->filled);
    free(s->thieves);
    free(s);
}

static void set_filled(struct stealing *s, gt_worker_index worker, bool filled)
{
    uint64_t bit = UINT64_C(1) << worker % 64;

    s->filled[worker / 64] = filled ? s->filled[worker / 64] | bit : s->filled[worker / 64] & ~bit;
    s->filled_count += filled ? 1 : -1u;
}

static bool is_filled(const struct stealing *s, gt_worker_index worker)
{
    return s->filled[worker / 64] >> worker % 64 & 1;
}

/* The first worker from `from` on, round the grid, whose deque has tasks: there is one. */
static gt_worker_index next_filled(const struct stealing *s, gt_worker_index workers, gt_worker_index from)
{
    gt_worker_index words = workers / 64 + 1, word = from / 64;
    uint64_t bits = s->filled[word] & ~UINT64_C(0) << from % 64;

    while (bits == 0) {
        word = (word + 1) % words;
        bits = s->filled[word];
    }
    return word * 64 + (gt_worker_index)__builtin_ctzll(bits);
}

/* From a thief's look to its next one. */
static gt_time_ps look_ps(const struct gt_task_run *run)
{
    return run->costs->poll_ps + run->costs->found_ps;
}

/* Looks of a turn round the grid; one more ends it. */
static uint64_t looks_of(const struct gt_task_run *run)
{
    return (run->worker_count + LANES - 1) / LANES;
}

/* Does the thief's look that ends then find anything, as things are now?  Where? */
static bool look_finds(const struct gt_task_run *run, const struct thief *thief, gt_time_ps end_ps,
                       gt_worker_index *victim)
{
    gt_worker_index workers = run->worker_count, first, lanes, looks = (gt_worker_index)looks_of(run);
    uint64_t look = look_ps(run) == 0 ? 0 : (end_ps - thief->from_ps) / look_ps(run) - 1;
    gt_worker_index place = (gt_worker_index)(look % (looks + 1)) * LANES;

    if (place >= workers)
        return false;
    lanes = look_ps(run) == 0 || workers - place < LANES ? workers - place : LANES;
    first = (gt_worker_index)(gt_random_bits(run->seed, thief->number, look / (looks + 1)) % workers) + place;
    first -= first >= workers ? workers : 0;
    *victim = next_filled(run->state, workers, first);
    return *victim - first + (*victim < first ? workers : 0) < lanes;
}

/* A look that finds something. */
struct hit {
    gt_time_ps end_ps; /* GT_TIME_NONE: there is none */
    gt_worker_index thief, victim;
};

/* The first thief, in the order of phases, whose look ends at this phase or later. */
static gt_worker_index first_from(const struct stealing *s, gt_time_ps phase_ps)
{
    gt_worker_index low = 0, high = s->thief_count;

    while (low < high) {
        gt_worker_index middle = low + (high - low) / 2;

        if (s->thieves[middle].phase_ps < phase_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The next look that finds something, as things are now.  Looks end in the order of the thieves' phases, again and again;
 * in two turns every thief has seen every deque. */
static struct hit find_hit(const struct gt_task_run *run, gt_time_ps now_ps)
{
    const struct stealing *s = run->state;
    gt_time_ps poll_ps = look_ps(run), phase_ps = poll_ps == 0 ? 0 : now_ps % poll_ps;
    gt_time_ps round_ps = now_ps - phase_ps;
    struct hit hit = { .thief = first_from(s, phase_ps) };

    while (s->filled_count > 0 && s->thief_count > 0) {
        for (; hit.thief < s->thief_count; hit.thief++) {
            const struct thief *thief = &s->thieves[hit.thief];

            hit.end_ps = round_ps + thief->phase_ps;
            if (hit.end_ps >= thief->from_ps + poll_ps && look_finds(run, thief, hit.end_ps, &hit.victim))
                return hit;
        }
        hit.thief = 0;
        round_ps += poll_ps > 0 ? poll_ps : 1;
    }
    hit.end_ps = GT_TIME_NONE;
    return hit;
}

/* Have the next hit come. */
static void expect_hit(struct gt_task_run *run, gt_time_ps now_ps)
{
    struct stealing *s = run->state;
    struct hit hit = find_hit(run, now_ps);

    if (hit.end_ps != GT_TIME_NONE && hit.end_ps != s->due_ps)
        gt_task_run_wake(run, hit.end_ps);
    s->due_ps = hit.end_ps;
}

static void put(struct gt_task_run *run, gt_worker_index worker, gt_task_index task)
{
    struct stealing *s = run->state;
    struct deque *deque = &s->queues[worker];

    s->older[task] = deque->newest;
    run->next_task[task] = GT_NONE;
    if (deque->newest == GT_NONE)
        deque->oldest = task;
    else
        run->next_task[deque->newest] = task;
    deque->newest = task;
    if (s->older[task] == GT_NONE)
        set_filled(s, worker, true);
}

static gt_task_index take_newest(struct gt_task_run *run, gt_worker_index worker)
{
    struct stealing *s = run->state;
    struct deque *deque = &s->queues[worker];
    gt_task_index task = deque->newest;

    deque->newest = s->older[task];
    if (deque->newest == GT_NONE) {
        deque->oldest = GT_NONE;
        set_filled(s, worker, false);
    } else {
        run->next_task[deque->newest] = GT_NONE;
    }
    return task;
}

static gt_task_index take_oldest(struct gt_task_run *run, gt_worker_index worker)
{
    struct stealing *s = run->state;
    struct deque *deque = &s->queues[worker];
    gt_task_index task = deque->oldest;

    if (task == deque->newest)
        return take_newest(run, worker);
    deque->oldest = run->next_task[task];
    s->older[deque->oldest] = GT_NONE;
    return task;
}

/* Thieves hear of it when the worker has asked for its next task, which it does at once and may be this one. */
void gt_task_steal_push(struct gt_task_run *run, gt_worker_index worker, gt_task_index task, gt_time_ps now_ps)
{
    struct stealing *s = run->state;

    (void)now_ps;
    if (worker == GT_NONE) {
        put(run, s->dealt++ % run->worker_count, task);
        return;
    }
    s->newly_filled = s->newly_filled || !is_filled(s, worker);
    put(run, worker, task);
}

gt_time_ps gt_task_steal_publish(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps)
{
    (void)worker;
    return now_ps + run->costs->queue_ps + run->costs->fence_ps;
}

/* The thief sees at the end of a turn that all tasks have been taken by `taken_ps`, or nobody's turn is over yet. */
static void send_home(struct gt_task_run *run, const struct thief *thief, gt_time_ps taken_ps)
{
    gt_time_ps turn_ps = (looks_of(run) + 1) * look_ps(run);
    uint64_t turns =
        taken_ps <= thief->from_ps || turn_ps == 0 ? 1 : (taken_ps - thief->from_ps + turn_ps - 1) / turn_ps;
    gt_time_ps over_ps = thief->from_ps + turns * turn_ps;
    struct gt_task_take take = { .task = GT_TASK_OVER, .known_ps = over_ps > taken_ps ? over_ps : taken_ps };

    gt_task_run_give(run, thief->worker, &take);
}

/* One more has been taken, which all see from `known_ps` on. */
static void count_taken(struct gt_task_run *run, gt_time_ps known_ps)
{
    struct stealing *s = run->state;

    if (known_ps > s->taken_ps)
        s->taken_ps = known_ps;
    if (++s->taken < run->graph->task_count)
        return;
    for (gt_worker_index i = 0; i < s->thief_count; i++)
        send_home(run, &s->thieves[i], s->taken_ps);
    s->thief_count = 0;
}

static void become_thief(struct gt_task_run *run, gt_worker_index worker, gt_time_ps from_ps, gt_time_ps now_ps)
{
    struct stealing *s = run->state;
    gt_time_ps phase_ps = look_ps(run) == 0 ? 0 : from_ps % look_ps(run);
    struct thief thief = { .worker = worker, .from_ps = from_ps, .phase_ps = phase_ps, .number = s->begun++ };
    gt_worker_index at = first_from(s, phase_ps);

    if (s->taken == run->graph->task_count) {
        send_home(run, &thief, s->taken_ps);
        return;
    }
    while (at < s->thief_count && s->thieves[at].phase_ps == phase_ps && s->thieves[at].worker < worker)
        at++;
    memmove(&s->thieves[at + 1], &s->thieves[at], (s->thief_count++ - at) * sizeof thief);
    s->thieves[at] = thief;
    expect_hit(run, now_ps);
}

/* The own deque is looked at, and one is taken from it if there are any. */
struct gt_task_take gt_task_steal_ask(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps)
{
    struct stealing *s = run->state;
    struct gt_task_take take = { .task = GT_TASK_LATER };

    if (!is_filled(s, worker)) {
        become_thief(run, worker, now_ps + run->costs->queue_ps, now_ps);
        return take;
    }
    take.task = take_newest(run, worker);
    take.known_ps = now_ps + look_ps(run) + run->costs->queue_ps + run->costs->fence_ps + run->costs->load_ps;
    if (s->newly_filled && is_filled(s, worker))
        expect_hit(run, now_ps);
    s->newly_filled = false;
    count_taken(run, take.known_ps);
    return take;
}

/* A look has found something: when has the thief taken it? */
static gt_time_ps taken_ps(const struct gt_task_run *run, struct deque *deque, gt_time_ps now_ps)
{
    gt_time_ps taking_ps = run->costs->steal_ps > look_ps(run) ? run->costs->steal_ps - look_ps(run) : 0;

    return gt_task_atomic(&deque->free_ps, now_ps, run->costs->queue_ps + run->costs->found_ps) + taking_ps;
}

void gt_task_steal_wake(struct gt_task_run *run, gt_time_ps now_ps)
{
    struct stealing *s = run->state;
    struct hit hit = find_hit(run, now_ps);
    struct gt_task_take take = { .stolen = true };

    s->due_ps = GT_TIME_NONE;
    if (hit.end_ps == now_ps) {
        gt_worker_index worker = s->thieves[hit.thief].worker;

        memmove(&s->thieves[hit.thief], &s->thieves[hit.thief + 1],
                (--s->thief_count - hit.thief) * sizeof s->thieves[0]);
        take.task = take_oldest(run, hit.victim);
        take.known_ps = taken_ps(run, &((struct stealing *)run->state)->queues[hit.victim], now_ps);
        gt_task_run_give(run, worker, &take);
        count_taken(run, take.known_ps);
    }
    expect_hit(run, now_ps);
}
