/* diff.h - two runs side by side: what B adds to A, or saves.  Times are picoseconds. */
#ifndef GRIDTIDE_TRACES_DIFF_DIFF_H
#define GRIDTIDE_TRACES_DIFF_DIFF_H

#include <stdint.h>

#include "sim/workload/workload.h"
#include "traces/explain/limits.h"

struct gt_diff_name;

struct gt_diff_side {
    struct gt_loaded_run *run;
    struct gt_stats *stats;
    struct gt_limits limits; /* of simulated runs; nothing of measured ones */
};

/* The newest whole run of that kind ("simulated", "measured").  Returns 0; -1 with the reason, which names the store.
 * Either way gt_diff_side_free() ends what it filled. */
int gt_diff_side_load(struct gt_database *database, const char *kind, struct gt_diff_side *side,
                      struct gt_error *error);
void gt_diff_side_free(struct gt_diff_side *side);

/* One side's sums of a name. */
struct gt_diff_sum {
    uint64_t times;
    gt_time_ps ps;
    gt_time_ps part_ps; /* what the list says that it is; 0 where it says nothing */
    uint64_t bytes;     /* of copies */
    uint32_t memories;  /* of copies: bit i is gt_memory i; GT_MEMORIES: unknown */
};

struct gt_diff_row {
    const char *kind; /* a constant, or what a run holds; NULL where the list has none */
    char *name;
    struct gt_diff_sum side[2];      /* A, B */
    uint64_t added, removed;         /* operations that only B has, only A */
    gt_time_ps added_ps, removed_ps; /* their times */
    uint64_t weight_ps;              /* how much it adds to the difference, up or down */
};

struct gt_diff_list {
    struct gt_diff_row *rows;
    uint32_t count, room;
    double changed_ps;          /* all weights */
    struct gt_diff_name *names; /* while it is being filled */
};

/* The row of that kind (NULL: lists without) and name: found, or made with nothing in it.  Returns its number. */
uint32_t gt_diff_list_row(struct gt_diff_list *list, const char *kind, const char *name);
/* Weigh and sort the rows, those that add most first; numbers of rows are not valid any more.  `parts_too`: part_ps
 * is a time beside ps, not within, and weighs as much. */
void gt_diff_list_finish(struct gt_diff_list *list, bool parts_too);
void gt_diff_list_free(struct gt_diff_list *list);

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
