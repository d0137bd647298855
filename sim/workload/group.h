/* group.h - ranks that work together, and a rank's part of what they do: see collective.h. */
#ifndef GRIDTIDE_SIM_WORKLOAD_GROUP_H
#define GRIDTIDE_SIM_WORKLOAD_GROUP_H

#include <stdint.h>

enum gt_collective_kind {
    GT_COLLECTIVE_NONE,
    GT_ALL_REDUCE,
    GT_REDUCE_SCATTER,
    GT_ALL_GATHER,
    GT_BROADCAST,
    GT_REDUCE,
    GT_ALL_TO_ALL,
    GT_SEND_RECV, /* a message to a rank, from a rank, or both at once */
    GT_COLLECTIVE_KINDS
};
/* ANY: as NCCL chooses by kind, size and number of ranks. */
enum gt_collective_algorithm { GT_ALGORITHM_ANY, GT_ALGORITHM_RING, GT_ALGORITHM_TREE, GT_ALGORITHMS };
enum gt_collective_protocol { GT_PROTOCOL_ANY, GT_PROTOCOL_LL, GT_PROTOCOL_LL128, GT_PROTOCOL_SIMPLE, GT_PROTOCOLS };

/* One rank's part, of a kernel.  All zero: it is none. */
struct gt_collective {
    uint64_t bytes;    /* the larger of what a rank gives and what it gets: the whole buffer of an all-reduce, what is
                         * gathered, what is scattered; of a message its length */
    uint32_t group;    /* in groups */
    uint32_t root;     /* rank, of a broadcast or reduce */
    uint32_t to, from; /* ranks, of send_recv: whom it sends to, whom it gets from; GT_NONE: nobody */
    uint32_t datatype; /* in names: "float32", "bfloat16", ...; GT_NONE: float32 */
    uint32_t reduction; /* in names: "sum", "avg", "max", ...; GT_NONE: sum */
    /* Two bytes each, which leaves no padding: kernels are compared byte by byte. */
    uint16_t kind;      /* gt_collective_kind */
    uint16_t algorithm; /* gt_collective_algorithm: ANY unless the trace says it */
    uint16_t protocol;  /* gt_collective_protocol: ANY unless the trace says it */
    uint16_t shaped;    /* true: the kernel's grid and block are as stated; else as many blocks as NCCL would take */
};

/* Ranks that work together. */
struct gt_group {
    uint32_t name;     /* in names: no two groups have the same */
    uint32_t size;     /* how many ranks it has */
    uint32_t *members; /* their GPUs (in the workload's gpus), by rank; the workload's own */
};

#endif
