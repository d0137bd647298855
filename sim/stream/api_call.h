/* api_call.h - what each kind of call costs, does and waits for: one row a kind.  Its times: call_times.h. */
#ifndef GRIDTIDE_SIM_STREAM_API_CALL_H
#define GRIDTIDE_SIM_STREAM_API_CALL_H

#include "sim/machine/machine.h"

struct gt_api_row {
    size_t cost_offset; /* of its CPU time in struct gt_device, for calls that state none */
    bool submits;       /* puts operations into a stream: blocks while the launch queue is full */
    /* Do the call for `thread` now; conditions it must wait for go through gt_thread_wait(). */
    void (*act)(struct gt_machine *m, gt_thread_index thread, gt_call_index call);
};
extern const struct gt_api_row gt_api[GT_CALL_KINDS];

/* What the thread's poll asks for is over since `over_ps`: how many pieces the thread has done when it is told. */
uint64_t gt_poll_pieces(const struct gt_machine *m, gt_thread_index thread, gt_time_ps over_ps);
/* When the query after so many pieces has its answer. */
gt_time_ps gt_poll_end_ps(const struct gt_machine *m, gt_thread_index thread, uint64_t pieces);

#endif
