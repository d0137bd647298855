/* misuse.h - memory that is used when it has been given back, given back twice, or given back in use.
 *
 * By the order of calls: who asks for an operation after the memory was freed, and not given out again, uses it after that,
 * whatever stream either is in.  A free in a stream's order (cudaFreeAsync) is too early for an operation asked for before
 * that has no order to it; unless its stream was named by GT_CALL_RECORD_STREAM.  What PyTorch's allocator gets back
 * ("[memory]") stays memory, and comes after its own stream alone: only who gets it next can race, which check.h tells.
 */
#ifndef GRIDTIDE_SIM_CHECK_MISUSE_H
#define GRIDTIDE_SIM_CHECK_MISUSE_H

#include "sim/check/line.h"
#include "sim/workload/workload.h"

enum gt_misuse_kind { GT_MISUSE_USE_AFTER_FREE, GT_MISUSE_DOUBLE_FREE, GT_MISUSE_FREE_IN_USE, GT_MISUSE_KINDS };
extern const char *const gt_misuse_kind_names[GT_MISUSE_KINDS];

struct gt_misuse {
    gt_buffer_index buffer;
    gt_call_index freed; /* the free; of a buffer freed twice the first one */
    gt_call_index again; /* GT_MISUSE_DOUBLE_FREE: the second one; else GT_NONE */
    gt_op_index op;      /* that uses it; GT_NONE: none does. In use: the last one of those without an order */
    uint8_t kind;
    bool
        certain; /* a free in use whose call is not known to be cudaFreeAsync may be of an allocator that keeps the memory */
};

struct gt_misuses { /* zeroed: empty; by the call that is wrong, in the order in which calls come */
    struct gt_misuse *list;
    uint32_t count, room;
};

struct gt_misuse_watch; /* how far the walk has come */

/* Finds at once what the order of calls tells.  `stamps`: by operation, filled by the walk.  Both and the workload must
 * stay. */
struct gt_misuse_watch *gt_misuse_new(const struct gt_workload *workload, const struct gt_stamp *stamps,
                                      struct gt_misuses *found);
/* The walk is over: all that was found stands in its order. */
void gt_misuse_end(struct gt_misuse_watch *watch);

/* The operation, which `line` has come to, uses the buffer. */
void gt_misuse_use(struct gt_misuse_watch *watch, gt_op_index op, gt_buffer_index buffer, const struct gt_line *line);
/* The line knows all that the memory waits for which the call gave back. */
void gt_misuse_given_back(struct gt_misuse_watch *watch, gt_call_index call, const struct gt_line *line);

#endif
