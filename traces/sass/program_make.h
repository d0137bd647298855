/* program_make.h - a program from rows, one an instruction: what a profile or a trace says of it. */
#ifndef GRIDTIDE_TRACES_SASS_PROGRAM_MAKE_H
#define GRIDTIDE_TRACES_SASS_PROGRAM_MAKE_H

#include "sim/workload/program.h"
#include "traces/sass/control_flow.h"

enum { GT_PROGRAM_INSTRUCTION_BYTES = 16, GT_PROGRAM_MOST_INSTRUCTIONS = 1 << 20 };

/* Of one instruction by a launch, and warps of a launch: sums of them stay below 2^63. */
#define GT_PROGRAM_MOST_EXECUTIONS (UINT64_C(1) << 42)

struct gt_program_row {
    const char *text; /* branch targets as offsets in bytes from the kernel's first instruction */
    uint32_t control; /* gt_sass_control_pack() */
    uint8_t space;    /* gt_space, where the profiler knows better than the mnemonic; else NONE */
    uint64_t executions, divergent;
    float threads, threads_on; /* means, see gt_instruction */
    struct gt_access access;   /* means; space and width are not looked at */
};

/* A program of `count` rows (at least 1), copied; the header fields (key, warps, use, ...) come from `head`,
 * whose own arrays are not looked at; `key` is copied.  `unknown`: how many instructions have a mnemonic that
 * is not known; the first of them is at row `first_unknown`.  All three results may not be NULL. */
struct gt_program *gt_program_make(const struct gt_program *head, const struct gt_program_row *rows, uint32_t count,
                                   struct gt_flow_report *report, uint32_t *unknown, uint32_t *first_unknown);

/* A mean as a trace keeps it: six digits. */
float gt_program_mean(double value);

#endif
