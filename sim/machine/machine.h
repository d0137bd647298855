/* machine.h - the state of one simulated machine; inside sim/ only.
 *
 *   sim/stream/host_thread.c    threads walk their calls (sim/stream/api_call.c: one row a kind of call)
 *   stream.c  commands wait in streams: order, events, the default stream
 *   sim/stream/hw_queue.c     streams share hardware queues
 *   sim/gpu/grid.c  grids: bars, or blocks through sim/gpu/work_distributor.c (whose block is next), sim/gpu/placement.c (which SM), sm.c (room)
 *   sim/gpu/steady_state.c   waves of a huge grid that are alike, at once
 *   sim/gpu/block_progress.c    how fast blocks run that share something (demand.h: what they ask for, sim/base/fair_share.h: who gets it)
 *   sim/gpu/copy_engine.c    copy engines and the link; sim/gpu/exclusive_copy.c copies that keep out of kernels' way
 *   graph.c   operations joined by edges; sim/stream/serial.c one operation at a time
 *
 * An command is what stands in a stream: an operation, an event's record, a wait,
 * a graph; a node is an operation of a graph.  Items exist only while in flight.
 */
#ifndef GRIDTIDE_SIM_MACHINE_MACHINE_H
#define GRIDTIDE_SIM_MACHINE_MACHINE_H

#include "sim/gpu/demand.h"
#include "sim/machine/engine.h"
#include "sim/devices/occupancy.h"
#include "sim/replay/replay.h"
#include "sim/workload/probe.h"
#include "sim/base/fair_share.h"
#include "sim/simulate.h"

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

enum gt_stream_command_kind { GT_COMMAND_OP, GT_COMMAND_RECORD, GT_COMMAND_WAIT, GT_COMMAND_GRAPH, GT_COMMAND_NODE };

/* Until when a reason held an operation back, and what ended it. */
struct gt_mark {
    gt_time_ps time_ps;
    uint32_t cause;           /* gt_cause */
    uint32_t index;
};

struct gt_stream_command {
    uint32_t index;           /* the operation (OP, NODE) or the call (RECORD, WAIT, GRAPH) */
    uint32_t stream;
    uint32_t next;            /* in its stream; also the free list */
    uint32_t queue_next;      /* in its hardware queue */
    uint32_t wait_next;       /* in an engine's, a distributor's or an admission list */
    uint32_t parent;          /* NODE: the graph's command */
    uint32_t target_stream;   /* WAIT: the record it waits for is that stream's */
    uint32_t nodes_left;      /* GRAPH: nodes not ended */
    uint64_t target_number;   /* WAIT: ... command number; 0: nothing to wait for */
    uint64_t number;          /* position in its stream, from 1 */
    uint64_t behind;          /* commands of the other side of the default stream's rules asked for before it */
    gt_time_ps submit_ps, visible_ps, start_ps;
    struct gt_mark marks[GT_WAITS];
    uint8_t kind;
    bool waiting;             /* WAIT: already on its target's list */
    bool started;             /* its stream has let it go; what comes behind it waits for its end */
    bool in_queue;            /* still at or behind its hardware queue's head */
};

/* Someone to tell when a stream has completed command `number`: a host thread, a stream that waits for an
 * event, or one that the default stream holds back. */
enum gt_waiter_kind { GT_WAITER_THREAD, GT_WAITER_EVENT, GT_WAITER_DEFAULT_STREAM };
struct gt_waiter {
    uint64_t number;
    uint32_t next;
    uint32_t index;           /* thread or stream */
    enum gt_waiter_kind kind;
};

