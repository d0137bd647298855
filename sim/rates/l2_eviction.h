/* l2_eviction.h - what a kernel that reads its bytes from L2 again and again does not find there beside others.
 *
 * L2 has what was touched last, as much as memory.l2_reuse_bytes: what others move through it comes in the place of
 * what the kernel will read again.  A line is read again after some time, its own in the mean, evenly drawn: of what is
 * gone when it is, the part is exp(-T / t), where T is the time in which the kernel's own bytes and those of others
 * fill L2 (Che, Tung, Wang: "Hierarchical Web Caching Systems", 2002) and t how long the kernel takes to read once
 * as many bytes as it has: its bytes are those that it reads from DRAM with cold caches.
 *
 * Evidence: warps on 66 SMs that walk at random through 4, 8 and 16 MiB while 66 others read at 2.1 TB/s missed in
 * 0.19, 0.47 and 0.81 of their steps, by the times (H200, November 2026), which is a T of 6 to 10 us, or 13 to 20 MB;
 * a ring of 16 MiB, a table of 4 MiB and a product beside a copy (traces/scenarios/pairs).
 */
#ifndef GRIDTIDE_SIM_RATES_L2_EVICTION_H
#define GRIDTIDE_SIM_RATES_L2_EVICTION_H

#include "sim/machine/machine.h"

/* The part, 0 to 1, of what a grid's warps read beyond L1 that waits for DRAM since others keep it busy for the part
 * `others_busy`; `rate`: how fast its blocks go otherwise. */
double gt_l2_evicted_part(const struct gt_machine *m, const struct gt_grid *grid, double rate, double others_busy);

/* By so many cycles such a read takes longer. */
double gt_l2_evicted_cycles(const struct gt_device *device);

#endif
