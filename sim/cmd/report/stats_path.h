/* stats_path.h - the critical path's longest segments as a table. */
#ifndef GRIDTIDE_SIM_CMD_REPORT_STATS_PATH_H
#define GRIDTIDE_SIM_CMD_REPORT_STATS_PATH_H

#include "sim/cmd/print/table.h"
#include "traces/stats/stats.h"

enum { GT_SEGMENTS_FOR_PEOPLE = 30, GT_SEGMENTS_FOR_PROGRAMS = 100000 };

/* The `most` longest segments (of equal ones the earlier), in order of time. NULL on error. */
struct gt_table *gt_stats_segments_table(struct gt_stats *stats, uint64_t most, struct gt_error *error);

#endif
