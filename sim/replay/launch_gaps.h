/* launch_gaps.h - how soon each operation of a recording started once nothing held it up: as it keeps its own duration, it
 * keeps its own gap to the last of what it comes after, or its own latency after its call.
 *
 * The constants of learned.h are of a kind of operation and of a whole run.  Gaps of one kind vary within a run (an engine
 * looks for work every so often, the front end has other streams to serve), and by what was measured in one operation the
 * constant is replaced where nothing ran that the operation could have waited for (neighbours.h).  Where something did,
 * the constant holds, and what was waited for is simulated.
 */
#ifndef GRIDTIDE_SIM_REPLAY_LAUNCH_GAPS_H
#define GRIDTIDE_SIM_REPLAY_LAUNCH_GAPS_H

#include "sim/replay/neighbours.h"

struct gt_replay;

struct gt_launch_gap {
    uint32_t gap_ps;
    uint8_t gap;  /* gt_own_gap: what it is behind */
    bool by_call; /* all else was over when its call had it ready: it started when it was ready */
};

/* What was learned of the run before. */
struct gt_start_rules {
    const struct gt_replay *replay;
    const gt_time_ps *held_ps; /* by call (held_calls.h); NULL: none was */
    const int64_t *latency_ps; /* by gt_op_kind: from a call's end to its operation's start */
    int64_t graph_latency_ps;  /* from a graph launch's end to its first node's start */
    /* What usually passes between the two. */
    gt_time_ps (*gap_ps)(const struct gt_replay *replay, const struct gt_op *before, const struct gt_op *after,
                         enum gt_own_gap behind);
};

/* By operation, malloced, as the operations' measured times show it, or as they state it; NULL where nothing is known.
 * `inferred_after`: by operation, the one that it must have waited for, or GT_NONE; NULL: of none known.  Gaps are longer
 * by what they are on `device` than on the `recorded` one. */
struct gt_launch_gap *gt_launch_gaps_find(const struct gt_start_rules *rules, const struct gt_workload *workload,
                                          const gt_op_index *inferred_after, const struct gt_neighbours *neighbours,
                                          const struct gt_device *recorded, const struct gt_device *device);

/* The gap before the operation, which would be `plain_ps` behind what `behind` says. */
gt_time_ps gt_launch_gap_ps(const struct gt_launch_gap *starts, gt_op_index op, enum gt_own_gap behind,
                            gt_time_ps plain_ps);
/* Is the operation's own gap the one behind that? */
static inline bool gt_launch_gap_is(const struct gt_launch_gap *starts, gt_op_index op, enum gt_own_gap behind)
{
    return starts != NULL && starts[op].gap == behind;
}

/* Was all else over when the operation's call had it ready? */
static inline bool gt_started_by_call(const struct gt_launch_gap *starts, gt_op_index op)
{
    return starts != NULL && starts[op].by_call;
}

#endif
