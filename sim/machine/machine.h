/* machine.h - the state of one simulated machine; inside sim/ only.
 *
 * Host threads walk their calls and put commands into streams (sim/stream), whose operations run on GPUs (sim/gpu).
 * What is in flight stands in arrays with free lists (free_lists.h), so that numbers stay good; what is to come
 * are events of the engine.  Only state is here: the rules are in those rooms, and sim/simulate.c puts the tables
 * together by which the engine and the streams reach them.
 */
#ifndef GRIDTIDE_SIM_MACHINE_MACHINE_H
#define GRIDTIDE_SIM_MACHINE_MACHINE_H

#include "sim/base/fair_share.h"
#include "sim/machine/engine.h"
#include "sim/machine/gpu_state.h"
#include "sim/machine/options.h"
#include "sim/machine/stream_state.h"
#include "sim/replay/replay.h"
#include "sim/workload/probe.h"

/* Kinds of event: the row of the engine's table, and what subject and stamp are. */
enum gt_handler_number {
    GT_HANDLE_THREAD,         /* subject: thread */
    GT_HANDLE_STREAM,         /* subject: stream; stamp: its wake generation */
    GT_HANDLE_TIMED_OP,            /* subject: command: a bar, memset or host function ends */
    GT_HANDLE_BLOCKS,         /* subject: batch of blocks that end */
    GT_HANDLE_GRID,           /* subject: grid: the remainder after its last block has passed */
    GT_HANDLE_COPY,           /* subject: engine; stamp: its generation */
    GT_HANDLE_ENGINE,         /* subject: engine: the gap behind a copy has passed */
    GT_HANDLE_NODE,           /* subject: command: a graph node's gap has passed */
    GT_HANDLE_EXCLUSIVE_COPY,          /* subject: GPU: kernels have been out of the way for the engine's gap */
    GT_HANDLE_RESIDENT_GROUP,           /* subject: group: its first batch ends; stamp: its generation */
    GT_HANDLE_BLOCK_PROGRESS,          /* subject: GPU: blocks have come or gone that share something */
    GT_HANDLERS
};

struct gt_machine;

/* What becomes of an operation of one kind (gt_op_kind). */
struct gt_op_rule {
    /* Its stream lets it go now: start it, or put it where it waits for its resource. */
    void (*start)(struct gt_machine *m, gt_command_index command);
    /* The time is over that gt_timed_op_start() gave it. */
    void (*timed_end)(struct gt_machine *m, gt_command_index command);
};

struct gt_demand;             /* sim/gpu/demand.h */
struct gt_place_policy;
struct gt_steady_state;
struct gt_arbitration_policy;

struct gt_machine {
    struct gt_engine engine;
    const struct gt_workload *workload;
    const struct gt_device *device;
    const struct gt_device *recorded;   /* that the measured times are from; often the same */
    const gt_time_ps *isolated_ps;         /* per operation: its duration without contention; NULL: as stated */
    const struct gt_options *options;
    const struct gt_probe *probe;
    const struct gt_op_rule *op_rules;  /* [gt_op_kind] */
    struct gt_replay replay;
    const struct gt_place_policy *place;
    const struct gt_arbitration_policy *arbitration;
    struct gt_thread_state *threads;
    uint32_t *thread_calls;
    struct gt_submission submissions[GT_SUBMISSIONS];
    uint32_t next_submission;
    struct gt_stream_state *streams;
    struct gt_context_state *contexts;
    uint32_t context_count;
    struct gt_hw_queue_state *queues;      /* hardware queues: so many for each context */
    struct gt_event_state {             /* last record; number 0: none */
        uint32_t stream;
        uint64_t number;
        struct gt_mark completed;       /* once it is complete; index GT_NONE: not yet, or none before */
    } *events;
    struct gt_serial_state serial;      /* only where options->serialize */
    uint64_t *op_numbers;     /* position in its stream, once submitted; else 0 */
    uint32_t *op_afters_left; /* edges into each operation not ended yet; NULL: no edges at all */
    uint32_t *op_commands;       /* in flight command of operations with edges; NULL: no edges at all */
    struct gt_occupancy *occupancies;   /* by kernel, filled on first use: blocks_per_sm 0 = not yet */
    uint64_t *recorded_waves;           /* by kernel, likewise: alone on the recorded device; 0 = not yet */
    struct gt_stream_command *commands;    uint32_t commands_free, command_count, command_room;
    struct gt_waiter *waiters; uint32_t waiters_free, waiter_count, waiter_room;
    struct gt_grid *grids;    uint32_t grids_free, grid_count, grid_room;
    struct gt_batch *batches; uint32_t batches_free, batch_count, batch_room;
    struct gt_resident_group *groups;    uint32_t groups_free, group_count, group_room;
    uint64_t group_stamps;
    bool kernels_apart;                 /* in several streams, where one could see what another's blocks do */
    struct gt_demand *demands;          /* by launch of options->modelled; NULL: none so far */
    struct gt_maxmin share;
    struct gt_sm_kind {                 /* SMs that hold the same: one of them, how many, its groups' consumers */
        uint32_t sm, sms, first_consumer;
    } *sm_kinds;
    uint32_t *kind_of_sm;
    struct gt_gpu_state *gpus;
    uint32_t gpu_count;
    uint64_t ended_ops, blocks, progress_at;
    gt_time_ps end_ps;
    struct gt_steady_state *steady_state;   /* of a huge grid; NULL: none so far */
    struct gt_error *error;   /* filled by the first failure; `failed` is then set */
    bool failed;
};

#endif
