/* isolated_durations.h - what recorded durations would have been without contention.
 *
 * A kernel recorded beside others took longer than alone when it had to share SMs, and so did
 * copies in both directions on one link.  Played as if that were its own work, it would be slowed
 * down a second time.  So durations are inverted through the simulator as a whole: they are changed
 * until the replay of the recorded run gives the recorded durations back.
 */
#ifndef GRIDTIDE_SIM_REPLAY_ISOLATED_DURATIONS_H
#define GRIDTIDE_SIM_REPLAY_ISOLATED_DURATIONS_H

#include "sim/workload/probe.h"

/* Plays a workload with given durations (NULL: as recorded) on a device it was recorded on. */
typedef int gt_player(void *user, const gt_time_ps *isolated_ps, const struct gt_probe *probe,
                      struct gt_error *error);

/* Durations alone, by operation (GT_TIME_NONE: as recorded), malloced; NULL where nothing overlapped
 * in the recording or nothing was slowed down.  A replay that fails ends the learning with what is
 * known by then: the run proper will fail with its reason.  `too_short`: of so many kernels even the least that
 * a kernel can take is too long to give the recorded duration back. */
gt_time_ps *gt_isolated_durations_learn(const struct gt_workload *workload, gt_player *play, void *user,
                                        uint64_t *too_short);

#endif
