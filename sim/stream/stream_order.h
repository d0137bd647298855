/* stream_order.h - what goes before what across streams by CUDA's own rules, though no event says so. */
#ifndef GRIDTIDE_SIM_STREAM_STREAM_ORDER_H
#define GRIDTIDE_SIM_STREAM_STREAM_ORDER_H

#include "sim/machine/machine.h"

/* What is known of launches of executable graphs. */
void gt_stream_order_build(struct gt_machine *m);
void gt_stream_order_free(struct gt_machine *m);

/* A command goes into its stream now, and has its number. */
void gt_stream_order_submit(struct gt_machine *m, gt_command_index command);

/* Do the rules hold back the head of this stream?  It is woken when they do no longer.  A graph waits for the launch before it
 * as for an event (gt_stream_command.target_stream). */
bool gt_stream_order_holds(struct gt_machine *m, gt_stream_index stream);

/* Would they let this command go, were it the head? */
bool gt_stream_order_lets(const struct gt_machine *m, gt_command_index command);

/* The stream has completed a command. */
void gt_stream_order_complete(struct gt_machine *m, gt_stream_index stream);

#endif
