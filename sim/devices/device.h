/* device.h - a GPU as the simulator sees it: limits, structure, costs.
 *
 * Each field is one row of a table: key, unit, type, range, default, help.  A
 * device file is INI whose [section] and name joined by a dot give the key
 * ("copy.h2d_pinned_gbps"); `--set key=value` uses the same table.
 */
#ifndef GRIDTIDE_SIM_DEVICES_DEVICE_H
#define GRIDTIDE_SIM_DEVICES_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/error.h"
#include "sim/devices/keys.h"
#include "sim/workload/program.h"

struct gt_warp_costs {
    char policy[96]; /* name, parameters: which ready warp a sub-partition issues, see sim/warp/scheduler.c */
    /* of a grid and its blocks */
    double launch_cycles, drain_cycles, block_start_cycles;
    double fetch_cycles, fetch_next_cycles, constant_miss_cycles;
    double branch_cycles, waiting_cycles, barrier_cycles, barrier_warp_cycles;
    double mbarrier_cycles, cluster_barrier_cycles, fence_cycles;
    uint32_t fetch_line_bytes, fetch_ahead_lines, constant_line_bytes;
    double run_instructions, full_pipe_warps, atomic_row_part, least_issue_part, busiest_issue_part;
    uint64_t apart_ps;
    double apart_part, apart_by_waits_part, apart_in_waves_part, small_cpc_part; /* see sim/gpu/ends_apart.c */
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
    double atomic_cycles;        /* of an L2 slice for an atomic, where atomics go to few sectors */
    double atomic_spread_cycles; /* of the busiest one, where they are spread over all slices */
    double bulk_latency, bulk_issue_cycles;
    uint64_t l2_reuse_bytes; /* see sim/warp/l2_reuse.h */
};

/* Buffers for pageable copies, at most. */
enum { GT_STAGING_BUFFERS_MOST = 1024 };

enum {
    GT_DEVICE_NAME_BYTES = 64,
    GT_DEVICE_MAX_SMS = GT_KEY_MOST_NUMBERS,
    GT_DEVICE_MAX_GPCS = 32,
    GT_DEVICE_MAX_BLOCKS_PER_SM = 64,
    GT_DEVICE_MAX_PARTITIONS = 8,
    GT_DEVICE_MAX_COPY_QUEUES = 32,
    GT_DEVICE_POLICY_BYTES = 96,
    GT_DEVICE_PATH_BYTES = 1024,
    GT_DEVICE_PAIRS_BYTES = 1024,
    GT_DEVICE_MAX_SIZES = 16,
    GT_DEVICE_MAX_NEIGHBOURS = 64,
    GT_DEVICE_MAX_CHANNELS = 65536, /* of a collective */
    GT_DEVICE_COLLECTIVES = 17      /* curves: GT_COLLECTIVE_CURVES of key_rows.h, in that order */
};

/* A copy model: time = latency + bytes / rate. */
struct gt_copy_cost {
    uint64_t latency_ps; /* of an empty copy */
    double gbps;         /* 1e9 bytes a second, for large copies */
};

/* What a library's kernels take at sizes that nobody measured: sim/shapes. */
struct gt_product_costs {
    double macs_part, bytes_part, plain_bytes_part, dram_part; /* of what the SMs and DRAM could do at most */
    double hidden_part; /* of the shorter of both, arithmetic and DRAM, so much is added to the longer */
    uint64_t start_ps, wave_ps, split_ps;
    /* Tiles of tensor cores have any side of the first list with any of the second, either way round, up to tile_most elements;
     * those without tensor cores have rows and columns in turn. */
    uint32_t long_sides[GT_DEVICE_MAX_SIZES], long_side_count, short_sides[GT_DEVICE_MAX_SIZES], short_side_count;
    uint32_t plain_rows[GT_DEVICE_MAX_SIZES], plain_row_count, plain_columns[GT_DEVICE_MAX_SIZES], plain_column_count;
    uint32_t tile_most, tile_depth;
    uint32_t splits[GT_DEVICE_MAX_SIZES], split_count, split_least_k, split_waves; /* of K, over so many blocks */
    uint32_t neighbours, neighbours_least; /* measured products that correct the model; with fewer it stays alone */
    double neighbour_softening, neighbour_power;
    char sweep[GT_DEVICE_PATH_BYTES]; /* file of measured products; "none" */
};

