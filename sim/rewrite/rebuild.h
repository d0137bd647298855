/* rebuild.h - a workload anew, call by call: calls and operations dropped, inserted, moved, or merged into one call.
 *
 * Begin, go through the calls of the old workload in their order (or another one that keeps each thread's own order where
 * it matters), and end.  Streams, events, threads, kernels and names keep their numbers, and new ones may be added to
 * `to`.  What nobody copies is dropped.  Edges, profiles and ranges follow by themselves.
 */
#ifndef GRIDTIDE_SIM_REWRITE_REBUILD_H
#define GRIDTIDE_SIM_REWRITE_REBUILD_H

#include "sim/workload/workload.h"

/* An edge that is new, by the numbers of the new workload. */
struct gt_rebuild_edge {
    gt_op_index before, after;
};

struct gt_rebuild {
    const struct gt_workload *from;
    struct gt_workload *to;
    gt_call_index *new_call; /* by call of `from`: what it is now; GT_NONE: not there (yet) */
    gt_op_index *new_op;     /* by operation of `from`: what it is now; GT_NONE: not there (yet) */
    gt_op_index *old_op;     /* by operation of `to`: what it was; GT_NONE: it is new */
    uint32_t old_count, old_room;
    uint64_t next_event_id;
    gt_time_ps *owed_ps;      /* by thread: own work to be done before its next call */
    gt_time_ps *owed_kept_ps; /* of that what no change removes: gt_call.kept_ps */
    bool *edges_anew;         /* by operation of `from`: those within its call are not followed */
    struct gt_rebuild_edge *edges;
    uint32_t edge_count, edge_room;
    uint32_t
        lost_edges; /* that would wait for a later call, or behind the 65,535th of an operation; known at the end */
};

/* `from` is lent until gt_rebuild_end(). */
void gt_rebuild_begin(struct gt_rebuild *rebuild, const struct gt_workload *from);

/* Call `call` of `from` is dropped, but not the work that its thread did before it: that is done before the thread's next
 * call appended. */
void gt_rebuild_drop(struct gt_rebuild *rebuild, gt_call_index call);
/* Append the call `call` of `from` with all its operations, and return its new number.  Of a call that is copied several times,
 * what waited for it waits for the copy before it; new_call and new_op know the last one. */
gt_call_index gt_rebuild_copy(struct gt_rebuild *rebuild, gt_call_index call);
/* Copy a call without its operations. */
gt_call_index gt_rebuild_copy_bare(struct gt_rebuild *rebuild, gt_call_index call);
/* Append a call that was not there, without stream, event, times and operations. */
gt_call_index gt_rebuild_insert(struct gt_rebuild *rebuild, enum gt_call_kind kind, gt_thread_index thread);
/* A new non-blocking stream, otherwise like `like` of the new workload. */
gt_stream_index gt_rebuild_new_stream(struct gt_rebuild *rebuild, gt_stream_index like);
/* A new event. */
gt_event_index gt_rebuild_new_event(struct gt_rebuild *rebuild);
/* Append the call that records `event` in `stream`, or that lets `stream` wait for it: two by one thread order two streams. */
void gt_rebuild_record(struct gt_rebuild *rebuild, gt_thread_index thread, gt_event_index event,
                       gt_stream_index stream);
void gt_rebuild_wait(struct gt_rebuild *rebuild, gt_thread_index thread, gt_event_index event,
                     gt_stream_index stream);
/* Append the call in which the thread itself waits for it. */
void gt_rebuild_host_wait(struct gt_rebuild *rebuild, gt_thread_index thread, gt_event_index event);
/* Append an operation of `from`, whatever call had it, to the last call appended, and return its new number. */
gt_op_index gt_rebuild_move_op(struct gt_rebuild *rebuild, gt_op_index op);
/* Append an operation that was not there to the last call appended, and return its number. */
gt_op_index gt_rebuild_add_op(struct gt_rebuild *rebuild);
/* Call `call` of `from` has become part of `part_of`, a call of `to`: ranges that held the one hold the other. */
void gt_rebuild_merged(struct gt_rebuild *rebuild, gt_call_index call, gt_call_index part_of);
/* What operation `op` of `from` waited for within its call it waits for no more. */
void gt_rebuild_edges_anew(struct gt_rebuild *rebuild, gt_op_index op);
/* Operation `after` of `to` waits for `before` of `to`. */
void gt_rebuild_edge(struct gt_rebuild *rebuild, gt_op_index after, gt_op_index before);

/* The new workload, which the caller owns.  An edge to an operation that was dropped leads to what that one waited for;
 * what followed a dropped one in its stream waits for that, too.  An operation that now stands before what it waited
 * for does not wait for it any more: lost_edges says how many. */
struct gt_workload *gt_rebuild_end(struct gt_rebuild *rebuild);

#endif
