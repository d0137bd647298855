/* tasks.h - the kernels that calibration measures with what blocks tell each other by: one word of global memory. */
#ifndef GRIDTIDE_KERNELS_CALIBRATE_TASKS_H
#define GRIDTIDE_KERNELS_CALIBRATE_TASKS_H

#include <stdint.h>

#include "kernels/calibrate/calibrate.h"

/* One thread of each block adds 1 to *word `rounds` times, each time waiting for what was there before:
 * cycles[block], of all rounds.  All blocks must be resident: they begin together. */
GT_KERNEL void gt_calibrate_queue(uint32_t *word, uint32_t *arrived, uint32_t rounds, uint64_t *cycles);

/* One thread of each block looks at *word `rounds` times, as a worker that polls does: cycles[block]. */
GT_KERNEL void gt_calibrate_poll(const uint32_t *word, uint32_t rounds, uint64_t *cycles);

#endif
