/* diff_parts.h - what the files of `gridtide diff` share. */
#ifndef GRIDTIDE_SIM_CMD_REPORT_DIFF_PARTS_H
#define GRIDTIDE_SIM_CMD_REPORT_DIFF_PARTS_H

#include "sim/cmd/print/table.h"
#include "traces/diff/diff.h"

/* diff_tables.c: the tables, the caller's to free; returns how many.  At most `top` rows of a list. */
enum { GT_DIFF_TABLES = 14 };
size_t gt_diff_tables(const struct gt_diff *diff, enum gt_format format, unsigned top,
                      struct gt_table *tables[GT_DIFF_TABLES]);

/* diff.c: four of them, */
struct gt_table *gt_diff_kernels_table(const struct gt_diff_list *list, unsigned top);
struct gt_table *gt_diff_copies_table(const struct gt_diff_list *list);
struct gt_table *gt_diff_copied_table(const struct gt_diff_list *list);
struct gt_table *gt_diff_operations_table(const struct gt_diff *diff, unsigned top);
/* and cells: B less A in microseconds; A, B and that; the same and its share of the list; two counts. */
double gt_diff_us(gt_time_ps a, gt_time_ps b);
void gt_diff_put_times(struct gt_table *table, gt_time_ps a, gt_time_ps b);
void gt_diff_put_row_times(struct gt_table *table, const struct gt_diff_list *list, const struct gt_diff_row *row);
void gt_diff_put_counts(struct gt_table *table, uint64_t a, uint64_t b);

#endif
