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

/* Launch shape and resources of one kernel of a run's trace. */
int gt_run_kernel(struct gt_database *database, int64_t run_id, uint32_t kernel, struct gt_kernel *shape,
                  struct gt_error *error);

/* What a run is: malloced texts; gt_run_head_free() in either case. */
struct gt_run_head {
    int64_t trace_id, device_id;
    bool simulated;
    char *trace, *device, *options;
    char *base; /* the name of the trace that an option made this one from; else its own */
};
int gt_run_head(struct gt_database *database, int64_t run_id, struct gt_run_head *head, struct gt_error *error);
void gt_run_head_free(struct gt_run_head *head);

/* The streams of a trace, by stream_no, which counts from 0; an error where one is missing. */
struct gt_stream_row {
    uint32_t gpu; /* gpu_no; less than GT_MOST_GPUS */
    uint64_t id;
    const char *name; /* NULL: it has none */
    uint32_t flags;
    int32_t priority;
};
typedef int gt_stream_fn(void *user, const struct gt_stream_row *row, struct gt_error *error);
int gt_trace_streams(struct gt_database *database, int64_t trace_id, gt_stream_fn *each, void *user,
                     struct gt_error *error);

/* The kernels of a trace, by kernel_no, which counts from 0; an error where one is missing. `shape` has launch shape
 * and resources; nothing else of it is set. */
typedef int gt_kernel_fn(void *user, const char *name, const struct gt_kernel *shape, struct gt_error *error);
int gt_trace_kernels(struct gt_database *database, int64_t trace_id, gt_kernel_fn *each, void *user,
                     struct gt_error *error);

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
