/* pass_cost.h - how long a pass of an inference engine takes.
 *
 * An engine calls its model again and again; each call is a pass.  A pass takes tokens of one prompt (prefill), one token of each
 * sequence that decodes, or both.  How long passes of either kind take is known at the nodes of a grid; between them the
 * cost is interpolated.
 */
#ifndef GRIDTIDE_SIM_BATCHING_PASS_COST_H
#define GRIDTIDE_SIM_BATCHING_PASS_COST_H

#include "sim/workload/workload.h"

enum gt_pass_kind { GT_PASS_DECODE, GT_PASS_PREFILL, GT_PASS_KINDS };
extern const char *const gt_pass_kind_names[GT_PASS_KINDS]; /* "decode", "prefill" */

struct gt_pass {
    uint32_t tokens, before; /* of a prompt: so many are prefilled, with so many of it in the cache; tokens 0: none */
    uint32_t sequences, context; /* that decode, each with so many tokens in the cache; sequences 0: none */
};

/* A node's place: sequences and context of decoding; tokens and tokens before of prefill. */
struct gt_pass_grid {
    uint32_t *sizes, *depths; /* rising */
    uint32_t size_count, depth_count;
    double *us;       /* [size * depth_count + depth] */
    double *products; /* the same: the part of a pass's time that its matrix products take; NULL: none */
};

struct gt_pass_costs {
    struct gt_pass_grid grids[GT_PASS_KINDS]; /* size_count 0: not known */
    double between_us;                        /* of the engine itself, from pass to pass */
};

/* Linear between the nodes and beyond the last ones, where a pass takes no less than at the last node; as at the first ones
 * before them.  A pass of both kinds takes what prefill of all its tokens takes, and by what decoding takes longer than
 * prefill of as many tokens. */
gt_time_ps gt_pass_ps(const struct gt_pass_costs *costs, const struct gt_pass *pass);

/* The part of that time that matrix products take, for a pass of one kind. */
double gt_pass_products(const struct gt_pass_costs *costs, const struct gt_pass *pass);

/* Sort and unite: each number of `values` once, rising; returns how many. */
uint32_t gt_pass_axis(uint32_t *values, uint32_t count);

/* A grid of these axes, which it owns; all costs are NAN, and no pass has products. */
struct gt_pass_grid gt_pass_grid_new(uint32_t *sizes, uint32_t size_count, uint32_t *depths, uint32_t depth_count);
/* Nodes that are NAN are interpolated: along the depths where two or more of their size are known, then along the sizes.  Returns how many
 * were; none of a grid whose nodes are all NAN. */
uint32_t gt_pass_grid_fill(struct gt_pass_grid *grid);
void gt_pass_grid_free(struct gt_pass_grid *grid);

#endif
