/* stated.h - a recorded run in stated form: what the replay learned from its measured times said outright.
 *
 * Nothing in it is measured any more, so that it may be changed and simulated as any typed trace is; simulated as it is
 * it gives the replay's times.  Each call states its own CPU time, the thread's work before it, and how long it takes to
 * return after what it waited for; operations how long they last alone and, where their call does not say it, when the
 * GPU may start them; waits whose event was not recorded are edges.
 */
#ifndef GRIDTIDE_SIM_BASELINE_STATED_H
#define GRIDTIDE_SIM_BASELINE_STATED_H

#include "sim/simulate.h"

struct gt_stated {
    struct gt_workload
        *workload;             /* calls, operations and kernels have the numbers that they have in the recorded one */
    struct gt_learned learned; /* constants that hold in place of the device's: gt_options.learned */
    uint64_t inferred_waits;   /* edges that only measured times show */
    uint64_t dropped;   /* of these, and of graphs' chains: they contradict what is stated, and were given up */
    uint64_t too_short; /* kernels whose recorded duration contention does not explain */
};

/* `workload` as recorded on `recorded` (a typed one stays as it is); kernels that are to last as options->modelled says
 * state that.  The caller frees stated->workload. */
void gt_state(struct gt_stated *stated, const struct gt_workload *workload, const struct gt_device *recorded,
              const struct gt_options *options);

/* In `stated`, the stated form of `workload`, let kernels that were recorded beside others and did the same work last equally
 * long alone.  Simulated as it is it then gives the replay's times less exactly.  Returns false where none was. */
bool gt_state_alike(struct gt_workload *stated, const struct gt_workload *workload, const struct gt_device *recorded,
                    const struct gt_options *options);

/* The call, its operations' submission and their copies' times are as though they had not been recorded: by CUDA's
 * rules and the device file.  The thread's own work before it stays, and so do kernels' durations. */
void gt_stated_forget(struct gt_workload *workload, gt_call_index call);

#endif
