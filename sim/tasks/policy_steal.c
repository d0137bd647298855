/* steal: a deque a worker.  Whoever finds his own empty looks at the others' (thieves.h).
 *
 * A worker takes from a deque by an atomic that succeeds where nobody has changed it since it was seen.  Else the worker
 * tries again, as long as there is anything; then the next deque of those that its look saw filled.  Where many look at few tasks
 * most of what they saw is gone by then, and they try it all before they look again. */
#include <stdlib.h>

#include "sim/tasks/policies.h"
#include "sim/tasks/thieves.h"

/* What a worker tries to take: its own newest task, or others' oldest. */
struct tries {
    struct gt_thief thief;         /* as it will go on; worker GT_NONE: its own */
    gt_worker_index first;         /* the deques that its look saw: from this one on, round the grid */
    uint32_t filled;               /* bit i: deque first + i was, and is to be tried */
    uint32_t seen[GT_THIEF_LANES]; /* their changes then */
};

struct stealing {
    struct gt_task_deques deques;
    struct gt_thieves thieves;
    struct tries *tries;       /* by worker */
    gt_worker_index trying;    /* thieves that do not look meanwhile */
    struct gt_thief_look next; /* that finds something, as far as is known */
    uint64_t begun;            /* thieves so far */
    gt_task_index assigned;    /* tasks that were ready at the start */
    gt_task_index taken;       /* so many have been ... */
    gt_time_ps taken_ps;       /* ... by then */
};

/* A worker's look at its own deque. */
static gt_time_ps own_look_ps(const struct gt_task_run *run)
{
    return run->costs->poll_ps + run->costs->found_ps;
}

/* From the beginning of a thief's look until it sees what is there: the middle of the poll that ends it. */
static gt_time_ps sees_ps(const struct gt_task_run *run)
{
    gt_time_ps half_ps = run->costs->poll_ps / 2;

    return run->costs->look_ps > half_ps ? run->costs->look_ps - half_ps : 0;
}

/* From the arrival of an atomic that takes a task until the worker has it. */
static gt_time_ps has_ps(const struct gt_task_run *run)
{
    return run->costs->queue_ps / 2 + run->costs->fence_ps + run->costs->load_ps;
}

/* From what a thief's look sees to the arrival of the atomic by which it tries to take some. */
static gt_time_ps reaches_ps(const struct gt_task_run *run)
{
    gt_time_ps less_ps = sees_ps(run) + has_ps(run);

    return run->costs->steal_ps > less_ps ? run->costs->steal_ps - less_ps : 0;
}

int gt_task_steal_begin(struct gt_task_run *run, struct gt_error *error)
{
    struct stealing *s = run->state = gt_calloc(1, sizeof *s);

    (void)error;
    s->next.time_ps = GT_TIME_NONE;
    s->tries = gt_calloc(run->worker_count, sizeof *s->tries);
    gt_task_deques_make(&s->deques, run->worker_count, run->graph->task_count, run->next_task);
    gt_thieves_make(&s->thieves, run->worker_count, run->costs->look_ps, run->seed);
    return 0;
}

void gt_task_steal_end(struct gt_task_run *run)
{
    struct stealing *s = run->state;

    gt_task_deques_free(&s->deques);
    gt_thieves_free(&s->thieves);
    free(s->tries);
    free(s);
}

/* Have the next look come that finds something. */
static void expect_look(struct gt_task_run *run, gt_time_ps now_ps)
{
    struct stealing *s = run->state;
    gt_time_ps due_ps = s->next.time_ps;

    s->next = gt_thieves_next(&s->thieves, &s->deques, now_ps);
    if (s->next.time_ps != GT_TIME_NONE && s->next.time_ps != due_ps)
        gt_task_run_wake(run, s->next.time_ps);
}

/* A single new task is as good as claimed by its owner, who is about to ask; a second one is for others, too. */
void gt_task_steal_push(struct gt_task_run *run, gt_worker_index worker, gt_task_index task, gt_time_ps now_ps)
{
    struct stealing *s = run->state;
    gt_worker_index to = worker != GT_NONE ? worker : s->assigned++ % run->worker_count;
    const struct gt_task_deque *deque = &s->deques.of[to];
    bool was_free = deque->tasks > deque->claims;

    gt_task_deque_put(&s->deques, to, task);
    if ((!was_free || deque->tasks == 2) && deque->tasks > deque->claims && deque->tasks > 1 && s->thieves.count > 0)
        expect_look(run, now_ps);
}

gt_time_ps gt_task_steal_publish(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps)
{
    (void)worker;
    return now_ps + run->costs->queue_ps + run->costs->fence_ps;
}

/* The thief sees at the end of a turn that all tasks have been taken, or nobody's turn is over yet. */
static void send_home(struct gt_task_run *run, const struct gt_thief *thief)
{
    const struct stealing *s = run->state;
    uint64_t looks = gt_thief_looks_until(&s->thieves, thief, s->taken_ps);
    struct gt_task_take take = { .task = GT_TASK_OVER,
                                 .known_ps = thief->from_ps - sees_ps(run) + looks * run->costs->look_ps };

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
    for (gt_worker_index i = 0; i < s->thieves.count; i++)
        send_home(run, &s->thieves.of[s->thieves.list[i].worker]);
    s->thieves.count = 0;
}

/* It looks, again or for the first time. */
static void look(struct gt_task_run *run, const struct gt_thief *thief, gt_time_ps now_ps)
{
    struct stealing *s = run->state;

    if (s->taken == run->graph->task_count) {
        send_home(run, thief);
        return;
    }
    gt_thieves_add(&s->thieves, thief);
    expect_look(run, now_ps);
}

