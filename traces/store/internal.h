/* internal.h - what the files of the store share; others use store.h. */
#ifndef GRIDTIDE_TRACES_STORE_INTERNAL_H
#define GRIDTIDE_TRACES_STORE_INTERNAL_H

#include <sqlite3.h>

#include "traces/store/store.h"

enum {
    GT_STORE_APPLICATION = 1196708164, /* as in schema.sql */
    GT_STORE_OLDEST = 2,  /* as schema.sql makes it: without kernels' cycles; can be read, and added to */
    GT_STORE_KERNELS = 3, /* as schema_kernels.sql makes it: without ranges */
    GT_STORE_VERSION = 14 /* as schema_shapes.sql makes it */
};

struct gt_store {
    struct gt_database base;
    char *temporary; /* where a new one is built; NULL for an existing one */
    int version;
    gt_store_progress *progress;
    void *progress_user;
};

/* An empty store in memory with every table and view that this program makes, of sweeps and loads too: the definitions to go by.
 * gt_store_close(); NULL with the reason. */
struct gt_store *gt_store_model(struct gt_error *error);
/* sweep_plan.c: the view sweep_grid, a column a parameter of the plan: what stands behind CREATE. Malloced. */
struct gt_sweep_plan;
char *gt_sweep_grid_view(const struct gt_sweep_plan *plan);

/* Fill `error` with "PATH: " and what SQLite says. Returns -1. */
int gt_store_fail(struct gt_store *store, struct gt_error *error);
/* Run statements without results. Returns 0 or -1. */
int gt_store_run(struct gt_store *store, const char *sql, struct gt_error *error);
/* Compile one statement; NULL with `error` on failure. End it with sqlite3_finalize(). */
sqlite3_stmt *gt_store_prepare(struct gt_store *store, const char *sql, struct gt_error *error);
/* Execute an INSERT or UPDATE with what is bound, ready for the next. Returns 0 or -1. */
int gt_store_step(struct gt_store *store, sqlite3_stmt *statement, struct gt_error *error);
/* One transaction: begin; then commit where `result` is 0, roll back where it is not.
 * Return 0 or -1. */
int gt_store_begin(struct gt_store *store, struct gt_error *error);
int gt_store_finish(struct gt_store *store, int result, struct gt_error *error);
/* Tell who watches, every few thousand rows. */
void gt_store_tell(struct gt_store *store, uint64_t done, uint64_t total);

/* kernel_rows.c: the machine code of a trace's kernels; what a profiler counted of their work; the cycles of a run's kernels (a measured run's are
 * those of the workload's profiles, `modelled` NULL).  Inside a transaction.  Return 0 or -1. */
struct gt_kernel_model;
int gt_store_instructions(struct gt_store *store, int64_t trace_id, const struct gt_workload *workload,
                          struct gt_error *error);
int gt_store_profiled_work(struct gt_store *store, int64_t trace_id, const struct gt_workload *workload,
                           struct gt_error *error);
int gt_store_run_kernels(struct gt_store *store, int64_t run_id, const struct gt_workload *workload,
                         const struct gt_kernel_model *modelled, struct gt_error *error);

/* Whose calls tell where the ranges of a run of `workload` lie: those of `recorded` (or NULL), if it has the same calls and ranges. */
const struct gt_workload *gt_store_ranges_of(const struct gt_workload *workload, const struct gt_workload *recorded);
/* range_rows.c: a trace's ranges and the calls in them; where they lie in a run with these calls' records (by call;
 * .call is GT_NONE where there was none).  Inside a transaction.  Return 0 or -1. */
struct gt_call_record;
int gt_store_ranges(struct gt_store *store, int64_t trace_id, const struct gt_workload *workload,
                    struct gt_error *error);
int gt_store_run_ranges(struct gt_store *store, int64_t run_id, const struct gt_workload *workload,
                        const struct gt_call_record *records, struct gt_error *error);
/* What a run's polls did, from its calls' records. */
int gt_store_run_polls(struct gt_store *store, int64_t run_id, const struct gt_workload *workload,
                       const struct gt_call_record *records, struct gt_error *error);

/* task_rows.c: a trace's task graphs and the kernels that do them; what became of the tasks of a run, which are put in
 * the order of their keys.  Inside a transaction.  Return 0 or -1. */
struct gt_task_record;
int gt_store_tasks(struct gt_store *store, int64_t trace_id, const struct gt_workload *workload,
                   struct gt_error *error);
int gt_store_run_tasks(struct gt_store *store, int64_t run_id, struct gt_task_record *records, uint64_t count,
                       struct gt_error *error);

/* plain_rows.c: the plain fields of a trace's kernels, calls, operations and ranges.  Inside a transaction.  Returns 0 or -1. */
int gt_store_plain(struct gt_store *store, int64_t trace_id, const struct gt_workload *workload,
                   struct gt_error *error);

/* Bind a picosecond time, capped at what SQLite holds; GT_TIME_NONE gives NULL. */
void gt_store_bind_time(sqlite3_stmt *statement, int place, gt_time_ps time_ps);
/* Bind a number; one that is not finite gives NULL. */
void gt_store_bind_real(sqlite3_stmt *statement, int place, double value);
/* Bind text that outlives the step; NULL and "" give NULL. */
void gt_store_bind_text(sqlite3_stmt *statement, int place, const char *text);

/* definitions.c: the row of a run; one that is not whole waits for the next run of its trace.  Returns its id, or -1. */
int64_t gt_store_put_run(struct gt_store *store, int64_t trace_id, int64_t device_id, const char *kind,
                         const char *options, uint32_t repetition, bool whole, struct gt_error *error);

#endif
