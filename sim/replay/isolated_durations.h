/* isolated_durations.h - what recorded durations would have been without contention.
 *
 * A kernel recorded beside others took longer than alone when it had to share SMs, and so did
 * copies in both directions on one link.  Played as if that were its own work, it would be slowed
 * down a second time.  So durations are inverted through the simulator as a whole: they are changed
 * until the replay of the recorded run gives the recorded durations back.  On the way kernels show themselves that
 * started before blocks that end together would have let them.
 */
#ifndef GRIDTIDE_SIM_REPLAY_ISOLATED_DURATIONS_H
#define GRIDTIDE_SIM_REPLAY_ISOLATED_DURATIONS_H

#include "sim/replay/block_ends.h"

struct gt_isolated {
    gt_time_ps *duration_ps;   /* alone, by operation (GT_TIME_NONE: as recorded); NULL: all as recorded */
    struct gt_block_ends ends; /* of kernels whose blocks do not end together */
    uint64_t too_short;        /* of so many kernels even the least that a kernel can take is too long */
};

/* Plays a workload as far as it is known by now on a device it was recorded on.  `at_recorded`: what was recorded starts
 * when it did, so that it meets what it met then, however wrong the durations before it still are. */
typedef int gt_player(void *user, const struct gt_isolated *isolated, bool at_recorded, const struct gt_probe *probe,
                      struct gt_error *error);

/* Into `isolated`, which gt_isolated_free() ends; all zero where nothing overlapped in the recording.  A replay that
 * fails ends the learning with what is known by then: the run proper will fail with its reason. */
void gt_isolated_learn(struct gt_isolated *isolated, const struct gt_workload *workload, gt_player *play, void *user);
/* Learn durations where equivalent launches last equally long alone, which gives the recorded durations back less
 * exactly and says better how long they last when something else, or nothing, runs beside them. */
void gt_isolated_learn_equivalent(struct gt_isolated *isolated, const struct gt_workload *workload, gt_player *play,
                                  void *user);
void gt_isolated_free(struct gt_isolated *isolated);

#endif
