/* api_call.h - what each kind of call costs, does and waits for: one row a kind. */
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

/* CPU time of a call that was not measured, by the device file, whoever else makes calls. */
gt_time_ps gt_call_plain_ps(const struct gt_machine *m, gt_call_index call);
/* CPU time of a call, without what it waits for. */
gt_time_ps gt_call_cost_ps(const struct gt_machine *m, gt_call_index call);
/* From the end of what it waited for to its return. */
gt_time_ps gt_call_tail_ps(const struct gt_machine *m, gt_call_index call);

#endif
