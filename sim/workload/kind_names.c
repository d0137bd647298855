/* Names of kinds as they stand in traces and stores. */
#include "sim/workload/workload.h"

const char *const gt_call_kind_names[GT_CALL_KINDS] = {
    [GT_CALL_HOST_WORK] = "host_work",
    [GT_CALL_LAUNCH] = "launch",
    [GT_CALL_GRAPH_LAUNCH] = "graph_launch",
    [GT_CALL_COPY] = "copy",
    [GT_CALL_MEMSET] = "memset",
    [GT_CALL_HOST_FUNCTION] = "host_function",
    [GT_CALL_STREAM_CREATE] = "stream_create",
    [GT_CALL_STREAM_SYNC] = "stream_sync",
    [GT_CALL_STREAM_QUERY] = "stream_query",
    [GT_CALL_EVENT_CREATE] = "event_create",
    [GT_CALL_EVENT_RECORD] = "event_record",
    [GT_CALL_EVENT_WAIT] = "event_wait",
    [GT_CALL_EVENT_QUERY] = "event_query",
    [GT_CALL_EVENT_SYNC] = "event_sync",
    [GT_CALL_DEVICE_SYNC] = "device_sync",
    [GT_CALL_ALLOC] = "alloc",
    [GT_CALL_FREE] = "free",
    [GT_CALL_POLL] = "poll",
    [GT_CALL_RECORD_STREAM] = "record_stream",
    [GT_CALL_OTHER] = "other",
};
const char *const gt_op_kind_names[GT_OP_KINDS] = {
    [GT_OP_KERNEL] = "kernel",
    [GT_OP_COPY] = "copy",
    [GT_OP_MEMSET] = "memset",
    [GT_OP_HOST_FUNCTION] = "host_function",
};
const char *const gt_direction_names[GT_DIRECTIONS] = {
    [GT_H2D] = "h2d", [GT_D2H] = "d2h", [GT_D2D] = "d2d", [GT_P2P] = "p2p", [GT_H2H] = "h2h",
};
const char *const gt_memory_names[GT_MEMORIES] = {
    [GT_MEMORY_PINNED] = "pinned",   [GT_MEMORY_PAGEABLE] = "pageable", [GT_MEMORY_DEVICE] = "device",
    [GT_MEMORY_MANAGED] = "managed", [GT_MEMORY_UNKNOWN] = "unknown",
};
const char *const gt_range_kind_names[GT_RANGE_KINDS] = {
    [GT_RANGE_OPERATOR] = "operator", [GT_RANGE_ANNOTATION] = "annotation",
    [GT_RANGE_STEP] = "step",         [GT_RANGE_MODULE] = "module",
    [GT_RANGE_NVTX] = "nvtx",
};
