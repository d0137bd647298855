/* ranks.h - the processes of one job, recorded each by itself, as one workload.
 *
 * Each process has GPUs of its own.  Kernels of collectives that belong together become parts of one collective
 * (sim/workload/collective.h): how long the slowest rank lets the others wait is then simulated, not replayed.
 */
#ifndef GRIDTIDE_TRACES_RANKS_RANKS_H
#define GRIDTIDE_TRACES_RANKS_RANKS_H

#include "traces/ranks/rank.h"

/* One workload of all of them, in the order of their ranks where the recordings say these (else as given).  With more
 * than one, clocks are brought together: by the ends of collectives, else by the time of day.  What is left over is counted
 * among the workload's warnings ("collectives-alone", "clocks-apart", "clocks-drift", "groups-unnamed", "ranks-missing", "ranks-on-other-gpus",
 * "steps-differ").  Takes workloads and notes over, whatever comes of it.  NULL with the reason: a rank twice, files of several
 * jobs, too many GPUs, or a recording that has what only one alone can have (task graphs, programs). */
struct gt_workload *gt_ranks_join(struct gt_rank *ranks, uint32_t count, struct gt_error *error);

/* One workload of programs that share GPUs, as processes of their own that begin at the same time: threads of workloads[i] share as sharings[i]
 * says.  The workloads stay the caller's.  NULL with the reason, as of gt_ranks_join(). */
struct gt_workload *gt_programs_join(struct gt_workload *const *workloads, const struct gt_sharing *sharings,
                                     uint32_t count, struct gt_error *error);

#endif
