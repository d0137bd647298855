/* gpu_state.h - what a machine knows of its GPUs: SMs, grids and their blocks, copy engines.
 *
 * A grid hands out blocks; equal ones that start together on one SM are a batch.
 */
#ifndef GRIDTIDE_SIM_MACHINE_GPU_STATE_H
#define GRIDTIDE_SIM_MACHINE_GPU_STATE_H

#include "sim/devices/occupancy.h"
#include "sim/machine/stream_state.h"

struct gt_demand;       /* sim/gpu/progress_limit.h */
struct gt_cluster_room; /* sim/gpu/clusters.c */
struct gt_kernel_model_launch;
struct gt_tasks; /* sim/tasks/tasks.h */
struct gt_task_run;
struct gt_machine;
struct gt_peer_kernel; /* sim/gpu/peer_kernel.h */

typedef uint32_t gt_sm_index;    /* in gt_gpu_state.sms */
typedef uint32_t gt_sm_rank;     /* place of an SM in the device's order, by which ties of placement go */
typedef uint32_t gt_grid_index;  /* in gt_machine.grids */
typedef uint32_t gt_batch_index; /* in gt_machine.batches */
typedef uint32_t gt_group_index; /* in gt_machine.groups */

struct gt_sm_state {
    uint32_t threads, warps, shared_bytes, blocks; /* free */
    uint32_t registers[GT_DEVICE_MAX_PARTITIONS];  /* free, by sub-partition */
    uint32_t resident;                             /* blocks */
    uint32_t carveout_bytes; /* shared memory that it is set to while blocks are resident; 0: all there is */
    uint32_t free_blocks;    /* that it has room for, of the shape at hand: gt_gpu_state.free_blocks_for */
    gt_time_ps ready_ps;     /* a slot freed just now can be refilled from then on */
    gt_time_ps retire_ps;    /* the next block to end can leave from then on */
};

/* A grid in the block tier. */
struct gt_grid {
    gt_command_index command;
    gt_op_index op;
    gt_kernel_index kernel;
    gt_grid_index next; /* in its level's list; free list */
    uint32_t level;
    struct gt_occupancy occupancy;
    uint64_t blocks, dispatched, ended;
    gt_time_ps block_ps;     /* cost of every block; GT_TIME_NONE: by kernel's cost */
    gt_time_ps remainder_ps; /* between the last block's end and the grid's */
    gt_time_ps apart_ps;     /* of the driver's own: a block, where few run at once; 0: none of those */
    gt_time_ps together_ps;  /* of the driver's own: a block, where all run at once */
    bool launches;           /* its blocks launch kernels */
    bool copies;             /* it is a copy within the device */
    bool inverted;           /* block_ps came from a duration: it holds refill and dispatch already */
    const struct gt_kernel_model_launch *launch; /* NULL: nothing is known of what its blocks ask for */
    const struct gt_demand *demand;              /* what they ask for, since it is not alone any more; else NULL */
    gt_time_ps early_ps;                         /* by which the first block of its last wave ends before the last */
    double at_once;                              /* blocks of an SM that progress, oldest first; 0: all alike */
    gt_grid_index next_demanding;                /* in the GPU's list */
    gt_command_index held_head, held_tail;       /* nodes of graphs that get in line once it is handed out; GT_NONE */
    uint32_t atomic_resource;                    /* in the problem of shares being worked out */
    struct gt_peer_kernel *peer;                 /* that its blocks are of; NULL: no such one */
    struct gt_task_run *tasks;                   /* that its blocks execute as workers; NULL: they do not */
    void (*block_begins)(struct gt_machine *m,
                         gt_batch_index batch); /* whose end that will tell; NULL: a block's end is known */
    struct gt_grid_sync {
        bool held; /* its blocks' ends are not known before all have come, or the kernel before has gone */
        bool triggers_unknown;     /* when its blocks let the next kernel come is not known before that */
        gt_batch_index head, tail; /* that are held, by gt_batch.next */
        gt_time_ps triggered_ps;   /* the latest so far of blocks that let it */
    } sync;
};

