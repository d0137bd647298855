/* memory.h - what others than the warp tier take from its memory system. */
#ifndef GRIDTIDE_SIM_WARP_MEMORY_H
#define GRIDTIDE_SIM_WARP_MEMORY_H

/* Cycles that a read waits beyond a fair queue's, of one that works for the part `busy` of its time, where
 * `cycles` is that of a queue that works half of it. */
double gt_warp_queueing_delay(double busy, double cycles);

#endif
