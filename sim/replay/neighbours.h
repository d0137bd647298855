/* neighbours.h - what ran beside an operation while it had yet to start: may that have held it up?
 *
 * An operation that starts late while nothing runs that it could wait for takes that long by itself. */
#ifndef GRIDTIDE_SIM_REPLAY_NEIGHBOURS_H
#define GRIDTIDE_SIM_REPLAY_NEIGHBOURS_H

#include "sim/devices/device.h"
#include "sim/workload/workload.h"

/* Of the measured operations of one run. */
struct gt_neighbours {
    const struct gt_workload *workload;
    gt_op_index *by_start; /* kernels, copies and memsets */
    gt_time_ps *latest_ps; /* by place in by_start: the latest end of those up to there */
    uint32_t count;
    bool waits_known; /* no operation waits for what the trace does not show */
    double *share;    /* by kernel: of the device's room that all its blocks take, at most 1 */
    double *least;    /* by kernel: the same of one block */
};

enum gt_company {
    GT_COMPANY_NONE, /* nothing else ran */
    GT_COMPANY_ROOM, /* others ran, and left it room */
    GT_COMPANY_HELD  /* others ran that it may have waited for */
};

/* gt_neighbours_free() ends it. `device`: the one that the times were measured on. */
void gt_neighbours_make(struct gt_neighbours *neighbours, const struct gt_workload *workload,
                        const struct gt_device *device);
void gt_neighbours_free(struct gt_neighbours *neighbours);

/* What ran on the operation's GPU between `ready_ps`, when all that it comes after was over, and its measured start. */
enum gt_company gt_neighbours_of(const struct gt_neighbours *neighbours, gt_op_index op, gt_time_ps ready_ps);

/* Is a start so long after all that it comes after the operation's own doing, in that company?  What starts later waits
 * for something that the trace does not show, or that is simulated. */
bool gt_own_delay(const struct gt_neighbours *neighbours, gt_op_index op, gt_time_ps ready_ps);

#endif
