/* breakdown_tables.h - tables that `gridtide stats` and `gridtide explain` share: where the time of steps went, and who
 * launched what. */
#ifndef GRIDTIDE_SIM_CMD_REPORT_BREAKDOWN_TABLES_H
#define GRIDTIDE_SIM_CMD_REPORT_BREAKDOWN_TABLES_H

#include "sim/cmd/print/table.h"
#include "traces/explain/breakdown.h"
#include "traces/explain/launch_tree.h"

/* "breakdown": a kind of time a row, of all steps, with its mean of a step. */
struct gt_table *gt_breakdown_table(const struct gt_breakdown *breakdown);
/* "breakdown_steps": a step of a process on a GPU a row; for people the first `most`, with the kinds that there are. */
struct gt_table *gt_breakdown_steps_table(const struct gt_breakdown *breakdown, enum gt_format format, size_t most);
/* "breakdown_ranks": a process on a GPU a row: the mean of a step. */
struct gt_table *gt_breakdown_ranks_table(const struct gt_breakdown *breakdown);
/* "host_while_idle": what the host did while the GPU had nothing to do, a range name a row. */
struct gt_table *gt_breakdown_hosts_table(const struct gt_breakdown *breakdown, size_t most);
/* "launch_tree": operators and what they launch; for people, whose names are indented, the `most` largest. */
struct gt_table *gt_launch_tree_table(const struct gt_launch_tree *tree, enum gt_format format, size_t most);

/* All of these of a run, as `gridtide stats` has them: the first four; the last one, for people where there are ranges. At
 * most 4 and 1 into `tables`; return how many. */
int gt_breakdown_tables(const struct gt_loaded_run *run, enum gt_format format, size_t most_names,
                        struct gt_table **tables);
int gt_launch_tables(const struct gt_loaded_run *run, enum gt_format format, size_t most_names,
                     struct gt_table **tables);

#endif