/* Equal blocks that started together on one SM. */
struct gt_batch {
    gt_gpu_index gpu;
    gt_grid_index grid;
    gt_sm_index sm; /* in the free list: the next one there; GT_NONE: it stands for a whole grid (placement.h) */
    uint32_t blocks;
    uint8_t odd_warps[GT_DEVICE_MAX_PARTITIONS]; /* by sub-partition: its blocks' warps beyond an equal share */
    uint64_t first_block;
    gt_time_ps start_ps;
    gt_time_ps leaves_every_ps; /* its blocks leave one after the other; 0: as all do on the device */
    gt_batch_index next_due;    /* for which the same is due behind it, in one place of the heap; GT_NONE */
    double ends_at_ps;          /* in its group: the progress at which it ends; where blocks take turns, its own */
    double
        ends_at_bytes; /* where it moves data to or from another GPU: what its kernel's blocks will have moved then */
    double done_ps;    /* where they do: its own progress */
    gt_batch_index next; /* in its group, or of those that move data */
};

/* The blocks of one grid with demands on one SM. */
struct gt_resident_group {
    gt_gpu_index gpu;
    gt_grid_index grid;
    gt_sm_index sm;
    gt_group_index next;      /* on its SM; free list */
    gt_batch_index head;      /* batches, in the order in which they end; where they take turns, oldest first */
    uint32_t blocks, most;    /* resident; the most that were */
    double progress_ps, rate; /* of each block: time alone that it has behind it, and gains a picosecond */
    gt_time_ps updated_ps;
    double sm_part, limit; /* while rates are worked out: of what its SM gets; of its rate */
    double pace;           /* while rates are worked out: of `limit`, what others leave it */
    double queue;          /* while rates are worked out: of `pace`, what waiting in others' queues leaves it */
    uint32_t turn;         /* while rates are worked out: its place in the order in which groups of its SM issue */
    uint64_t stamp;        /* of the event that ends its first batch; 0: none is due */
};

enum {
    GT_LEVELS = 64,
    GT_ENGINE_STAGED_PUSHES = 4,
    GT_ENGINE_STAGED_PULLS,
    GT_ENGINES,
    GT_FREE_BLOCK_WORDS = GT_DEVICE_MAX_SMS / 64
};

struct gt_engine_state {      /* a copy engine */
    gt_command_index running; /* GT_NONE: idle, or in the gap between two */
    struct {
        gt_command_index head, tail;
        uint32_t next;
    } queues[GT_DEVICE_MAX_COPY_QUEUES + 1]; /* that wait; the last one is of copies in line (links.h) */
    uint32_t first, last;                    /* queues that hold any, in the order of their turns; GT_NONE */
    uint32_t queue;                          /* served last */
    gt_op_index last_op;                     /* run last */
    bool in_gap;                             /* between two copies: the next one is chosen when the gap is over */
    double remaining_ps, rate, demand_gbps;
    gt_time_ps updated_ps;
    uint64_t stamp;
};

/* A grid that has the GPU to itself, whose blocks have no SM yet (sim/gpu/placement.h). */
struct gt_deferred_state {
    gt_batch_index batch; /* that stands for all of them; GT_NONE: there is none */
    uint32_t ready_sms;   /* so many SMs, in their order, that the last one had, are ready again: */
    gt_time_ps ready_ps;  /* from then on */
};

/* A buffer for staging: the copy that has it, number 0: none yet. */
struct gt_buffer_state {
    gt_stream_index stream;
    gt_command_number number;
};

