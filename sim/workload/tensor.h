/* tensor.h - types and sizes of an operator's inputs, as gt_range.inputs holds them.
 *
 * A text with a word an input: "bfloat16[8,128,768]" is a tensor, "float32[]" one without sides, "?[8]" one of unknown type,
 * "?[64,3]+" a list of tensors, of which it is the first but [0]; "-1" is a whole number (of truths, true is 1 and false 0), "(2,2)" a list
 * of them, "()" an empty one; "-" anything else: a number that was not recorded or is not whole, nothing.
 */
#ifndef GRIDTIDE_SIM_WORKLOAD_TENSOR_H
#define GRIDTIDE_SIM_WORKLOAD_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

enum { GT_TENSOR_SIDES = 8, GT_TENSOR_TYPE_BYTES = 20, GT_MOST_INPUTS = 12 };

struct gt_tensor {
    uint64_t size[GT_TENSOR_SIDES];
    int32_t number[GT_TENSOR_SIDES]; /* of what is no tensor, but a whole number or a list of them */
    char type[GT_TENSOR_TYPE_BYTES]; /* "float32"; "?": not known */
    uint8_t sides;
    uint8_t element_bytes; /* 0: not known */
    uint8_t numbers;       /* how many */
    bool is_list;          /* a tensor: the first of a list; numbers: in brackets */
    bool is_tensor;        /* false: numbers, or anything else, and then all is 0 */
};

/* The inputs that the text names, of GT_TENSOR_SIDES sides or numbers each at most, the first GT_MOST_INPUTS of them; those behind
 * are checked and left out.  Numbers are within 31 bits and a sign.  Returns how many; -1: that is no such text. */
int gt_tensors_read(const char *text, struct gt_tensor tensors[GT_MOST_INPUTS]);

/* The text of them, malloced. */
char *gt_tensors_text(const struct gt_tensor *tensors, int count);

/* Its elements; 1 of one without sides, 0 of what is no tensor.  Saturates. */
double gt_tensor_elements(const struct gt_tensor *tensor);
/* Its bytes, elements of unknown type taken for 4 each. */
double gt_tensor_bytes(const struct gt_tensor *tensor);

/* Are its elements whole numbers, such as places and labels? */
bool gt_tensor_is_whole(const struct gt_tensor *tensor);

/* Are they of the same sides? */
bool gt_tensors_alike(const struct gt_tensor *one, const struct gt_tensor *other);

#endif
