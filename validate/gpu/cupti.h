/* cupti.h - what ran on the GPU and when, as CUPTI tells it; on the clock of gt_clock_ns().
 *
 * libcupti is opened at run time, so that the program starts where there is none.  One user at a time:
 * CUPTI itself knows only one a process.
 */
#ifndef GRIDTIDE_VALIDATE_GPU_CUPTI_H
#define GRIDTIDE_VALIDATE_GPU_CUPTI_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

#include "sim/base/error.h"
#include "sim/workload/workload.h"

/* The host's clock, in nanoseconds. */
uint64_t gt_clock_ns(void);

struct gt_gpu_record { /* a kernel, copy or memset */
    uint64_t start_ns, end_ns;
    uint64_t node;        /* of a graph: what gt_cupti_node() says of the node as it was made; else 0 */
    uint64_t bytes;       /* copies and memsets */
    uint32_t correlation; /* of the call that asked for it */
    uint8_t kind;         /* gt_op_kind */
};

struct gt_api_record { /* a call of the runtime that asked for such work */
    uint32_t correlation;
    uint32_t mark; /* what its thread had last given gt_cupti_mark() */
};

struct gt_activity {
    struct gt_gpu_record *gpu;
    struct gt_api_record *api;
    uint64_t gpu_count, gpu_room, api_count, api_room;
    uint64_t dropped; /* records that CUPTI had no room for */
};

/* Get ready, once, before the first CUDA call of the process. Returns 0, or -1 with what is missing. */
int gt_cupti_open(struct gt_error *error);

/* Record copies and memsets from now on, kernels too where `kernels`; those calls only are slowed down. */
int gt_cupti_begin(bool kernels, struct gt_error *error);
/* What the calling thread does from now on, for the records of its calls. */
/* From the next recording on, also of launches that are made by the driver's own functions, as NCCL's are. */
void gt_cupti_watch_driver(void);
void gt_cupti_mark(uint32_t mark);

/* Record nothing at all from now on, and be out of the way. */
int gt_cupti_pause(struct gt_error *error);

/* Stop; all that was asked for on the GPU must have ended. The records, good until the next begin. */
int gt_cupti_end(const struct gt_activity **activity, struct gt_error *error);

/* The number of a graph's node; 0 where CUPTI does not say. */
uint64_t gt_cupti_node(cudaGraphNode_t node);

#endif
