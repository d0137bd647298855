/* explain_parts.h - what the files of `gridtide explain` share. */
#ifndef GRIDTIDE_SIM_CMD_REPORT_EXPLAIN_PARTS_H
#define GRIDTIDE_SIM_CMD_REPORT_EXPLAIN_PARTS_H

#include "sim/cmd/print/table.h"
#include "traces/compare/kernel_numbers.h"
#include "traces/explain/overview.h"
#include "traces/store/selection.h"
#include "traces/store/store.h"

/* What was asked for. */
struct gt_explain_request {
    const char *store, *kernel; /* kernel NULL: the timeline */
    unsigned top;               /* rows of a list; 0: as is usual */
    bool top_given;             /* by the user */
    gt_time_ps least_gap_ps;
    enum gt_format format;
    bool full;               /* people get all tables, not the summary */
    bool no_predict;         /* the what-if engine is not asked */
    bool quiet;              /* no progress, no warnings of a trace */
    struct gt_filter filter; /* the part of the run: of a kernel, to look for its launch in */
};
/* Does the store have cycles of any kernel?  1 or 0; -1 with the reason. */
int gt_explain_has_cycles(struct gt_store *store, struct gt_error *error);
/* Print it. Return 0 or -1. */
int gt_explain_kernel(struct gt_store *store, const struct gt_explain_request *request, struct gt_error *error);
int gt_explain_timeline(struct gt_store *store, const struct gt_explain_request *request, struct gt_error *error);

/* explain.c: the summary in at most 25 lines for people (`trust`: in the
 * run itself, NULL: nothing to say); the tables "summary" and "advised" of it. */
void gt_explain_print_overview(FILE *out, const struct gt_loaded_run *run, const struct gt_overview *overview,
                               const char *trust, const struct gt_explain_request *request);
struct gt_table *gt_explain_overview_table(const struct gt_loaded_run *run, const struct gt_overview *overview);
struct gt_table *gt_explain_advised_table(const struct gt_loaded_run *run, const struct gt_overview *overview);

/* explain_kernels.c: the tables "kernel_families" and "kernels". */
struct gt_table *gt_explain_families_table(const struct gt_loaded_run *run);
struct gt_table *gt_explain_kernels_table(const struct gt_loaded_run *run, const struct gt_explain_request *request);

/* The tables: "launch", "pipes", "stalls", "instructions" (the `top` worst), "advice".  At most
 * GT_EXPLAIN_TABLES of them, the caller's to free; returns how many. */
enum { GT_EXPLAIN_TABLES = 5 };
size_t gt_explain_tables(const struct gt_explained *explained, unsigned top, struct gt_table **tables);

#endif
