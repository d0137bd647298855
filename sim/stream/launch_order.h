/* launch_order.h - threads of a recorded rank keep the order in which they put work into a stream.
 *
 * PyTorch's backward pass has a thread of its own, which the one that trains starts and waits for without a call of CUDA's.
 * Played each at its own pace, one of them would overtake the other where the simulated GPU is slower or faster than the recorded one
 * was: a rank would then launch its collectives in another order than the others, and all would wait for ever.  NCCL's
 * users must launch a group's collectives in one order on every rank (NCCL User Guide, "Using multiple NCCL
 * communicators concurrently"), so something in the program keeps that order, which nobody recorded.
 *
 * Where there are collectives, a recorded call that puts something into a stream is therefore made once the calls of other
 * threads are that were recorded to do so before it; so is one that the legacy default stream orders behind another, and a
 * rank's part of a collective behind the part before it, whatever streams these are in.  Traces that are typed without times are played as they stand. */
#ifndef GRIDTIDE_SIM_STREAM_LAUNCH_ORDER_H
#define GRIDTIDE_SIM_STREAM_LAUNCH_ORDER_H

#include "sim/machine/machine.h"

void gt_launch_order_build(struct gt_machine *m);
void gt_launch_order_free(struct gt_machine *m);

/* May the thread's next call be made as far as this goes?  False: a GT_HANDLE_THREAD event comes once it may. */
bool gt_launch_order_come(struct gt_machine *m, gt_thread_index thread);
/* The call has put into its stream what it had to. */
void gt_launch_order_made(struct gt_machine *m, gt_call_index call);

/* Of the threads that wait for another's call, let the one go on whose call comes first. False: none waits. */
bool gt_launch_order_release(struct gt_machine *machine);

#endif