struct gt_stream_state {
    uint32_t head, tail;      /* commands */
    uint64_t submitted, completed; /* command numbers */
    uint32_t waiters, waiters_tail;
    uint32_t gpu, context, level; /* level: 0 the most urgent priority */
    uint32_t queue;           /* in the machine's */
    uint32_t flags;
    uint64_t process;         /* of the host thread that uses it first */
    uint64_t wake_stamp;
    gt_time_ps wake_ps;       /* of the wake scheduled last; GT_TIME_NONE: none */
    gt_time_ps last_visible_ps;
    gt_time_ps end_ps;        /* of the last operation completed in order */
    uint32_t last_op;         /* that operation */
    gt_time_ps idle_from_ps;  /* latest end of any operation recorded on this stream */
    struct gt_mark event;     /* release by waits since the last operation */
    struct gt_mark barrier;   /* release by the default stream's rules */
    bool on_barrier;          /* held back by the default stream's rules right now */
    bool launched;            /* into it, before */
};

/* The streams of one context on one GPU: the default stream's rules, device synchronisation. */
struct gt_context_state {
    uint32_t gpu, id;
    uint32_t null_stream;     /* GT_NONE: no legacy default stream in use */
    uint64_t submitted, completed;        /* commands of all streams that take part in its rules */
};

struct gt_thread_state {
    const uint32_t *calls;    /* call numbers in order */
    uint32_t call_count, next;
    uint32_t pending;         /* conditions not met yet */
    bool waits_for_room;      /* for the launch queue, before the call can act */
    gt_time_ps start_ps;      /* of the call under way */
    gt_time_ps acted_ps;      /* when it could act: start, or room in the launch queue */
    gt_time_ps blocked_ps;
    gt_time_ps more_ps;       /* what the call costs beyond its row of the device file */
    uint32_t cause_op;
    bool done;
};

/* Calls that submit work, the latest few: who is inside one now. */
enum { GT_SUBMISSIONS = 16 };
struct gt_submission { uint32_t thread; gt_time_ps end_ps; };

struct gt_hw_queue_state { uint32_t head, tail; };   /* hardware queue: commands */

struct gt_sm_state {
    uint32_t threads, warps, registers, shared_bytes, blocks;  /* free */
    uint32_t resident;        /* blocks */
    uint32_t carveout_bytes;  /* shared memory that it is set to while blocks are resident; 0: all there is */
    uint32_t free_blocks;     /* for the shape the rooms are kept for */
    gt_time_ps ready_ps;      /* a slot freed just now can be refilled from then on */
    gt_time_ps retire_ps;     /* the next block to end can leave from then on */
};

/* A grid in the block tier. */
struct gt_grid {
    uint32_t command, op, kernel;
    uint32_t next;            /* in its level's list; free list */
    uint32_t level;
    struct gt_occupancy occupancy;
    uint64_t blocks, dispatched, ended;
    gt_time_ps block_ps;      /* cost of every block; GT_TIME_NONE: by kernel's cost */
    gt_time_ps remainder_ps;  /* between the last block's end and the grid's */
    bool inverted;            /* block_ps came from a duration: it holds refill and dispatch already */
    const struct gt_kernel_model_launch *launch;   /* NULL: nothing is known of what its blocks ask for */
    const struct gt_demand *demand;     /* what they ask for, since it is not alone any more; else NULL */
    uint32_t spread_pct;      /* by which its blocks' times differ */
    uint32_t next_demanding;  /* in the GPU's list */
    uint32_t atomic_resource; /* in the share being worked out */
};

/* Equal blocks that started together on one SM. */
struct gt_batch {
    uint32_t gpu, grid, sm, blocks;   /* next in the free list: sm */
    uint64_t first_block;
    gt_time_ps start_ps;
    double ends_at_ps;        /* in its group: the progress at which it ends */
    uint32_t next;            /* in its group */
};

