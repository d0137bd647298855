/* sweep_parts.h - what the files of `gridtide sweep` share. */
#ifndef GRIDTIDE_SIM_CMD_RUN_SWEEP_PARTS_H
#define GRIDTIDE_SIM_CMD_RUN_SWEEP_PARTS_H

#include "sim/changes/change_grid.h"
#include "sim/cmd/input/options.h"
#include "traces/store/sweep_rows.h"

enum { GT_SWEEP_JOBS_MAX = 1000, GT_SWEEP_INDEPENDENT_MAX = 256 };

/* What this process is for.  All but the first are started by another of the program, with the same arguments. */
enum gt_sweep_part {
    GT_SWEEP_HERE,       /* what the user started */
    GT_SWEEP_WORKER,     /* answers points that it is told on standard input, in frames on standard output */
    GT_SWEEP_TASK,       /* one of a job array's tasks */
    GT_SWEEP_MERGE,      /* the job behind it, which has what is missing done again, */
    GT_SWEEP_MERGE_AGAIN /* and the job behind that */
};

struct gt_sweep_arguments {
    const char **traces;
    uint32_t trace_count;
    struct gt_change_grid grid;
    struct gt_model_options model;
    const char *independent[GT_SWEEP_INDEPENDENT_MAX + 1]; /* NULL-ended */
    size_t independent_count;
    bool bars;
    unsigned jobs;      /* 0: not said */
    const char *output; /* the store */
    const char *slurm;  /* options of sbatch; NULL: here */
    enum gt_format format;
    enum gt_sweep_part part;
    int count; /* the arguments as given, without the program and the command, */
    char *const *given;
};
/* and the first that is the user's own: --part stands before them. */
static inline int gt_sweep_first_given(const struct gt_sweep_arguments *arguments)
{
    return arguments->part != GT_SWEEP_HERE ? 1 : 0;
}

/* sweep_store.c: a sweep's store while points are being done. */
struct gt_sweep {
    const char *path;
    struct gt_store *store;
    struct gt_sweep_plan plan;
    unsigned char *done;   /* by point */
    uint64_t points, left; /* left: without a row */
    bool writing;          /* a transaction is open, */
    double since_s;        /* since then */
};
/* What the arguments ask for; reads every trace's bytes.  Returns 0 or -1; gt_sweep_plan_free() in either case. */
int gt_sweep_asked(const struct gt_sweep_arguments *arguments, struct gt_sweep_plan *plan, struct gt_error *error);
/* The store at `path` for that: made, or one that was begun with the same.  Returns 0 or -1; gt_sweep_close() in either
 * case. */
int gt_sweep_open(struct gt_sweep *sweep, const char *path, const struct gt_sweep_plan *asked,
                  struct gt_error *error);
void gt_sweep_close(struct gt_sweep *sweep);
/* Rows for the store; on disk after gt_sweep_flush(), which with `now` false waits until half a second's are there.
 * Return 0 or -1. */
int gt_sweep_keep_trace(struct gt_sweep *sweep, uint32_t number, const struct gt_sweep_trace *trace,
                        struct gt_error *error);
int gt_sweep_keep(struct gt_sweep *sweep, const struct gt_sweep_row *row, struct gt_error *error);
int gt_sweep_flush(struct gt_sweep *sweep, bool now, struct gt_error *error);

/* sweep_worker.c: the worker's loop; an exit status. */
int gt_sweep_serve(struct gt_sweep_arguments *arguments);

/* sweep_pool.c: have the points todo[] done by so many workers.  Returns 0; 1 where some cannot be, which was told on
 * standard error; -1 with the reason.  *signal: the one that asked to stop early, or 0. */
int gt_sweep_work(struct gt_sweep *sweep, const struct gt_sweep_arguments *arguments, unsigned jobs,
                  const uint64_t *todo, uint64_t count, int *signal, struct gt_error *error);

/* sweep_slurm.c: the sweep as jobs of Slurm. */
/* Submit an array for what is left, and `behind` it what merges it.  Returns 0 or -1. */
int gt_sweep_submit(struct gt_sweep *sweep, const struct gt_sweep_arguments *arguments, enum gt_sweep_part behind,
                    struct gt_error *error);
/* sweep_tasks.c: one of the array's tasks, and what comes behind all of them: that puts together what they made, and
 * submits what is missing, once.  An exit status; -1 with the reason. */
int gt_sweep_task(const struct gt_sweep_plan *asked, const struct gt_sweep_arguments *arguments,
                  struct gt_error *error);
int gt_sweep_merge(struct gt_sweep *sweep, const struct gt_sweep_arguments *arguments, struct gt_error *error);
/* Take over what tasks made, `array`'s (NULL: all that there are).  Returns 0 or -1. */
int gt_sweep_collect(struct gt_sweep *sweep, const char *array, struct gt_error *error);
/* The folder that tasks write to, and the variable that tells a merging job the number of its array. */
char *gt_sweep_folder(const char *path);
#define GT_SWEEP_ARRAY "GRIDTIDE_SWEEP_ARRAY"

/* sweep_store.c: the points of a sweep that are not done, `part` of `parts` of them: malloced, *count of them. */
uint64_t *gt_sweep_todo(const struct gt_sweep *sweep, uint64_t part, uint64_t parts, uint64_t *count);

/* sweep_print.c: the grid.  Returns 0 or -1. */
int gt_sweep_print(struct gt_sweep *sweep, enum gt_format format, struct gt_error *error);

#endif
