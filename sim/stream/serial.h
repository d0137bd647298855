/* serial.h - one operation at a time (--serialize). */
#ifndef GRIDTIDE_SIM_STREAM_SERIAL_H
#define GRIDTIDE_SIM_STREAM_SERIAL_H

#include "sim/machine/machine.h"

/* May an operation start that its stream, or its graph, lets go? Else gt_node_handler() is told when it may. */
bool gt_serial_allows(struct gt_machine *m, gt_command_index command);

/* The operation that had the place has ended: the next one in line has it. */
void gt_serial_ended(struct gt_machine *m, gt_op_index op);

#endif