/* The blocks of one grid with demands on one SM. */
struct gt_resident_group {
    uint32_t gpu, grid, sm;
    uint32_t next;            /* on its SM; free list */
    uint32_t head;            /* batches, in the order in which they end */
    uint32_t blocks;
    double progress_ps, rate; /* of each block: time alone that it has behind it, and gains a picosecond */
    gt_time_ps updated_ps;
    double sm_part, limit;    /* while rates are worked out: of what its SM gets; of its rate */
    double pace;              /* likewise: of that, what others leave it */
    uint32_t rank;            /* likewise: in the order in which groups of its SM issue */
    uint64_t stamp;           /* of the event that ends its first batch; 0: none is due */
};

enum { GT_LEVELS = 64, GT_ENGINES = 4, GT_FREE_BLOCK_WORDS = GT_DEVICE_MAX_SMS / 64 };

struct gt_engine_state {      /* a copy engine */
    uint32_t running;         /* command; GT_NONE: idle, or in the gap between two */
    struct { uint32_t head, tail, next; } queues[GT_DEVICE_MAX_COPY_QUEUES];   /* commands that wait */
    uint32_t first, last;     /* queues that hold any, in the order of their turns; GT_NONE */
    uint32_t queue;           /* served last */
    uint32_t last_op;         /* run last */
    bool in_gap;              /* between two copies: the next one is chosen when the gap is over */
    double remaining_ps, rate, demand_gbps;
    gt_time_ps updated_ps;
    uint64_t stamp;
};

/* --serialize: who has the machine's one place, who stands in line for it, what had it last. */
struct gt_serial_state {
    uint32_t running, head, tail;   /* commands; GT_NONE */
    uint32_t last_op;
    gt_time_ps end_ps;        /* of that operation */
};

/* A buffer for staging: the copy that has it, number 0: none yet. */
struct gt_buffer_state { uint32_t stream; uint64_t number; };

struct gt_gpu_state {
    struct gt_sm_state *sms;
    uint32_t *order;          /* rank -> SM: ties of placement */
    uint32_t *rank;           /* SM -> rank */
    /* room for the shape at hand, by rank: bit r of free_block_sets[n] is set when SM order[r] has room n */
    struct gt_block_need free_blocks_for;
    uint64_t free_block_sets[GT_DEVICE_MAX_BLOCKS_PER_SM + 1][GT_FREE_BLOCK_WORDS];
    uint32_t free_blocks_most;       /* no set above this one has a bit */
    uint32_t round_robin;     /* rank after the last placement */
    uint32_t *dispatch_batch;          /* per SM: blocks placed in the dispatch under way */
    uint64_t *dispatch_batch_first;
    uint32_t *dispatch_batch_sms;
    uint32_t dispatch_batch_count;
    uint32_t level_head[GT_LEVELS], level_tail[GT_LEVELS];    /* grids with blocks to hand out */
    uint64_t levels_used;     /* bit l: level l has grids */
    uint32_t admit_head[GT_LEVELS], admit_tail[GT_LEVELS];    /* commands waiting to be resident */
    uint64_t admits_used;
    uint32_t resident;        /* grids */
    uint32_t freed_by_op;     /* whose blocks ended last */
    struct gt_engine_state engines[GT_ENGINES];
    uint32_t queues_waiting;  /* hardware queues with an command in them */
    struct gt_buffer_state *buffers;    /* for pageable copies in, taken in turn */
    uint32_t next_buffer;
    uint32_t exclusive_head, exclusive_tail;    /* commands that need kernels to be out of the way */
    uint32_t exclusive;           /* such an command at work; GT_NONE */
    uint32_t *groups;          /* per SM: the first of its groups; NULL: no grid with demands so far */
    uint32_t demanding;       /* the first of the grids with demands that have blocks, or have some to come */
    uint32_t grids;           /* that have blocks, or have some to come */
    bool rates_due;           /* an event will work the rates out */
};

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

/* free_lists.c: places for what is in flight */
uint32_t gt_stream_command_new(struct gt_machine *m, enum gt_stream_command_kind kind, uint32_t index, uint32_t stream);
void gt_stream_command_free(struct gt_machine *m, uint32_t command);
void gt_stream_command_mark(struct gt_machine *m, uint32_t command, enum gt_wait reason, gt_time_ps time_ps,
                  enum gt_cause cause, uint32_t index);
