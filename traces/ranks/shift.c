/* shift.c - how the collectives of two members belong together where nothing numbers them.
 *
 * Kinds and sizes must agree; training steps are alike, though, so that many shifts may do.  Of those, the numbers that
 * PyTorch's profiler gives steps tell (ProfilerStep#7 is the same step on every rank); then that a collective which gives
 * everybody what everybody had ends everywhere at once: the ends lie as far apart as the clocks, each time.  Of regular steps
 * that leaves several, too: then the clocks tell, which differ by little within a host.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/array.h"
#include "sim/base/sort.h"
#include "traces/ranks/internal.h"

/* So much may one recording begin earlier than another; of so many pairs of neighbours the jitter is taken. */
enum { MOST_SHIFT = 256, PAIRS = 256 };
/* Ends of the same collectives of two H200s jitter by 10 to 15 us: a shift whose jitter is so many times that of the best, or of
 * this, is not as good. */
static const double as_good = 3, usual_jitter_ns = 15000;

/* By a member's note: the name of the step that it was asked for in; NULL where there is none. */
static const char **find_steps(const struct gt_rank *ranks, const struct gt_rank_member *member)
{
    const struct gt_workload *w = ranks[member->rank].workload;
    const char **of_note = gt_calloc(member->count + 1ull, sizeof *of_note);
    const struct gt_range **steps = NULL;
    uint32_t count = 0, room = 0;

    for (gt_range_index i = 0; i < w->range_count; i++)
        if (w->ranges[i].kind == GT_RANGE_STEP) {
            gt_array_grow(steps, count, room);
            steps[count++] = &w->ranges[i];
        }
    for (uint32_t i = 0, at = 0; i < member->count && count > 0; i++) {
        gt_call_index call = w->ops[gt_rank_note_at(ranks, member, i)->op].call;

        while (at + 1 < count && call >= steps[at]->end_call)
            at++;
        if (call >= steps[at]->first_call && call < steps[at]->end_call)
            of_note[i] = gt_name_text(w, steps[at]->name);
    }
    free(steps);
    return of_note;
}

static bool alike(const struct gt_collective_note *a, const struct gt_collective_note *b)
{
    return a->kind == b->kind && (a->bytes == b->bytes || a->bytes == 0 || b->bytes == 0);
}

static double end_ns(const struct gt_rank *ranks, const struct gt_rank_member *member, uint32_t i)
{
    return (double)gt_op_measured_end(&ranks[member->rank].workload->ops[gt_rank_note_at(ranks, member, i)->op]) /
           1e3;
}

/* Two members, of which number i of the one may be number i + later of the other. */
struct pairing {
    const struct gt_rank *ranks;
    const struct gt_rank_member *member, *other;
    const char **steps, **other_steps;
    int64_t later;
    uint32_t first, behind; /* of the one's collectives, those that the other has, too */
};

static void shift_by(struct pairing *p, int64_t later)
{
    int64_t first = later < 0 ? -later : 0, behind = (int64_t)p->other->count - later;

    behind = behind < p->member->count ? behind : p->member->count;
    p->later = later;
    p->first = (uint32_t)first;
    p->behind = behind > first ? (uint32_t)behind : p->first;
}

static uint32_t in_other(const struct pairing *p, uint32_t i)
{
    return (uint32_t)(i + p->later);
}

/* Can they belong together: at least half of those of whom has fewer, all of them alike? */
static bool fits(const struct pairing *p)
{
    uint32_t fewer = p->member->count < p->other->count ? p->member->count : p->other->count;

    if (p->behind == p->first || 2ull * (p->behind - p->first) < fewer)
        return false;
    for (uint32_t i = p->first; i < p->behind; i++)
        if (!alike(gt_rank_note_at(p->ranks, p->member, i), gt_rank_note_at(p->ranks, p->other, in_other(p, i))))
            return false;
    return true;
}

