/* thread_lock.h - a lock that threads of a process share and hold while they call: an interpreter's (Python's GIL).
 *
 * Who finds it taken stands in line, first come, first served; a thread that has called stands at the end again, however
 * soon its next call comes.  From its release to the next one's call host.lock_us pass.  A call begins when its thread
 * has the lock; which calls need it gt_call_needs_lock() says.
 */
#ifndef GRIDTIDE_SIM_STREAM_THREAD_LOCK_H
#define GRIDTIDE_SIM_STREAM_THREAD_LOCK_H

#include "sim/machine/machine.h"

void gt_thread_locks_build(struct gt_machine *m);
void gt_thread_locks_free(struct gt_machine *m);

/* The thread's next call may begin: true. False: it is handed the lock later, by a GT_HANDLE_THREAD event whose stamp
 * is GT_THREAD_HAS_LOCK. */
enum { GT_THREAD_HAS_LOCK = 1 };
bool gt_thread_lock_take(struct gt_machine *m, gt_thread_index thread);
/* Its call ends at that time, now or later; to be said before its next call is scheduled. */
void gt_thread_lock_give(struct gt_machine *m, gt_thread_index thread, gt_time_ps end_ps);

/* GT_HANDLE_LOCK: such a time has come. */
int gt_thread_lock_handler(void *machine, uint32_t lock, uint64_t stamp, struct gt_error *error);

#endif
