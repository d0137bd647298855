/* sm_partitions.h - the SMs that a process may use: all, or fewer by its MPS percentage or green context. */
#ifndef GRIDTIDE_SIM_GPU_SM_PARTITIONS_H
#define GRIDTIDE_SIM_GPU_SM_PARTITIONS_H

#include "sim/machine/machine.h"

/* Give each green context SMs of its own, and MPS clients with a percentage their number of SMs.  -1 where green contexts of one GPU
 * ask for more SMs than there are.  Seen on an H200: a client's blocks are on so many SMs at once, which need not stay the same
 * ones: three clients of 50% do not share SMs as long as one of them has nothing to do. */
int gt_sm_partitions_build(struct gt_machine *m, struct gt_error *error);
void gt_sm_partitions_free(struct gt_machine *m);

/* How many SMs the device gives to `sharing`: sharing.* in device files.  Source: H200, validate/recordings/sharing.txt. */
uint32_t gt_sharing_sms(const struct gt_device *device, const struct gt_sharing *sharing);

/* May blocks of `partition` (gt_block_need; 0: all SMs) be placed on the SM? */
bool gt_sm_is_in(const struct gt_machine *m, uint32_t partition, gt_sm_index sm);
/* How many SMs it has, and whether blocks of it may come to `sms` more of them. */
uint32_t gt_sm_partition_size(const struct gt_machine *m, uint32_t partition);
bool gt_sm_partition_has(const struct gt_machine *m, uint32_t partition, uint32_t sms);
/* Has it blocks there? */
bool gt_sm_partition_uses(const struct gt_machine *m, uint32_t partition, gt_sm_index sm);
/* A block of it is going to be there: true where no other SM than those that have any may get one from now on. */
bool gt_sm_partition_takes(struct gt_machine *m, uint32_t partition, gt_sm_index sm);
/* Blocks of it have left. */
void gt_sm_partition_leaves(struct gt_machine *m, uint32_t partition, gt_sm_index sm, uint32_t blocks);

#endif
