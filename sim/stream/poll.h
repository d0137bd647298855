/* poll.h - a thread that works piece by piece beside the GPU, and asks in between whether an event or a stream is done.
 *
 * It asks (host.poll_query_us), and as long as the answer is no does a piece and asks again, its most pieces at most.
 * The answer is yes from latency.poll_seen_us after the end of what is asked for, which is the event's last record, or
 * all of the stream, as the poll begins.
 */
#ifndef GRIDTIDE_SIM_STREAM_POLL_H
#define GRIDTIDE_SIM_STREAM_POLL_H

#include "sim/machine/machine.h"

/* The `act` of a gt_api_row: the thread asks for the first time.  It is pending then, unless the answer is yes. */
void gt_poll_begin(struct gt_machine *m, gt_thread_index thread, gt_call_index call);

/* What is asked for is over since `over_ps`: how many pieces the thread has done when it is told. */
uint64_t gt_poll_pieces(const struct gt_machine *m, gt_thread_index thread, gt_time_ps over_ps);
/* When the query after so many pieces has its answer. */
gt_time_ps gt_poll_end_ps(const struct gt_machine *m, gt_thread_index thread, uint64_t pieces);

#endif
