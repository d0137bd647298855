/* groups.h - the groups of measurements; calibrate.c holds the table of them. */
#ifndef GRIDTIDE_VALIDATE_CALIBRATE_GROUPS_H
#define GRIDTIDE_VALIDATE_CALIBRATE_GROUPS_H

#include "validate/calibrate/bench.h"

int gt_calibrate_limits(struct gt_bench *bench);
int gt_calibrate_connections(struct gt_bench *bench); /* before CUDA */
int gt_calibrate_sharing(struct gt_bench *bench);     /* before CUDA */
int gt_calibrate_clock(struct gt_bench *bench);
int gt_calibrate_structure(struct gt_bench *bench);
int gt_calibrate_dispatch(struct gt_bench *bench);
int gt_calibrate_policies(struct gt_bench *bench);
int gt_calibrate_queues(struct gt_bench *bench);
int gt_calibrate_calls(struct gt_bench *bench);
int gt_calibrate_launches(struct gt_bench *bench);
int gt_calibrate_gaps(struct gt_bench *bench);
int gt_calibrate_graphs(struct gt_bench *bench);
int gt_calibrate_children(struct gt_bench *bench);
int gt_calibrate_between(struct gt_bench *bench);
int gt_calibrate_copies(struct gt_bench *bench);
int gt_calibrate_pageable(struct gt_bench *bench);
int gt_calibrate_link(struct gt_bench *bench);
int gt_calibrate_links(struct gt_bench *bench);
int gt_calibrate_collectives(struct gt_bench *bench);
int gt_calibrate_collective_calls(struct gt_bench *bench); /* part of collectives */
int gt_calibrate_turns(struct gt_bench *bench);
int gt_calibrate_latency(struct gt_bench *bench);
int gt_calibrate_grid_sync(struct gt_bench *bench);
int gt_calibrate_pipes(struct gt_bench *bench);
int gt_calibrate_waits(struct gt_bench *bench);
int gt_calibrate_code(struct gt_bench *bench);
int gt_calibrate_memory(struct gt_bench *bench);
int gt_calibrate_rates(struct gt_bench *bench);
int gt_calibrate_hopper(struct gt_bench *bench);
int gt_calibrate_families(struct gt_bench *bench);
int gt_calibrate_products(struct gt_bench *bench); /* part of families */
int gt_calibrate_tasks(struct gt_bench *bench);

#endif
