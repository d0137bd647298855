/* steps.h - what happens, step by step, and what has to have happened before each: the order as a graph.
 *
 * First all steps are added, as the workload asks for them, each on a line (line.h) or on none, and what comes after what.
 * Then they are gone through in an order in which they can happen: that in which they were added, but for steps that have to
 * wait for later ones (a rank's part of a collective whose other ranks come later in the trace).  Steps that wait for each
 * other can never happen; they are gone through as they were added.
 */
#ifndef GRIDTIDE_SIM_CHECK_STEPS_H
#define GRIDTIDE_SIM_CHECK_STEPS_H

#include "sim/check/line.h"
#include "sim/workload/workload.h"

typedef uint32_t gt_step_index;

enum gt_step_kind {
    GT_STEP_PLAIN,
    GT_STEP_OP,        /* an operation */
    GT_STEP_PART,      /* one of which others learn that it has begun, not that it has ended */
    GT_STEP_GIVEN_BACK /* of a free: all that memory which it gave back waits for; on no line */
};

struct gt_step {
    uint32_t line; /* GT_NONE: on none; it only brings together what it comes after */
    uint32_t what; /* operation or call; GT_NONE for a plain step */
    uint8_t kind;
};

struct gt_step_edge {
    gt_step_index before, after;
};

struct gt_steps { /* zeroed: empty */
    struct gt_step *list;
    uint32_t count, room;
    struct gt_step_edge *edges;
    uint64_t edge_count, edge_room;
    bool backward;       /* something comes after what was added behind it */
    gt_step_index *last; /* by line, its last step; GT_NONE */
    uint32_t line_count, line_room;
};

/* `op`: `line` has come to the operation, whose stamp that is.  `given_back`: the line knows all that the memory that the
 * call freed waits for. */
struct gt_step_visitor {
    void (*op)(void *user, gt_op_index op, const struct gt_line *line, struct gt_stamp stamp);
    void (*given_back)(void *user, gt_call_index call, const struct gt_line *line);
};

/* A new line, without a step. */
uint32_t gt_steps_add_line(struct gt_steps *steps);
/* The line's next step, or with GT_NONE one on no line. */
gt_step_index gt_steps_add(struct gt_steps *steps, uint32_t line, enum gt_step_kind kind, uint32_t what);
/* `after` comes after `before`, whichever was added first; GT_NONE: nothing. */
void gt_steps_order(struct gt_steps *steps, gt_step_index before, gt_step_index after);

void gt_steps_walk(const struct gt_steps *steps, const struct gt_step_visitor *visitor, void *user);
void gt_steps_free(struct gt_steps *steps);

#endif
