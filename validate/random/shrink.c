#include "validate/random/shrink.h"

#include "validate/random/reduce.h"
#include "validate/random/simplify.h"

struct work {
    const struct gt_shrinking *shrinking;
    struct gt_workload *smallest;
};

static bool stopped(const struct work *work)
{
    return work->shrinking->stop(work->shrinking->user);
}

/* Keep the candidate where it shows, else free it. */
static bool take(struct work *work, struct gt_workload *candidate)
{
    if (candidate->op_count == 0 || !work->shrinking->shows(work->shrinking->user, candidate)) {
        gt_workload_free(candidate);
        return false;
    }
    gt_workload_free(work->smallest);
    work->smallest = candidate;
    return true;
}

/* The last task of a graph stays whatever is asked for: then there is nothing to ask. */
static bool take_less(struct work *work, enum gt_reducible what, struct gt_workload *candidate)
{
    if (gt_reduce_count(candidate, what) < gt_reduce_count(work->smallest, what))
        return take(work, candidate);
    gt_workload_free(candidate);
    return false;
}

/* Leave out half of the parts, a quarter, and so on to single ones, wherever that shows.  True where any went. */
static bool leave_out(struct work *work, enum gt_reducible what)
{
    bool smaller = false;

    for (uint32_t chunk = gt_reduce_count(work->smallest, what); chunk > 0; chunk /= 2) {
        for (uint32_t first = 0; first < gt_reduce_count(work->smallest, what);) {
            if (stopped(work))
                return false;
            if (take_less(work, what, gt_reduce(work->smallest, what, first, chunk)))
                smaller = true;
            else
                first += chunk;
        }
    }
    return smaller;
}

/* Nothing left out: a copy. */
static struct gt_workload *copy_of(const struct gt_workload *workload)
{
    return gt_reduce(workload, GT_REDUCE_CALLS, 0, 0);
}

/* What blocks launch follows from numbers that may be others now. */
static struct gt_workload *anew(struct gt_workload *workload)
{
    struct gt_workload *copy;

    if (workload->child_launch_count == 0)
        return workload;
    copy = copy_of(workload);
    gt_workload_free(workload);
    return copy;
}

static bool simplify(struct work *work, const struct gt_simplification *way)
{
    bool smaller = false;

    for (uint32_t i = 0; i < way->count(work->smallest);) {
        struct gt_workload *candidate;

        if (stopped(work))
            return false;
        candidate = copy_of(work->smallest);
        if (i < way->count(candidate) && way->apply(candidate, i)) {
            candidate = anew(candidate);
            if (take(work, candidate)) {
                smaller = true;
                continue; /* once more of the same */
            }
        } else {
            gt_workload_free(candidate);
        }
        i++;
    }
    return smaller;
}

struct gt_workload *gt_shrink(const struct gt_workload *workload, const struct gt_shrinking *shrinking)
{
    struct work work = { shrinking, copy_of(workload) };
    bool smaller = true;

    while (smaller && !stopped(&work)) {
        smaller = false;
        for (int what = 0; what < GT_REDUCIBLES; what++)
            smaller |= leave_out(&work, (enum gt_reducible)what);
        for (size_t i = 0; i < gt_simplification_count; i++)
            smaller |= simplify(&work, &gt_simplifications[i]);
    }
    return work.smallest;
}
