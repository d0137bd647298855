/* host_thread.h - host threads walk their calls, those that share a lock one call after the other. */
#ifndef GRIDTIDE_SIM_STREAM_HOST_THREAD_H
#define GRIDTIDE_SIM_STREAM_HOST_THREAD_H

#include "sim/machine/machine.h"

/* The copy in that its call may be staging starts; the host will have done with it at `staged_ps`. */
void gt_thread_copy_started(struct gt_machine *m, gt_op_index op, gt_time_ps staged_ps);

/* One of the conditions is met that a thread's call waits for (gt_thread_wait()); `cause_op` ended with it. */
void gt_thread_release(struct gt_machine *m, gt_thread_index thread, gt_op_index cause_op);

/* Command `number` of `stream` is complete, which a poll of the thread asked for; `cause_op` ended with it. */
void gt_thread_poll_answered(struct gt_machine *m, gt_thread_index thread, gt_stream_index stream,
                             gt_command_number number, gt_op_index cause_op);
/* Event: the most pieces of a poll are done, if it is still under way. */
int gt_poll_handler(void *machine, gt_thread_index thread, uint64_t stamp, struct gt_error *error);

/* Event: the thread's next call begins. */
int gt_thread_handler(void *machine, gt_thread_index thread, uint64_t stamp, struct gt_error *error);

/* The locks that threads share. */
void gt_thread_locks_build(struct gt_machine *m);
void gt_thread_locks_free(struct gt_machine *m);

/* GT_HANDLE_LOCK: the call of the lock's holder has ended. */
int gt_thread_lock_handler(void *machine, uint32_t lock, uint64_t stamp, struct gt_error *error);

#endif
