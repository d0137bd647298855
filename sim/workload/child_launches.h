/* child_launches.h - kernels whose blocks launch kernels (CUDA dynamic parallelism, CDP2).
 *
 * A kernel has rules: which of its blocks launch which kernel, how often, when, and into what.  A launch of such a
 * kernel by the host is expanded once into all launches that follow from it, for which blocks launch what is known
 * before anything runs; only when is not.  So a child is an operation like any other, of the call that launched the
 * first one, and the array `child_launches` of the workload says who launches it.
 */
#ifndef GRIDTIDE_SIM_WORKLOAD_CHILD_LAUNCHES_H
#define GRIDTIDE_SIM_WORKLOAD_CHILD_LAUNCHES_H

#include "sim/workload/workload.h"

/* Into what a block launches (CUDA C++ Programming Guide, Dynamic Parallelism). */
enum gt_launch_into {
    GT_INTO_NULL,            /* the NULL stream: one a thread block */
    GT_INTO_STREAM,          /* a stream made on the device: of the grid, non-blocking */
    GT_INTO_FIRE_AND_FORGET, /* cudaStreamFireAndForget: each launch is a stream of its own */
    GT_INTO_TAIL,            /* cudaStreamTailLaunch: when the grid and all its other work has ended */
    GT_INTOS
};
extern const char *const gt_launch_into_names[GT_INTOS];

enum gt_launch_blocks { GT_BLOCKS_ALL, GT_BLOCKS_FIRST, GT_BLOCKS_LAST, GT_BLOCKS_EVERY, GT_BLOCKS_LIST };

struct gt_launch_rule {
    gt_kernel_index kernel; /* what is launched: a kernel before this one; GT_NONE: the kernel itself */
    uint32_t count;         /* launches by each such block, one after the other */
    double at;              /* when: 0 at the block's start, 1 at its end, by its own time */
    uint8_t into;           /* gt_launch_into */
    uint32_t stream;        /* INTO_STREAM: which of the grid's, by number */
    uint8_t blocks;         /* gt_launch_blocks: linear, in order of dispatch */
    uint32_t every;         /* EVERY: blocks 0, every, 2 * every ... */
    uint64_t *block_list;   /* LIST: rising */
    uint32_t block_list_length;
    uint32_t depth; /* only grids nested less deep follow the rule: what the host launches has depth 0 */
};

/* One launch by a block.  Those of one grid stand together, by block, then by time, then in the order of its rules; a
 * grid's before those of the grids that it launches. */
struct gt_child_launch {
    gt_op_index op, parent; /* the child; the grid whose block launches it */
    uint64_t block;         /* that block, linear */
    uint32_t rule;          /* which of the parent's kernel's */
    uint32_t depth;         /* of the child: 1 for those of a grid that the host launched */
};

/* Of one launch by the host; of a workload. */
enum { GT_MOST_CHILDREN = 1 << 20, GT_MOST_CHILDREN_IN_ALL = 1 << 21 };
/* A rule for which the depth is not said goes on for ever; only a kernel that launches itself needs one. */
#define GT_ANY_DEPTH UINT32_MAX

/* Append to the call of operation `op`, the last one added, all operations that follow from the launch rules of its
 * kernel.  Returns 0, or -1 where these are too many. */
int gt_child_launches_expand(struct gt_workload *workload, gt_op_index op, struct gt_error *error);

/* How an operation is launched by a block, or NULL where the host launches it. */
const struct gt_child_launch *gt_child_launch_of(const struct gt_workload *workload, gt_op_index op);
const struct gt_launch_rule *gt_child_launch_rule(const struct gt_workload *workload,
                                                  const struct gt_child_launch *child);

/* The launches that the blocks of operation `op` make: `child_launches[*first]` and on; 0 where it makes none. */
uint32_t gt_child_launches_by(const struct gt_workload *workload, gt_op_index op, uint32_t *first);

/* A kernel's rules are its own: a copy of them, to be freed by gt_launch_rules_free(). NULL for none. */
struct gt_launch_rule *gt_launch_rules_copy(const struct gt_launch_rule *rules, uint32_t count);
void gt_launch_rules_free(struct gt_launch_rule *rules, uint32_t count);

/* Are the rules of kernel number `index` what the simulator relies on? 0, or -1 with what is wrong. */
int gt_launch_rules_check(const struct gt_workload *workload, gt_kernel_index index, struct gt_error *error);

#endif
