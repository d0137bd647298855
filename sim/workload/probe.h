/* probe.h - what comes out of a run, simulated or measured: one interface for both.
 *
 * A probe is a struct of callbacks; any may be NULL.  Records are valid only
 * during the call.  Records arrive when what they say is settled: operations when they
 * end, so in order of end; calls when their return is known and blocks when they are
 * dispatched, both of which may lie a little ahead; blocks that others can slow down
 * (sim/gpu/block_progress.h) when they end.
 * A callback returns 0, or -1 to stop the run (it has then filled `error`).
 * Times are picoseconds since the run's origin.
 */
#ifndef GRIDTIDE_SIM_WORKLOAD_PROBE_H
#define GRIDTIDE_SIM_WORKLOAD_PROBE_H

#include "sim/workload/workload.h"

/* Why a stream stood idle between the end of the operation before and the start
 * of this one (for a stream's first operation: since the run's origin).
 * The six parts of one operation add up to exactly that time. */
enum gt_wait {
    GT_WAIT_HOST,     /* the host had not asked for it yet, or the launch was on its way */
    GT_WAIT_STREAM,   /* the gap between operations of a stream; the default stream's rules */
    GT_WAIT_EVENT,    /* cudaStreamWaitEvent, graph edges */
    GT_WAIT_QUEUE,    /* a hardware queue shared with another stream; the resident-grid limit */
    GT_WAIT_ENGINE,   /* the copy engine was busy */
    GT_WAIT_RESOURCE, /* no SM had room, or another kernel's blocks had to leave first */
    GT_WAITS
};
extern const char *const gt_wait_names[GT_WAITS];

/* What let something happen: the edge that the critical path follows backwards. */
enum gt_cause { GT_CAUSE_NONE, GT_CAUSE_CALL, GT_CAUSE_OP };

struct gt_call_record {
    gt_call_index call;
    gt_time_ps start_ps, end_ps;
    gt_time_ps blocked_ps; /* the part of it spent waiting for the GPU or for queue room */
    gt_op_index cause_op;  /* the operation whose end released a blocked call; or GT_NONE */
    uint64_t pieces;       /* of its own work that a poll has done */
};

struct gt_op_record {
    gt_op_index op;
    gt_time_ps submit_ps; /* when the host's call put it into its stream */
    gt_time_ps start_ps, end_ps;
    gt_time_ps wait_ps[GT_WAITS];
    enum gt_cause cause;  /* what its start waited for last; a grid whose block launched it may still run */
    uint32_t cause_index; /* that call or operation; GT_NONE with GT_CAUSE_NONE */
};

/* `blocks` equal blocks of one grid that started together on one SM and end together.  Of kernels only: blocks of the
 * driver's own, which copy within the device and set memory, nobody can measure, and none are told. */
struct gt_block_record {
    gt_op_index op;
    gt_gpu_index gpu;
    uint32_t sm;
    uint32_t blocks;
    uint64_t first_block; /* linear block index of the first of them, in dispatch order */
    uint32_t warps_per_block;
    gt_time_ps start_ps, end_ps;
};

/* What blocks did in one period they did `times` times more: each of its records again, as much later, in
 * the order of these. */
struct gt_repeat_record {
    const struct gt_block_record *blocks; /* of the latest period; told already */
    uint32_t block_records;
    uint64_t times;
    gt_time_ps period_ps;   /* from a record to the next one like it */
    uint64_t period_blocks; /* how much higher first_block is in the next record like it */
};

/* One task of a kernel's task graph (sim/workload/task_graph.h), when it has ended.  A worker's time is all in these:
 * each asks for its next task when it has ended one and told its counters. */
struct gt_task_record {
    gt_op_index op;
    uint32_t task;       /* in the graph of the operation's kernel */
    uint32_t worker;     /* the block, linear */
    gt_time_ps asked_ps; /* the worker began to ask for it */
    gt_time_ps taken_ps; /* it knew which one it was: until then the queue's cost, and an empty queue */
    gt_time_ps start_ps; /* its counters were there: until then it waited for them */
    gt_time_ps end_ps;   /* its work was done; its signals are told after */
    uint32_t cause_task; /* whose signal let it start last; GT_NONE: none, or not known */
    bool stolen;         /* from another worker's queue */
};

struct gt_probe {
    void *user;
    int (*call)(void *user, const struct gt_call_record *record, struct gt_error *error);
    int (*op)(void *user, const struct gt_op_record *record, struct gt_error *error);
    int (*blocks)(void *user, const struct gt_block_record *record, struct gt_error *error);
    /* NULL: `blocks` is told every record itself. */
    int (*repeat)(void *user, const struct gt_repeat_record *record, struct gt_error *error);
    int (*task)(void *user, const struct gt_task_record *record, struct gt_error *error);
    /* Work done so far, 0..total operations ended; called at most every few thousand events. */
    int (*progress)(void *user, uint64_t done, uint64_t total, struct gt_error *error);
};

#endif
