/* warp_costs.h - what instructions and memory accesses cost on a GPU: the part of a device that the warp
 * tier reads.  Each field is a row of the key table (device_keys.c), with unit, range and help.
 * Cycles are SM cycles.
 */
#ifndef GRIDTIDE_SIM_DEVICES_WARP_COSTS_H
#define GRIDTIDE_SIM_DEVICES_WARP_COSTS_H

#include "sim/workload/program.h"

struct gt_warp_costs {
    char policy[96]; /* name, parameters: which ready warp a sub-partition issues, see sim/warp/scheduler.c */
    /* of a grid and its blocks */
    double launch_cycles, drain_cycles, block_start_cycles;
    double fetch_cycles, fetch_next_cycles, constant_miss_cycles;
    double branch_cycles, waiting_cycles, barrier_cycles, barrier_warp_cycles;
    double mbarrier_cycles, cluster_barrier_cycles, fence_cycles;
    uint32_t fetch_line_bytes, fetch_ahead_lines, constant_line_bytes;
    double run_instructions, least_issue_part, busiest_issue_part;
    /* of pipes, a sub-partition: cycles between two warp instructions; latencies where a scoreboard waits */
    double interval[GT_PIPES];
    double latency[GT_PIPES];
    double read_behind_cycles; /* that reading of registers may be behind issue */
    double special_latency, shuffle_latency;
    double mma_start_cycles;
    double mma_per_cycle, gmma_per_cycle; /* 16-bit multiply-adds of a sub-partition */
    double gmma_latency;
    double mma_fp64_bits;
    /* of memory */
    double lsu_queue_cycles, lg_queue_cycles;
    double constant_latency, shared_latency, l1_latency, l2_near_latency, l2_far_latency, dram_latency;
    double shared_atomic_cycles, first_access_cycles;
    double l1_lines_per_cycle, l1_bytes_per_cycle, load_register_cycles, sm_line_cycles;
    double sm_bytes_per_cycle, sm_write_bytes_per_cycle, l2_read_bytes_per_cycle, l2_write_bytes_per_cycle;
    double l2_requests_per_cycle, l2_fabric_bytes_per_cycle, l2_queueing_cycles, dram_queueing_cycles;
    double dram_mixed_queueing_cycles, dram_spread, dram_apart_cycles;
    double dram_row_part, dram_least_part, crowd_window_cycles, l2_kept_part, atomic_slice_part;
    uint32_t dram_burst_bytes;
    uint64_t l2_bytes;
    double dram_gbps, dram_efficiency, dram_mixed_efficiency, dram_scattered_efficiency;
    double atomic_cycles; /* of an L2 slice for an atomic on one sector */
    double bulk_latency, bulk_issue_cycles;
    uint64_t l2_reuse_bytes; /* see sim/warp/l2_reuse.h */
};

#endif
