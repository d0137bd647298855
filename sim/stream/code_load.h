/* code_load.h - a call that loads its kernel's code: the GPU finishes what it has before it goes on. */
#ifndef GRIDTIDE_SIM_STREAM_CODE_LOAD_H
#define GRIDTIDE_SIM_STREAM_CODE_LOAD_H

#include "sim/machine/machine.h"

/* A command goes into its stream now. */
void gt_code_load_submit(struct gt_machine *m, gt_command_index command);

/* Does a load of code hold back the head of this stream?  It is woken when it does no longer. */
bool gt_code_load_holds(struct gt_machine *m, gt_stream_index stream);

/* Would it let this command go, were it the head? */
bool gt_code_load_lets(const struct gt_machine *m, gt_command_index command);

/* The stream has completed a command. */
void gt_code_load_complete(struct gt_machine *m, gt_stream_index stream);

#endif