/* The same of other kernels. */
struct gt_kernel_costs {
    uint64_t least_ps, unsure_ps; /* without any work; so far apart are two launches of the same work */
    double l2_part, dram_part;    /* of L2's and DRAM's bandwidth */
    double bound_part;            /* of dram_part: slower kernels are bound by their instructions */
    double
        compared_pct; /* 9 of 10 published times are so near to those scaled from another GPU; 0: none were compared */
    double l2_holds_part, l2_spills_part;   /* of L2's bytes: up to there all is found in L2, from there on nothing */
    double thread_bytes, busy_thread_bytes; /* no thread moves more; from so many on it is busy with them */
    uint64_t attention_start_ps, plain_attention_start_ps, convolution_start_ps;
    double attention_extra_keys, convolution_fading;
    double attention_scores, plain_attention_scores; /* of an SM, a cycle; the latter with heads of one element */
};

struct gt_device {
    char name[GT_DEVICE_NAME_BYTES];
    /* chip */
    uint32_t sms, compute_major, compute_minor, clock_mhz;
    uint64_t memory_bytes;                      /* device_memory.bytes; 0: not known */
    uint64_t memory_context_bytes;              /* device_memory.context_bytes: of them, what no program gets */
    uint32_t gpc_sms[GT_DEVICE_MAX_GPCS], gpcs; /* SMs of each GPC; gpcs 0: not known */
    uint32_t small_cpc_sms[GT_DEVICE_MAX_SMS], small_cpcs; /* SMs of CPCs with two TPCs, not three; 0: not known */
    uint32_t sm_order[GT_DEVICE_MAX_SMS], sm_order_length; /* tie order of placement; 0: SM number */
    /* sm */
    uint32_t threads_per_sm, warps_per_sm, blocks_per_sm, warp_threads;
    uint32_t registers_per_sm, register_unit_per_warp, registers_per_thread_max;
    uint32_t register_partitions; /* parts of an SM that each have as many of its registers; a warp's are in one */
    uint32_t shared_bytes_per_sm, shared_bytes_per_block, shared_reserved_bytes, shared_unit_bytes;
    uint32_t shared_carveouts_kib[16], shared_carveouts; /* ascending; 0: shared memory needs no division */
    uint32_t
        spare_most_bytes; /* of shared memory that an idle SM is set to beyond a full load of a kernel that uses some */
    uint32_t idle_block_bytes,
        idle_most_bytes; /* of shared memory that an idle SM is set to by a kernel without any */
    uint32_t threads_per_block;
    /* scheduling */
    uint32_t connections; /* CUDA_DEVICE_MAX_CONNECTIONS */
    uint32_t resident_grids;
    uint32_t launch_queue_depth; /* launches in flight before the host blocks */
    int32_t priority_high;       /* the most urgent, e.g. -5 */
    char placement[GT_DEVICE_POLICY_BYTES], arbitration[GT_DEVICE_POLICY_BYTES]; /* name, parameters */
    uint64_t dispatch_ps;        /* between two blocks leaving the distributor */
    uint64_t refill_ps;          /* from a block's end to its slot's next block */
    double idle_start_us_per_ms; /* a request takes this longer for each ms that its thread waited for it, ... */
    uint64_t idle_start_most_ps; /* ... at most this */
    double products_part;        /* a matrix product takes longer by this times the part of the SMs that run others */
    uint64_t slice_ps, switch_ps, preempt_ps, idle_switch_ps, restore_ps,
        idle_ps;                                          /* processes that take turns: time_slices.h */
    uint32_t mps_step_sms, mps_least_sms, green_step_sms; /* sm_partitions.h */
    uint32_t mps_connections;                             /* of a client; connections: of another context */
    uint32_t mig_sms[5], mig_profiles; /* of instances 1g, 2g, 3g, 4g, 7g; 0 profiles: there are none */
    uint64_t retire_ps;                /* between two blocks that leave one SM */
    uint32_t estimated_keys;           /* of the file that it was read from: those whose source says "guess" */
    double error_pct; /* of makespans with the host's calls as measured: 95 % are within three times this */
    uint32_t cooperative_at_once; /* 1: the blocks of a cooperative launch start when there is room for all */
    /* host: CPU time of calls */
    uint64_t launch_call_ps, copy_call_ps, copy_within_call_ps, memset_call_ps, host_function_call_ps, event_call_ps,
        sync_call_ps, stream_call_ps, graph_call_ps, other_call_ps;
    uint64_t graph_group_ps, graph_node_ps, graph_copy_ps; /* added to a graph launch: each group of nodes that go
                                                            * together, each node, each node that copies */
    struct gt_call_extra {                                 /* added to some of the calls of one kind */
        uint64_t cold_ps;  /* the first of its kind by its thread, whose caches have nothing of it */
        uint64_t first_ps; /* the first call of any kind into its stream */
        uint64_t after_ps; /* one that comes after a call of another kind */
    } launch_extra, copy_extra, memset_extra, host_function_extra, event_extra;
    uint64_t attributes_call_ps; /* added to a launch that is cooperative or programmatic */
    uint64_t poll_query_ps;      /* a query of a poll */
    uint64_t lock_ps; /* from one thread's release of a lock to the call of the next one in line (host_thread.h) */
    uint64_t submit_lock_ps; /* added to a call that submits work by each other thread in one */
    /* noise of these times (sim/stream/host_noise.h): standard deviations of their logarithms, in % */
    uint32_t noise_hosts_pct;   /* of all calls together, from one host to another */
    uint32_t noise_run_pct;     /* of all calls together, from one run to the next on a host */
    uint32_t noise_call_pct;    /* of each call by itself */
    uint32_t noise_pick_up_pct; /* of each host function's being picked up (host_function_ps) */
    double interrupts_per_ms;   /* of a call's time, and ... */
    uint64_t interrupt_ps;      /* ... how long one takes, in the mean */
    uint64_t sync_return_ps;    /* from the awaited operation's end to the call's return */
    /* latencies on the way */
    uint64_t launch_latency_ps; /* from a launch call's end to the kernel's start on an idle GPU */
    uint64_t copy_submit_ps;    /* from a copy call's end to the copy's start on an idle GPU */
    uint64_t link_read_ps;      /* the GPU's reading of commands takes so much longer beside a copy in */
    uint64_t stream_gap_ps;     /* from an operation's end to the next one's start in its stream */
    uint64_t event_gap_ps;      /* from an operation's end to the next one's start across streams, through an event */
    uint64_t engine_gap_ps;     /* stream_gap_ps where the next one runs on another engine: kernels,
                                       * copies in or copies out */
    uint64_t engine_event_gap_ps; /* event_gap_ps where the next one runs on another engine */
    uint64_t busy_queue_gap_ps;   /* added to a gap before a kernel from three busy connections on */
    uint64_t busy_connection_ps;  /* added to a gap before a kernel by each busy connection beyond two */
    uint32_t quiet_connections;   /* busy ones that do not yet add so */
    uint64_t traced_ps;           /* a kernel in a profiler's trace lasts so much longer than its blocks */
    uint64_t clock_holds_ps;      /* of a kernel, before the clock falls under its load */
    uint64_t graph_gap_ps;        /* from an operation's end to the next one's start, between nodes of a graph */
    uint64_t graph_wait_ps;       /* added where the node comes after one that another group brought */
    uint64_t graph_turn_ps;       /* from the last kernel in line being handed out to such a node's getting in line */
    uint64_t graph_next_ps;       /* added by each node that the same end let go before */
    uint64_t cooperative_ps;      /* added to a gap, or the latency, before a cooperative launch */
    uint64_t barrier_arrival_ps;  /* between two blocks' being counted at a barrier over the grid */
    uint64_t barrier_ps, barrier_block_ps; /* from the last block's coming to a barrier over the grid to all going on;
                                            * and added by each block */
    uint64_t programmatic_ps;      /* from the last block's letting the next kernel come to that one's first block */
    uint64_t programmatic_exit_ps; /* added where a kernel that came so lets the next one come only at its end */
    uint64_t programmatic_wait_ps; /* from a kernel's end to its dependent's going on */
    uint64_t poll_seen_ps;         /* from an operation's end to a poll's seeing it */
    uint64_t host_function_ps;     /* from an operation's end to a host function's start */
    /* launches by blocks (dynamic parallelism), by gt_launch_into where they are arrays */
    uint64_t child_call_ps[4];       /* that the launching thread spends on one */
    uint64_t child_contention_ps[4]; /* added by each call that others make at about that time */
    uint64_t child_latency_ps[4];    /* from there to the child's start, where nothing holds it */
    uint64_t child_next_ps[4];       /* from one child's start to the next one's, at least */
    uint64_t child_first_ps;         /* added to the call of a grid's first launch */
    uint64_t child_stream_ps;        /* added by making a stream, for the first launch into it */
    uint64_t child_gap_ps;           /* from a child's end to the start of the next one of its device stream */
    uint64_t child_tail_ps;          /* from the end of what the host launched to its first tail launch */
    uint64_t child_tail_next_ps;     /* the same of what a block launched, and from one tail launch to the next */
    uint64_t child_pass_ps;      /* ends of children are seen in passes, one after the other: each takes so long */
    uint64_t child_pass_each_ps; /* added by each child of it */
    uint64_t child_end_ps;       /* from the end of a grid's last child to its own being complete */
    uint64_t child_host_ps;      /* from there to where the host's stream goes on */
    uint64_t child_tail_host_ps; /* from the end of the last tail launch to where the host's stream goes on */
    uint32_t child_pending;      /* launches that are not complete, at most */
    uint32_t child_depth;        /* grids within each other, at most */
    /* copies */
    uint32_t copy_engines; /* 1: one for all; 2: one a direction; 3: device copies too */
    uint32_t copy_queues;  /* of an engine, that streams are spread over; emptied in turn */
    uint64_t copy_gap_ps;  /* from a copy's end to the start of one that waited for the engine */
    struct gt_copy_cost h2d_pinned, d2h_pinned, h2d_pageable, d2h_pageable, d2d, p2p;
    uint64_t within_rest_bytes,
        within_rest_ps;            /* a copy within the device from this size on lasts so much longer where that
                                               * is no multiple of 16 */
    double duplex_gbps;            /* both directions together */
    uint32_t duplex_in_pct;        /* what copies in have of that, at least */
    uint32_t copy_within_alone;    /* 1: a copy within the device and kernels never run at the same time */
    uint64_t pageable_stage_bytes; /* a pageable H2D up to this returns without waiting for the GPU; with
                                       * staging_chunk_bytes its buffers say so instead */
    uint64_t inline_pinned_bytes;  /* a pinned H2D up to this goes with the commands, not by its engine */
    uint64_t inline_idle_bytes;    /* the same into a stream that is idle when it is asked for */
    uint64_t inline_bytes;         /* a pageable H2D up to this goes with the commands, not by a buffer */
    uint64_t staging_chunk_bytes;  /* pageable copies go by buffers of this size; 0: h2d_pageable
                                       * and d2h_pageable hold */
    uint32_t staging_buffers;      /* so many of them: a copy that finds none free blocks the host */
    double staging_in_gbps, staging_out_gbps; /* the host's copying into and out of a buffer */
    uint64_t copied_memset_bytes;             /* a memset up to this goes to a copy engine */
    uint64_t memset_latency_ps;
    double memset_gbps;
    /* Larger ones, and copies within the device, are kernels of the driver's: */
    uint32_t within_threads, memset_threads; /* of a block; 0: they need no SM */
    uint32_t driver_thread_bytes;            /* that a thread does at a time ... */
    uint64_t driver_block_ps;                /* ... and how long a block takes for that among others on its SM */
    struct gt_product_costs product;
    struct gt_kernel_costs kernel;
    /* between GPUs: links.h */
    char link_pairs[GT_DEVICE_PAIRS_BYTES];   /* which kind of link lies between which */
    struct gt_copy_cost link_pcie, link_host; /* NVLink: p2p */
    double link_gpu_gbps;                     /* all that a GPU sends over NVLink, or that it receives, at once */
    double link_duplex_gbps;                  /* both directions together between two GPUs, over NVLink */
    double link_host_duplex_gbps; /* both directions together between two GPUs, by way of the host's memory */
    uint32_t link_switched;       /* 1: link_gpu_gbps holds for all pairs of a GPU together; 0: for each */
    uint64_t link_gap_ps;         /* copy_gap_ps of copies between GPUs */
    uint64_t link_pull_ps;        /* added to the gaps before and behind a copy that is pulled */
    uint64_t link_wait_ps;        /* added to a gap by a wait for another GPU's event that is passed */
    uint64_t link_busy_ps;        /* added to a copy while the other GPU sends too */
    uint64_t link_wait_call_ps, link_pull_call_ps; /* added to the calls */
    uint64_t link_copy_event_gap_ps,
        link_engine_event_gap_ps;                       /* the next one between copies; of which one is a copy */
    uint64_t link_event_gap_ps;                         /* event_gap_ps from one GPU to another */
    uint64_t link_line_gap_ps;                          /* between copies of one line: sim/stream/links.h */
    uint32_t link_in_line;                              /* 1: there are such lines */
    double link_kernel_gbps;                            /* of kernels in another GPU's memory */
    uint64_t link_kernel_read_ps, link_kernel_write_ps; /* an access of a thread there */
    uint64_t link_kernel_dram_ps;                       /* added where L2 does not have it */
    uint32_t link_kernel_threads;                       /* of an SM, that count */
    uint32_t link_kernel_pct;         /* of what a copy has of a link: what a kernel has that asks for as much */
    uint64_t link_call_ps;            /* CPU time of a copy from one GPU to another */
    uint64_t link_host_call_ps;       /* more by way of the host's memory */
    uint64_t link_host_piece_call_ps; /* and for each piece beyond two */
    uint32_t link_host_piece_bytes;   /* these pieces; 0: it is done in one */
    /* Collectives, by NCCL's kinds and protocols: sim/collectives/cost.h says how these make a time. */
    struct gt_collective_costs {
        struct gt_collective_curve {
            uint32_t ns[GT_DEVICE_MAX_SIZES],
                sizes;           /* of 16 bytes, of 64, each time four times as many; 0: not measured */
            double channel_gbps; /* bytes of the collective by one channel alone */
        } curves[GT_DEVICE_COLLECTIVES];
        double ring_gbps;                 /* what NCCL reckons that a ring moves over each link, with all channels */
        uint32_t channels, pair_channels; /* as many as NCCL takes at most; of messages */
        uint32_t most_channels;           /* no more than these, whatever else says so; 0: no limit */
        uint32_t registers, shared_bytes; /* of a thread, of a block */
        uint32_t cluster;                 /* blocks of a cluster, where that divides their number */
        uint64_t call_ps, cold_ps; /* CPU time that asking for one takes beyond a launch; a thread's first, beyond */
        uint32_t memory_pct;       /* of its memory that a GPU reads and writes, in bytes, for 100 that it sends */
        uint32_t memory_cycles;    /* by which memory is slower where it takes twice as long; 0: never */
        uint32_t fetch_pct;        /* of moving the data: fetching what was sent before */
        uint64_t lag_ps, most_lag_ps; /* from a sender's end to the end of who gets it: least, most */
        uint32_t ahead_kib;           /* that one channel's buffers hold, of what nobody has got yet */
        uint32_t measured_ranks;      /* the curves are of so many, for more extrapolated; 1: none was measured */
    } collective;
    /* What a profiler's recording costs the host, by the profiler. */
    struct gt_profiler_cost {
        uint64_t call_ps, submit_ps; /* a CUDA call; one that submits work */
        uint64_t operator_ps;        /* a range: begin and end */
        uint64_t step_ps;            /* beginning a step, beside all of the time between two steps */
        /* It empties the caches, too: what is left of the host's time when nobody records, where ranges are recorded and
         * where only calls are, if launches are recorded to take launch_ps (0: however long they take); and what that
         * takes at most for a call, or a range. */
        uint32_t host_pct, calls_host_pct;
        uint64_t launch_ps;
        uint64_t slows_most_ps;
        uint64_t node_ps;              /* a node of a graph launched */
        uint64_t gap_ps, graph_gap_ps; /* of the GPU: added to the gap behind an operation; behind a node */
        uint64_t copy_gap_ps;          /* of the GPU: added to the gap where one of the two operations is a copy */
    } kineto, nsys, record, xplane;
    uint64_t unprofiled_node_ps;      /* CPU time that a graph's node adds to its launch when nobody records, ... */
    uint64_t unprofiled_graph_gap_ps; /* ... and graph_gap_ps then */
    struct gt_warp_costs warp;        /* of instructions: kernels whose program is known */
    /* What handing out tasks among the blocks of a kernel costs (sim/tasks/policy.h says where each acts). */
    struct gt_task_costs {
        uint64_t start_ps;        /* from a block's start until it asks for its first task */
        uint64_t end_ps;          /* from knowing that there is nothing more to the block's end */
        uint64_t overhead_ps;     /* each task: from knowing its number until it polls or works */
        uint64_t queue_ps;        /* round trip of an atomic whose value the worker needs, alone */
        uint64_t queue_serial_ps; /* atomics on one address follow each other so */
        uint64_t poll_ps;   /* from one look at counters to the next; a look sees what was there at its middle */
        uint64_t found_ps;  /* from the look that sees what is waited for to going on */
        uint64_t load_ps;   /* a load whose value the worker needs: its list's next task, what a task waits for */
        uint64_t signal_ps; /* from a task's end until its worker goes on, its counters being counted up */
        uint64_t flight_ps; /* from then on until they are, where the worker waits for no answer */
        uint64_t fence_ps;  /* what the order of memory adds to an atomic by which tasks are handed on */
        uint64_t steal_ps;  /* from a thief's look at others' tasks that finds some to having one */
        uint64_t look_ps;   /* from one of its looks to the next */
        uint64_t try_ps;    /* from an atomic by which it gets none to the next one, on another worker's tasks */
        /* Of tasks that say bytes and operations in place of a time. */
        double operations_per_cycle; /* of an SM */
        uint64_t bytes_ps;           /* from a worker's asking for bytes until it has them */
        uint32_t thread_bytes;       /* that each of its threads asks for at a time; 0: no limit */
    } tasks;
};

