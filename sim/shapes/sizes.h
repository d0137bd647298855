/* sizes.h - which sizes of operators' inputs follow the batch and the length of sequences.
 *
 * A profile has numbers: 1536 may be a batch of 8 times 192 words, or a number of features.  What a model keeps for itself, its
 * parameters, is known by the places where operators take them; the other tensors begin with the batch, or with the batch times
 * something, and a side that is as long as the recorded sequence follows the sequence.
 */
#ifndef GRIDTIDE_SIM_SHAPES_SIZES_H
#define GRIDTIDE_SIM_SHAPES_SIZES_H

#include "sim/shapes/inputs.h"

/* From what was recorded to what is asked. */
struct gt_size_change {
    uint64_t batch, new_batch; /* the same: the batch stays */
    uint64_t seq, new_seq;     /* likewise; seq 0: none is known */
};

struct gt_row_count { /* of a matrix: so many rows, that a tensor's first sides make together */
    uint64_t rows, new_rows;
};

struct gt_parameter;

struct gt_sizes {
    const struct gt_all_inputs *all;
    struct gt_size_change change;
    struct gt_parameter *parameters; /* shapes, each once */
    uint64_t head_size;              /* of attention's heads; 0: none was seen */
    bool seq_is_of_model;            /* a side of the model itself is as long as the sequence */
    struct gt_row_count *rows;       /* each number once */
    uint32_t row_count, row_room;
};

/* The batch that was recorded, and the length of its sequences, by the inputs of embeddings, products and convolutions; 0: not
 * known. */
uint64_t gt_recorded_batch(const struct gt_all_inputs *all);
uint64_t gt_recorded_seq(const struct gt_all_inputs *all);

/* gt_sizes_free() ends it; `all` is lent until then. */
void gt_sizes_find(struct gt_sizes *sizes, const struct gt_all_inputs *all, const struct gt_size_change *change);
void gt_sizes_free(struct gt_sizes *sizes);

/* What the operator is given after the change, into *to.  Its inputs are known. */
void gt_sizes_apply(const struct gt_sizes *sizes, gt_range_index range, struct gt_inputs *to);

/* Is it of the sides of a parameter, turned or not? */
bool gt_sizes_has_parameter(const struct gt_sizes *sizes, const struct gt_tensor *tensor);

/* Of the two matrices of a product, M x K and K x N: which of the three numbers is of rows, that the batch and the sequence make. */
enum gt_product_side { GT_SIDE_M, GT_SIDE_K, GT_SIDE_N, GT_SIDE_NONE };
enum gt_product_side gt_sizes_rows_of(const struct gt_sizes *sizes, const struct gt_tensor *left,
                                      const struct gt_tensor *right);

/* Has the model a parameter of so many elements? */
bool gt_sizes_has_parameter_of(const struct gt_sizes *sizes, double elements);

/* Is a side of the model itself as long as the sequence, so that the two cannot be told apart? */
bool gt_sizes_seq_is_unclear(const struct gt_sizes *sizes);

#endif
