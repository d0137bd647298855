/* thieves.h - workers that look at others' deques, some of them at a time, turn after turn round the grid.
 *
 * A turn begins at a random worker and ends with a look whether all tasks have been taken.  A look sees what is there in
 * the middle of its poll.  Looks that find nothing are not played: gt_thieves_next() goes through those to come for the
 * first that does.  Nor is one that sees nothing but a few tasks which others are about to take: of it comes nothing but
 * that this thief loses time.
 */
#ifndef GRIDTIDE_SIM_TASKS_THIEVES_H
#define GRIDTIDE_SIM_TASKS_THIEVES_H

#include "sim/workload/task_graph.h"

enum {
    GT_THIEF_LANES = 32, /* deques that one look sees */
    GT_THIEF_LOST = 16,  /* so many claimed ones keep a thief busy */
};

struct gt_task_deques;
struct gt_thief {
    gt_time_ps from_ps; /* the first of its looks, which is number `looks` of its looks, sees what is there then */
    uint64_t looks;
    uint64_t number; /* of all so far, which draws where its turns begin */
    gt_worker_index worker;
    gt_worker_index turn_first; /* of its turn at hand, kept by those who look for looks: at whom it begins, */
    gt_time_ps turn_ps;         /* and when, were it whole */
};

struct gt_thieves {
    struct gt_thief *of; /* by worker: those in the list */
    struct gt_thief_place {
        gt_time_ps phase_ps; /* of from_ps in the time from look to look */
        gt_worker_index worker;
    } * list; /* by rising phase, then worker */
    gt_worker_index count, workers;
    gt_time_ps look_ps;  /* from look to look; not 0 */
    uint64_t turn_looks; /* of a turn, with the one that ends it */
    uint64_t seed;
};

/* A look that finds something: which thief's, and the deques that it sees: so many from `first` on, round the grid. */
struct gt_thief_look {
    gt_time_ps time_ps;    /* GT_TIME_NONE: there is none */
    gt_worker_index thief; /* its place in the list */
    gt_worker_index worker;
    gt_worker_index first, lanes;
};

/* Nobody yet; gt_thieves_free() ends them. */
void gt_thieves_make(struct gt_thieves *thieves, gt_worker_index workers, gt_time_ps look_ps, uint64_t seed);
void gt_thieves_free(struct gt_thieves *thieves);

void gt_thieves_add(struct gt_thieves *thieves, const struct gt_thief *thief);
void gt_thieves_remove(struct gt_thieves *thieves, gt_worker_index at);

/* The next look from `now_ps` on that finds something, as deques are now. */
struct gt_thief_look gt_thieves_next(struct gt_thieves *thieves, const struct gt_task_deques *deques,
                                     gt_time_ps now_ps);

/* Does a look that gt_thieves_next() told of find something as deques are now?  It is brought up to date. */
bool gt_thief_still_finds(struct gt_thieves *thieves, const struct gt_task_deques *deques,
                          struct gt_thief_look *look);

/* How many looks the thief makes from its first one on until one that ends a turn sees that all tasks have been taken,
 * which is so from `taken_ps` on. */
uint64_t gt_thief_looks_until(const struct gt_thieves *thieves, const struct gt_thief *thief, gt_time_ps taken_ps);

struct gt_task_deque {
    gt_task_index oldest, newest; /* GT_NONE: empty */
    gt_task_index tasks;
    uint32_t claims;  /* workers that are about to take one, which may come too late */
    uint32_t changes; /* so often: who wants to take must have seen the latest one */
};

struct gt_task_deques {
    struct gt_task_deque *of;     /* by worker */
    gt_task_index *older, *newer; /* of each task in its deque; `newer` is the caller's array */
    /* Bit w of all words: worker w's has tasks; it has more than it has claims; fewer, but some. */
    uint64_t *filled, *free, *claimed;
    gt_worker_index workers, free_count, claimed_count;
};

/* All empty; gt_task_deques_free() ends them. */
void gt_task_deques_make(struct gt_task_deques *deques, gt_worker_index workers, gt_task_index tasks,
                         gt_task_index *newer);
void gt_task_deques_free(struct gt_task_deques *deques);

void gt_task_deque_put(struct gt_task_deques *deques, gt_worker_index worker, gt_task_index task);
/* From a deque that is not empty. */
gt_task_index gt_task_deque_take_newest(struct gt_task_deques *deques, gt_worker_index worker);
gt_task_index gt_task_deque_take_oldest(struct gt_task_deques *deques, gt_worker_index worker);

/* Somebody is about to take one of its tasks, 1; or not any more, -1. */
void gt_task_deque_claim(struct gt_task_deques *deques, gt_worker_index worker, int by);

static inline bool gt_task_deque_is_filled(const struct gt_task_deques *deques, gt_worker_index worker)
{
    return deques->of[worker].tasks > 0;
}

/* A bit for each of so many deques, at most 32, from `first` on, round the grid, as `words`, one of the above, has it. */
static inline uint64_t gt_task_deques_window(const struct gt_task_deques *deques, const uint64_t *words,
                                             gt_worker_index first, gt_worker_index count)
{
    gt_worker_index here = deques->workers - first < count ? deques->workers - first : count;
    uint64_t bits = words[first / 64] >> first % 64;

    if (first % 64 + here > 64)
        bits |= words[first / 64 + 1] << (64 - first % 64);
    bits &= (UINT64_C(1) << here) - 1;
    return here == count ? bits : bits | (words[0] & ((UINT64_C(1) << (count - here)) - 1)) << here;
}

/* Are there 32 workers side by side with `least` claimed deques?  May say so where there are not. */
bool gt_task_deques_may_be_claimed(const struct gt_task_deques *deques, uint32_t least);

#endif
