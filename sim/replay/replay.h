/* replay.h - what a recorded trace tells about the machine it ran on, so that it can be replayed.
 *
 * A replay keeps what the host did by itself and decides anew whatever waited for the GPU.  For
 * that it needs, from the measured times, (a) constants of that machine and profiler (launch
 * latency, gaps), which take the place of the device file's; (b) which calls were blocked, by
 * what, and how long they took after it; (c) waits whose target the trace does not name.
 * Of a trace without measured times nothing is learned and the device file holds.
 */
#ifndef GRIDTIDE_SIM_REPLAY_REPLAY_H
#define GRIDTIDE_SIM_REPLAY_REPLAY_H

#include "sim/devices/device.h"
#include "sim/replay/graph_launch.h"
#include "sim/replay/launch_gaps.h"
#include "sim/replay/learned.h"
#include "sim/replay/recorded_graphs.h"
#include "sim/workload/workload.h"

struct gt_replay {
    struct gt_learned learned; /* what the constants below are made of */
    /* From a call's end to its operation's start on an idle stream, by kind of operation; may be
     * negative under a profiler, whose work after the launch counts as the call's. */
    int64_t latency_ps[GT_OP_KINDS];
    int64_t graph_latency_ps;
    /* [before][after] in one stream; GT_TIME_NONE where the trace shows none: the device's then hold. */
    gt_time_ps gap_ps[GT_OP_KINDS][GT_OP_KINDS];
    gt_time_ps stream_gap_ps, engine_gap_ps;           /* the device's: on one engine, from one to another */
    gt_time_ps graph_gap_ps[GT_OP_KINDS][GT_OP_KINDS]; /* between nodes of a graph */
    gt_time_ps plain_graph_gap_ps;
    gt_time_ps event_gap_ps[GT_OP_KINDS][GT_OP_KINDS]; /* across streams, by an event */
    gt_time_ps plain_event_gap_ps, engine_event_gap_ps;
    gt_time_ps busy_queue_gap_ps, busy_connection_ps; /* 0 where gaps were measured: they hold them already */
    gt_time_ps sync_return_ps;
    gt_time_ps copy_gap_ps;                       /* between copies of one direction on a busy engine */
    uint64_t inline_bytes, inline_pageable_bytes; /* copies in up to this are the commands' own, by memory */
    bool within_alone; /* copies within the device keep apart from kernels, and none was recorded beside one */
    gt_time_ps engine_switch_gap_ps; /* before a copy that follows another engine's work */

    uint32_t *blocking_op;         /* per call: the operation whose end let a blocked call return; GT_NONE */
    gt_time_ps *held_ps;           /* per call, as gt_held_calls() has it; NULL: none was held up */
    uint32_t *copy_start_delay_ns; /* per call that waits for its own copy: from call to copy start */

    /* Edges: successors of operation i are edge_to[edge_from[i] .. edge_from[i + 1] - 1],
     * the last created first.
     * edge_count 0: no operation has any, and the arrays are NULL. */
    uint32_t *edge_from, *edge_to, *edges_in;
    uint64_t edge_count;
    struct gt_graph_launches graphs;
    struct gt_recorded_graphs recorded_graphs;
    struct gt_launch_gap *launch_gaps; /* by operation; NULL: of none anything is known */
    uint64_t inferred_waits;           /* edges concluded from measured times */
    /* By operation: of another stream, that it must have waited for by its measured times; GT_NONE. NULL: of none. */
    gt_op_index *inferred_after;
    /* By operation: its inferred edges, these and the workload's inferred_afters, contradict what is stated, so that
     * they were given up.  Noted while the workload is played (sim/stream/stalled.h), so that it holds from then on. */
    bool *given_up;
    uint64_t
        contradicting; /* inferred edges that were never taken, because stated ones of their graph say the opposite */
};

/* Learn from the measured times of `workload`; constants it does not show come from `recorded`, the
 * device it was measured on.  Where `device` differs from that one, so do the constants.  `learned`: what was learned
 * from other measured times holds instead; NULL: from these.  `infer`: dependencies that only measured times show hold too. */
void gt_replay_make(struct gt_replay *replay, const struct gt_workload *workload, const struct gt_device *recorded,
                    const struct gt_device *device, const struct gt_learned *learned, bool infer);
