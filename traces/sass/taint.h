/* taint.h - what the condition of a branch, or an address, depends on, as far as registers tell. */
#ifndef GRIDTIDE_TRACES_SASS_TAINT_H
#define GRIDTIDE_TRACES_SASS_TAINT_H

#include "sim/workload/program.h"

enum gt_taint {
    GT_TAINT_THREAD = 1, /* the thread's number in its block */
    GT_TAINT_LANE = 2,   /* the thread's number in its warp */
    GT_TAINT_BLOCK = 4,  /* the block's number in the grid */
    GT_TAINT_DATA = 8,   /* memory, clocks, other threads */
    GT_TAINT_WAIT = 16   /* whether an mbarrier was ready */
};

/* For each instruction the gt_taint bits of what it reads, `taint[instruction]`, 0 where no warp came:
 * registers are followed along the edges of the program.  What is written under a guard keeps what it was;
 * memory and what a branch itself lets through are not followed. */
void gt_program_taint(const struct gt_program *program, uint8_t *taint);

/* Which warps of a block meet the condition of a branch or exit that depends on the thread number:
 * the comparison before it (ISETP) says. */
enum gt_side { GT_SIDE_UNKNOWN, GT_SIDE_LOW, GT_SIDE_HIGH };
enum gt_side gt_program_side(const struct gt_program *program, uint32_t instruction);

#endif
