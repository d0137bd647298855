/* internal.h - between the files of the statistics: the parts, and rows out of SQLite. */
#ifndef GRIDTIDE_TRACES_STATS_INTERNAL_H
#define GRIDTIDE_TRACES_STATS_INTERNAL_H

#include "traces/stats/stats.h"
#include "traces/store/query.h"

/* A stats being computed, with what the parts share. */
struct gt_stats_work {
    struct gt_database *database;
    struct gt_stats *stats;
    struct gt_kernel *shapes; /* the trace's kernels by kernel_no: launch shape only */
    char **kernel_names;      /* by kernel_no */
    size_t kernels, shape_room, name_room;
    uint32_t *gpu_ids; /* by gpu_no */
    size_t gpus;
    struct gt_selection selection; /* the part of the run that is looked at */
    uint32_t last_op;              /* the one that ends the makespan, from gt_stats_ops() */
};

/* Each fills its part of work->stats, in this order. Return 0 or -1. */
int gt_stats_load(struct gt_stats_work *work, struct gt_error *error); /* run, device, streams, kernels */
int gt_stats_ops(struct gt_stats_work *work, struct gt_error *error);  /* summary, streams, kernels, copies */
int gt_stats_sms(struct gt_stats_work *work, struct gt_error *error);  /* SMs, intervals */
int gt_stats_walk(struct gt_stats_work *work, struct gt_error *error); /* critical path */
/* Of a store with ranges: steps, operators. */
int gt_stats_steps(struct gt_stats_work *work, struct gt_error *error);
int gt_stats_operators(struct gt_stats_work *work, struct gt_error *error);

/* Of a store with task graphs: tasks, by kind. */
int gt_stats_tasks(struct gt_stats_work *work, struct gt_error *error);
/* Of a store that has them: polls. */
int gt_stats_polls(struct gt_stats_work *work, struct gt_error *error);

/* What the work holds beside its stats. */
void gt_stats_work_free(struct gt_stats_work *work);

/* Aggregate the launches of each kernel_no (launches[work->kernels]) into stats->kernels. */
struct gt_launches {
    uint64_t count;
    gt_time_ps total_ps, min_ps, max_ps, wait_resource_ps;
};
void gt_stats_kernels(struct gt_stats_work *work, const struct gt_launches *launches, bool waits_known);

void gt_stats_note(struct gt_stats *stats, const char *section, const char *text); /* static strings */

/* The path's segments on their way through a temporary file, latest first: `part` is the index
 * in stats->path, which gt_path_file_finish() sorts. */
struct gt_path_file *gt_path_file_new(struct gt_error *error);
int gt_path_file_add(struct gt_path_file *path, gt_time_ps from_ps, uint32_t part, uint32_t op, uint32_t call,
                     struct gt_error *error);
int gt_path_file_finish(struct gt_stats *stats, struct gt_error *error);
void gt_path_file_free(struct gt_path_file *path); /* NULL allowed */

/* A statement over the run's database; the parameters ?1 and ?2 are bound to the run and the trace. */
struct gt_query *gt_stats_query(struct gt_stats_work *work, const char *sql, struct gt_error *error);

/* Sums of times that may pass the limit of one time: they stay at the largest. */
static inline gt_time_ps gt_time_add(gt_time_ps a, gt_time_ps b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
