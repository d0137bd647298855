/* snapshot.h - a GPU as far as it decides what the blocks of one grid do next: does it come round? */
#ifndef GRIDTIDE_SIM_GPU_SNAPSHOT_H
#define GRIDTIDE_SIM_GPU_SNAPSHOT_H

#include "sim/machine/machine.h"

/* A batch's end that is due. */
struct gt_due {
    gt_time_ps in_ps;
    uint64_t order, stamp;
    gt_sm_index sm;
    uint32_t blocks;
    uint8_t odd_warps[GT_DEVICE_MAX_PARTITIONS];
};

struct gt_due_list {
    struct gt_due *ends;
    uint32_t count, room;
};

/* Beside SMs and ends, what decides where a grid's next block goes, or whose it is: what policies remember, and the GPC
 * of the cluster before. */
enum gt_position { GT_POSITION_PLACEMENT, GT_POSITION_ARBITRATION, GT_POSITION_CLUSTER, GT_POSITIONS };

/* The machine as far as it decides what a grid's blocks do next, at one moment. */
struct gt_snapshot {
    struct gt_due_list due;
    struct gt_sm_state *sms; /* times since then, 0 where they were past */
    uint64_t positions[GT_POSITIONS];
};

/* Is the event one of this grid's blocks'? */
bool gt_snapshot_is_own(const struct gt_machine *m, const struct gt_heap_event *event, gt_grid_index grid);

/* The GPU as it is now; into a snapshot of zeros, or one taken before. gt_snapshot_free() ends it. */
void gt_snapshot_take(const struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid, struct gt_snapshot *snapshot);

/* Is all as it was, only later?  Of a snapshot with something due, and while something is.  Where it is, what is due is
 * in `now`, whose memory is the caller's. */
bool gt_snapshot_holds(const struct gt_machine *m, gt_gpu_index gpu, gt_grid_index grid,
                       const struct gt_snapshot *then, struct gt_due_list *now);

void gt_snapshot_free(struct gt_snapshot *snapshot);

#endif
