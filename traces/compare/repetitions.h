/* repetitions.h - the measured runs of one trace beside each other: which one stands for them, how far they
 * differ among themselves, whether blocks lie where they lay and kernels start in turn as they did. */
#ifndef GRIDTIDE_TRACES_COMPARE_REPETITIONS_H
#define GRIDTIDE_TRACES_COMPARE_REPETITIONS_H

#include "traces/compare/kernel_order.h"

struct gt_repeats {
    uint32_t count;             /* measured runs of the trace */
    int64_t median_run;         /* the one whose makespan is the median (of an even number: the shorter of
                                 * the two in the middle); 0 where there is none */
    double makespan_us;         /* its makespan */
    double spread_pct;          /* (longest - shortest) / median; NAN of fewer than two */
    double placement_pct;       /* simulated against each measured run, the median; NAN: not recorded */
    double placement_floor_pct; /* measured against measured, the median of all pairs; NAN: not recorded */
    struct gt_order order;      /* of the kernels' first blocks, where it is the same in all measured runs */
};

/* The measured runs that `simulated_run` is held against. Absent values are NAN. */
int gt_repeats_of(struct gt_store *store, int64_t simulated_run, struct gt_repeats *repeats,
                  struct gt_error *error);

/* Whole simulated runs that have a measured run, or (with none of these) whole simulated runs, by number:
 * *count of them in *runs, freed by the caller (NULL where there is none). Returns 0 or -1. */
int gt_simulated_runs(struct gt_store *store, int64_t **runs, uint32_t *count, struct gt_error *error);

/* One simulated run judged: held against the median measured run, kept in the store (table comparison)
 * with everything that table metric names of single traces. */
struct gt_verdict {
    int64_t simulated_run;
    struct gt_comparison comparison;
    struct gt_repeats repeats;
    double start_allowed_share; /* of the median start error in 1 % of the makespan or 2 us; NAN: no pair */
    double placement_excess_pct;
    bool within;                /* every threshold of table metric holds */
};
/* `keep`: write it into the store, which must be open for writing. */
int gt_verdict_of(struct gt_store *store, int64_t simulated_run, bool keep, struct gt_verdict *judgement,
             struct gt_error *error);

/* Judgements of several traces together. */
struct gt_suite {
    uint32_t traces;            /* those with a makespan error */
    double error_median_pct, error_p95_pct, error_max_pct; /* of |makespan error| */
    double start_off_pct;       /* share of them whose start error is more than allowed */
    double placement_off_pct;   /* share of those with placements that exceed the threshold */
    double placement_within_pct;/* the rest */
    double order_pairs, order_wrong; /* over all traces */
    double order_off_pct;       /* share of those with certain orders that have a wrong one */
    double mape_pct;            /* mean |makespan error| */
    double pearson;             /* correlation of measured and simulated makespans; NAN of fewer than two */
    bool within;                /* every suite threshold holds (of one trace: its own) */
};
int gt_verdict_suite(struct gt_store *store, const struct gt_verdict *judgements, uint32_t count,
                   struct gt_suite *suite, struct gt_error *error);

#endif
