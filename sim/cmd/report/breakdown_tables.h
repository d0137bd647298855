/* breakdown_tables.h - tables that `gridtide stats` and `gridtide explain` share: where the time of steps went, and who
 * launched what. */
#ifndef GRIDTIDE_SIM_CMD_REPORT_BREAKDOWN_TABLES_H
#define GRIDTIDE_SIM_CMD_REPORT_BREAKDOWN_TABLES_H

#include "sim/cmd/print/table.h"
#include "traces/explain/breakdown.h"
#include "traces/explain/launch_tree.h"

/* "breakdown": a kind of time a row; "breakdown_ranks": a process on a GPU a row; "breakdown_steps": a step of these a row;
 * "host_while_idle": what the host did while the GPU had nothing to do, a range name a row.  People get those that say more
 * than the first, and `most` rows of the last two.  At most 4 into `tables`; returns how many. */
int gt_breakdown_tables(const struct gt_breakdown *breakdown, enum gt_format format, size_t most,
                        struct gt_table **tables);
/* "launch_tree": operators and what they launch; for people, whose names are indented, the `most` largest, where there are
 * ranges.  At most 1 into `tables`; returns how many. */
int gt_launch_tables(const struct gt_loaded_run *run, enum gt_format format, size_t most, struct gt_table **tables);

#endif