/* The gaps and latencies of a replay that gt_replay_make() made are the device file's; what waits for what stays learned. */
void gt_replay_forget_gaps(struct gt_replay *replay, const struct gt_device *recorded,
                           const struct gt_device *device);
/* Which calls were blocked, and by what, is as in `host` instead: the same calls and operations, measured in another run. */
void gt_replay_take_host(struct gt_replay *replay, const struct gt_workload *host);
void gt_replay_free(struct gt_replay *replay);

/* For how long the call was held up before it asked for anything. */
static inline gt_time_ps gt_replay_held_ps(const struct gt_replay *replay, gt_call_index call)
{
    return replay->held_ps == NULL ? 0 : replay->held_ps[call];
}

/* Is it a copy in so small that it goes with the commands, by the engine that runs kernels? */
bool gt_replay_with_commands(const struct gt_replay *replay, const struct gt_op *op);

/* The gap between an operation and the next one of its stream. */
gt_time_ps gt_replay_gap_ps(const struct gt_replay *replay, const struct gt_op *before, const struct gt_op *after);
gt_time_ps gt_replay_graph_gap_ps(const struct gt_replay *replay, const struct gt_op *before,
                                  const struct gt_op *after);
/* Does the stream go from one engine to another between the two? */
bool gt_replay_switches_engine(const struct gt_replay *replay, const struct gt_op *before, const struct gt_op *after);
/* The gap between `before` (NULL: nothing known) and `after`, of another stream, which waits for it by an event. */
gt_time_ps gt_replay_event_gap_ps(const struct gt_replay *replay, const struct gt_op *before,
                                  const struct gt_op *after);

/* Does the trace show how long such a gap of a graph is? Then all that may add to it is in it. */
bool gt_replay_learned_graph_gap(const struct gt_replay *replay, const struct gt_op *before,
                                 const struct gt_op *after);

/* The gap from the end of `before` to the start of `after`, which an edge joins: within a graph, or across
 * streams as by an event. */
gt_time_ps gt_replay_edge_gap_ps(const struct gt_replay *replay, const struct gt_op *before,
                                 const struct gt_op *after);

/* blocked_calls.c: operations with measured times, by end (malloced, `count` of them); the first position
 * in it that ended after `time_ps`; and which calls were blocked, by what: blocking_op and copy_start_delay_ns. */
uint32_t *gt_replay_sort_by_end(const struct gt_workload *workload, uint32_t *count);
uint32_t gt_replay_ended_by(const struct gt_workload *workload, const uint32_t *by_end, uint32_t count,
                            gt_time_ps time_ps);
void gt_replay_find_blocking_syncs(struct gt_replay *replay, const struct gt_workload *workload,
                                   const uint32_t *by_end, uint32_t count);

/* edges.c: the edges of `replay`, whose inferred_after is there. */
void gt_replay_edges(struct gt_replay *replay, const struct gt_workload *workload);
/* Does `after` wait for `before` only because measured times say so? */
bool gt_replay_is_inferred(const struct gt_replay *replay, const struct gt_workload *workload, gt_op_index before,
                           gt_op_index after);
/* How many inferred edges lead into the operation, given up or not. */
uint32_t gt_replay_inferred_count(const struct gt_replay *replay, const struct gt_workload *workload, gt_op_index op);
/* Edges that were given up, and that were never taken. */
uint64_t gt_replay_dropped(const struct gt_replay *replay, const struct gt_workload *workload);
/* What was given up in `from`, a replay of the same workload, is given up where the same was concluded. */
void gt_replay_give_up_as(struct gt_replay *replay, const struct gt_replay *from, const struct gt_workload *workload);
/* inferred_waits.c: per operation the one it must have waited for, found from measured times, or GT_NONE;
 * NULL where there is none at all. The caller frees it.  `by_end` are the measured operations by end.
 * The gaps that waits, known or found, left between operations go to `sample`. */
struct gt_gap_sampler {
    void (*sample)(void *user, uint32_t before_kind, uint32_t after_kind, int64_t gap_ps);
    void *user;
    bool known_only; /* nothing is inferred: waits that the trace names are sampled, and no others found */
};
uint32_t *gt_replay_infer_waits(struct gt_replay *replay, const struct gt_workload *workload, const uint32_t *by_end,
                                uint32_t measured, const struct gt_gap_sampler *sampler);

#endif
