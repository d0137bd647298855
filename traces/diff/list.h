/* list.h - sums of two runs side by side, a name a row. */
#ifndef GRIDTIDE_TRACES_DIFF_LIST_H
#define GRIDTIDE_TRACES_DIFF_LIST_H

#include <stdint.h>

#include "sim/workload/workload.h"

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

struct gt_diff_name;
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

#endif
