/* graph_writer.h - the calls that stream capture takes, written anew as graph launches. */
#ifndef GRIDTIDE_SIM_REWRITE_GRAPH_WRITER_H
#define GRIDTIDE_SIM_REWRITE_GRAPH_WRITER_H

#include "sim/rewrite/scenario.h"
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

/* What became of them. */
struct gt_graph_counts {
    uint32_t graphs, launches, nodes; /* graph launches, the calls in their place, their operations */
    uint32_t different;               /* graphs, by their nodes and edges */
    gt_time_ps own_work_ps;           /* that the host did to launch them, and does not do any more */
    uint32_t unknown_waits;           /* for events that the trace does not name */
    uint32_t lost_edges;              /* see gt_rebuild_end() */
};

/* A new workload in which each capture that is not refused is one graph launch, where its last call was: with edges by
 * the order of streams and by events.  What else the thread did between its calls is left out, but that a stream waits
 * for an event of outside, which the graph's stream does then; and of its own work before and behind them as much as the
 * most that it did between two of them.  The caller owns the workload. */
struct gt_workload *gt_write_graphs(const struct gt_workload *workload, const struct gt_captures *captures,
                                    enum gt_unnamed_waits unnamed, struct gt_graph_counts *counts);

#endif
