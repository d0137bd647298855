/* calibrate.h - the kernels that calibration measures with. They are no part of the library: no trace
 * names them. To C they are addresses for cudaLaunchKernel; the arguments stand at each. */
#ifndef GRIDTIDE_KERNELS_CALIBRATE_CALIBRATE_H
#define GRIDTIDE_KERNELS_CALIBRATE_CALIBRATE_H

#include <stdint.h>

#include "kernels/base/launch.h"

#ifdef __CUDACC__
#define GT_KERNEL extern "C" __global__
#else
#define GT_KERNEL
#endif

/* Nothing. */
GT_KERNEL void gt_calibrate_empty(void);

/* One thread of each block waits for cycles + (block % kinds) * step of the SM's clock and writes the
 * block's record, unless `log` is NULL; the others wait for it. More than four such blocks to a
 * scheduler of an SM, and those that come last hardly get to run before the first have ended. */
GT_KERNEL void gt_calibrate_spin(struct gt_block_log *log, uint64_t cycles, uint64_t step, uint32_t kinds);

/* Every block ends as the global timer comes to the second multiple of period_ns after its start, so all of
 * a grid end together; one thread of each waits, by the SM's clock of so many cycles in 1024 ns, and
 * writes the block's record. */
GT_KERNEL void gt_calibrate_together(struct gt_block_log *log, uint64_t period_ns, uint64_t cycles_in_1024_ns);

/* For `ns` of the global timer, the first thread writes a record for each stretch of time in which it ran: from one pause of more than
 * pause_ns to the next.  At most `most` - 1; behind the last one stands one that starts at 0. */
GT_KERNEL void gt_calibrate_stretches(struct gt_block_log *log, uint64_t ns, uint64_t pause_ns, uint32_t most);

/* Wait until *gate, in host memory, is at least `open`, or limit_ns are over. One thread. */
GT_KERNEL void gt_calibrate_gate(const volatile uint32_t *gate, uint32_t open, uint64_t limit_ns);

/* Answer *request = 1, 2, ..., count, in host memory, with the global timer in *reply, in host memory
 * too; give up limit_ns after the last one. One thread. */
GT_KERNEL void gt_calibrate_ping(const volatile uint32_t *request, volatile uint64_t *reply, uint32_t count,
                                 uint64_t limit_ns);

/* Write down `count` values of the global timer, each different from the one before. One thread. */
GT_KERNEL void gt_calibrate_ticks(uint64_t *ticks, uint32_t count);

#endif
