/* limits.h - what limits a run: its critical path by cause, by step and by operator. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_LIMITS_H
#define GRIDTIDE_TRACES_EXPLAIN_LIMITS_H

#include "traces/explain/loaded_run.h"
#include "traces/stats/stats.h"

enum { GT_LIMIT_NAME_BYTES = 200 };

struct gt_limit_cause { /* of the critical path, by kind; most time first */
    enum gt_path_kind kind;
    gt_time_ps path_ps;
    double share;
    char most[GT_LIMIT_NAME_BYTES]; /* the name with most of it */
};

/* Of the critical path, on behalf of a step or an operator; most time first.  Of an operator, `host_ps` is what lies
 * within its ranges (host_time.h), the rest what its calls had the GPU do. */
struct gt_limit_share {
    char *name;
    gt_time_ps path_ps;
    gt_time_ps host_ps;   /* calls and the host's own work */
    gt_time_ps launch_ps; /* from calls to the operations that they asked for */
    double share;
};

struct gt_limits {
    gt_time_ps makespan_ps, path_ps, idle_ps;
    const char *bound_by; /* "host", "kernels", "copies", "launches" or "gaps": where most of the path is */
    double bound_share;   /* of the path */
    struct gt_limit_cause causes[GT_PATH_KINDS];
    size_t cause_count;
    struct gt_stats_task_kernel *task_kernels; /* launches whose blocks did tasks */
    size_t task_kernel_count;
    struct gt_limit_share *steps, *operators;
    size_t step_count, operator_count; /* 0: the trace has none */
};

/* Of the run, or of the part of it that `filter` is, which gt_part_take() took before: its makespan and idle time, and
 * what of the whole run's critical path lies in it.  Returns 0 or -1; gt_limits_free() ends what it filled. */
int gt_limits_find(struct gt_database *database, const struct gt_loaded_run *run, const struct gt_filter *filter,
                   struct gt_limits *limits, struct gt_error *error);
/* gt_limits_find() where statistics are at hand: of the whole run, and of the part (`whole` where all is looked at). */
int gt_limits_of(const struct gt_loaded_run *run, struct gt_stats *whole, const struct gt_stats *part,
                 struct gt_limits *limits, struct gt_error *error);
void gt_limits_free(struct gt_limits *limits);

#endif
