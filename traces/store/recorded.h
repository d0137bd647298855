/* recorded.h - measured runs out of a store, to be held against anew. Functions return -1 with the reason. */
#ifndef GRIDTIDE_TRACES_STORE_RECORDED_H
#define GRIDTIDE_TRACES_STORE_RECORDED_H

#include "sim/workload/probe.h"
#include "sim/workload/workload.h"
#include "traces/store/database.h"

/* The GPU of the store's measured runs: 1; 0 where it has none. */
struct gt_recorded_gpu {
    char name[128];
    uint32_t sms, compute_major, compute_minor;
};
int gt_recorded_gpu(struct gt_database *database, struct gt_recorded_gpu *gpu, struct gt_error *error);

/* The whole measured runs of the trace of that name, by repetition; of the newest one where several have the
 * name. Freed by the caller with gt_recorded_free(), in either case. Returns 0, with a count that may be. */
struct gt_recorded {
    int64_t trace_id, *run_ids;
    uint32_t count;
    char *options;
};
int gt_recorded_find(struct gt_database *database, const char *trace, struct gt_recorded *recorded,
                     struct gt_error *error);
void gt_recorded_free(struct gt_recorded *recorded);

/* Is it the same trace, as far as the store tells: calls, operations, launch shapes?  1 or 0. */
int gt_recorded_is_of(struct gt_database *database, const struct gt_recorded *recorded,
                      const struct gt_workload *workload, struct gt_error *error);

/* Send a run's records through a probe: calls, operations by their ends, blocks by SM. Returns 0. */
int gt_recorded_play(struct gt_database *database, const struct gt_recorded *recorded, int64_t run_id,
                     const struct gt_probe *probe, struct gt_error *error);

/* The counters that the measuring left, by name. `each` returns 0, or anything else to stop. Returns 0. */
typedef int gt_counter_fn(void *user, const char *name, double value);
int gt_recorded_counters(struct gt_database *database, int64_t run_id, gt_counter_fn *each, void *user,
                         struct gt_error *error);

#endif
