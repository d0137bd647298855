/* parameters.h - what a kernel's name says of its parameters: which are pointers, and to const. */
#ifndef GRIDTIDE_TRACES_RECORDED_PARAMETERS_H
#define GRIDTIDE_TRACES_RECORDED_PARAMETERS_H

#include <stdint.h>

enum gt_parameter_type { GT_PARAMETER_OTHER, GT_PARAMETER_POINTER, GT_PARAMETER_CONST_POINTER };

struct gt_parameter_types {
    uint8_t *type;  /* gt_parameter_type */
    uint32_t count; /* 0: the name does not say */
};

/* Of a function as its source has it, "void f<int>(float*, float const*)".  `types` is filled; its list is the
 * caller's to free. */
void gt_parameter_types_read(const char *name, struct gt_parameter_types *types);

#endif
