/* kernel_numbers.h - one launch of a kernel in numbers, and what would help it. */
#ifndef GRIDTIDE_TRACES_COMPARE_KERNEL_NUMBERS_H
#define GRIDTIDE_TRACES_COMPARE_KERNEL_NUMBERS_H

#include "traces/compare/kernel_cycles.h"

/* A launch with what follows from its rows.  Shares are 0..1, NAN where they are not known. */
struct gt_explained {
    const struct gt_kernel_row *row;
    const struct gt_kernel_stalls *inside;
    const struct gt_kernel_numbers *numbers;          /* simulated, or measured where nothing was simulated */
    double simulated[GT_STALLS], measured[GT_STALLS]; /* by reason: of warp cycles, of samples */
    double issued;                                    /* simulated warp instructions, all pipes */
    double executed;                                  /* profiled ones, all instructions */
    double pipe_busy[GT_PIPES];                       /* simulated, of a sub-partition's cycles */
    double dram_peak, l2_peak;                        /* bytes a cycle */
    double dram_share, l2_share;
    double sectors, sectors_ideal, wavefronts, wavefronts_ideal; /* of the whole profiled launch */
    double threads;                                              /* mean, of a warp instruction */
    double waves;                                                /* NAN: does not fit the device */
    double warps_most;                                           /* that occupancy allows on an SM */
};
void gt_explain(const struct gt_kernel_row *row, const struct gt_kernel_stalls *inside,
                struct gt_explained *explained);

/* kernel_advice.c: what would help, most first: a sentence, with the share that it rests on. */
enum { GT_ADVICE_MOST = 16, GT_ADVICE_BYTES = 400 };
struct gt_advice {
    const char *topic;
    double pct;
    char text[GT_ADVICE_BYTES];
};
/* Into `advice`, which has room for GT_ADVICE_MOST; returns how many. */
size_t gt_kernel_advise(const struct gt_explained *explained, struct gt_advice *advice);

#endif
