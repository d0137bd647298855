/* kernel_tables.h - kernels' cycles as `gridtide run` and `gridtide compare` print them. */
#ifndef GRIDTIDE_SIM_CMD_PRINT_KERNEL_TABLES_H
#define GRIDTIDE_SIM_CMD_PRINT_KERNEL_TABLES_H

#include <yajl/yajl_gen.h>

#include "sim/cmd/print/table.h"
#include "traces/compare/kernel_cycles.h"

/* Tables "kernels", a launch a row, and "cycles", their errors.  The caller's to free; `kernels` must outlive
 * them. */
struct gt_table *gt_kernel_rows_table(const struct gt_kernels *kernels);
struct gt_table *gt_kernel_error_table(const struct gt_kernels *kernels);
/* Table "kernels" where the two runs loaded are one with a change and the one without it: no errors, changes. */
struct gt_table *gt_kernel_changes_table(const struct gt_kernels *kernels);
/* Kernels as members of the JSON object that is open. */
void gt_kernels_json(yajl_gen json, const struct gt_kernels *kernels);

#endif
