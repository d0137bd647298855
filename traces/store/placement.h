/* placement.h - how many blocks of each kernel each SM got: counted while a run's records come, and read again. */
#ifndef GRIDTIDE_TRACES_STORE_PLACEMENT_H
#define GRIDTIDE_TRACES_STORE_PLACEMENT_H

#include "sim/workload/probe.h"
#include "traces/store/database.h"

struct gt_placement;

/* Counts for the operations 0 .. ops - 1, all empty. */
struct gt_placement *gt_placement_new(uint32_t ops);
void gt_placement_free(struct gt_placement *placement); /* NULL allowed */
/* A record, `times` times. */
void gt_placement_add(struct gt_placement *placement, const struct gt_block_record *record, uint64_t times);
/* The counts of one operation as a JSON list, by SM number, without zeros at its end: "[8,8,0,8]". NULL
 * where it had no blocks. Freed by the caller; *gpu is the GPU they were on. */
char *gt_placement_text(const struct gt_placement *placement, uint32_t op, uint32_t *gpu);

/* One kernel's blocks in a run (table run_placement): blocks[0 .. sms - 1] by SM. */
struct gt_placement_row {
    uint32_t op, gpu;            /* op_no, gpu_no */
    gt_time_ps start_ps, end_ps; /* of the operation */
    const uint32_t *blocks;
    uint32_t sms;
};
typedef int gt_placement_fn(void *user, const struct gt_placement_row *row, struct gt_error *error);
/* Every row of a run, by operation and GPU. `each` returns 0, or -1 to stop. Returns 0 or -1. */
int gt_placement_each(struct gt_database *database, int64_t run_id, gt_placement_fn *each, void *user,
                      struct gt_error *error);

/* Share of the blocks that lie on other SMs in two runs, in percent: half the sum of the differences by SM, over
 * the kernels that both have. NAN where one has no placements. Returns 0 or -1. */
int gt_placement_distance(struct gt_database *database, int64_t left_run, int64_t right_run, double *pct,
                          struct gt_error *error);

#endif
