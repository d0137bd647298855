/* order.h - which operations of a workload happen before which, whatever time they take.
 *
 * Goes through the calls in the workload's order and says of each operation on which line it is (line.h), when that
 * line knows all that has to have ended before it starts.  By CUDA's rules, as the simulator has them (sim/stream):
 *
 *   a stream's commands happen one after the other; a launched graph is one of them, its nodes ordered by edges (without
 *   any edge: by the streams that they were recorded in), and comes after the launch before of the same executable graph
 *   (sim/workload/executables.h), in whatever stream that was;
 *   an event stands for what its stream was asked for before its last record; a wait for it takes the record that is the
 *   last at the time of the wait; of an event that was never recorded, or was created or destroyed since, it is none;
 *   the legacy default stream is behind all that the blocking streams of its context were asked for before, and they
 *   behind it;
 *   what a stream is asked for behind a rank's part of a collective comes after what the parts of ranks that it gets
 *   something of came after (each rank of each; of a broadcast's root; a reduction's root of all; a message's sender), as
 *   far as the trace asks for it when these parts have been asked for;
 *   what a thread asks for comes after all that it has seen end: by a synchronisation of a stream, an event or a device,
 *   a poll until the end, a copy or memset that its call waits for, cudaFree.  Queries order nothing: nobody knows what
 *   they said.
 *
 * What one thread saw end, another thread does not know of, unless times were recorded: what a thread of the same process
 * asked for later than the synchronisation returned comes after it.  A wait or synchronisation whose target was not
 * recorded is taken to be for everything, and is counted.
 */
#ifndef GRIDTIDE_SIM_CHECK_ORDER_H
#define GRIDTIDE_SIM_CHECK_ORDER_H

#include "sim/check/line.h"
#include "sim/workload/workload.h"

struct gt_order; /* how far the walk has come */

/* `visit` is told each operation: its line, and its stamp there, which `line` has come to. */
typedef void gt_order_visitor(void *user, gt_op_index op, const struct gt_line *line, struct gt_stamp stamp);

/* The workload, one that gt_workload_check() let pass, must stay. `guesses`, which must stay too: by operation the one that it
 * is taken to have waited for (gt_order_guesses()), in place of everything, where a stream waits for what was not recorded;
 * NULL: everything. */
struct gt_order *gt_order_new(const struct gt_workload *workload, const gt_op_index *guesses, gt_order_visitor *visit,
                              void *user);
/* What waits of unknown target seem to have been for, by measured times (sim/replay/inferred_waits.c): by operation, GT_NONE:
 * nothing that shows. free()d by the caller. */
gt_op_index *gt_order_guesses(const struct gt_workload *workload);
void gt_order_free(struct gt_order *order);

/* The next call. */
void gt_order_call(struct gt_order *order, gt_call_index call);

/* What memory that is given back knows: what has to have ended before it is used again. */
struct gt_freed {
    struct gt_line line;      /* all that the free came after */
    struct gt_line *recorded; /* what its allocator waits for besides: see GT_CALL_RECORD_STREAM */
    uint32_t recorded_count;
    bool in_stream; /* freed in a stream's order */
};
/* `call` is a free, gt_order_call() has had it: what it knows of the streams that the buffer was recorded to be used in.
 * gt_freed_free() ends it. */
struct gt_freed gt_order_freed(struct gt_order *order, gt_call_index call);
void gt_freed_free(struct gt_freed *freed);
/* `call`, the next one after gt_order_call(), an alloc, gets memory that was given back so. */
void gt_order_reuse(struct gt_order *order, gt_call_index call, const struct gt_freed *freed);

/* Waits and synchronisations so far whose target was not recorded. */
uint64_t gt_order_unknown_waits(const struct gt_order *order);

#endif
