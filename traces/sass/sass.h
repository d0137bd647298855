/* sass.h - what an instruction is, from its text as NVIDIA's tools disassemble it (Volta to Hopper). */
#ifndef GRIDTIDE_TRACES_SASS_SASS_H
#define GRIDTIDE_TRACES_SASS_SASS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/workload/program.h"

/* How control flow goes on behind an instruction. */
enum gt_sass_flow_kind {
    GT_SASS_NEXT,
    GT_SASS_BRANCH,
    GT_SASS_SWITCH /* BRX, JMX */,
    GT_SASS_CALL,
    GT_SASS_RETURN,
    GT_SASS_EXIT,
    GT_SASS_DIVERGE /* BSSY: not the end of a block */,
    GT_SASS_JOIN /* BSYNC */,
    GT_SASS_BREAK /* BREAK: takes threads out of a region */,
    GT_SASS_COLLECT /* WARPSYNC and its kin */
};

struct gt_sass_flow {
    uint8_t kind;     /* gt_sass_flow_kind */
    uint8_t barrier;  /* of BSSY, BSYNC, BREAK: number of the convergence barrier */
    bool conditional; /* by a predicate: may go on to the next instruction */
    bool has_target;
    uint64_t target; /* the address in the text: its bytes in the code, later an instruction's index */
};

/* How a mnemonic (the text up to the first dot) is executed. */
struct gt_sass_opcode {
    const char *name;
    uint8_t pipe, action, space; /* of program.h */
    uint8_t flow;                /* gt_sass_flow_kind */
    uint8_t results;             /* which operands are written: gt_sass_results */
    uint8_t registers;           /* how many an operand takes: gt_sass_registers */
};
enum gt_sass_results {
    GT_SASS_FIRST,      /* the first register and the predicates next to it */
    GT_SASS_PREDICATES, /* predicates at the beginning, two at most */
    GT_SASS_VOTE,       /* a register and the predicate behind it, or one predicate */
    GT_SASS_NO_RESULT
};
enum gt_sass_registers {
    GT_SASS_SINGLE,
    GT_SASS_DOUBLE, /* FP64: two each */
    GT_SASS_DATA,   /* memory: the data as the width says, addresses by their .64 */
    GT_SASS_MATRIX  /* by the shape */
};

/* The row of a mnemonic of `length` bytes, or NULL. */
const struct gt_sass_opcode *gt_sass_find(const char *mnemonic, uint32_t length);

/* Fill what the text tells: pipe, action, arguments and operands of `instruction` (whose control fields and
 * text are left alone), space and width in `access` (GT_SPACE_NONE: moves no data), and `flow`.
 * Returns false where the mnemonic is not known: it then counts as a computation in the ALU. */
bool gt_sass_parse(const char *text, struct gt_instruction *instruction, struct gt_access *access,
                   struct gt_sass_flow *flow);

#endif