uint32_t gt_grid_new(struct gt_machine *m);
void gt_grid_free(struct gt_machine *m, uint32_t grid);
uint32_t gt_batch_new(struct gt_machine *m);
void gt_batch_free(struct gt_machine *m, uint32_t batch);
uint32_t gt_resident_group_new(struct gt_machine *m);
void gt_resident_group_free(struct gt_machine *m, uint32_t group);
uint32_t gt_waiter_new(struct gt_machine *m);
void gt_waiter_free(struct gt_machine *m, uint32_t waiter);

/* build.c: the machine for m's workload, device, options and probe (set before), and its end */
int gt_machine_build(struct gt_machine *m, struct gt_error *error);
void gt_machine_free(struct gt_machine *m);

/* sim/stream/host_thread.c */
int gt_thread_handler(void *machine, uint32_t thread, uint64_t stamp, struct gt_error *error);
void gt_thread_release(struct gt_machine *m, uint32_t thread, uint32_t cause_op);
/* The call returns only once command `number` of `stream` is complete. */
void gt_thread_wait(struct gt_machine *m, uint32_t thread, uint32_t stream, uint64_t number);

/* stream.c */
int gt_stream_handler(void *machine, uint32_t stream, uint64_t stamp, struct gt_error *error);
uint64_t gt_stream_submit(struct gt_machine *m, uint32_t command, gt_time_ps visible_ps);
void gt_stream_advance(struct gt_machine *m, uint32_t stream);
void gt_stream_complete(struct gt_machine *m, uint32_t stream);
void gt_stream_wake(struct gt_machine *m, uint32_t stream, gt_time_ps time_ps);
void gt_stream_add_waiter(struct gt_machine *m, uint32_t stream, uint64_t number, uint32_t index,
                          enum gt_waiter_kind kind);

/* sim/stream/default_stream.c: the legacy default stream */
void gt_default_stream_submit(struct gt_machine *m, uint32_t command);      /* it goes into its stream now */
bool gt_default_stream_holds(struct gt_machine *m, uint32_t stream);     /* the head of the stream, for now */
void gt_default_stream_complete(struct gt_machine *m, uint32_t stream);  /* it has completed an command */

/* sim/stream/hw_queue.c */
void gt_hw_queue_push(struct gt_machine *m, uint32_t command);
bool gt_hw_queue_allows(const struct gt_machine *m, uint32_t command);
void gt_hw_queue_leave(struct gt_machine *m, uint32_t command);

/* sim/stream/operation.c: the life of an operation, whatever its kind */
void gt_op_ready(struct gt_machine *m, uint32_t command);    /* hand it to its resource */
void gt_op_ended(struct gt_machine *m, uint32_t command);    /* it ends now */
void gt_timed_op_start(struct gt_machine *m, uint32_t command, gt_time_ps duration_ps);

/* sim/stream/serial.c: one operation at a time */
bool gt_serial_allows(struct gt_machine *m, uint32_t command);   /* else it is handed to its resource later */
void gt_serial_ended(struct gt_machine *m, uint32_t op);

/* graph.c */
/* From the end of `before` to the start of `after`, which an edge joins. */
gt_time_ps gt_graph_edge_gap_ps(const struct gt_machine *m, const struct gt_op *before, const struct gt_op *after);
void gt_graph_start(struct gt_machine *m, uint32_t command);
void gt_graph_op_ended(struct gt_machine *m, uint32_t op);       /* its successors may go on */
void gt_graph_node_ended(struct gt_machine *m, uint32_t graph_item, uint32_t op);
int gt_node_handler(void *machine, uint32_t command, uint64_t stamp, struct gt_error *error);

