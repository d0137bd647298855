/* costs.h - times of tasks from a file, for graphs that say none (gridtide run --task-costs). */
#ifndef GRIDTIDE_TRACES_TASKS_COSTS_H
#define GRIDTIDE_TRACES_TASKS_COSTS_H

#include "sim/workload/workload.h"
#include "traces/tasks/slices.h"

/* What a task of a kind takes: always the same, or by how much it moves or does.  Between two sizes the time is on the
 * line through them, below the least it is the least's, beyond the most it grows in proportion. */
struct gt_task_costs;

/* Read a table:
 *
 *   kind,bytes,time_us              CSV with a header: `kind` (or `op`), `bytes` or `operations` or neither, and
 *   GEMV_TILE,262144,3.1            `time_ps`, `_ns`, `_us`, `_ms` or `_s`; other columns are passed over
 *
 *   {"time_us":{"ADD":0.5,"GEMV_TILE":[[131072,1.9],[262144,3.1]]},"by":"bytes"}     or JSON; `by` may be left out
 *
 * or a recording of the workers (slices.h): of a graph whose workers have the recorded ones' lists, kind by kind, each
 * task takes its own time; else it takes that of one of its kind (recorded_costs.h).  Cycles become time at `clock_mhz`.
 *
 * NULL with "PATH: ..." or "PATH:LINE: ..." in error. */
struct gt_task_costs *gt_task_costs_read(const char *path, uint32_t clock_mhz, struct gt_error *error);
/* The recording that the times are of; NULL: they are of a table. */
const struct gt_task_slices *gt_task_costs_recorded(const struct gt_task_costs *costs);
void gt_task_costs_free(struct gt_task_costs *costs);

/* How many tasks took a time from the table, had one, found none; a kind of the table that no graph has (NULL: none). */
struct gt_task_cost_report {
    uint64_t priced, had, without;
    uint64_t same; /* of those priced: they are the recorded ones themselves */
    const char *unused;
    gt_time_ps between_ps; /* that a graph took from a recording (gt_task_graph.between_ps); GT_TIME_NONE: none did */
};
/* Tasks that say no time, themselves or by their kind, take it from the table; graphs of lists without waits whose tasks did
 * take the time between tasks, too.  Slices of a recording whose kind gave no task its time are dropped. */
void gt_task_costs_attach(struct gt_task_costs *costs, struct gt_workload *workload,
                          struct gt_task_cost_report *report);

#endif
