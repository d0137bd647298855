/* validate_input.h - the traces of `gridtide validate`: files, or drawn at random. */
#ifndef GRIDTIDE_SIM_CMD_GPU_VALIDATE_INPUT_H
#define GRIDTIDE_SIM_CMD_GPU_VALIDATE_INPUT_H

#include "sim/cmd/gpu/validate_arguments.h"

/* What trace `number` goes by before it is read, into `place`: its path, or the name of a random one. */
void gt_validate_place(const struct gt_validate_arguments *arguments, size_t number, char *place, size_t bytes);

/* Read or draw it. NULL with the reason; the caller frees it. */
struct gt_workload *gt_validate_read(const struct gt_validate_arguments *arguments, size_t number,
                                     struct gt_error *error);

/* What it is called in tables and in the store, into `name`: its own name, or its path's stem.  `workload` may be NULL. */
void gt_validate_name(const struct gt_workload *workload, const char *path, char *name, size_t bytes);

#endif
