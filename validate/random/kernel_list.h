/* kernel_list.h - kernels of a trace file, as lines to be written again: what the families pairs and triples draw among. */
#ifndef GRIDTIDE_VALIDATE_RANDOM_KERNEL_LIST_H
#define GRIDTIDE_VALIDATE_RANDOM_KERNEL_LIST_H

#include <stdint.h>

#include "sim/base/error.h"

struct gt_listed_kernel {
    char *line; /* its definition in the trace format, a JSON object without a newline */
    char *id;   /* by which calls name it: a text as JSON writes it, with quotes, or a number */
};

struct gt_kernel_list {
    struct gt_listed_kernel *kernels;
    uint32_t count, room;
};

/* Read the kernels of `path`, a plain trace file (.jsonl) of Gridtide's format; its other lines are checked and left.  Returns 0
 * (then gt_kernel_list_free), or -1 with the line that is wrong, or where there are fewer than three kernels. */
int gt_kernel_list_read(const char *path, struct gt_kernel_list *list, struct gt_error *error);
void gt_kernel_list_free(struct gt_kernel_list *list);

#endif
