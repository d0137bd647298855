/* exclusive_copy.h - copies within the device, on devices where kernels and they keep out of each other's way. */
#ifndef GRIDTIDE_SIM_GPU_EXCLUSIVE_COPY_H
#define GRIDTIDE_SIM_GPU_EXCLUSIVE_COPY_H

#include "sim/machine/machine.h"

/* Such a copy may start as soon as no kernel runs; it is over (gt_timed_op_start()). */
void gt_exclusive_copy_start(struct gt_machine *m, gt_command_index command);
void gt_exclusive_copy_ended(struct gt_machine *m, gt_command_index command);

/* Is one at work or waiting, so that no further kernel may become resident? */
bool gt_exclusive_copy_holds(const struct gt_gpu_state *gpu);

/* A kernel is over. */
void gt_exclusive_copy_kernel_gone(struct gt_machine *m, gt_gpu_index gpu);

/* Event: the engine's gap has passed, behind the last kernel or behind such a copy. */
int gt_exclusive_copy_handler(void *machine, gt_gpu_index gpu, uint64_t stamp, struct gt_error *error);

#endif
