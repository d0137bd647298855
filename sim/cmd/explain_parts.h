/* explain_parts.h - what the files of `gridtide explain` share. */
#ifndef GRIDTIDE_SIM_CMD_EXPLAIN_PARTS_H
#define GRIDTIDE_SIM_CMD_EXPLAIN_PARTS_H

#include "sim/cmd/table.h"
#include "traces/compare/kernel_cycles.h"
#include "traces/store/selection.h"
#include "traces/store/store.h"

/* What was asked for. */
struct gt_explain_request {
    const char *store, *kernel; /* kernel NULL: the timeline */
    unsigned top;               /* rows of a list; 0: as is usual */
    gt_time_ps least_gap_ps;
    enum gt_format format;
    struct gt_filter filter; /* of a kernel: the part of the run to look for its launch in */
};
/* Print it. Return 0 or -1. */
int gt_explain_kernel(struct gt_store *store, const struct gt_explain_request *request, struct gt_error *error);
int gt_explain_timeline(struct gt_store *store, const struct gt_explain_request *request, struct gt_error *error);

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

/* The tables: "launch", "pipes", "stalls", "instructions" (the `top` worst), "advice".  At most
 * GT_EXPLAIN_TABLES of them, the caller's to free; returns how many. */
enum { GT_EXPLAIN_TABLES = 5 };
size_t gt_explain_tables(const struct gt_explained *explained, unsigned top, struct gt_table **tables);

/* explain_advice.c: what would help, most first, with the number behind each sentence. */
struct gt_table *gt_explain_advice(const struct gt_explained *explained);

#endif
