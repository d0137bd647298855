/* roles.h - what PyTorch's operators take at which place: data, a model's parameters, or matrices to multiply. */
#ifndef GRIDTIDE_SIM_SHAPES_ROLES_H
#define GRIDTIDE_SIM_SHAPES_ROLES_H

enum {
    GT_ROLE_DATA = 'd',
    GT_ROLE_IMAGES = 'i',     /* data whose other sides have nothing to do with a sequence */
    GT_ROLE_HEADS_LAST = 'l', /* of attention: batch, sequence, heads, size */
    GT_ROLE_HEADS = 'h',      /* of attention: batch, heads, sequence, size */
    GT_ROLE_PARAMETER = 'p',
    GT_ROLE_NONE = '.',
    GT_ROLE_ANY = '?'
};

/* A letter an input, of those whose place says what they are; the inputs behind, and all of an operator that is not in the table,
 * are GT_ROLE_ANY. */
const char *gt_roles_of(const char *name);

/* The place of the first of the two matrices that the operator multiplies; -1: it multiplies none. */
int gt_product_first(const char *name);

/* An operator whose input `input` is data with the batch first, and with the sequence at seq_side (-1: it has none). */
struct gt_voter {
    const char *name;
    int input, least_sides, seq_side;
};
const struct gt_voter *gt_voter_of(const char *name);

#endif
