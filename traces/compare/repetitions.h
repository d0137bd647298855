/* repetitions.h - the measured runs of one trace beside each other: which one stands for them, how far they
 * differ among themselves, whether blocks lie where they lay and kernels start in turn as they did. */
#ifndef GRIDTIDE_TRACES_COMPARE_REPETITIONS_H
#define GRIDTIDE_TRACES_COMPARE_REPETITIONS_H

#include "traces/compare/kernel_order.h"

struct gt_repeats {
    uint32_t count;             /* measured runs of the trace */
    int64_t median_run;         /* the one whose makespan is the median (of an even number: the shorter of
                                 * the two in the middle); 0 where there is none */
    double spread_pct;          /* (longest - shortest) / median; NAN of fewer than two */
    double placement_pct;       /* simulated against each measured run, the median; NAN: not recorded */
    double placement_floor_pct; /* measured against measured, the median of all pairs; NAN: not recorded */
    struct gt_order order;      /* of the kernels' first blocks, where it is the same in all measured runs */
};

/* Its count and median_run alone, which is less work. */
int gt_repeats_median(struct gt_store *store, int64_t simulated_run, struct gt_repeats *repeats,
                      struct gt_error *error);
/* The measured runs that `simulated_run` is held against. Absent values are NAN. */
int gt_repeats_of(struct gt_store *store, int64_t simulated_run, struct gt_repeats *repeats, struct gt_error *error);

/* Whole simulated runs that have a measured run, or (with none of these) whole simulated runs, by number:
 * *count of them in *runs, freed by the caller (NULL where there is none). Returns 0 or -1. */
int gt_simulated_runs(struct gt_store *store, int64_t **runs, uint32_t *count, struct gt_error *error);

#endif
