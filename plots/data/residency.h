/* residency.h - how full each SM was over time, out of run_bin. */
#ifndef GRIDTIDE_PLOTS_DATA_RESIDENCY_H
#define GRIDTIDE_PLOTS_DATA_RESIDENCY_H

#include "plots/data/view.h"

enum { GT_RESIDENCY_COLUMNS_MAX = 1024 };

struct gt_residency {
    size_t gpus, sms;  /* rows: gpus * sms, a GPU's SMs together */
    uint32_t *gpu_ids; /* as the trace numbers them */
    size_t columns;
    int64_t from_ps; /* of the first column, since the side's origin */
    uint64_t column_ps;
    float *share; /* [row * columns + column]: resident warps as a share of what an SM holds */
};

/* Returns 1, 0 where the run that the page is about has no residency, -1 on error. */
int gt_residency_load(struct gt_residency *residency, const struct gt_view *view, struct gt_error *error);
void gt_residency_free(struct gt_residency *residency);

#endif
