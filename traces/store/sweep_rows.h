/* sweep_rows.h - a sweep in a store: what was asked for, and a row a point (schema_sweep.sql). */
#ifndef GRIDTIDE_TRACES_STORE_SWEEP_ROWS_H
#define GRIDTIDE_TRACES_STORE_SWEEP_ROWS_H

#include "traces/store/store.h"

/* A trace of the sweep.  Numbers are NAN, names NULL, until a point of it was done. */
struct gt_sweep_trace {
    char *file, *digest, *name, *device;
    double measured_us, replay_us, baseline_us, step_us;
    int64_t steps;
};
struct gt_sweep_parameter {
    char *name, **values;
    uint32_t count;
};
/* What was asked for; gt_sweep_plan_free() ends one that was read. */
struct gt_sweep_plan {
    char *options, *program; /* what holds for all points; the version that began it */
    struct gt_sweep_trace *traces;
    struct gt_sweep_parameter *parameters;
    uint32_t trace_count, parameter_count;
};
/* One point.  Numbers are NAN, texts NULL where it has none. */
struct gt_sweep_row {
    uint64_t point;
    const char *change;
    double predicted_us, step_us, low_us, high_us, change_pct, bound_pct;
    const char *trust, *assumptions, *bound_by, *refusal;
};

/* Points of one trace, and of all. */
uint64_t gt_sweep_grid_points(const struct gt_sweep_plan *plan);
uint64_t gt_sweep_points(const struct gt_sweep_plan *plan);
/* Which of its values a parameter has at a point. */
uint32_t gt_sweep_value(const struct gt_sweep_plan *plan, uint64_t point, uint32_t parameter);

/* Does the store hold a sweep?  1, 0; -1 with the reason. */
int gt_store_has_sweep(struct gt_store *store, struct gt_error *error);
/* A new store for that sweep, without a point.  Returns 0 or -1. */
int gt_sweep_create(const char *path, const struct gt_sweep_plan *plan, struct gt_error *error);
/* What a store was made for.  Returns 0 or -1; free it in either case. */
int gt_sweep_plan_read(struct gt_store *store, struct gt_sweep_plan *plan, struct gt_error *error);
void gt_sweep_plan_free(struct gt_sweep_plan *plan);
/* Is what is asked for now what the store at `path` was made for?  0; -1 with what is otherwise, and what to do. */
int gt_sweep_plan_check(const struct gt_sweep_plan *stored, const struct gt_sweep_plan *asked, const char *path,
                        struct gt_error *error);

/* Rows between begin and end are written together, at the end.  A point's or a trace's second row replaces the first.
 * Return 0 or -1. */
int gt_sweep_begin(struct gt_store *store, struct gt_error *error);
int gt_sweep_end(struct gt_store *store, struct gt_error *error);
int gt_sweep_put_trace(struct gt_store *store, uint32_t number, const struct gt_sweep_trace *trace,
                       struct gt_error *error);
int gt_sweep_put(struct gt_store *store, uint32_t trace, const struct gt_sweep_row *row, struct gt_error *error);

/* Every point that is done, in order; texts are valid during the call.  `each` returns 0, or -1 to stop.  Returns 0 or
 * -1. */
typedef int gt_sweep_fn(void *user, const struct gt_sweep_row *row, struct gt_error *error);
int gt_sweep_each(struct gt_store *store, const struct gt_sweep_plan *plan, gt_sweep_fn *each, void *user,
                  struct gt_error *error);

#endif
