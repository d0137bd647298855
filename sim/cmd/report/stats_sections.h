/* stats_sections.h - sections of `gridtide stats`: critical path, ranges, tasks. */
#ifndef GRIDTIDE_SIM_CMD_REPORT_STATS_SECTIONS_H
#define GRIDTIDE_SIM_CMD_REPORT_STATS_SECTIONS_H

#include "sim/cmd/print/table.h"
#include "traces/stats/stats.h"

enum { GT_SEGMENTS_FOR_PEOPLE = 30, GT_SEGMENTS_FOR_PROGRAMS = 100000 };

/* The `most` longest segments (of equal ones the earlier), in order of time. NULL on error. */
struct gt_table *gt_stats_segments_table(struct gt_stats *stats, uint64_t most, struct gt_error *error);

/* The first `most` steps, in order: all about them, for programs, or in two tables, narrow enough to read. */
enum gt_step_part { GT_STEP_ALL, GT_STEP_HOST, GT_STEP_GPU };
struct gt_table *gt_stats_steps_table(const struct gt_stats *stats, enum gt_step_part part, size_t most);
/* The `most` operators of most GPU time, then host time, of their own. */
struct gt_table *gt_stats_operators_table(const struct gt_stats *stats, size_t most);

/* All tasks in one row; their kinds, most time first. */
struct gt_table *gt_stats_tasks_table(const struct gt_stats *stats);
struct gt_table *gt_stats_task_kinds_table(const struct gt_stats *stats, size_t most);
/* All polls in one row: what their threads did meanwhile. */
struct gt_table *gt_stats_polls_table(const struct gt_stats *stats);

#endif
