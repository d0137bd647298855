/* why.h - why an operation did not start sooner: which part of its wait lies where, and who held it. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_WHY_H
#define GRIDTIDE_TRACES_EXPLAIN_WHY_H

#include "traces/explain/loaded_run.h"

/* What held an operation up, finer than gt_wait. */
enum gt_why {
    GT_WHY_HOST_WORK,      /* the thread computed */
    GT_WHY_DATA_LOADING,   /* the thread got its next batch */
    GT_WHY_HOST_CALL,      /* the thread was inside another call */
    GT_WHY_HOST_BLOCKED,   /* the thread waited for the GPU */
    GT_WHY_LAUNCH,         /* the call itself, and its way to the GPU */
    GT_WHY_STREAM,         /* order of its own stream */
    GT_WHY_DEFAULT_STREAM, /* the legacy default stream's rules */
    GT_WHY_CODE_LOAD,      /* a kernel's code that is loaded by its first launch */
    GT_WHY_EVENT,          /* an event, in stream order */
    GT_WHY_GRAPH,          /* an edge of its graph */
    GT_WHY_CONNECTION,     /* a connection to the GPU that streams share, or the limit of grids */
    GT_WHY_COPY_ENGINE,
    GT_WHY_SM_ROOM, /* its blocks found no room */
    GT_WHYS
};
extern const char *const gt_why_names[GT_WHYS];   /* "host-work", ... */
extern const char *const gt_why_helps[GT_WHYS];   /* what may be done about it: for people; "" nothing */
extern const char *const gt_why_changes[GT_WHYS]; /* what `gridtide whatif --change` can be asked; NULL: nothing */

enum { GT_HOLDER_BYTES = 240 };

/* A stretch of time with one reason. */
struct gt_hold {
    enum gt_why why;
    gt_time_ps from_ps, to_ps;
    uint32_t op;                  /* the operation that held it; GT_NONE: none, or not told by the run */
    char holder[GT_HOLDER_BYTES]; /* who, for people */
};

/* The main reason between `from_ps` and `to_ps`, within the wait of an operation: what holds for most of it.
 * `hold->from_ps` and `to_ps` are the whole stretch of that reason within these. */
void gt_why(const struct gt_loaded_run *run, gt_op_index op, gt_time_ps from_ps, gt_time_ps to_ps,
            struct gt_hold *hold);

/* From when on the operation waited for that one reason: its last but for the launch, however short. */
enum gt_wait gt_last_wait(const struct gt_loaded_op *op);

/* Which resource of an SM full of `holder`'s blocks has no room for one more of `waiter`'s; NULL: all have. */
const char *gt_lacking(const struct gt_loaded_run *run, gt_kernel_index holder, gt_kernel_index waiter);

/* SMs that a kernel alone leaves without a block of its own; 0 where it fills the device or does not fit. */
uint32_t gt_free_sms(const struct gt_loaded_run *run, gt_kernel_index kernel);

#endif
