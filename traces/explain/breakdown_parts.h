/* breakdown_parts.h - what the files of breakdown.h share: a process on a GPU, and its steps. */
#ifndef GRIDTIDE_TRACES_EXPLAIN_BREAKDOWN_PARTS_H
#define GRIDTIDE_TRACES_EXPLAIN_BREAKDOWN_PARTS_H

#include "traces/explain/breakdown.h"
#include "traces/explain/host_time.h"

/* One process on one GPU.  Time is added in order, and falls into the step that it is in. */
struct gt_lane {
    const struct gt_loaded_run *run;
    uint64_t process;
    gt_gpu_index gpu;
    uint32_t *ops; /* of it, by start */
    size_t op_count, op_room;
    struct gt_breakdown_step *windows; /* its steps */
    size_t first_window, window_count, window_at;
    gt_thread_index last_thread;      /* which is asked what the host did behind the last operation */
    gt_time_ps *host_ps;              /* shared by all: by kind, then by range, those of none last */
    struct gt_breakdown_waits *waits; /* the breakdown's */
};

/* The lanes of a run, with their operations and steps (in breakdown->steps): *count of them. */
struct gt_lane *gt_lanes_find(const struct gt_loaded_run *run, struct gt_breakdown *breakdown, size_t *count);
/* Sum the steps up, put what the host did in order, and free the lanes. */
void gt_lanes_end(struct gt_lane *lanes, size_t count, struct gt_breakdown *breakdown);

/* `piece`: what the host did, which its range is charged for; NULL: nothing that is charged.  Returns how much of it is in
 * steps that are counted. */
gt_time_ps gt_lane_add(struct gt_lane *lane, enum gt_time_kind kind, gt_time_ps from_ps, gt_time_ps to_ps,
                       const struct gt_host_piece *piece);

/* What the host did in a piece of time in which the GPU had nothing to do. */
enum gt_time_kind gt_host_piece_kind(const struct gt_loaded_run *run, const struct gt_host_piece *piece);

#endif
