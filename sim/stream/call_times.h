/* call_times.h - how long a call takes, when what it asks for is there for the GPU, and whether it waits for that. */
#ifndef GRIDTIDE_SIM_STREAM_CALL_TIMES_H
#define GRIDTIDE_SIM_STREAM_CALL_TIMES_H

#include "sim/machine/machine.h"

/* CPU time of such a call by the device file, without what some calls of its kind cost more. */
gt_time_ps gt_call_row_ps(const struct gt_workload *workload, const struct gt_device *device,
                          const struct gt_call *call);
/* CPU time of a call that was not measured, by the device file, whoever else makes calls. */
gt_time_ps gt_call_plain_ps(const struct gt_machine *m, gt_call_index call);
/* CPU time of a call, without what it waits for. */
gt_time_ps gt_call_cost_ps(const struct gt_machine *m, gt_call_index call);
/* From the end of what it waited for to its return. */
gt_time_ps gt_call_tail_ps(const struct gt_machine *m, gt_call_index call);

/* Does the call return only when its operation is done (sim/workload/host_waits.h), or, of a copy in with more to stage than there
 * are buffers, not before it has started?  Asked before its command is put into the stream. */
bool gt_call_waits_for_end(const struct gt_machine *m, gt_call_index call, const struct gt_op *op);
bool gt_call_waits_for_start(const struct gt_machine *m, gt_call_index call, const struct gt_op *op);

/* When what a call that begins now asks for at its end is there for the GPU, `latency_ps` later; its operation, for whose
 * end it waits or not; a node of the graph that it launches. */
gt_time_ps gt_call_visible_ps(const struct gt_machine *m, gt_call_index call, int64_t latency_ps);
gt_time_ps gt_op_visible_ps(const struct gt_machine *m, gt_call_index call, const struct gt_op *op, bool waits);
gt_time_ps gt_node_visible_ps(const struct gt_machine *m, gt_call_index call, gt_op_index op);
/* By how much later a launch starts because it is cooperative, behind its call or behind anything else. */
gt_time_ps gt_cooperative_ps(const struct gt_machine *m, const struct gt_op *op);

/* `thread` makes this call now: what it costs beyond the row of its kind because it is the thread's first of the
 * kind, the first into its stream, or follows another kind; and remember that it was made.  Seen on H200s, of
 * launches of 5.6 us: a thread's first 3.6 us more, into a new stream 1.6 us, after another kind of call 0.6 us
 * (7,800 launches of random traces; validate/README.md). */
gt_time_ps gt_call_extra_ps(struct gt_machine *m, gt_thread_index thread, gt_call_index call);

#endif
