/* gpu_state.h - what a machine knows of its GPUs: SMs, grids and their blocks, copy engines.
 *
 * A grid hands out blocks; equal ones that start together on one SM are a batch.
 */
#ifndef GRIDTIDE_SIM_MACHINE_GPU_STATE_H
#define GRIDTIDE_SIM_MACHINE_GPU_STATE_H

#include "sim/devices/occupancy.h"
#include "sim/machine/stream_state.h"

struct gt_demand;                      /* sim/gpu/demand.h */
struct gt_kernel_model_launch;

typedef uint32_t gt_sm_index;          /* in gt_gpu_state.sms */
typedef uint32_t gt_grid_index;        /* in gt_machine.grids */
typedef uint32_t gt_batch_index;       /* in gt_machine.batches */
typedef uint32_t gt_group_index;       /* in gt_machine.groups */

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

#endif
