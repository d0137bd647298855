/* stream.h - streams go through their commands. */
#ifndef GRIDTIDE_SIM_STREAM_STREAM_H
#define GRIDTIDE_SIM_STREAM_STREAM_H

#include "sim/machine/machine.h"

/* Go on with a stream as far as it goes now. */
void gt_stream_advance(struct gt_machine *m, gt_stream_index stream);

/* The command at its head is complete: whoever waits for that is told, and the next one is the head. */
void gt_stream_complete(struct gt_machine *m, gt_stream_index stream);

/* Is the operation to start when it was recorded to (at_recorded)? */
static inline bool gt_starts_as_recorded(const struct gt_machine *m, gt_op_index op)
{
    return m->at_recorded && m->workload->ops[op].start_ps != GT_TIME_NONE;
}

/* Event: gt_stream_wake() asked for it. */
int gt_stream_handler(void *machine, gt_stream_index stream, uint64_t stamp, struct gt_error *error);

#endif
