/* copy_engine.h - copies wait for their engine, then share the link to the host. */
#ifndef GRIDTIDE_SIM_GPU_COPY_ENGINE_H
#define GRIDTIDE_SIM_GPU_COPY_ENGINE_H

#include "sim/machine/machine.h"

/* The gt_op_rule of copies. */
void gt_copy_start(struct gt_machine *m, gt_command_index command);
void gt_copy_timed_end(struct gt_machine *m, gt_command_index command);

/* Event: a collective's data has set off or stopped, or blocks that work in another GPU's memory, by the stamp: what lies
 * between GPUs is shared anew. */
int gt_links_handler(void *machine, uint32_t unused, uint64_t stamp, struct gt_error *error);

/* The start of memsets, which need no engine. */
void gt_memset_start(struct gt_machine *m, gt_command_index command);

/* Events, of engine number GPU * GT_ENGINES + engine: the copy at work ends; the gap behind a copy has
 * passed. */
int gt_copy_handler(void *machine, uint32_t engine, uint64_t stamp, struct gt_error *error);
int gt_engine_handler(void *machine, uint32_t engine, uint64_t stamp, struct gt_error *error);

#endif