extern const struct gt_key gt_device_keys[];
extern const size_t gt_device_key_count;
extern const struct gt_key_table gt_device_table; /* of both */

/* The row of a key; NULL when there is none of that name. */
const struct gt_key *gt_device_find_key(const char *key);

/* Every key at its default. */
void gt_device_init(struct gt_device *device);
/* Set one key from text. Returns -1 with a text that names the key, the range, or near keys. */
int gt_device_set(struct gt_device *device, const char *key, const char *value, struct gt_error *error);
/* Bytes that hold any value as text. */
enum { GT_DEVICE_VALUE_BYTES = 8 * GT_DEVICE_MAX_SMS };
/* The value of a key as text, into `text`; what gt_device_set would take back exactly. */
void gt_device_get(const struct gt_device *device, const struct gt_key *key, char *text, size_t bytes);
/* The value of one key of `from` for `to`; are the two the same? */
void gt_device_take_key(struct gt_device *to, const struct gt_device *from, const struct gt_key *key);
bool gt_device_same_key(const struct gt_device *one, const struct gt_device *other, const struct gt_key *key);
/* The GPC of each SM, into gpc[0 .. sms - 1].  Numbers of SMs come in pairs, a TPC each, assigned to GPCs in turn;
 * those of a single TPC come last (seen on H200, by what clusters share), and then SMs beyond an even number.  Where gpc_sms is not known, all are of
 * GPC 0. */
void gt_device_assign_gpcs(const struct gt_device *device, uint8_t *gpc);
/* Consistency across keys (a block limit above its SM's, an order that names an SM twice, ...). */
int gt_device_check(const struct gt_device *device, struct gt_error *error);

#endif
