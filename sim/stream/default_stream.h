/* default_stream.h - the rules of the legacy default stream. */
#ifndef GRIDTIDE_SIM_STREAM_DEFAULT_STREAM_H
#define GRIDTIDE_SIM_STREAM_DEFAULT_STREAM_H

#include "sim/machine/machine.h"

/* A command goes into its stream now. */
void gt_default_stream_submit(struct gt_machine *m, gt_command_index command);

/* Do the rules hold back the head of this stream?  It is woken when they do no longer. */
bool gt_default_stream_holds(struct gt_machine *m, gt_stream_index stream);

/* Would they let this command go, were it the head? */
bool gt_default_stream_lets(const struct gt_machine *m, gt_command_index command);

/* The stream has completed a command. */
void gt_default_stream_complete(struct gt_machine *m, gt_stream_index stream);

#endif