struct gt_gpu_state {
    struct gt_sm_state *sms;
    gt_sm_index *order;                              /* by rank */
    gt_sm_rank *rank;                                /* by SM */
    uint8_t *gpc;                                    /* by SM */
    uint32_t cluster_gpc;                            /* of the cluster placed last */
    gt_sm_index cluster_sms[GT_MOST_CLUSTER_BLOCKS]; /* of the cluster being placed, by block */
    uint32_t clusters_wait; /* while blocks are handed out: those of such clusters have found no GPC; 0: none has */
    /* Room for blocks of the shape at hand: bit r of free_block_sets[n] is set when SM order[r] has room for n. */
    struct gt_block_need free_blocks_for;
    uint64_t free_block_sets[GT_DEVICE_MAX_BLOCKS_PER_SM + 1][GT_FREE_BLOCK_WORDS];
    uint32_t free_blocks_most;              /* the last set that has a bit, or 0 */
    uint64_t released[GT_FREE_BLOCK_WORDS]; /* by SM: blocks have left it since the sets were last right */
    struct gt_cluster_room *cluster_room; /* sets of GPCs by how many clusters they hold; NULL: no clusters so far */
    uint64_t room_changed[GT_FREE_BLOCK_WORDS]; /* by SM: free_blocks have, since that was last right */
    bool room_unknown; /* free_blocks of all SMs may have changed since cluster_room was right */
    void *placement_state, *arbitration_state; /* the policies' own */
    uint32_t *dispatch_batch;                  /* by SM: blocks placed in the dispatch under way */
    uint64_t *dispatch_batch_first;
    gt_sm_index *dispatch_batch_sms;
    uint32_t dispatch_batch_count;
    uint64_t resident_blocks;
    struct gt_deferred_state deferred;
    gt_grid_index level_head[GT_LEVELS], level_tail[GT_LEVELS];    /* with blocks to hand out */
    uint64_t levels_used;                                          /* bit l: level l has grids */
    gt_command_index admit_head[GT_LEVELS], admit_tail[GT_LEVELS]; /* kernels that wait to be resident */
    uint64_t admits_used;
    uint32_t resident;       /* grids */
    gt_op_index freed_by_op; /* whose blocks ended last */
    struct gt_engine_state engines[GT_ENGINES];
    gt_time_ps driver_moved_ps;      /* the memory has moved by then what the driver's kernels so far asked of it */
    uint32_t copies_within;          /* copies within the device at work as kernels */
    uint32_t queues_waiting;         /* hardware queues with a command in them */
    struct gt_buffer_state *buffers; /* for pageable copies in, taken in turn */
    uint32_t next_buffer;
    gt_command_index exclusive_head, exclusive_tail; /* that need kernels to be out of the way */
    gt_command_index exclusive;                      /* such a one at work; GT_NONE */
    gt_group_index *groups;  /* by SM: the first of its groups; NULL: no grid with demands so far */
    gt_grid_index demanding; /* the first of the grids with demands that have blocks, or have some to come */
    uint64_t sent_bytes;     /* that go from its memory to other GPUs' in all (gt_peer_sent_bytes()) */
    double collective_gbps;  /* that collectives at work take of its memory */
    double memory_busy;      /* by blocks with demands, when rates were last worked out: the part of its time, */
    double memory_mixed;     /* and how much of that mixes reads and writes */
    uint32_t grids;          /* that have blocks, or have some to come */
    gt_gpu_index of;         /* the GPU that these SMs are of, in the workload */
    bool stopped;            /* it is another process's turn: no block may be placed (sim/gpu/time_slices.h) */
    bool rates_due;          /* an event will work the rates out */
    struct gt_tasks *tasks;  /* task graphs of its kernels (sim/gpu/task_kernel.h); NULL: none so far */
    gt_time_ps tasks_due_ps; /* an event for them stands then, with this stamp; GT_TIME_NONE: none does */
    uint64_t tasks_stamp;
    bool tasks_at_work;        /* it is being handled */
    uint32_t tasks_memory_sms; /* on which they moved bytes when rates were last worked out */
};

#endif
