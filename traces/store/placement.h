/* placement.h - how many blocks of each kernel each SM got, counted while a run's records come. */
#ifndef GRIDTIDE_TRACES_STORE_PLACEMENT_H
#define GRIDTIDE_TRACES_STORE_PLACEMENT_H

#include "sim/workload/probe.h"

struct gt_placement;

/* Counts for the operations 0 .. ops - 1, all empty. */
struct gt_placement *gt_placement_new(uint32_t ops);
void gt_placement_free(struct gt_placement *placement);   /* NULL allowed */
/* A record, `times` times. */
void gt_placement_add(struct gt_placement *placement, const struct gt_block_record *record, uint64_t times);
/* The counts of one operation as a JSON list, by SM number, without zeros at its end: "[8,8,0,8]". NULL
 * where it had no blocks. Freed by the caller; *gpu is the GPU they were on. */
char *gt_placement_text(const struct gt_placement *placement, uint32_t op, uint32_t *gpu);

/* How many blocks of two such lists lie on other SMs: half the sum of the differences by SM, where both
 * lists are of the same number of blocks. *blocks is that of the first list. Returns -1 for what is no
 * such list. */
int gt_placement_moved(const char *left, const char *right, double *moved, double *blocks);

#endif
