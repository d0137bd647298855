/* diff_parts.h - what the files of `gridtide diff` share. */
#ifndef GRIDTIDE_SIM_CMD_DIFF_PARTS_H
#define GRIDTIDE_SIM_CMD_DIFF_PARTS_H

#include "sim/cmd/table.h"
#include "traces/diff/diff.h"

/* diff_tables.c: the tables, the caller's to free; returns how many.  At most `top` rows of a list. */
enum { GT_DIFF_TABLES = 13 };
size_t gt_diff_tables(const struct gt_diff *diff, enum gt_format format, unsigned top,
                      struct gt_table *tables[GT_DIFF_TABLES]);

#endif
