/* check.c - files that cannot be of one job, and what a job's files lack. */
#include <inttypes.h>
#include <stdlib.h>

#include "traces/import/warnings.h"
#include "traces/ranks/internal.h"

/* Hosts' clocks differ by less, where recordings of one job do not overlap at all. */
static const int64_t most_apart_ns = INT64_C(3600) * 1000000000;

static const char *file_of(const struct gt_rank *rank)
{
    return rank->workload->path != NULL ? rank->workload->path : "standard input";
}

/* Does each recording say another rank than those before it, of the same number of them? */
static int check_numbers(const struct gt_rank *ranks, uint32_t count, struct gt_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct gt_collective_notes *own = &ranks[i].notes;

        for (uint32_t j = 0; j < i; j++) {
            const struct gt_collective_notes *other = &ranks[j].notes;

            if (own->ranks != 0 && other->ranks != 0 && own->ranks != other->ranks)
                return gt_error_set(error,
                                    "%.200s belongs to a job of %" PRIu32 " ranks, %.200s to a job of %" PRIu32
                                    " ranks; use recordings of one job",
                                    file_of(&ranks[i]), own->ranks, file_of(&ranks[j]), other->ranks);
            if (own->rank != GT_NONE && own->rank == other->rank)
                return gt_error_set(
                    error, "%.200s and %.200s both belong to rank %" PRIu32 "; name the recording of each rank once",
                    file_of(&ranks[j]), file_of(&ranks[i]), own->rank);
        }
    }
    return 0;
}

/* When the last that was measured of it ended, after its time 0. */
static int64_t last_ns(const struct gt_workload *w)
{
    gt_time_ps last_ps = 0;

    for (gt_op_index i = 0; i < w->op_count; i++) {
        gt_time_ps end_ps = gt_op_measured_end(&w->ops[i]);

        if (end_ps != GT_TIME_NONE && end_ps > last_ps)
            last_ps = end_ps;
    }
    return (int64_t)(last_ps / 1000);
}

/* Does it say when it was recorded?  One without anything in it has no first time. */
static bool has_time(const struct gt_rank *rank)
{
    return rank->notes.has_origin && rank->workload->call_count > 0;
}

/* Was each recorded at the time of day at which another one was? */
static int check_times(const struct gt_rank *ranks, uint32_t count, struct gt_error *error)
{
    for (uint32_t i = 1; i < count; i++) {
        const struct gt_collective_notes *first = &ranks[0].notes, *own = &ranks[i].notes;
        const struct gt_rank *early = first->origin_ns < own->origin_ns ? &ranks[0] : &ranks[i];
        const struct gt_rank *late = early == &ranks[0] ? &ranks[i] : &ranks[0];
        int64_t apart_ns;

        if (!has_time(&ranks[0]) || !has_time(&ranks[i]))
            continue;
        if (__builtin_sub_overflow(late->notes.origin_ns, early->notes.origin_ns, &apart_ns))
            apart_ns = INT64_MAX;
        if (apart_ns - last_ns(early->workload) > most_apart_ns)
            return gt_error_set(error,
                                "%.200s was recorded %.1f hours after %.200s; they do not belong to one run of a job",
                                file_of(late), (double)apart_ns / 3600e9, file_of(early));
    }
    return 0;
}

static bool same_op(const struct gt_op *a, const struct gt_op *b)
{
    return a->start_ps == b->start_ps && a->duration_ps == b->duration_ps && a->kind == b->kind;
}

/* Was all that they have measured at exactly the same times?  No two processes' ever is. */
static bool are_same(const struct gt_rank *one, const struct gt_rank *other)
{
    const struct gt_workload *a = one->workload, *b = other->workload;

    if (a->op_count == 0 || a->op_count != b->op_count || a->call_count != b->call_count ||
        one->notes.has_origin != other->notes.has_origin || one->notes.origin_ns != other->notes.origin_ns)
        return false;
    for (gt_op_index i = 0; i < a->op_count; i++)
        if (!same_op(&a->ops[i], &b->ops[i]))
            return false;
    return true;
}

/* Where they do not say their ranks: is one given twice? */
static int check_same(const struct gt_rank *ranks, uint32_t count, struct gt_error *error)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            if ((ranks[i].notes.rank == GT_NONE || ranks[j].notes.rank == GT_NONE) && are_same(&ranks[i], &ranks[j]))
                return gt_error_set(error,
                                    "%.200s and %.200s are the same recording; name the recording of each rank once",
                                    file_of(&ranks[j]), file_of(&ranks[i]));
    return 0;
}

int gt_ranks_check(const struct gt_rank *ranks, uint32_t count, struct gt_error *error)
{
    if (check_numbers(ranks, count, error) != 0 || check_same(ranks, count, error) != 0)
        return -1;
    return check_times(ranks, count, error);
}

static bool is_given(const struct gt_rank *ranks, uint32_t count, uint32_t number)
{
    for (uint32_t i = 0; i < count; i++)
        if (ranks[i].notes.rank == number)
            return true;
    return false;
}

/* Ranks that no recording is of: by what they say of the job, else of their groups. */
static void warn_of_missing(struct gt_workload *w, const struct gt_rank *ranks, uint32_t count,
                            const struct gt_rank_groups *groups)
{
    uint32_t all = 0, first = GT_NONE;
    char *text;

    for (uint32_t i = 0; i < count; i++)
        all = ranks[i].notes.ranks > all ? ranks[i].notes.ranks : all;
    for (uint32_t i = 0; i < groups->count; i++)
        all = groups->groups[i].size > all ? groups->groups[i].size : all;
    if (all <= count)
        return;
    for (uint32_t i = 0; i < all && first == GT_NONE; i++)
        if (!is_given(ranks, count, i))
            first = i;
    text = gt_format("ranks of the job without a recording, the first of them rank %" PRIu32 " of %" PRIu32
                     "; collectives with them keep their recorded duration, including waiting",
                     first, all);
    gt_import_warn_text(w, "ranks-missing", all - count, text);
    free(text);
}

static uint32_t count_steps(const struct gt_workload *w)
{
    uint32_t count = 0;

    for (gt_range_index i = 0; i < w->range_count; i++)
        count += w->ranges[i].kind == GT_RANGE_STEP;
    return count;
}

void gt_ranks_warn(struct gt_workload *w, const struct gt_rank *ranks, uint32_t count,
                   const struct gt_rank_groups *groups)
{
    uint32_t *steps = gt_calloc(count, sizeof *steps), most = 0, fewer = 0;

    for (uint32_t i = 0; i < count; i++) {
        steps[i] = count_steps(ranks[i].workload);
        most = steps[i] > most ? steps[i] : most;
    }
    for (uint32_t i = 0; i < count; i++)
        fewer += steps[i] < most;
    free(steps);
    gt_import_warn(w, "steps-differ", fewer);
    warn_of_missing(w, ranks, count, groups);
}
