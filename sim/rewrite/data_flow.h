/* data_flow.h - which operations read what others write, and which are therefore independent. */
#ifndef GRIDTIDE_SIM_REWRITE_DATA_FLOW_H
#define GRIDTIDE_SIM_REWRITE_DATA_FLOW_H

#include "sim/workload/workload.h"

/* Bytes that a call's operations touched, and from where. */
struct gt_touch {
    uint64_t from, to; /* within the memory; `to` is the first byte behind */
    gt_call_index call;
    gt_stream_index stream; /* of the call */
    gt_stream_index target; /* where it is to run */
    bool writes;
};

struct gt_data_flow {
    const struct gt_workload *w;
    bool *known;      /* by call: is all known that its operations read and write, and have they any? */
    uint32_t *memory; /* by buffer: the lowest buffer that it shares memory with */
    struct gt_touches {
        struct gt_touch *list;
        uint32_t count, room;
    } * touches;          /* by memory: so far */
    gt_call_index *since; /* by stream: touches of earlier calls count no more */
};

void gt_data_flow_begin(struct gt_data_flow *flow, const struct gt_workload *workload);
void gt_data_flow_free(struct gt_data_flow *flow);

/* Is all known that the operation reads and writes?  Then: do two such touch the same bytes, one of them writing? */
bool gt_data_flow_knows(const struct gt_data_flow *flow, gt_op_index op);
bool gt_data_flow_conflict(const struct gt_data_flow *flow, gt_op_index one, gt_op_index other);

/* Visit each touch of a call of the same stream that `call`, a known one, must come after. */
void gt_data_flow_visit(struct gt_data_flow *flow, gt_call_index call, gt_stream_index stream,
                        void (*visit)(void *user, const struct gt_touch *touch), void *user);
/* The call comes next, and is to run in `target`. */
void gt_data_flow_add(struct gt_data_flow *flow, gt_call_index call, gt_stream_index stream, gt_stream_index target);
/* Whatever comes in the stream from `call` on comes after all before. */
void gt_data_flow_clear(struct gt_data_flow *flow, gt_stream_index stream, gt_call_index call);

struct gt_independence {
    uint32_t
        *unit; /* by call: calls that the user says are independent of those of other units; GT_NONE: nothing said */
    uint32_t units; /* how many there are */
    bool *kernels;  /* by name: is it of kernels that the user means? */
};

/* `patterns` is NULL-ended; NULL: there are none. */
void gt_independence_find(struct gt_independence *independence, const struct gt_workload *workload,
                          const char *const *patterns);
/* Independent units among the nodes of one graph, unit[i] that of its i-th; returns how many units there are. */
uint32_t gt_independence_nodes(const struct gt_independence *independence, const struct gt_workload *workload,
                               gt_call_index call, uint32_t *unit);
void gt_independence_free(struct gt_independence *independence);

#endif
