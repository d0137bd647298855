/* clusters.h - where thread block clusters go: all blocks of one are on one GPC at once (CUDA C++ Programming Guide,
 * thread block clusters).
 *
 * Seen on H200, November 2026 (22 traces with clusters of 2 to 16 blocks, their blocks' SMs): each block of a cluster
 * has an SM of its own.  Kernels of which an SM holds two blocks or more take both SMs of a TPC for two blocks; those
 * that fill an SM any.  The GPC is the next one in turn, behind that of the cluster before, of those where the SMs
 * with the most room have as much as anywhere; there they go by number.
 */
#ifndef GRIDTIDE_SIM_GPU_CLUSTERS_H
#define GRIDTIDE_SIM_GPU_CLUSTERS_H

#include "sim/gpu/placement.h"

/* The SMs that get the blocks of a kernel's next cluster, into gpu->cluster_sms, and their GPC, into gpu->cluster_gpc,
 * where that of the cluster before is; false, and nothing changed there, where no GPC has room for a whole one.  Room
 * (free_blocks) is that of `occupancy`. */
bool gt_cluster_place(const struct gt_device *device, struct gt_gpu_state *gpu, const struct gt_occupancy *occupancy);

/* The SM that gets a single block while clusters of `blocks` wait for a GPC: that with the most room of those whose GPC
 * is too small for such a cluster; GT_NONE. */
gt_sm_index gt_cluster_pass(const struct gt_placement_view *view, uint32_t blocks);

#endif
