/* Ranges in order, and which holds which. */
#include "sim/workload/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/sort.h"
#include "sim/base/text.h"
#include "sim/workload/allocations.h"

/* A file may nest ranges as deep as it likes: so many open ones are looked at for the one that holds the next. */
enum { DEPTH_MAX = 16 };

static int compare_ranges(const void *left, const void *right, void *user)
{
    const struct gt_range *ranges = user;
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
    const struct gt_range *a = &ranges[i], *b = &ranges[j];

    GT_ORDER(a->start_ps, b->start_ps);
    if (a->start_ps == GT_TIME_NONE) {
        GT_ORDER(a->first_call, b->first_call);
        GT_ORDER(b->end_call, a->end_call);
    } else {
        GT_ORDER(b->duration_ps, a->duration_ps);
    }
    GT_ORDER(a->thread, b->thread);
    GT_ORDER(a->external, b->external); /* Kineto counts them as they begin */
    GT_ORDER(i, j);
    return 0;
}

/* Range order[i] becomes range i, and what is kept of it goes with it. */
static void permute(struct gt_workload *w, const uint32_t *order)
{
    struct gt_range *ranges = gt_realloc(NULL, w->range_count, sizeof *ranges);
    uint32_t *place = gt_realloc(NULL, w->range_count, sizeof *place);

    for (uint32_t i = 0; i < w->range_count; i++) {
        ranges[i] = w->ranges[order[i]];
        place[order[i]] = i;
    }
    for (uint32_t i = 0; i < w->extra_count; i++)
        if (w->extras[i].of == GT_EXTRA_RANGE)
            w->extras[i].index = place[w->extras[i].index];
    gt_allocations_renumber(w, place);
    free(place);
    free(w->ranges);
    w->ranges = ranges;
    w->range_room = w->range_count;
}

static void order_ranges(struct gt_workload *w)
{
    uint32_t *order = gt_realloc(NULL, w->range_count, sizeof *order);
    bool sorted = true;

    for (uint32_t i = 0; i < w->range_count; i++) {
        order[i] = i;
        sorted = sorted && (i == 0 || compare_ranges(&order[i - 1], &order[i], w->ranges) <= 0);
    }
    if (!sorted) {
        qsort_r(order, w->range_count, sizeof *order, compare_ranges, w->ranges);
        permute(w, order);
    }
    free(order);
}

/* Does `outer`, which stands before `inner`, hold it: by time, or where they have none, by calls? */
static bool holds(const struct gt_range *outer, const struct gt_range *inner)
{
    if (gt_range_is_measured(outer) && gt_range_is_measured(inner))
        return gt_range_measured_end(inner) <= gt_range_measured_end(outer);
    return inner->first_call >= outer->first_call && inner->end_call <= outer->end_call;
}

/* Has `range` ended before `next` begins? */
static bool is_over(const struct gt_range *range, const struct gt_range *next)
{
    if (gt_range_is_measured(range) && gt_range_is_measured(next))
        return gt_range_measured_end(range) <= next->start_ps;
    return range->end_call <= next->first_call;
}

/* The innermost range of each thread that is open when another begins; those that end before an outer one does and
 * those that outlive it alike are passed over until one holds the whole. */
static void find_parents(struct gt_workload *w)
{
    uint32_t *open = gt_realloc(NULL, w->thread_count + 1ull, sizeof *open);
    uint32_t *below = gt_realloc(NULL, w->range_count, sizeof *below);

    memset(open, 0xff, w->thread_count * sizeof *open);
    for (uint32_t i = 0; i < w->range_count; i++) {
        struct gt_range *range = &w->ranges[i];
        uint32_t *top = &open[range->thread], outer;

        while (*top != GT_NONE && is_over(&w->ranges[*top], range))
            *top = below[*top];
        outer = *top;
        for (int depth = 0; depth < DEPTH_MAX && outer != GT_NONE && !holds(&w->ranges[outer], range); depth++)
            outer = below[outer];
        range->parent = outer != GT_NONE && holds(&w->ranges[outer], range) ? outer : GT_NONE;
        if (range->flags & GT_RANGE_UNNESTED)
            continue;
        below[i] = *top;
        *top = i;
    }
    free(open);
    free(below);
}

void gt_ranges_finish(struct gt_workload *w, const uint32_t *calls)
{
    if (w->range_count == 0)
        return;
    gt_ranges_find_calls(w, calls);
    order_ranges(w);
    find_parents(w);
}

/* Calls of each thread on their way to the range that each is in. */
struct assigning {
    const struct gt_workload *workload;
    struct gt_thread_calls threads;
    uint32_t *next;            /* of each thread: the place of the first call that is not assigned */
    gt_range_index *open;      /* of each thread: the innermost range that has begun; GT_NONE */
    gt_range_index *below;     /* of each range: the one that was open when it began */
    gt_range_index *innermost; /* of each call */
};

