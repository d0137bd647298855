/* recording.h - what `gridtide record` says of its own cost: where a trace is of its making, what-ifs take it off. */
#ifndef GRIDTIDE_SIM_WORKLOAD_RECORDING_H
#define GRIDTIDE_SIM_WORKLOAD_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

/* What is measured without recording, and with it. */
enum gt_recording_sort {
    /* Of the host: a call, with what passes until the next one of the same sort. */
    GT_RECORDING_LAUNCH,
    GT_RECORDING_COPY,
    GT_RECORDING_MEMSET,
    GT_RECORDING_EVENT_RECORD,
    GT_RECORDING_EVENT_WAIT,
    GT_RECORDING_QUERY,
    GT_RECORDING_SYNC, /* of a stream that has nothing to do */
    GT_RECORDING_ALLOC,
    GT_RECORDING_RANGE, /* begin and end */
    GT_RECORDING_GRAPH_LAUNCH,
    GT_RECORDING_GRAPH_NODE, /* that it takes longer for each node */
    /* Of the GPU: an operation and the gap behind it, in one stream. */
    GT_RECORDING_KERNEL,
    GT_RECORDING_EVENT_KERNEL, /* a kernel that waits for one of another stream */
    GT_RECORDING_KERNEL_COPY,  /* a kernel and a copy */
    GT_RECORDING_NODE,         /* a kernel of a graph */
    GT_RECORDING_SORTS
};
extern const char *const gt_recording_sort_names[GT_RECORDING_SORTS];

struct gt_recording_cost {
    bool known;               /* any of this */
    bool measured;            /* plain_ns and recorded_ns, on the machine of the recording just before it */
    uint64_t calls, calls_ns; /* recorded, and what the recorder's own code took for them between calls */
    uint64_t overhead_ns;     /* what CUPTI says that it took itself, outside of single calls */
    uint64_t plain_ns[GT_RECORDING_SORTS], recorded_ns[GT_RECORDING_SORTS];
};

#endif
