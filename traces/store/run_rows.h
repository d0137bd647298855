/* run_rows.h - what a store holds of a run and its trace, as rows with types. Strings of a row are valid during
 * the call; `each` returns 0, or -1 to stop with `error` filled. All return 0 or -1 where nothing else is said. */
#ifndef GRIDTIDE_TRACES_STORE_RUN_ROWS_H
#define GRIDTIDE_TRACES_STORE_RUN_ROWS_H

#include <stdbool.h>

#include "sim/devices/device.h"
#include "sim/workload/workload.h"
#include "traces/store/database.h"
#include "traces/store/query.h"

/* The device as a run used it; keys that this version does not know mean nothing to it. */
int gt_stored_device(struct gt_database *database, int64_t run_id, struct gt_device *device, struct gt_error *error);

/* Every key of it as the run used it, by name. */
typedef int gt_device_key_fn(void *user, const char *key, const char *value, struct gt_error *error);
int gt_run_device_keys(struct gt_database *database, int64_t run_id, gt_device_key_fn *each, void *user,
                       struct gt_error *error);

/* Launch shape and resources from nine columns of table kernel, grid_x first; nothing else of `shape` is set. */
int gt_kernel_shape(struct gt_query *query, int column, struct gt_kernel *shape, struct gt_error *error);
/* The same of one kernel of a run's trace. */
int gt_run_kernel(struct gt_database *database, int64_t run_id, uint32_t kernel, struct gt_kernel *shape,
                  struct gt_error *error);

/* What a run is called by: malloced; free in either case. */
struct gt_run_names {
    char *trace, *device, *options;
};
int gt_run_names(struct gt_database *database, int64_t run_id, struct gt_run_names *names, struct gt_error *error);
void gt_run_names_free(struct gt_run_names *names);

/* What the import could not know of the trace and of the one that it was made from, by kind. */
struct gt_warning_row {
    const char *kind, *text;
    int64_t count;
};
typedef int gt_warning_fn(void *user, const struct gt_warning_row *row, struct gt_error *error);
int gt_run_warnings(struct gt_database *database, int64_t run_id, gt_warning_fn *each, void *user,
                    struct gt_error *error);

/* Residency over time: the width of a bin (0: the run has none), and every bin in which warps were resident. */
struct gt_bin_row {
    int64_t gpu_id, sm, bin, warp_ps;
};
typedef int gt_bin_fn(void *user, const struct gt_bin_row *row, struct gt_error *error);
int gt_run_bin_ps(struct gt_database *database, int64_t run_id, int64_t *bin_ps, struct gt_error *error);
int gt_run_bins(struct gt_database *database, int64_t run_id, gt_bin_fn *each, void *user, struct gt_error *error);

#endif