/* Calls of a thread up to `behind` go to the ranges that are open. */
static void assign(struct assigning *a, gt_thread_index thread, gt_call_index behind)
{
    const struct gt_range *ranges = a->workload->ranges;

    for (; a->next[thread] < a->threads.first[thread + 1]; a->next[thread]++) {
        gt_call_index call = a->threads.calls[a->next[thread]];
        gt_range_index range;

        if (call >= behind)
            return;
        while (a->open[thread] != GT_NONE && ranges[a->open[thread]].end_call <= call)
            a->open[thread] = a->below[a->open[thread]];
        range = a->open[thread];
        for (int depth = 0; depth < DEPTH_MAX && range != GT_NONE; depth++, range = a->below[range])
            if (gt_range_has_call(a->workload, &ranges[range], call))
                break;
        if (range != GT_NONE)
            a->innermost[call] = range;
    }
}

/* Ranges begin .. end - 1, which begin one after the other.  One without calls is around none, and where its thread was joined to
 * another its first_call may be far behind it. */
static void assign_to(struct assigning *a, uint32_t begin, uint32_t end)
{
    const struct gt_workload *w = a->workload;

    memcpy(a->next, a->threads.first, w->thread_count * sizeof *a->next);
    memset(a->open, 0xff, w->thread_count * sizeof *a->open);
    for (uint32_t i = begin; i < end; i++) {
        const struct gt_range *range = &w->ranges[i];

        if (range->flags & GT_RANGE_UNNESTED || range->first_call == range->end_call)
            continue;
        assign(a, range->thread, range->first_call);
        a->below[i] = a->open[range->thread];
        a->open[range->thread] = i;
    }
    for (uint32_t thread = 0; thread < w->thread_count && begin < end; thread++)
        assign(a, thread, GT_NONE);
}

gt_range_index *gt_ranges_innermost(const struct gt_workload *w)
{
    struct assigning a = { .workload = w };
    uint32_t measured = 0;

    gt_thread_calls_find(&a.threads, w);
    a.next = gt_realloc(NULL, w->thread_count + 1ull, sizeof *a.next);
    a.open = gt_realloc(NULL, w->thread_count + 1ull, sizeof *a.open);
    a.below = gt_realloc(NULL, w->range_count, sizeof *a.below);
    a.innermost = gt_realloc(NULL, w->call_count + 1ull, sizeof *a.innermost);
    memset(a.innermost, 0xff, w->call_count * sizeof *a.innermost);
    while (measured < w->range_count && gt_range_is_measured(&w->ranges[measured]))
        measured++;
    assign_to(&a, 0, measured);
    assign_to(&a, measured, w->range_count);
    gt_thread_calls_free(&a.threads);
    free(a.next);
    free(a.open);
    free(a.below);
    return a.innermost;
}

bool gt_is_data_loader(const char *name)
{
    size_t length = strlen(name);

    return gt_begins(name, length, "enumerate(DataLoader)#") || gt_begins(name, length, "enumerate(DataPipe)#") ||
           gt_ends(name, length, "dataloader_next") || gt_ends(name, length, ".val_next") ||
           (strstr(name, "utils/data/dataloader.py(") != NULL && gt_ends(name, length, ": __next__"));
}

static bool begins(const struct gt_workload *w, const struct gt_range *range, const char *start)
{
    return strncmp(gt_name_text(w, range->name), start, strlen(start)) == 0;
}

bool gt_range_makes_gradient(const struct gt_workload *w, const struct gt_range *range)
{
    return range->gradient_bytes > 0 || strcmp(gt_name_text(w, range->name), "torch::autograd::AccumulateGrad") == 0;
}

bool gt_range_is_backward_node(const struct gt_workload *w, const struct gt_range *range)
{
    return begins(w, range, "autograd::engine::evaluate_function");
}

bool gt_range_is_optimiser_step(const struct gt_workload *w, const struct gt_range *range)
{
    return begins(w, range, "Optimizer.step#");
}

bool *gt_ranges_of_optimiser(const struct gt_workload *w)
{
    bool *within = gt_calloc(w->range_count + 1ull, sizeof *within);

    for (gt_range_index i = 0; i < w->range_count; i++)
        within[i] = gt_range_is_optimiser_step(w, &w->ranges[i]) ||
                    (w->ranges[i].parent != GT_NONE && within[w->ranges[i].parent]);
    return within;
}

bool gt_ranges_are_compiled(const struct gt_workload *w)
{
    for (gt_range_index i = 0; i < w->range_count; i++)
        if (strstr(gt_name_text(w, w->ranges[i].name), "CompiledFunctionBackward") != NULL)
            return true;
    return false;
}
