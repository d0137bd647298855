#include "sim/tasks/thieves.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/workload/block_cost.h"

void gt_thieves_make(struct gt_thieves *thieves, gt_worker_index workers, gt_time_ps look_ps, uint64_t seed)
{
    *thieves = (struct gt_thieves){ .workers = workers, .look_ps = look_ps > 0 ? look_ps : 1, .seed = seed };
    thieves->turn_looks = (workers + GT_THIEF_LANES - 1) / GT_THIEF_LANES + UINT64_C(1);
    thieves->of = gt_realloc(NULL, workers, sizeof *thieves->of);
    thieves->list = gt_realloc(NULL, workers, sizeof *thieves->list);
}

void gt_thieves_free(struct gt_thieves *thieves)
{
    free(thieves->of);
    free(thieves->list);
}

/* The first thief, in the order of phases, whose look sees what is there at this phase or later. */
static gt_worker_index first_from(const struct gt_thieves *thieves, gt_time_ps phase_ps)
{
    gt_worker_index low = GT_LOWER_BOUND(middle, 0, thieves->count, thieves->list[middle].phase_ps < phase_ps);
    return low;
}

/* The thief's turn at that time: when its first look is, or would have been, and at whom. */
static void turn_at(const struct gt_thieves *thieves, struct gt_thief *thief, gt_time_ps time_ps)
{
    uint64_t looks = thief->looks + (time_ps - thief->from_ps) / thieves->look_ps, turn = looks / thieves->turn_looks;

    thief->turn_ps = thief->from_ps + (turn * thieves->turn_looks - thief->looks) * thieves->look_ps;
    thief->turn_first = (gt_worker_index)(gt_random_bits(thieves->seed, thief->number, turn) % thieves->workers);
}

void gt_thieves_add(struct gt_thieves *thieves, const struct gt_thief *thief)
{
    struct gt_thief_place place = { thief->from_ps % thieves->look_ps, thief->worker }, *list = thieves->list;
    gt_worker_index at = first_from(thieves, place.phase_ps);

    while (at < thieves->count && list[at].phase_ps == place.phase_ps && list[at].worker < place.worker)
        at++;
    memmove(&list[at + 1], &list[at], (thieves->count++ - at) * sizeof list[0]);
    list[at] = place;
    thieves->of[place.worker] = *thief;
    turn_at(thieves, &thieves->of[place.worker], thief->from_ps);
}

void gt_thieves_remove(struct gt_thieves *thieves, gt_worker_index at)
{
    struct gt_thief_place *list = thieves->list;

    memmove(&list[at], &list[at + 1], (--thieves->count - at) * sizeof list[0]);
}

/* Does the thief's look at that time find anything?  `crowd`: claimed deques may be enough. */
static bool look_finds(struct gt_thieves *thieves, const struct gt_task_deques *deques, bool crowd,
                       struct gt_thief_look *look)
{
    struct gt_thief *thief = &thieves->of[thieves->list[look->thief].worker];
    gt_worker_index place;

    if (look->time_ps < thief->from_ps)
        return false;
    if (look->time_ps - thief->turn_ps >= thieves->turn_looks * thieves->look_ps) /* before it, too */
        turn_at(thieves, thief, look->time_ps);
    place = (gt_worker_index)((look->time_ps - thief->turn_ps) / thieves->look_ps) * GT_THIEF_LANES;
    if (place >= thieves->workers)
        return false;
    look->lanes = thieves->workers - place < GT_THIEF_LANES ? thieves->workers - place : GT_THIEF_LANES;
    look->first = thief->turn_first + place;
    look->first -= look->first >= thieves->workers ? thieves->workers : 0;
    if (gt_task_deques_window(deques, deques->free, look->first, look->lanes) != 0)
        return true;
    return crowd && __builtin_popcountll(gt_task_deques_window(deques, deques->claimed, look->first, look->lanes)) >=
                        GT_THIEF_LOST;
}

/* Looks come in the order of the thieves' phases, again and again.  What is free is found at some time, and what is
 * claimed will not be there for longer than a turn. */
struct gt_thief_look gt_thieves_next(struct gt_thieves *thieves, const struct gt_task_deques *deques,
                                     gt_time_ps now_ps)
{
    gt_time_ps phase_ps = now_ps % thieves->look_ps, round_ps = now_ps - phase_ps;
    struct gt_thief_look look = { .thief = first_from(thieves, phase_ps) };
    bool crowd = gt_task_deques_may_be_claimed(deques, GT_THIEF_LOST);
    uint64_t rounds = thieves->count == 0 ? 0 : deques->free_count > 0 ? UINT64_MAX : crowd ? thieves->turn_looks : 0;

    for (; rounds > 0; rounds--) {
        for (; look.thief < thieves->count; look.thief++) {
            look.time_ps = round_ps + thieves->list[look.thief].phase_ps;
            if (look_finds(thieves, deques, crowd, &look)) {
                look.worker = thieves->list[look.thief].worker;
                return look;
            }
        }
        look.thief = 0;
        round_ps += thieves->look_ps;
    }
    look.time_ps = GT_TIME_NONE;
    return look;
}

