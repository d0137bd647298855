/* clusters.h - where thread block clusters go: all blocks of one are on one GPC at once (CUDA C++ Programming Guide,
 * thread block clusters). */
#ifndef GRIDTIDE_SIM_GPU_CLUSTERS_H
#define GRIDTIDE_SIM_GPU_CLUSTERS_H

#include "sim/gpu/placement.h"

/* The GPC that gets the next cluster of view->grid: the one with room for the most of its blocks, ties by the
 * device's order of SMs; GT_NONE where none has room for a whole one. */
uint32_t gt_cluster_gpc(const struct gt_placement_view *view);

/* The SM of that GPC which gets the next block of the cluster: the one with the most room. */
gt_sm_index gt_cluster_sm(const struct gt_placement_view *view, uint32_t gpc);

#endif
