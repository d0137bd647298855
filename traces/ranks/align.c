/* align.c - the clocks of ranks brought together.
 *
 * A collective that gives everybody what everybody had ends everywhere at once, within a microsecond or two: nobody can
 * be done before the last has come.  The middle of how far its ends lie apart is how far the clocks do. */
#include <stdlib.h>

#include "sim/base/sort.h"
#include "traces/ranks/internal.h"

/* Who gives, or gets, alone may be done before the others are. */
static bool ends_at_once(uint8_t kind)
{
    return kind != GT_BROADCAST && kind != GT_REDUCE && kind != GT_SEND_RECV;
}

/* What is to be added to the times of `other` for its ends to be those of `member`: the middle, ps; `count`: of how many. */
static double apart_ps(const struct gt_rank *ranks, const struct gt_rank_group *group,
                       const struct gt_rank_member *member, const struct gt_rank_member *other, uint32_t *count)
{
    double *apart = gt_calloc(group->meetings + 1ull, sizeof *apart), middle;

    *count = 0;
    for (int any = 0; any < 2 && *count == 0; any++)
        for (uint32_t i = 0; i < group->meetings; i++)
            if (any || ends_at_once(gt_rank_note(ranks, member, i)->kind))
                apart[(*count)++] = (double)gt_op_measured_end(gt_rank_op(ranks, member, i)) -
                                    (double)gt_op_measured_end(gt_rank_op(ranks, other, i));
    middle = *count > 0 ? gt_median(apart, *count) : 0;
    free(apart);
    return middle;
}

struct aligning {
    const struct gt_rank *ranks;
    double *shift_ps;
    bool *known;
};

/* One more rank by collectives with one whose clock is known, by as many as there are.  False: there is none. */
static bool align_one(struct aligning *a, const struct gt_rank_groups *groups)
{
    uint32_t most = 0, which = 0;
    double shift_ps = 0;

    for (uint32_t i = 0; i < groups->count; i++) {
        const struct gt_rank_group *group = &groups->groups[i];

        for (uint32_t j = 0; j < group->count && group->meetings > 0; j++) {
            const struct gt_rank_member *member = &group->members[j];

            for (uint32_t k = 0; k < group->count && a->known[member->rank]; k++) {
                const struct gt_rank_member *other = &group->members[k];
                uint32_t count;
                double apart;

                if (a->known[other->rank] || group->meetings <= most)
                    continue;
                apart = apart_ps(a->ranks, group, member, other, &count);
                if (count > most) {
                    most = count;
                    which = other->rank;
                    shift_ps = a->shift_ps[member->rank] + apart;
                }
            }
        }
    }
    if (most == 0)
        return false;
    a->shift_ps[which] = shift_ps;
    a->known[which] = true;
    return true;
}

/* By the time of day, against the first rank; false where that is not known, or too far off to be of one job. */
static bool align_by_day(struct aligning *a, uint32_t rank)
{
    const struct gt_collective_notes *first = &a->ranks[0].notes, *notes = &a->ranks[rank].notes;
    double apart_ps = ((double)notes->origin_ns - (double)first->origin_ns) * 1e3;

    if (!first->has_origin || !notes->has_origin || apart_ps > (double)GT_TIME_LIMIT_PS / 4 ||
        -apart_ps > (double)GT_TIME_LIMIT_PS / 4)
        return false;
    a->shift_ps[rank] = a->shift_ps[0] + apart_ps;
    return true;
}

uint32_t gt_ranks_align(const struct gt_rank *ranks, uint32_t count, const struct gt_rank_groups *groups,
                        uint64_t *shift_ps)
{
    struct aligning a = {
        .ranks = ranks,
        .shift_ps = gt_calloc(count, sizeof *a.shift_ps),
        .known = gt_calloc(count, sizeof *a.known),
    };
    uint32_t unknown = 0;
    double least = 0;

    a.known[0] = true;
    while (align_one(&a, groups))
        ;
    for (uint32_t i = 0; i < count; i++)
        unknown += !a.known[i] && !align_by_day(&a, i);
    for (uint32_t i = 0; i < count; i++)
        least = a.shift_ps[i] < least ? a.shift_ps[i] : least;
    for (uint32_t i = 0; i < count; i++)
        shift_ps[i] = (uint64_t)((a.shift_ps[i] - least) / 1000) * 1000;
    free(a.shift_ps);
    free(a.known);
    return unknown;
}