static void become_thief(struct gt_task_run *run, gt_worker_index worker, gt_time_ps from_ps, gt_time_ps now_ps)
{
    struct stealing *s = run->state;
    struct gt_thief thief = { .from_ps = from_ps + sees_ps(run), .number = s->begun++, .worker = worker };

    look(run, &thief, now_ps);
}

static struct gt_task_take take_own(struct gt_task_run *run, gt_worker_index worker, gt_time_ps known_ps)
{
    struct stealing *s = run->state;
    struct gt_task_take take = { .task = gt_task_deque_take_newest(&s->deques, worker), .known_ps = known_ps };

    count_taken(run, known_ps);
    return take;
}

/* The atomic on the next deque of those that the worker has seen filled arrives then. */
static void try_next(struct gt_task_run *run, gt_worker_index worker, gt_time_ps arrives_ps)
{
    struct stealing *s = run->state;
    const struct tries *tries = &s->tries[worker];
    uint32_t lane = (uint32_t)__builtin_ctz(tries->filled);
    gt_worker_index victim = (tries->first + lane) % run->worker_count;

    gt_task_deque_claim(&s->deques, victim, 1);
    gt_task_run_step(run, worker, arrives_ps);
}

/* The own deque is looked at, and one is to be taken from it if there are any.  Where nobody looks on it is as good as
 * taken. */
struct gt_task_take gt_task_steal_ask(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps)
{
    struct stealing *s = run->state;
    struct gt_task_take take = { .task = GT_TASK_LATER };
    const struct gt_task_costs *costs = run->costs;

    if (!gt_task_deque_is_filled(&s->deques, worker)) {
        become_thief(run, worker, now_ps + own_look_ps(run) + costs->look_ps, now_ps);
        return take;
    }
    if (s->thieves.count + s->trying == 0)
        return take_own(run, worker, now_ps + own_look_ps(run) + costs->queue_ps / 2 + has_ps(run));
    s->tries[worker].thief.worker = GT_NONE;
    s->tries[worker].first = worker;
    s->tries[worker].filled = 1;
    s->tries[worker].seen[0] = s->deques.of[worker].changes;
    try_next(run, worker, now_ps + own_look_ps(run) + costs->queue_ps / 2);
    if (s->deques.claimed_count >= GT_THIEF_LOST)
        expect_look(run, now_ps);
    return take;
}

/* A look finds tasks: the thief tries to take one. */
void gt_task_steal_wake(struct gt_task_run *run, gt_time_ps now_ps)
{
    struct stealing *s = run->state;
    struct gt_thief_look found = s->next;
    struct gt_thief thief;
    struct tries *tries;

    s->next.time_ps = GT_TIME_NONE;
    if (gt_thief_still_finds(&s->thieves, &s->deques, &found)) {
        thief = s->thieves.of[found.worker];
        tries = &s->tries[thief.worker];
        gt_thieves_remove(&s->thieves, found.thief);
        s->trying++;
        *tries = (struct tries){ .thief = thief, .first = found.first };
        tries->thief.looks += (now_ps - thief.from_ps) / s->thieves.look_ps + 1;
        tries->filled = (uint32_t)gt_task_deques_window(&s->deques, s->deques.filled, found.first, found.lanes);
        for (uint32_t i = 0; i < found.lanes; i++)
            tries->seen[i] = s->deques.of[(found.first + i) % run->worker_count].changes;
        try_next(run, thief.worker, now_ps + reaches_ps(run));
    }
    expect_look(run, now_ps);
}

/* It was the last of those that it saw: it looks on, or becomes a thief. */
static void try_no_more(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps)
{
    struct stealing *s = run->state;
    struct gt_thief thief = s->tries[worker].thief;

    if (thief.worker == GT_NONE) {
        become_thief(run, worker, now_ps + run->costs->queue_ps / 2 + run->costs->look_ps, now_ps);
        return;
    }
    s->trying--;
    thief.from_ps = now_ps + run->costs->try_ps / 2 + sees_ps(run);
    look(run, &thief, now_ps);
}

/* Its atomic has come in time. */
static void take(struct gt_task_run *run, gt_worker_index worker, gt_worker_index victim, gt_time_ps known_ps)
{
    struct stealing *s = run->state;
    struct gt_task_take take;

    if (s->tries[worker].thief.worker == GT_NONE) {
        take = take_own(run, worker, known_ps);
    } else {
        s->trying--;
        take = (struct gt_task_take){ gt_task_deque_take_oldest(&s->deques, victim), known_ps, true };
        count_taken(run, known_ps);
    }
    gt_task_run_give(run, worker, &take);
}

/* Its atomic has come to a deque. */
void gt_task_steal_step(struct gt_task_run *run, gt_worker_index worker, gt_time_ps now_ps)
{
    struct stealing *s = run->state;
    struct tries *tries = &s->tries[worker];
    uint32_t lane = (uint32_t)__builtin_ctz(tries->filled);
    gt_worker_index victim = (tries->first + lane) % run->worker_count;
    uint32_t changes = s->deques.of[victim].changes;

    gt_task_deque_claim(&s->deques, victim, -1);
    if (changes == tries->seen[lane]) {
        take(run, worker, victim, now_ps + has_ps(run));
    } else if (gt_task_deque_is_filled(&s->deques, victim)) {
        tries->seen[lane] = changes;
        try_next(run, worker, now_ps + run->costs->queue_ps + run->costs->poll_ps / 2);
    } else {
        tries->filled &= tries->filled - 1;
        if (tries->filled != 0)
            try_next(run, worker, now_ps + run->costs->try_ps);
        else
            try_no_more(run, worker, now_ps);
    }
}
