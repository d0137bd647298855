/* parts.h - an instruction's text taken apart; for sass.c and operands.c. */
#ifndef GRIDTIDE_TRACES_SASS_PARTS_H
#define GRIDTIDE_TRACES_SASS_PARTS_H

#include <stddef.h>

#include "traces/sass/sass.h"

struct gt_sass_parts {
    const struct gt_sass_opcode *opcode;
    const char *modifiers; /* from the first dot of the mnemonic on, "" if none; `modifiers_length` long */
    size_t modifiers_length;
    const char *operands; /* behind the mnemonic */
    bool guarded;         /* begins with a guard, be it @PT */
    uint32_t width_bytes; /* of memory instructions */
    uint32_t m, n, k;     /* of matrix instructions */
};

/* Has the mnemonic this modifier, ".U8", whole? */
bool gt_sass_has(const struct gt_sass_parts *parts, const char *modifier);

/* A letter, a digit or "_". */
bool gt_sass_is_word(char c);

/* "R12", "UR4", "P0", "UP1" at `at`: the file and number into `operand`, and where it ends; NULL if it is none. */
const char *gt_sass_register_at(const char *at, struct gt_operand *operand);
bool gt_sass_is_predicate(const struct gt_operand *operand);

/* Behind those that `instruction` has; what does not fit is left out. */
void gt_sass_add_operand(struct gt_instruction *instruction, const struct gt_operand *operand);

/* All registers of the operands, behind the guard: results marked, sources with their places. */
void gt_sass_parse_operands(const struct gt_sass_parts *parts, struct gt_instruction *instruction);

/* The address in the constant banks of "c[0x0][0x210]"; GT_NONE where the operands have none, or one that lies in
 * no bank. */
uint32_t gt_sass_constant(const char *operands);

/* The first address in brackets that begins with a vector register, "[R2.64+0x10]"; base_count 0: there is none. */
struct gt_address gt_sass_address(const char *operands);

#endif
