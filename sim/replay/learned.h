/* learned.h - the constants of a machine and its profiler that a recorded trace shows: medians of what was measured.
 *
 * They take the place of the device file's (sim/replay/replay.h), also where the same work is simulated without its
 * measured times (struct gt_options).
 */
#ifndef GRIDTIDE_SIM_REPLAY_LEARNED_H
#define GRIDTIDE_SIM_REPLAY_LEARNED_H

#include "sim/workload/workload.h"

/* The trace does not show it: too few samples. */
#define GT_NOT_LEARNED INT64_MAX

struct gt_learned {
    /* From a call's end to its operation's start on an idle stream; of a graph's first node. */
    int64_t latency_ps[GT_OP_KINDS], graph_latency_ps;
    /* [before][after]: between operations of a stream, nodes of a graph, operations that an event orders. */
    int64_t gap_ps[GT_OP_KINDS][GT_OP_KINDS], graph_gap_ps[GT_OP_KINDS][GT_OP_KINDS],
        event_gap_ps[GT_OP_KINDS][GT_OP_KINDS];
    int64_t copy_gap_ps;        /* between copies on a busy engine */
    int64_t sync_return_ps;     /* from the end of what a synchronisation waited for to its return */
    bool copies_beside_kernels; /* a copy within a device and a kernel ran at the same time */
};

struct gt_survey; /* samples under way */

/* Everything but event_gap_ps, from the measured times of `workload`: its `count` measured operations by end, and the
 * operation that each call was blocked by (GT_NONE: none). */
struct gt_survey *gt_survey_begin(const struct gt_workload *workload, const uint32_t *by_end, uint32_t count,
                                  const uint32_t *blocking_op, struct gt_learned *learned);
/* A gap that a wait left; `survey` is a struct gt_survey. */
void gt_survey_wait(void *survey, uint32_t before_kind, uint32_t after_kind, int64_t gap_ps);
/* event_gap_ps; ends the survey. */
void gt_survey_end(struct gt_survey *survey, struct gt_learned *learned);

#endif
