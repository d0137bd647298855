#include "sim/workload/recording.h"

const char *const gt_recording_sort_names[GT_RECORDING_SORTS] = {
    [GT_RECORDING_LAUNCH] = "launch",
    [GT_RECORDING_COPY] = "copy",
    [GT_RECORDING_MEMSET] = "memset",
    [GT_RECORDING_EVENT_RECORD] = "event-record",
    [GT_RECORDING_EVENT_WAIT] = "event-wait",
    [GT_RECORDING_QUERY] = "query",
    [GT_RECORDING_SYNC] = "sync",
    [GT_RECORDING_ALLOC] = "alloc",
    [GT_RECORDING_RANGE] = "range",
    [GT_RECORDING_GRAPH_LAUNCH] = "graph-launch",
    [GT_RECORDING_GRAPH_NODE] = "graph-node",
    [GT_RECORDING_KERNEL] = "kernel",
    [GT_RECORDING_EVENT_KERNEL] = "event-kernel",
    [GT_RECORDING_KERNEL_COPY] = "kernel-copy",
    [GT_RECORDING_NODE] = "node",
};
