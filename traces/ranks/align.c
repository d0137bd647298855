/* align.c - the clocks of ranks brought together.
 *
 * A collective that gives everybody what everybody had ends everywhere at once, within a microsecond or two: nobody can
 * be done before the last has come.  The middle of how far its ends lie apart is how far the clocks do; and where they
 * lie further apart the later it is, by more than chance, one clock is faster.
 */
#include <math.h>
#include <stdlib.h>

#include "sim/base/sort.h"
#include "traces/ranks/internal.h"

/* A slope is told from so many ends on, where it makes this much over the recording, and stands out of what is left by so
 * many times; clocks that computers are sold with differ by less than the last. */
enum { LEAST_ENDS = 12 };
static const double least_drift_ps = 2e6, stands_out = 6, most_rate = 1e-3;

/* Ends of a rank by its own clock, rising, and what each lacks to the same collective's end on the common clock. */
struct ends {
    double *at_ps, *apart_ps;
    uint32_t count;
};

static struct ends find_ends(const struct gt_rank *ranks, const struct gt_rank_group *group,
                             const struct gt_rank_member *member, const struct gt_rank_clock *clock,
                             const struct gt_rank_member *other)
{
    struct ends ends = {
        .at_ps = gt_calloc(group->instances + 1ull, sizeof *ends.at_ps),
        .apart_ps = gt_calloc(group->instances + 1ull, sizeof *ends.apart_ps),
    };

    for (int any = 0; any < 2 && ends.count == 0; any++)
        for (uint32_t i = 0; i < group->instances; i++) {
            double common_ps, own_ps;

            if (!any && !gt_rank_ends_at_once(gt_rank_note(ranks, member, i)->kind))
                continue;
            if (gt_op_measured_end(gt_rank_op(ranks, member, i)) == GT_TIME_NONE ||
                gt_op_measured_end(gt_rank_op(ranks, other, i)) == GT_TIME_NONE)
                continue;
            common_ps = (double)gt_op_measured_end(gt_rank_op(ranks, member, i));
            common_ps += clock->behind_ps + clock->rate * common_ps;
            own_ps = (double)gt_op_measured_end(gt_rank_op(ranks, other, i));
            ends.at_ps[ends.count] = own_ps;
            ends.apart_ps[ends.count++] = common_ps - own_ps;
        }
    return ends;
}

static void free_ends(struct ends *ends)
{
    free(ends->at_ps);
    free(ends->apart_ps);
}

/* The middle of what the ends lack beside `rate`. */
static double middle_ps(const struct ends *ends, double rate)
{
    double *left = gt_calloc(ends->count + 1ull, sizeof *left), middle;

    for (uint32_t i = 0; i < ends->count; i++)
        left[i] = ends->apart_ps[i] - rate * ends->at_ps[i];
    middle = gt_median(left, ends->count);
    free(left);
    return middle;
}

/* By how much they differ from that, in the middle. */
static double spread_ps(const struct ends *ends, const struct gt_rank_clock *clock)
{
    double *left = gt_calloc(ends->count + 1ull, sizeof *left), middle;

    for (uint32_t i = 0; i < ends->count; i++)
        left[i] = fabs(ends->apart_ps[i] - clock->rate * ends->at_ps[i] - clock->behind_ps);
    middle = gt_median(left, ends->count);
    free(left);
    return middle;
}

/* The middle of the slopes from each end of the first half to the one half the number of ends later (Theil and Sen's, of
 * independent pairs): a few odd ends do not turn it. */
static double slope(const struct ends *ends)
{
    uint32_t half = ends->count / 2, count = 0;
    double *slopes = gt_calloc(half + 1ull, sizeof *slopes), middle;

    for (uint32_t i = 0; i < half; i++) {
        double apart_ps = ends->at_ps[i + half] - ends->at_ps[i];

        if (apart_ps > 0)
            slopes[count++] = (ends->apart_ps[i + half] - ends->apart_ps[i]) / apart_ps;
    }
    middle = count > 0 ? gt_median(slopes, count) : 0;
    free(slopes);
    return middle;
}

/* So far behind; and drifting, where that leaves clearly less unexplained. */
static struct gt_rank_clock fit(const struct ends *ends)
{
    struct gt_rank_clock still = { .behind_ps = middle_ps(ends, 0) }, drifting = { .rate = 0 };
    double over_ps, noise_ps;

    if (ends->count < LEAST_ENDS)
        return still;
    drifting.rate = slope(ends);
    drifting.behind_ps = middle_ps(ends, drifting.rate);
    over_ps = fabs(drifting.rate) * fabs(ends->at_ps[ends->count - 1] - ends->at_ps[0]);
    noise_ps = spread_ps(ends, &drifting) / sqrt(ends->count);
    if (fabs(drifting.rate) > most_rate || over_ps < least_drift_ps || over_ps < stands_out * noise_ps ||
        spread_ps(ends, &drifting) > spread_ps(ends, &still) / 2)
        return still;
    return drifting;
}

struct aligning {
    const struct gt_rank *ranks;
    struct gt_rank_clock *clocks;
    bool *known;
};

/* One more rank by collectives with one whose clock is known, by as many as there are.  False: there is none. */
static bool align_one(struct aligning *a, const struct gt_rank_groups *groups)
{
    uint32_t most = 0, which = 0;
    struct gt_rank_clock clock = { .rate = 0 };

    for (uint32_t i = 0; i < groups->count; i++) {
        const struct gt_rank_group *group = &groups->groups[i];

        for (uint32_t j = 0; j < group->count && group->instances > 0; j++) {
            const struct gt_rank_member *member = &group->members[j];

            for (uint32_t k = 0; k < group->count && a->known[member->rank]; k++) {
                const struct gt_rank_member *other = &group->members[k];
                struct ends ends;

                if (a->known[other->rank] || group->instances <= most)
                    continue;
                ends = find_ends(a->ranks, group, member, &a->clocks[member->rank], other);
                if (ends.count > most) {
                    most = ends.count;
                    which = other->rank;
                    clock = fit(&ends);
                }
                free_ends(&ends);
            }
        }
    }
    if (most == 0)
        return false;
    a->clocks[which] = clock;
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
    a->clocks[rank].behind_ps = a->clocks[0].behind_ps + apart_ps;
    return true;
}

/* Was anything of it measured?  What was not has no clock. */
static bool has_clock(const struct gt_rank *rank)
{
    for (gt_op_index i = 0; i < rank->workload->op_count; i++)
        if (gt_op_measured_end(&rank->workload->ops[i]) != GT_TIME_NONE)
            return true;
    return rank->workload->op_count == 0;
}

struct gt_rank_aligned gt_ranks_align(const struct gt_rank *ranks, uint32_t count,
                                      const struct gt_rank_groups *groups, struct gt_rank_clock *clocks)
{
    struct aligning a = {
        .ranks = ranks,
        .clocks = clocks,
        .known = gt_calloc(count, sizeof *a.known),
    };
    struct gt_rank_aligned aligned = { 0, 0 };
    double least = 0;

    a.known[0] = true;
    while (align_one(&a, groups))
        ;
    for (uint32_t i = 0; i < count; i++)
        aligned.unknown += !a.known[i] && has_clock(&ranks[i]) && !align_by_day(&a, i);
    for (uint32_t i = 0; i < count; i++) {
        least = fmin(least, clocks[i].behind_ps);
        aligned.drifting += clocks[i].rate != 0;
    }
    for (uint32_t i = 0; i < count; i++)
        clocks[i].behind_ps -= least;
    free(a.known);
    return aligned;
}