/* The part of those that are in a step of both which are in steps of other names; 0 where there are none. */
static double part_in_other_steps(const struct pairing *p)
{
    uint32_t both = 0, differ = 0;

    for (uint32_t i = p->first; i < p->behind; i++) {
        const char *one = p->steps[i], *other = p->other_steps[in_other(p, i)];

        both += one != NULL && other != NULL;
        differ += one != NULL && other != NULL && strcmp(one, other) != 0;
    }
    return both > 0 ? (double)differ / both : 0;
}

static double apart_ns(const struct pairing *p, uint32_t i)
{
    return end_ns(p->ranks, p->member, i) - end_ns(p->ranks, p->other, in_other(p, i));
}

/* By the time of day; where no clock tells, the more the more are left out. */
static double clocks_apart_ns(const struct pairing *p, double middle_ns)
{
    const struct gt_collective_notes *a = &p->ranks[p->member->rank].notes, *b = &p->ranks[p->other->rank].notes;

    if (a->has_origin && b->has_origin)
        return fabs(middle_ns + ((double)a->origin_ns - (double)b->origin_ns));
    return fabs(a == b ? middle_ns : (double)p->later);
}

/* The middle of how far the ends lie apart, and of how much that changes from one to the next: a clock that is faster changes
 * it by little. */
static struct gt_rank_shift measure(const struct pairing *p)
{
    uint32_t step = (p->behind - p->first) / PAIRS + 1, count = 0, changes = 0;
    double *apart = gt_calloc(PAIRS + 1, sizeof *apart), *change = gt_calloc(PAIRS + 1, sizeof *change);
    struct gt_rank_shift shift = { .later = p->later, .in_other_steps = part_in_other_steps(p) };

    for (uint32_t i = p->first; i < p->behind; i += step) {
        apart[count++] = apart_ns(p, i);
        if (i + 1 < p->behind && gt_rank_ends_at_once(gt_rank_note_at(p->ranks, p->member, i)->kind) &&
            gt_rank_ends_at_once(gt_rank_note_at(p->ranks, p->member, i + 1)->kind))
            change[changes++] = fabs(apart_ns(p, i + 1) - apart[count - 1]);
    }
    shift.apart_ns = clocks_apart_ns(p, gt_median(apart, count));
    shift.jitter_ns = changes > 0 ? gt_median(change, changes) : 0;
    free(apart);
    free(change);
    return shift;
}

/* Steps first, then jitter, then clocks.  False: there is none. */
static bool choose(const struct gt_rank_shift *found, uint32_t count, struct gt_rank_shift *shift)
{
    double least_part = INFINITY, least_ns = INFINITY;
    bool any = false;

    for (uint32_t i = 0; i < count; i++)
        least_part = fmin(least_part, found[i].in_other_steps);
    for (uint32_t i = 0; i < count; i++)
        if (found[i].in_other_steps == least_part)
            least_ns = fmin(least_ns, found[i].jitter_ns);
    for (uint32_t i = 0; i < count; i++)
        if (found[i].in_other_steps == least_part &&
            found[i].jitter_ns <= as_good * fmax(least_ns, usual_jitter_ns) &&
            (!any || found[i].apart_ns < shift->apart_ns)) {
            *shift = found[i];
            any = true;
        }
    return any;
}

bool gt_rank_shift_find(const struct gt_rank *ranks, const struct gt_rank_member *member,
                        const struct gt_rank_member *other, struct gt_rank_shift *shift)
{
    struct gt_rank_shift *found = gt_calloc(2 * MOST_SHIFT + 1, sizeof *found);
    struct pairing p = { .ranks = ranks,
                         .member = member,
                         .other = other,
                         .steps = find_steps(ranks, member),
                         .other_steps = find_steps(ranks, other) };
    uint32_t count = 0;
    bool any;

    for (int64_t later = -MOST_SHIFT; later <= MOST_SHIFT; later++) {
        shift_by(&p, later);
        if (fits(&p))
            found[count++] = measure(&p);
    }
    any = choose(found, count, shift);
    free(found);
    free(p.steps);
    free(p.other_steps);
    return any;
}
