/* staging.h - pageable copies that go through the driver's pinned buffers, chunk by chunk. */
#ifndef GRIDTIDE_SIM_MACHINE_STAGING_H
#define GRIDTIDE_SIM_MACHINE_STAGING_H

#include "sim/machine/machine.h"

/* Does a copy go by the driver's pinned buffers? */
bool gt_copy_staged(const struct gt_device *device, const struct gt_op *op);

/* How many buffers full it is, the last one perhaps in part; at least 1. */
uint64_t gt_staging_chunks(const struct gt_device *device, const struct gt_op *op);

/* The host's own copying of its first chunk, and of all of it. */
gt_time_ps gt_staging_first_ps(const struct gt_machine *m, gt_op_index op);
gt_time_ps gt_staging_all_ps(const struct gt_machine *m, gt_op_index op);

/* Of a copy out: what the host has to copy still when the GPU is done. */
gt_time_ps gt_staging_out_tail_ps(const struct gt_machine *m, gt_op_index op);

/* By latency and rates, as if the host had begun when the copy could: what it takes the GPU. */
double gt_staging_duration_ps(const struct gt_machine *m, const struct gt_device *device, gt_op_index op);

/* A copy in whose first chunk the host had in its buffer at `staged_ps` (simulated time) starts on the GPU now.
 * When the copy is over; and in `returned_ps`, when the host has the last chunk in a buffer. */
gt_time_ps gt_staging_in_end_ps(const struct gt_machine *m, gt_op_index op, gt_time_ps staged_ps,
                                gt_time_ps *returned_ps);

#endif
