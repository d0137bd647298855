/* diff.h - two runs side by side: what B adds to A, or saves.  Times are picoseconds. */
#ifndef GRIDTIDE_TRACES_DIFF_DIFF_H
#define GRIDTIDE_TRACES_DIFF_DIFF_H

#include "traces/diff/list.h"
#include "traces/diff/side.h"

/* An operation of A, of B, or of both: matched by name and order (matching.h). */
struct gt_diff_op {
    gt_op_index op[2]; /* GT_NONE: only the other run has it */
    uint64_t weight_ps;
};

struct gt_diff {
    const struct gt_diff_side *side[2]; /* A, B */
    bool causes;                        /* both are simulated: measured runs have none */

    /* Of the time from the first call to the last end: by kind, by kind and name, by operator ("-": for none).
     * Each list's rows add up to it.  Simulated runs only. */
    struct gt_diff_list path, path_names, path_operators;
    struct gt_diff_list gaps;  /* idle between operations, by what held the next one; adds up to the idle time of each
                               * GPU.  Of measured runs one row, "not recorded" */
    struct gt_diff_list ops;   /* by kind and name: sum of operations' times.  part_ps of copies: without a kernel */
    struct gt_diff_list calls; /* by name; part_ps: blocked */
    struct gt_diff_list steps; /* in the order in which they are made; part_ps: the GPU busy with its operations */
    struct gt_diff_list operators; /* by kind and name: the host's own time in it; part_ps: its operations' own */

    struct gt_diff_op *changed; /* operations that take longer or shorter, or that one run has not; most first */
    uint32_t changed_count;
    uint32_t matched, added, removed; /* operations in both, in B alone, in A alone */
};

/* Of two sides, lent, which must outlive it.  gt_diff_free() ends it. */
void gt_diff_make(const struct gt_diff_side *a, const struct gt_diff_side *b, struct gt_diff *diff);
void gt_diff_free(struct gt_diff *diff);

#endif
