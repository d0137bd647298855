/* reads.h - the GPU reads its commands over the host's link, which a copy in may hold. */
#ifndef GRIDTIDE_SIM_LINKS_READS_H
#define GRIDTIDE_SIM_LINKS_READS_H

#include "sim/machine/machine.h"

/* By how much later so many reads, one after the other, are done that begin now: 0 where no copy in of pinned memory
 * runs, and no longer than that one goes on. */
gt_time_ps gt_link_reads_ps(const struct gt_machine *m, gt_gpu_index gpu, uint32_t reads);

/* The command becomes visible to the GPU now: the same for all that its operation takes to start.  Recorded times
 * have it already. */
gt_time_ps gt_link_command_ps(const struct gt_machine *m, gt_command_index command);

#endif
