/* capture.h - which calls of a thread stream capture would take into one graph, and what it refuses.
 *
 * By the rules of the CUDA programming guide ("Creating a Graph Using Stream Capture", "Prohibited and Unhandled
 * Operations"): while streams are captured nothing may wait for them or look at them, copies and memsets must be in the
 * asynchronous form, memory may be allocated and freed in stream order only, the legacy default stream may not be used
 * beside streams that wait for it, and an event recorded within means nothing outside.
 */
#ifndef GRIDTIDE_SIM_REWRITE_CAPTURE_H
#define GRIDTIDE_SIM_REWRITE_CAPTURE_H

#include "sim/workload/workload.h"

/* Calls of one thread, or of several that work for one step, two or more of which submit work. */
struct gt_capture {
    gt_thread_index thread;    /* of the first: the graph is launched by it */
    uint32_t team;             /* the lowest of the threads */
    gt_call_index first, last; /* that submit work */
    gt_stream_index
        stream;        /* the graph is launched there: the first that waits for the default stream, else the first */
    uint32_t launches; /* calls that submit work */
    gt_call_index refused; /* the call within that capture refuses; GT_NONE: it takes all */
    const char *why;       /* it does: "allocates memory" */
};

struct gt_captures {
    struct gt_capture *list;
    uint32_t count, room;
    uint32_t *of; /* by call: the capture between whose first and last call it is; GT_NONE */
};

/* Stretches of a thread's calls between which the host waits for the GPU or looks at it, or, with `steps`, does not: then
 * a wait within is refused.  Graphs are not captured again, and divide, as do steps: step_of[i] is that of call i; 0: it is
 * in none.  Within a step threads that launch into the same streams work for each other (PyTorch's backward pass has a
 * thread of its own): their calls are one stretch. */
void gt_captures_find(struct gt_captures *captures, const struct gt_workload *workload, bool steps,
                      const uint32_t *step_of);
void gt_captures_free(struct gt_captures *captures);

/* The capture that takes this call; GT_NONE: none does. */
uint32_t gt_capture_of(const struct gt_captures *captures, gt_call_index call);

#endif
