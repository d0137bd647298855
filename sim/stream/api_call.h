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

#endif
