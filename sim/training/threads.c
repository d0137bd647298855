#include "sim/training/threads.h"

#include <stdlib.h>

#include "sim/base/sort.h"
#include "sim/workload/ranges.h"

/* So many calls a turn at least, in the mean: a thread that fetches data makes fewer, and so does one that looks after others. */
enum { LEAST_CALLS = 8, LEAST_TURNS = 2 };
/* A thread of a backward pass alone asks for next to nothing besides. */
static const double forward_part = 0.1;

/* By thread: does it make gradients ready?  Malloced. */
static bool *find_backward_threads(const struct gt_workload *w, bool *any)
{
    bool *backward = gt_calloc(w->thread_count + 1ull, sizeof *backward);

    *any = false;
    for (gt_range_index i = 0; i < w->range_count; i++)
        if (gt_range_makes_gradient(w, &w->ranges[i]))
            *any = backward[w->ranges[i].thread] = true;
    return backward;
}

/* Does the thread ask for work that no node of a backward pass does, as one that goes forward, too? */
static bool goes_forward(const struct gt_workload *w, gt_thread_index thread)
{
    bool *backward = gt_calloc(w->call_count + 1ull, sizeof *backward), nodes = false;
    uint32_t forward = 0, all = 0;

    for (gt_range_index i = 0; i < w->range_count; i++) {
        const struct gt_range *range = &w->ranges[i];

        if (range->thread != thread || !gt_range_is_backward_node(w, range))
            continue;
        nodes = true;
        for (gt_call_index call = range->first_call; call < range->end_call; call++)
            backward[call] = true;
    }
    for (gt_call_index i = 0; i < w->call_count; i++) {
        all += w->calls[i].thread == thread && w->calls[i].ops > 0;
        forward += w->calls[i].thread == thread && w->calls[i].ops > 0 && !backward[i];
    }
    free(backward);
    return nodes && forward > all * forward_part;
}

gt_thread_index gt_threads_asking(const struct gt_workload *w, gt_thread_index thread)
{
    bool any, *backward = find_backward_threads(w, &any);
    gt_thread_index first = GT_NONE, asking = thread;

    backward[thread] &= !goes_forward(w, thread); /* with its own backward pass, or once both are one */
    for (gt_call_index i = 0; i < w->call_count && (backward[thread] || !any); i++) {
        const struct gt_thread *own = &w->threads[w->calls[i].thread];

        if (w->calls[i].ops == 0 || own->process != w->threads[thread].process)
            continue;
        if (own->id == own->process)
            asking = w->calls[i].thread;
        else if (any && first == GT_NONE && !backward[w->calls[i].thread])
            first = w->calls[i].thread;
    }
    free(backward);
    return asking == thread && first != GT_NONE ? first : asking;
}

/* The turns of another thread with the main one. */
struct turns {
    uint32_t own, mains, calls; /* turns of either, calls of both in them */
    uint32_t own_calls;
    double *between_ps; /* by turn of either: from one's last call to the other's first */
    gt_time_ps own_ps;  /* within its own turns */
    bool apart;         /* never were both in a call */
};

static void add_call(struct turns *turns, const struct gt_call *call, bool own, bool begins)
{
    turns->calls++;
    turns->own_calls += own;
    if (begins) {
        turns->between_ps[turns->own + turns->mains] = (double)call->handover_ps;
        *(own ? &turns->own : &turns->mains) += 1;
        turns->apart &= call->handover_ps > 0;
    } else if (own) {
        turns->own_ps += call->before_ps + (call->duration_ps != GT_TIME_NONE ? call->duration_ps : 0);
    }
}

static struct turns find_turns(const struct gt_workload *w, gt_thread_index main, gt_thread_index other)
{
    struct turns turns = { .apart = true, .between_ps = gt_calloc(w->call_count + 1ull, sizeof *turns.between_ps) };
    gt_thread_index last = GT_NONE;

    for (gt_call_index i = 0; i < w->call_count; i++) {
        const struct gt_call *call = &w->calls[i];

        if (call->thread != main && call->thread != other)
            continue;
        /* A turn behind a third thread's is not told by its handover. */
        add_call(&turns, call, call->thread == other,
                 last != GT_NONE && call->thread != last && call->handover_ps != GT_TIME_NONE);
        last = call->thread;
    }
    return turns;
}

/* Of the times between turns most are short; the first may hold start-up. */
static bool works_for(const struct turns *turns)
{
    return turns->apart && turns->own >= LEAST_TURNS && turns->mains >= LEAST_TURNS &&
           turns->own_calls >= LEAST_CALLS * turns->own &&
           turns->calls - turns->own_calls >= LEAST_CALLS * turns->mains &&
           gt_median(turns->between_ps, turns->own + turns->mains) * (turns->own + turns->mains) <
               (double)turns->own_ps;
}

void gt_threads_join_alternating(const struct gt_workload *w, gt_thread_index main, bool *joined)
{
    for (gt_thread_index i = 0; i < w->thread_count; i++) {
        struct turns turns;

        if (i == main || w->threads[i].process != w->threads[main].process)
            continue;
        turns = find_turns(w, main, i);
        joined[i] |= works_for(&turns);
        free(turns.between_ps);
    }
}
