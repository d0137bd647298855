/* work.h - what an operator has its kernels do at least, by its inputs: arithmetic, and bytes from and to DRAM.
 *
 * Each input is read once and what comes out is written once; inputs are taken to be dense.  Products, attention and
 * convolutions are counted as they are defined, a multiply-add as two; other operators do one operation for each element.
 * Operators that are not in the tables, and lists of tensors, are not known.
 */
#ifndef GRIDTIDE_SIM_SHAPES_WORK_H
#define GRIDTIDE_SIM_SHAPES_WORK_H

#include "sim/shapes/inputs.h"
#include "sim/shapes/precision.h"

struct gt_work {
    enum gt_precision precision;
    double flops, bytes;
    bool unless_causal; /* attention, whose inputs do not say: causal, it is half of flops, or a little more */
};

/* What a kernel does for its operator. */
enum gt_work_part {
    GT_WORK_MAIN,            /* the operator's work, or a share of it */
    GT_WORK_INPUT_GRADIENT,  /* of a convolution */
    GT_WORK_WEIGHT_GRADIENT, /* likewise */
    GT_WORK_GRADIENTS,       /* both */
    GT_WORK_HELP,            /* prepares data for those, or sums up behind them: nothing that the operator needs */
    GT_WORK_PARTS
};
enum gt_work_part gt_work_part_of(const char *operator_name, const char *kernel);
/* What those kernels of an operator do of which gt_work_part_of() says GT_WORK_MAIN: of a convolution's gradients, which of them do
 * not all tell by their names, those that the operator is asked for and no other kernel of it makes.  `inputs_made`,
 * `weights_made`: another kernel makes that gradient. */
enum gt_work_part gt_work_part_left(const char *operator_name, const struct gt_inputs *inputs, bool inputs_made,
                                    bool weights_made);

/* Does the kernel of a convolution multiply, or does it only turn data round for one that does? */
bool gt_convolution_multiplies(const char *kernel);

/* The work of one part, all of whose kernels share it; `kernel` is the name of one.  `out`: of a convolution whose strides were not
 * recorded, what comes out of it; else, and where that is not known, NULL.  False: not known. */
bool gt_work_of(const char *operator_name, const struct gt_inputs *inputs, const struct gt_tensor *out,
                enum gt_work_part part, const char *kernel, struct gt_work *work);

/* Is it a convolution whose inputs do not say how large its result is, so that gt_work_of() needs `out`? */
bool gt_work_needs_out(const char *operator_name, const struct gt_inputs *inputs);
/* Could the tensor come out of that convolution? */
bool gt_work_could_be_out(const struct gt_inputs *inputs, const struct gt_tensor *out);

/* Attention over sequences, all of one length. */
struct gt_attention {
    double batch, heads, queries, keys, size, value_size; /* of a head */
    uint8_t element_bytes;
    bool backward;
};
/* False: the operator is none, or its inputs do not say what. */
bool gt_attention_of(const char *operator_name, const struct gt_inputs *inputs, struct gt_attention *attention);

#endif
