/* resize.h - operators get other inputs: their kernels, copies and memsets take as long as they then do. */
#ifndef GRIDTIDE_SIM_CHANGES_RESIZE_H
#define GRIDTIDE_SIM_CHANGES_RESIZE_H

#include "sim/devices/kernel_bound.h"
#include "sim/rewrite/scenario.h"
#include "sim/shapes/inputs.h"
#include "sim/shapes/product.h"

/* What an operator is given after the change, by `how`.  Its inputs are known. */
typedef void gt_resize_rule(const void *how, gt_range_index range, struct gt_inputs *to);

struct gt_resize {
    struct gt_scenario *scenario;
    struct gt_all_inputs inputs; /* before the change */
    struct gt_product_sweep *products;
    /* The optimiser's step, and other operators on lists of parameters, handle so many times as many bytes; 0: what they do
     * stays, whatever the rule says. */
    double parameters;
    uint64_t changed;               /* operators with other inputs than before, once applied */
    double all_us, unknown_us;      /* of kernels; of those whose operators' inputs are unknown, */
    uint64_t unknown, of_optimiser; /* how many launches these are; launches on lists of parameters */
    double optimiser_us;
    double family_us[GT_FAMILIES]; /* of kernels whose operators get other inputs, before that */
};

/* The inputs of the scenario's workload, and measured products.  Returns 0; -1 where no inputs were recorded, or the products cannot
 * be read.  gt_resize_end() follows either way. */
int gt_resize_begin(struct gt_resize *resize, struct gt_scenario *scenario, struct gt_error *error);
void gt_resize_end(struct gt_resize *resize);

/* By the rule.  The workload states the new inputs from then on, for the changes that follow.  Returns 0; -1 where that takes longer
 * than can be simulated. */
int gt_resize_apply(struct gt_resize *resize, gt_resize_rule *rule, const void *how, struct gt_error *error);

/* By the rule: the bytes of a model's parameters as a part of what they were, 1 where none are known.  Before gt_resize_apply(). */
double gt_resize_parameters(struct gt_resize *resize, gt_resize_rule *rule, const void *how);
/* What the answer says of them, if there is an optimiser. */
void gt_resize_assume_parameters(const struct gt_resize *resize);

/* What every answer of such a change rests on. */
void gt_resize_assume(const struct gt_resize *resize);

#endif
