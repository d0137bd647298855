/* order.h - which operations of a workload happen before which, whatever time they take.
 *
 * Goes through the calls in the workload's order and writes down what each comes after (steps.h); then through all that in
 * an order in which it can happen.  By CUDA's rules, as the simulator has them (sim/stream):
 *
 *   a stream's commands happen one after the other; a launched graph is one of them, its nodes ordered by edges (without
 *   any edge: by the streams that they were recorded in), and comes after the launch before of the same executable graph
 *   (sim/workload/executables.h), in whatever stream that was;
 *   an event stands for what its stream was asked for before its last record; a wait for it takes the record that is the
 *   last at the time of the wait; of an event that was never recorded, or was created or destroyed since, it is none;
 *   the legacy default stream is behind all that the blocking streams of its context were asked for before, and they
 *   behind it; a context is a process's own; a copy between GPUs in a legacy default stream is so with the other GPU's
 *   blocking streams, too (which the simulator does not hold back);
 *   what a stream is asked for behind a rank's part of a collective comes after what the parts of ranks that it gets
 *   something of came after (each rank of each; of a broadcast's root; a reduction's root of all; a message's receiver of
 *   its sender), in whatever order the trace has the ranks' calls;
 *   what a thread asks for comes after all that it has seen end, by what CUDA promises of the calls that wait
 *   (sim/workload/host_waits.h).  Queries order nothing: nobody knows what they said;
 *   who is given memory comes after what it waits for since it was given back (GT_CALL_RECORD_STREAM).
 *
 * What one thread saw end, another thread does not know of, unless times were recorded: what a thread of the same process
 * asked for later than the synchronisation returned comes after it.  A wait or synchronisation whose target was not
 * recorded is taken to be for everything, and is counted.
 */
#ifndef GRIDTIDE_SIM_CHECK_ORDER_H
#define GRIDTIDE_SIM_CHECK_ORDER_H

#include "sim/check/steps.h"

struct gt_order; /* all that happens, and in which order */

/* The workload, one that gt_workload_check() let pass, must stay. `guesses`, which are needed here alone: by operation the one
 * that it is taken to have waited for (gt_order_guesses()), in place of everything, where a stream waits for what was not
 * recorded; NULL: everything. */
struct gt_order *gt_order_new(const struct gt_workload *workload, const gt_op_index *guesses);
void gt_order_free(struct gt_order *order);
/* What waits of unknown target seem to have been for, by measured times (sim/replay/inferred_waits.c): by operation, GT_NONE:
 * nothing that shows. free()d by the caller. */
gt_op_index *gt_order_guesses(const struct gt_workload *workload);

/* Visit the operations, and what is given back, in an order in which they can happen (steps.h). */
void gt_order_walk(const struct gt_order *order, const struct gt_step_visitor *visitor, void *user);

/* Waits and synchronisations whose target was not recorded. */
uint64_t gt_order_unknown_waits(const struct gt_order *order);

#endif
