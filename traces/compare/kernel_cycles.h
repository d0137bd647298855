/* kernel_cycles.h - kernels' cycles out of a store: simulated from machine code, measured by a profiler. */
#ifndef GRIDTIDE_TRACES_COMPARE_KERNEL_CYCLES_H
#define GRIDTIDE_TRACES_COMPARE_KERNEL_CYCLES_H

#include "sim/devices/occupancy.h"
#include "sim/workload/program.h"
#include "traces/store/query.h"
#include "traces/store/store.h"

/* Step through `query` (NULL: failed to compile), which ends here. Returns 0 or -1. */
int gt_kernels_each(struct gt_query *query, void (*each)(struct gt_query *query, void *user), void *user,
                    struct gt_error *error);

/* What one run says of a launch (table run_kernel); NAN where it does not. */
struct gt_kernel_numbers {
    uint32_t like_op; /* its instructions' rows are those of this operation */
    double cycles, bound_cycles, launch_cycles, run_cycles, drain_cycles;
    double warp_instructions; /* simulated ones */
    double covered;           /* of the whole launch */
    double l2_bytes_per_cycle, dram_bytes_per_cycle;
    double issue_share, lsu_share, warps_mean;
};

struct gt_kernel_row {
    uint32_t op, kernel; /* op_no, kernel_no */
    uint32_t launch;     /* the trace's kernel operations from 0 on */
    char *name;
    char *failure;            /* why the warp tier has no cycles; NULL */
    bool simulated, measured; /* the run has a row of it */
    struct gt_kernel_numbers in_simulated, in_measured;
    double measured_us; /* NAN: not known */
    double error_pct;   /* of cycles; NAN: not both known */
};

/* How far simulated cycles are from measured ones.  NAN where there is nothing to tell it from. */
struct gt_kernel_error {
    uint32_t launches, compared;            /* with cycles in either run; in both */
    double mape_pct, median_pct, worst_pct; /* of |error| */
    double pearson;
    uint32_t short_launches; /* of the compared ones: measured below GT_SHORT_KERNEL_US */
    double short_mape_pct, long_mape_pct;
    double warp_instructions; /* that the model executed, equal launches once */
    double covered;           /* that they stand for, every launch */
    double model_us;          /* wall-clock time of the model */
};
enum { GT_SHORT_KERNEL_US = 5 };

struct gt_kernels {
    struct gt_kernel_row *rows;
    uint32_t count;
    struct gt_kernel_error error;
};

/* The kernels with cycles in one of two runs of a trace (0: there is no such run), as launched.  A store of
 * version 2 has none.  Returns 0 or -1; free in either case. */
int gt_kernels_load(struct gt_store *store, int64_t simulated_run, int64_t measured_run, struct gt_kernels *kernels,
                    struct gt_error *error);
void gt_kernels_free(struct gt_kernels *kernels);

/* kernel_error.c: fill error_pct of rows, and error but for model_us. */
void gt_kernels_verdict(struct gt_kernels *kernels);

/* An instruction of a kernel (table instruction). */
struct gt_code_row {
    uint32_t offset_bytes;
    char *text;
    enum gt_pipe pipe;
    double executions, threads;
    double sectors, sectors_ideal, wavefronts, wavefronts_ideal; /* of an execution; NAN: none */
};

/* One launch from inside. */
struct gt_kernel_stalls {
    struct gt_code_row *code;
    uint32_t instructions;
    double issued[GT_PIPES];      /* simulated warp instructions */
    double *simulated, *measured; /* [instruction * GT_STALLS + reason]: warp cycles; samples */
    double simulated_sum, measured_sum;
    struct gt_kernel shape;  /* launch shape and resources only */
    struct gt_device device; /* as the run used it */
    bool fits;               /* a block does an SM; then: */
    struct gt_occupancy occupancy;
};
/* What the runs hold of `row` (one of the runs may be 0). Returns 0 or -1; free in either case. */
int gt_kernel_load_stalls(struct gt_store *store, int64_t simulated_run, int64_t measured_run,
                          const struct gt_kernel_row *row, struct gt_kernel_stalls *stalls, struct gt_error *error);
/* Where the warps of one launch are in one run, by reason, summed over its instructions. Returns 0 or -1. */
int gt_kernel_reasons(struct gt_store *store, int64_t run, uint32_t like_op, double reasons[GT_STALLS],
                      struct gt_error *error);
void gt_kernel_stalls_free(struct gt_kernel_stalls *stalls);

#endif
