/* child_state.h - what is known of launches by blocks while they run.
 *
 * Children are rows of the workload's child_launches, those of one grid together.  A device stream is a lane: the NULL
 * stream of each block that launches into it, each stream of a grid's own, and each grid's tail launches.  A lane has one
 * child under way; the next one follows when that is complete.  A fire-and-forget launch has no lane.
 */
#ifndef GRIDTIDE_SIM_STREAM_CHILD_STATE_H
#define GRIDTIDE_SIM_STREAM_CHILD_STATE_H

#include "sim/machine/machine.h"
#include "sim/workload/child_launches.h"

struct gt_child {
    gt_time_ps launched_ps;   /* due: its call returns on the device */
    gt_command_index command; /* GT_NONE: not launched yet, or complete */
    uint32_t lane, next;      /* row: behind it in its lane; GT_NONE */
};

struct gt_child_lane {
    uint32_t running, head, tail; /* rows; GT_NONE: none */
    gt_time_ps made_ps; /* a stream of the grid is there from then on; GT_TIME_NONE: nobody makes it so far */
};

struct gt_child_parent {
    gt_op_index op;
    uint32_t first, count;    /* of its rows */
    uint32_t to_launch;       /* of those, launches still to be made: some are at the very end of their grid */
    uint32_t open;            /* of those, no tail launches and not complete: to be launched, or under way */
    uint32_t tails;           /* its lane of tail launches; GT_NONE: it has none */
    bool launched;            /* the first launch of its grid has been made */
    gt_command_index command; /* its own once its grid has ended; until then GT_NONE */
};

/* Calls by blocks of one GPU, the latest few: who is inside one at some time. */
enum { GT_CHILD_CALLS = 128 };
struct gt_child_calls {
    gt_time_ps begin_ps[GT_CHILD_CALLS];
    uint32_t count;
};

/* The GPU's own handling of ends, one pass after the other: of children of one parent that ended until it began, or
 * of one behind which others wait in its stream. */
struct gt_child_pass {
    struct gt_child_parent *parent;
    uint32_t children, row; /* row: the last of them */
    bool alone;
};
struct gt_child_passes {
    struct gt_child_pass *list; /* those under way and to come are [first, first + count) */
    uint32_t first, count, room;
};

struct gt_child_state {
    struct gt_child *children; /* by row */
    struct gt_child_lane *lanes;
    struct gt_child_parent *parents; /* by op, rising */
    uint32_t lane_count, parent_count;
    uint32_t pending;               /* launched and not complete */
    gt_time_ps *next_go_ps;         /* by GPU: the next child may go from then on */
    struct gt_child_calls *calls;   /* by GPU */
    struct gt_child_passes *passes; /* by GPU */
    uint32_t gpu_count;
};

/* For a machine whose workload has such launches; nothing to do for any other. */
void gt_child_launches_build(struct gt_machine *m);
void gt_child_launches_free(struct gt_machine *m);

/* The launch of a row, and the rule that it follows. */
const struct gt_child_launch *gt_child_row(const struct gt_machine *m, uint32_t row);
const struct gt_launch_rule *gt_child_rule(const struct gt_machine *m, uint32_t row);

/* The operation as one whose blocks launch; NULL: they launch nothing. */
struct gt_child_parent *gt_child_parent_of(const struct gt_machine *m, gt_op_index op);

#endif
