/* independence.h - which work of a stream may leave its order, and what it must keep.
 *
 * By itself all work of a stream depends on all before.  Two things tell otherwise: what operations read and write
 * (data_flow.h), and the user, by patterns (shell globs) of names of kernels, or of ranges where no kernel's name matches:
 * launches of such kernels are independent of each other, and so are the instances of such a range.  Copies in and memsets directly before such a
 * launch and copies out directly after it go with it.  Repetition of calls tells nothing.
 */
#ifndef GRIDTIDE_SIM_REWRITE_INDEPENDENCE_H
#define GRIDTIDE_SIM_REWRITE_INDEPENDENCE_H

#include "sim/workload/workload.h"

struct gt_independence {
    uint32_t
        *unit; /* by call: calls that the user says are independent of those of other units; GT_NONE: nothing said */
    uint32_t units; /* how many there are */
    bool *kernels;  /* by name: is it of kernels that the user means? */
};

/* `patterns` is NULL-ended; NULL: there are none. */
void gt_independence_find(struct gt_independence *independence, const struct gt_workload *workload,
                          const char *const *patterns);
/* The same for the nodes of one graph, unit[i] that of its i-th; returns how many units there are. */
uint32_t gt_independence_nodes(const struct gt_independence *independence, const struct gt_workload *workload,
                               gt_call_index call, uint32_t *unit);
void gt_independence_free(struct gt_independence *independence);

#endif