/* durations.c: what the trace states or measured, on the device at hand; GT_TIME_NONE: it says nothing */
gt_time_ps gt_stated_ps(const struct gt_machine *m, uint32_t op);
/* The kernel's launch in cycles where they are what it costs: nothing else is known of it, or that is what
 * the run is about; else NULL. */
const struct gt_warp_result *gt_program_cost(const struct gt_machine *m, uint32_t op);
/* How long such a launch takes alone: its blocks, and as a tracing profiler sees it where the timeline is
 * recorded; else as blocks' logs and the device's gaps have it. */
gt_time_ps gt_program_run_ps(const struct gt_machine *m, uint32_t op);
gt_time_ps gt_program_ps(const struct gt_machine *m, uint32_t op);
/* Rounded; beyond GT_TIME_LIMIT_PS just above it, where the engine refuses to go on. */
gt_time_ps gt_whole_ps(double time_ps);
/* The device file's time of a copy; does it go by the driver's pinned buffers? */
bool gt_copy_staged(const struct gt_device *device, const struct gt_op *op);
double gt_copy_model_ps(const struct gt_device *device, const struct gt_op *op);

/* sim/gpu/grid.c */
void gt_kernel_ready(struct gt_machine *m, uint32_t command);
void gt_kernels_go_on(struct gt_machine *m, uint32_t gpu, uint32_t op);    /* `op` has let them */
void gt_kernel_dispatched(struct gt_machine *m, uint32_t grid);
void gt_kernel_blocks_ended(struct gt_machine *m, uint32_t grid);
int gt_timed_op_handler(void *machine, uint32_t command, uint64_t stamp, struct gt_error *error);
int gt_grid_handler(void *machine, uint32_t grid, uint64_t stamp, struct gt_error *error);

/* sim/gpu/work_distributor.c */
void gt_distributor_add(struct gt_machine *m, uint32_t gpu, uint32_t grid);
void gt_distributor_run(struct gt_machine *m, uint32_t gpu);
int gt_blocks_handler(void *machine, uint32_t batch, uint64_t stamp, struct gt_error *error);
/* All blocks of a batch, which is free already, leave their SM now. */
void gt_blocks_left(struct gt_machine *m, const struct gt_batch *batch);

/* sm.c */
uint32_t gt_sm_free_blocks(const struct gt_sm_state *sm, const struct gt_block_need *need);
void gt_sm_allocate(struct gt_machine *m, uint32_t gpu, uint32_t sm, const struct gt_block_need *need);
void gt_sm_release(struct gt_machine *m, uint32_t gpu, uint32_t sm, const struct gt_block_need *need,
                uint32_t blocks);
void gt_sm_find_free_blocks(struct gt_machine *m, uint32_t gpu, const struct gt_block_need *need);

/* sim/gpu/exclusive_copy.c: copies within the device, on devices where kernels and they keep out of each other's way */
void gt_exclusive_copy_ready(struct gt_machine *m, uint32_t command);
bool gt_exclusive_copy_holds(const struct gt_gpu_state *gpu);    /* kernels back */
void gt_exclusive_copy_kernel_gone(struct gt_machine *m, uint32_t gpu);
void gt_exclusive_copy_ended(struct gt_machine *m, uint32_t command);
int gt_exclusive_copy_handler(void *machine, uint32_t gpu, uint64_t stamp, struct gt_error *error);

/* sim/gpu/copy_engine.c */
void gt_copy_ready(struct gt_machine *m, uint32_t command);
int gt_copy_handler(void *machine, uint32_t engine, uint64_t stamp, struct gt_error *error);
int gt_engine_handler(void *machine, uint32_t engine, uint64_t stamp, struct gt_error *error);

/* "FILE" or "FILE:LINE" for messages, into `text`. Line 0: not known. */
void gt_machine_place(const struct gt_machine *m, uint32_t line, char *text, size_t bytes);
/* The first failure stops the run. */
void gt_machine_fail(struct gt_machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
