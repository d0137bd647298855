/* peer_kernel.h - kernels that read or write another GPU's memory, over what lies between.
 *
 * Each block moves an equal part of the launch's bytes, as fast as its threads ask for them and the link lets them: blocks
 * of one kernel that are there together have equal parts of what link_share.h gives their kernel.  Of a kernel of which no
 * more is known (gt_peer_kernel_bare()) each thread moves 16 bytes at a time and waits for link.kernel_read_us or
 * link.kernel_write_us each time; blocks with a cost of their own have their bytes moved meanwhile, and last longer where
 * the link takes longer.
 *
 * Not so: kernels whose duration is stated, which holds what others were in their way, as with collectives; programs;
 * blocks that wait for each other, or launch kernels; grids of more than 2^26 blocks; bars (--blocks off).
 */
#ifndef GRIDTIDE_SIM_GPU_PEER_KERNEL_H
#define GRIDTIDE_SIM_GPU_PEER_KERNEL_H

#include "sim/devices/links.h"
#include "sim/machine/machine.h"

/* One grid at work. */
struct gt_peer_kernel {
    struct gt_peer_kernel *next; /* that began later */
    gt_grid_index grid;
    gt_gpu_index from, to; /* the data's way */
    struct gt_link link;
    double block_bytes;         /* that a block moves */
    double block_gbps;          /* that a block asks for at most; INFINITY: all there is */
    gt_time_ps answer_ps;       /* from a block's last byte to its end */
    uint32_t threads;           /* of a block */
    uint64_t blocks;            /* that move data now */
    double gbps;                /* that each of them has */
    double moved_bytes;         /* by a block that has been there all the time */
    gt_batch_index first, last; /* that move data, by gt_batch.next, oldest first; GT_NONE */
    gt_time_ps updated_ps;
    uint64_t stamp;
};

/* A grid that has its cost: if it is such a kernel, its blocks' ends are told from here. */
void gt_peer_kernel_begin(struct gt_machine *m, gt_grid_index grid);
/* Its last block has left. */
void gt_peer_kernel_end(struct gt_machine *m, gt_grid_index grid);
/* What all its blocks have of the link from now on, in GB/s. */
void gt_peer_kernel_set_gbps(struct gt_machine *m, struct gt_peer_kernel *kernel, double gbps);
/* GT_HANDLE_PEER_KERNEL: blocks of a grid have moved their bytes. */
int gt_peer_kernel_handler(void *machine, gt_grid_index grid, uint64_t stamp, struct gt_error *error);
/* Those of a run that has stopped. */
void gt_peer_kernels_free(struct gt_machine *m);

#endif