bool gt_thief_still_finds(struct gt_thieves *thieves, const struct gt_task_deques *deques, struct gt_thief_look *look)
{
    look->thief = first_from(thieves, look->time_ps % thieves->look_ps);
    while (look->thief < thieves->count && thieves->list[look->thief].worker != look->worker)
        look->thief++;
    return look->thief < thieves->count &&
           look_finds(thieves, deques, gt_task_deques_may_be_claimed(deques, GT_THIEF_LOST), look);
}

uint64_t gt_thief_looks_until(const struct gt_thieves *thieves, const struct gt_thief *thief, gt_time_ps taken_ps)
{
    uint64_t turn = thieves->turn_looks, left = turn - thief->looks % turn, looks = 1;

    if (taken_ps > thief->from_ps)
        looks += (taken_ps - thief->from_ps + thieves->look_ps - 1) / thieves->look_ps;
    return looks <= left ? left : left + (looks - left + turn - 1) / turn * turn;
}

void gt_task_deques_make(struct gt_task_deques *deques, gt_worker_index workers, gt_task_index tasks,
                         gt_task_index *newer)
{
    size_t words = workers / 64 + 1ull;

    *deques = (struct gt_task_deques){ .workers = workers, .newer = newer };
    deques->of = gt_realloc(NULL, workers, sizeof *deques->of);
    deques->older = gt_realloc(NULL, tasks, sizeof *deques->older);
    deques->filled = gt_calloc(words, sizeof *deques->filled);
    deques->free = gt_calloc(words, sizeof *deques->free);
    deques->claimed = gt_calloc(words, sizeof *deques->claimed);
    for (gt_worker_index i = 0; i < workers; i++)
        deques->of[i] = (struct gt_task_deque){ .oldest = GT_NONE, .newest = GT_NONE };
}

void gt_task_deques_free(struct gt_task_deques *deques)
{
    free(deques->of);
    free(deques->older);
    free(deques->filled);
    free(deques->free);
    free(deques->claimed);
}

static void set_bit(uint64_t *words, gt_worker_index worker, bool to, gt_worker_index *count)
{
    uint64_t bit = UINT64_C(1) << worker % 64, *word = &words[worker / 64];

    if (((*word & bit) != 0) == to)
        return;
    *word ^= bit;
    *count += to ? 1 : -1u;
}

/* Its tasks or claims have changed. */
static void note(struct gt_task_deques *deques, gt_worker_index worker)
{
    const struct gt_task_deque *deque = &deques->of[worker];
    gt_worker_index filled = 0;

    set_bit(deques->filled, worker, deque->tasks > 0, &filled);
    set_bit(deques->free, worker, deque->tasks > deque->claims, &deques->free_count);
    set_bit(deques->claimed, worker, deque->tasks > 0 && deque->tasks <= deque->claims, &deques->claimed_count);
}

void gt_task_deque_claim(struct gt_task_deques *deques, gt_worker_index worker, int by)
{
    deques->of[worker].claims += (uint32_t)by;
    note(deques, worker);
}

/* Workers side by side stand in two halves of words at most; the last ones stand beside the first. */
bool gt_task_deques_may_be_claimed(const struct gt_task_deques *deques, uint32_t least)
{
    gt_worker_index words = deques->workers / 64 + 1, behind = deques->workers < 32 ? deques->workers : 32;
    uint32_t before;

    if (deques->claimed_count < least)
        return false;
    before = (uint32_t)__builtin_popcountll(
        gt_task_deques_window(deques, deques->claimed, deques->workers - behind, behind));
    for (gt_worker_index i = 0; i < words; i++) {
        uint32_t low, high;

        if (deques->claimed[i] == 0) {
            before = 0;
            continue;
        }
        low = (uint32_t)__builtin_popcountll(deques->claimed[i] & UINT32_MAX);
        high = (uint32_t)__builtin_popcountll(deques->claimed[i] >> 32);
        if (before + low >= least || low + high >= least)
            return true;
        before = high;
    }
    return false;
}

void gt_task_deque_put(struct gt_task_deques *deques, gt_worker_index worker, gt_task_index task)
{
    struct gt_task_deque *deque = &deques->of[worker];

    deques->older[task] = deque->newest;
    deques->newer[task] = GT_NONE;
    if (deque->newest == GT_NONE)
        deque->oldest = task;
    else
        deques->newer[deque->newest] = task;
    deque->newest = task;
    deque->tasks++;
    deque->changes++;
    note(deques, worker);
}

gt_task_index gt_task_deque_take_newest(struct gt_task_deques *deques, gt_worker_index worker)
{
    struct gt_task_deque *deque = &deques->of[worker];
    gt_task_index task = deque->newest;

    deque->newest = deques->older[task];
    if (deque->newest == GT_NONE)
        deque->oldest = GT_NONE;
    else
        deques->newer[deque->newest] = GT_NONE;
    deque->tasks--;
    deque->changes++;
    note(deques, worker);
    return task;
}

gt_task_index gt_task_deque_take_oldest(struct gt_task_deques *deques, gt_worker_index worker)
{
    struct gt_task_deque *deque = &deques->of[worker];
    gt_task_index task = deque->oldest;

    if (task == deque->newest)
        return gt_task_deque_take_newest(deques, worker);
    deque->oldest = deques->newer[task];
    deques->older[deque->oldest] = GT_NONE;
    deque->tasks--;
    deque->changes++;
    note(deques, worker);
    return task;
}
