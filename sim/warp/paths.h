/* paths.h - the way of each warp of a launch through its program, without time, thread block by thread block.
 *
 * All blocks of the grid walk, and all trips of loops: what warps execute between them is what the profile counted, up to
 * shares that are no whole numbers.  Where warps wait for each other in loops, they look as often as was counted.  Which
 * threads take a side of a divergence no profile says: as many as execute its first instruction in the mean, the lower ones
 * on the side that goes first.
 */
#ifndef GRIDTIDE_SIM_WARP_PATHS_H
#define GRIDTIDE_SIM_WARP_PATHS_H

#include "sim/base/error.h"
#include "sim/devices/device.h"
#include "sim/warp/launch_types.h"

/* A visit of a basic block by threads of a warp, a bit a thread. */
struct gt_warp_visit {
    uint32_t block, active;
    uint32_t
        leave; /* threads that its last instruction takes elsewhere: a branch's jump, an EXIT's end; else `active` */
};

/* A warp's visits, in order. */
struct gt_warp_path {
    struct gt_warp_visit *visits;
    uint32_t count, room;
};

struct gt_warp_paths;

/* Paths of a launch with blocks of `threads`; of it program, blocks, warps_per_block, cluster_blocks and use are looked at.
 * Device, program and use must last as long.  NULL with the reason. */
struct gt_warp_paths *gt_warp_paths_new(const struct gt_device *device, const struct gt_warp_launch *launch,
                                        uint32_t threads, struct gt_error *error);
/* The next thread block's paths, one a warp; they last until the next call.  NULL with the reason: a walk without an end. */
const struct gt_warp_path *gt_warp_paths_next(struct gt_warp_paths *paths, struct gt_error *error);
/* Of the sectors that instruction `i` loads, the part that misses L1, and of those the part that misses L2, 0..1: as
 * the rates of the launch and the code tell.  0 of what loads nothing through caches. */
void gt_warp_paths_misses(const struct gt_warp_paths *paths, uint32_t i, double *l1, double *l2);
void gt_warp_paths_free(struct gt_warp_paths *paths); /* NULL allowed */

#endif
