#include "sim/workload/probe.h"

const char *const gt_wait_names[GT_WAITS] = {
    [GT_WAIT_HOST] = "host",   [GT_WAIT_STREAM] = "stream", [GT_WAIT_EVENT] = "event",
    [GT_WAIT_QUEUE] = "queue", [GT_WAIT_ENGINE] = "engine", [GT_WAIT_RESOURCE] = "resource",
};
