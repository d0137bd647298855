/* unnamed.c - groups that the recordings do not name (PyTorch of before 2.2, Nsight Systems): who reduces with whom.
 *
 * NCCL's users keep a stream a communicator, so that a stream's collectives are of one group.  Streams of several GPUs are of
 * the same where their collectives, in order, end together, each time; where the recordings say how many ranks the group has
 * (PyTorch 2.1), those that do so best.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/ranks/internal.h"

/* Ends of the same collective jitter by less (10 to 15 us between two H200s); and of one group's by not much more than of the two
 * that agree best: other groups of the same job, which wait for each other now and then, end not far from them. */
static const double most_jitter_ns = 100000, more_jitter = 4, more_jitter_ns = 10000;

/* A member that may be of the group of another one. */
struct candidate {
    uint32_t member;
    struct gt_rank_shift shift;
};

struct splitting {
    const struct gt_rank *ranks;
    struct gt_rank_member *members;
    uint32_t count;
    bool *taken; /* by member */
    struct candidate *candidates;
};

static int by_fit(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;

    GT_ORDER(a->shift.in_other_steps, b->shift.in_other_steps);
    GT_ORDER(a->shift.jitter_ns, b->shift.jitter_ns);
    GT_ORDER(a->shift.apart_ns, b->shift.apart_ns);
    GT_ORDER(a->member, b->member);
    return 0;
}

static uint32_t find_candidates(const struct splitting *s, uint32_t first)
{
    uint32_t count = 0;

    for (uint32_t i = first + 1; i < s->count; i++)
        if (!s->taken[i] && s->members[i].size == s->members[first].size &&
            gt_rank_shift_find(s->ranks, &s->members[first], &s->members[i], &s->candidates[count].shift))
            s->candidates[count++].member = i;
    if (count > 0)
        qsort(s->candidates, count, sizeof *s->candidates, by_fit);
    return count;
}

/* A GPU is in a group once. */
static bool has_gpu(const struct gt_rank_group *group, const struct gt_rank_member *member)
{
    for (uint32_t i = 0; i < group->count; i++)
        if (group->members[i].rank == member->rank && group->members[i].gpu == member->gpu)
            return true;
    return false;
}

static void take(struct splitting *s, struct gt_rank_group *group, uint32_t member)
{
    gt_array_grow(group->members, group->count, group->room);
    group->members[group->count++] = s->members[member];
    s->taken[member] = true;
}

static int by_rank(const void *left, const void *right)
{
    const struct gt_rank_member *a = left, *b = right;

    GT_ORDER(a->rank, b->rank);
    GT_ORDER(a->gpu, b->gpu);
    return 0;
}

/* How much those may jitter against the first who are of its group. */
static double limit_ns(const struct splitting *s, uint32_t count)
{
    return count == 0 ? 0 : fmin(most_jitter_ns, more_jitter * s->candidates[0].shift.jitter_ns + more_jitter_ns);
}

/* Member `first` and all who end their collectives with it. */
static struct gt_rank_group gather(struct splitting *s, uint32_t first)
{
    struct gt_rank_group group = { .key = "", .size = s->members[first].size };
    uint32_t count = find_candidates(s, first);
    double most_ns = limit_ns(s, count);

    take(s, &group, first);
    for (uint32_t i = 0; i < count && (group.size == 0 || group.count < group.size); i++) {
        const struct candidate *next = &s->candidates[i];

        if (next->shift.jitter_ns <= most_ns && !has_gpu(&group, &s->members[next->member]))
            take(s, &group, next->member);
    }
    qsort(group.members, group.count, sizeof *group.members, by_rank);
    return group;
}

static void split(struct gt_rank_groups *groups, struct splitting *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->taken[i])
            continue;
        gt_array_grow(groups->groups, groups->count, groups->room);
        groups->groups[groups->count++] = gather(s, i);
    }
}

void gt_rank_groups_split(struct gt_rank_groups *groups, const struct gt_rank *ranks)
{
    uint32_t at = 0;
    struct gt_rank_group unnamed;
    struct splitting s;

    while (at < groups->count && groups->groups[at].key[0] != '\0')
        at++;
    if (at == groups->count)
        return;
    unnamed = groups->groups[at];
    groups->groups[at] = groups->groups[--groups->count];
    s = (struct splitting){
        .ranks = ranks,
        .members = unnamed.members,
        .count = unnamed.count,
        .taken = gt_calloc(unnamed.count, sizeof *s.taken),
        .candidates = gt_calloc(unnamed.count, sizeof *s.candidates),
    };
    split(groups, &s);
    free(s.taken);
    free(s.candidates);
    free(unnamed.members);
}
