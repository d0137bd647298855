/* inputs.h - the operator that made each call of a workload, with what it was given. */
#ifndef GRIDTIDE_SIM_SHAPES_INPUTS_H
#define GRIDTIDE_SIM_SHAPES_INPUTS_H

#include "sim/workload/tensor.h"
#include "sim/workload/workload.h"

struct gt_inputs {
    int count;
    struct gt_tensor tensors[GT_MOST_INPUTS];
};

struct gt_all_inputs {
    const struct gt_workload *workload;
    struct gt_inputs **of_name;  /* by name: those that the text says, each text once; NULL: it is of no inputs */
    gt_range_index *operator_of; /* by call: the innermost range around it whose inputs are known; GT_NONE */
    uint32_t names, known;       /* names that the workload had; ranges with inputs */
};

void gt_all_inputs_find(struct gt_all_inputs *all, const struct gt_workload *workload);
void gt_all_inputs_free(struct gt_all_inputs *all);

/* Of a range; NULL: not known. */
const struct gt_inputs *gt_inputs_of(const struct gt_all_inputs *all, gt_range_index range);
/* Are inputs `first` and the one behind it there, and have both so many sides?  As what a product multiplies has: gt_product_first(). */
bool gt_inputs_are_matrices(const struct gt_inputs *inputs, int first, int sides);
/* The name of an operator without "aten::". */
const char *gt_operator_name(const struct gt_workload *workload, gt_range_index range);

#endif
