/* steal: a deque a worker.  Whoever finds his own empty looks at the others', one after the other.
 *
 * Looks that find nothing are not played: of each thief it is known which look will be the first to find a deque that
 * has tasks now, and only the earliest of these is due.  What a thief will find is worked out again when tasks come to
 * an empty deque, and where a deque has been emptied since, when the look has come that would have found it filled. */
#include <stdlib.h>

#include "sim/tasks/policies.h"
#include "sim/workload/block_cost.h"

enum { LANES = 32 }; /* deques that one look sees */

struct deque {
    gt_task_index oldest, newest; /* GT_NONE: empty */
};

struct thief {
    gt_worker_index worker;
    uint64_t number;        /* of all so far, which draws where its turns begin */
    gt_time_ps from_ps;     /* its first look begins */
    gt_time_ps hit_ps;      /* end of the look that finds something; GT_TIME_NONE: none does */
    gt_worker_index victim; /* where, if that still has anything */
};

struct stealing {
    struct deque *queues; /* by worker */
    gt_task_index *older; /* of each task in its deque; run->next_task is the newer one */
    uint64_t *filled;     /* bit w of all words: worker w's deque has tasks */
    gt_worker_index filled_count;
    bool newly_filled; /* the worker that is about to ask has put tasks on its empty deque */
    struct thief *thieves;
    gt_worker_index thief_count;
    gt_time_ps due_ps;   /* the earliest of all hits; GT_TIME_NONE: there is none */
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
        s->queues[i] = (struct deque){ GT_NONE, GT_NONE };
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

/* Looks of a turn round the grid. */
static uint64_t looks_of(const struct gt_task_run *run)
{
    return (run->worker_count + LANES - 1) / LANES;
}

/* The place, in the turn, of the first worker from place `from` on whose deque has tasks; beyond the last place: none of
 * them has, but one before `from`.  There is one. */
static uint64_t filled_place(const struct gt_task_run *run, const struct thief *thief, uint64_t turn, uint64_t from)
{
    gt_worker_index workers = run->worker_count;
    gt_worker_index first = (gt_worker_index)(gt_random_bits(run->seed, thief->number, turn) % workers);
    gt_worker_index victim = next_filled(run->state, workers, (gt_worker_index)((first + from % workers) % workers));
    uint64_t place = (victim + workers - first) % workers;

    return place < from ? place + workers : place;
}

/* Which look of the thief is the first to find something, as things are now? */
static void find_hit(const struct gt_task_run *run, struct thief *thief, gt_time_ps now_ps)
{
    const struct stealing *s = run->state;
    uint64_t looks = looks_of(run), done = 0, turn, from, place;
    gt_time_ps poll_ps = run->costs->poll_ps;

    thief->hit_ps = GT_TIME_NONE;
    if (s->filled_count == 0)
        return;
    if (now_ps > thief->from_ps && poll_ps > 0)
        done = (now_ps - thief->from_ps - 1) / poll_ps;
    turn = done / (looks + 1);
    from = done % (looks + 1) * LANES;
    place = from < run->worker_count ? filled_place(run, thief, turn, from) : run->worker_count;
    if (place >= run->worker_count)
        place = filled_place(run, thief, ++turn, 0);
    thief->victim = (gt_worker_index)((gt_random_bits(run->seed, thief->number, turn) % run->worker_count + place) %
                                      run->worker_count);
    thief->hit_ps = thief->from_ps + (turn * (looks + 1) + place / LANES + 1) * poll_ps;
    if (thief->hit_ps < now_ps)
        thief->hit_ps = now_ps;
}

/* Have the earliest of all hits come. */
static void expect_first(struct gt_task_run *run)
{
    struct stealing *s = run->state;
    gt_time_ps first_ps = GT_TIME_NONE;

    for (gt_worker_index i = 0; i < s->thief_count; i++)
        first_ps = s->thieves[i].hit_ps < first_ps ? s->thieves[i].hit_ps : first_ps;
    if (first_ps != GT_TIME_NONE && first_ps != s->due_ps)
        gt_task_run_wake(run, first_ps);
    s->due_ps = first_ps;
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
    return now_ps + run->costs->queue_ps;
}

/* There are tasks in a deque that had none: thieves may find them before anything else. */
static void tell_thieves(struct gt_task_run *run, gt_time_ps now_ps)
{
    struct stealing *s = run->state;

    for (gt_worker_index i = 0; i < s->thief_count; i++)
        find_hit(run, &s->thieves[i], now_ps);
    expect_first(run);
}

/* The thief sees at the end of a turn that all tasks have been taken by `taken_ps`, or nobody's turn is over yet. */
static void send_home(struct gt_task_run *run, const struct thief *thief, gt_time_ps taken_ps)
{
    gt_time_ps turn_ps = (looks_of(run) + 1) * run->costs->poll_ps;
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
    struct thief thief = { .worker = worker, .from_ps = from_ps, .number = s->begun++ };

    if (s->taken == run->graph->task_count) {
        send_home(run, &thief, s->taken_ps);
        return;
    }
    find_hit(run, &thief, now_ps);
    s->thieves[s->thief_count++] = thief;
    if (thief.hit_ps < s->due_ps)
        expect_first(run);
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
    take.known_ps = now_ps + run->costs->poll_ps + run->costs->queue_ps;
    if (s->newly_filled && is_filled(s, worker))
        tell_thieves(run, now_ps);
    s->newly_filled = false;
    count_taken(run, take.known_ps);
    return take;
}

/* The thief that finds something now, the lower worker if several do; GT_NONE: what they would have found has gone. */
static gt_worker_index find_lucky(struct gt_task_run *run, gt_time_ps now_ps)
{
    struct stealing *s = run->state;
    gt_worker_index lucky = GT_NONE;

    for (gt_worker_index i = 0; i < s->thief_count; i++) {
        struct thief *thief = &s->thieves[i];

        if (thief->hit_ps > now_ps)
            continue;
        if (!is_filled(s, thief->victim))
            find_hit(run, thief, now_ps);
        else if (lucky == GT_NONE || thief->worker < s->thieves[lucky].worker)
            lucky = i;
    }
    return lucky;
}

/* A look has found something: what is left of taking it. */
static gt_time_ps taking_ps(const struct gt_task_costs *costs)
{
    return costs->steal_ps > costs->poll_ps ? costs->steal_ps - costs->poll_ps : 0;
}

void gt_task_steal_wake(struct gt_task_run *run, gt_time_ps now_ps)
{
    struct stealing *s = run->state;
    gt_worker_index lucky = find_lucky(run, now_ps);
    struct gt_task_take take = { .known_ps = now_ps + taking_ps(run->costs), .stolen = true };

    s->due_ps = GT_TIME_NONE;
    if (lucky != GT_NONE) {
        struct thief thief = s->thieves[lucky];

        s->thieves[lucky] = s->thieves[--s->thief_count];
        take.task = take_oldest(run, thief.victim);
        gt_task_run_give(run, thief.worker, &take);
        count_taken(run, take.known_ps);
    }
    expect_first(run);
}
