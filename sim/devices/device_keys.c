/* device_keys.c - the table of a device's keys: what `gridtide devices --describe` prints. */
#include "sim/devices/device.h"

#define AT(field) offsetof(struct gt_device, field)
/* clang-format off */
#define U32(name, unit, field, low, high, fallback, help) \
    {name, unit, GT_KEY_U32, AT(field), 0, low, high, fallback, help, 1}
#define BYTES(name, field, low, high, fallback, help) U32(name, "bytes", field, low, high, fallback, help)
#define TIME(name, unit, field, high, fallback, help) \
    {name, unit, GT_KEY_TIME, AT(field), 0, 0, high, fallback, help, 1}
#define RATE(name, field, fallback, help) \
    {name, "GB/s", GT_KEY_RATE, AT(field), 0, 0.001, 1000000, fallback, help, 1}
#define TEXT(name, field, fallback, help) \
    {name, "name", GT_KEY_TEXT, AT(field), sizeof(((struct gt_device *)0)->field), 1, \
     sizeof(((struct gt_device *)0)->field) - 1, fallback, help, 1}
#define LIST(name, unit, field, length, low, high, help) \
    {name, unit, GT_KEY_U32_LIST, AT(field), AT(length), low, high, "", help, \
     sizeof(((struct gt_device *)0)->field) / sizeof(uint32_t)}

/* What some calls of one kind cost more: three keys. */
#define EXTRA(name, field, what) \
    TIME("host.cold_" name "_us", "us", field.cold_ps, LONGEST_US, "0", \
         "added to the CPU time of a thread's first " what), \
    TIME("host.first_" name "_us", "us", field.first_ps, LONGEST_US, "0", \
         "added to the CPU time of a " what " that is the first call into its stream"), \
    TIME("host.after_" name "_us", "us", field.after_ps, LONGEST_US, "0", \
         "added to the CPU time of a " what " that follows another kind of call")

#define CYCLES(name, field, fallback, help) \
    {name, "cycles", GT_KEY_RATE, AT(warp.field), 0, 0.001, 1000000, fallback, help, 1}
#define PER_CYCLE(name, unit, field, fallback, help) \
    {name, unit "/cycle", GT_KEY_RATE, AT(warp.field), 0, 0.001, 1000000, fallback, help, 1}
#define PART(name, field, fallback, help) \
    {name, "part", GT_KEY_RATE, AT(warp.field), 0, 0.01, 1, fallback, help, 1}
/* What recording costs, by the profiler: twelve keys. */
#define PROFILER(name, field) \
    TIME("profiler." name "_call_us", "us", field.call_ps, LONGEST_US, "0.45", \
         name ": CPU time that recording adds to a CUDA call"), \
    TIME("profiler." name "_submit_us", "us", field.submit_ps, LONGEST_US, "1.2", \
         name ": the same for one that submits a kernel, a copy or a memset"), \
    TIME("profiler." name "_operator_us", "us", field.operator_ps, LONGEST_US, "1.3", \
         name ": CPU time of recording a range: an operator, an annotation"), \
    TIME("profiler." name "_step_us", "us", field.step_ps, LONGEST_US, "12", \
         name ": CPU time of beginning a step, beside all that passes between two steps"), \
    U32("profiler." name "_host_pct", "%", field.host_pct, 1, 100, "59", \
        name ": part of the host's recorded time that is left when nobody records, where ranges are recorded: its caches " \
        "are its own then"), \
    U32("profiler." name "_calls_host_pct", "%", field.calls_host_pct, 1, 100, "68", \
        name ": the same where CUDA calls alone are recorded"), \
    TIME("profiler." name "_launch_us", "us", field.launch_ps, LONGEST_US, "4.2", \
         name ": what launches of kernels are recorded to take where so much is left; where they take longer less is, by " \
         "the power of 0.66; 0: always so much"), \
    TIME("profiler." name "_slows_most_us", "us", field.slows_most_ps, LONGEST_US, "30", \
         name ": that takes at most so much for a call, and for a range"), \
    TIME("profiler." name "_node_us", "us", field.node_ps, LONGEST_US, "1.2", \
         name ": CPU time that recording adds to a graph launch by each node"), \
    TIME("profiler." name "_gap_us", "us", field.gap_ps, LONGEST_US, "0.3", \
         name ": added to the gap between operations of a stream"), \
    TIME("profiler." name "_graph_gap_us", "us", field.graph_gap_ps, LONGEST_US, "0.55", \
         name ": added to the gap between nodes of a graph"), \
    TIME("profiler." name "_copy_gap_us", "us", field.copy_gap_ps, LONGEST_US, "1.5", \
         name ": added to the gap between operations of which one is a copy")
/* clang-format on */

/* Of an instruction: how often one can issue, and when a scoreboard says that its result is there. */
#define NEXT_OF   "between two warp instructions of a sub-partition "
#define RESULT_OF "until the result is there, where a scoreboard waits for it: "

/* One second: no latency or call of a working GPU comes near it. */
#define LONGEST_US 1000000
#define LONGEST_NS 1000000000

const struct gt_device_key gt_device_keys[] = {
    TEXT("chip.name", name, "generic", "name of the GPU, for people"),
    U32("chip.sms", "SMs", sms, 1, GT_DEVICE_MAX_SMS, "80",
        "streaming multiprocessors, L2 and DRAM stay as they are; a new number forgets chip.gpc_sms and "
        "chip.sm_order"),
    U32("chip.compute_major", "version", compute_major, 1, 99, "8",
        "compute capability, before the dot; blocks go in clusters from 9 on"),
    U32("chip.compute_minor", "version", compute_minor, 0, 99, "0",
        "compute capability, after the dot; says which GPU it is, changes nothing"),
    U32("chip.clock_mhz", "MHz", clock_mhz, 1, 100000, "1500",
        "SM clock when busy; recorded kernel times are scaled by it where it differs"),
    LIST("chip.gpc_sms", "SMs", gpc_sms, gpcs, 1, GT_DEVICE_MAX_SMS,
         "SMs of each GPC, in sum chip.sms; empty: not known; all blocks of a cluster are on one at once"),
    LIST("chip.sm_order", "SM", sm_order, sm_order_length, 0, GT_DEVICE_MAX_SMS - 1,
         "order in which equally free SMs are given blocks, each SM once, A-B is a range; "
         "empty: by number"),

    U32("sm.threads", "threads", threads_per_sm, 1, 65536, "2048", "threads resident on an SM"),
    U32("sm.warps", "warps", warps_per_sm, 1, 2048, "64", "warps resident on an SM"),
    U32("sm.blocks", "blocks", blocks_per_sm, 1, GT_DEVICE_MAX_BLOCKS_PER_SM, "32", "blocks resident on an SM"),
    U32("sm.warp_threads", "threads", warp_threads, 1, 128, "32", "threads of a warp"),
    U32("sm.registers", "registers", registers_per_sm, 1, 1 << 24, "65536", "32-bit registers of an SM"),
    U32("sm.register_unit_per_warp", "registers", register_unit_per_warp, 1, 65536, "256",
        "registers are allocated to a warp in multiples of this"),
    U32("sm.register_partitions", "parts", register_partitions, 1, GT_DEVICE_MAX_PARTITIONS, "4",
        "sub-partitions of an SM, each with as many of its registers; a block's warps are dealt over them, so that "
        "registers left in several do not add up to a warp's"),
    BYTES("sm.shared_bytes", shared_bytes_per_sm, 0, 1 << 30, "167936", "shared memory of an SM"),
    BYTES("sm.shared_reserved_bytes", shared_reserved_bytes, 0, 1 << 20, "1024",
          "shared memory that the driver keeps for itself in each block"),
    BYTES("sm.shared_unit_bytes", shared_unit_bytes, 1, 1 << 20, "128",
          "shared memory is allocated to a block in multiples of this"),
    LIST("sm.shared_carveouts_kib", "KiB", shared_carveouts_kib, shared_carveouts, 1, 1 << 20,
         "parts of an SM's memory that can be shared memory, ascending; an idle SM takes the least that a "
         "full load of its next kernel needs, a busy one keeps what it has; empty: no such division"),
    BYTES("sm.idle_block_bytes", idle_block_bytes, 0, 1 << 30, "4096",
          "an idle SM whose next kernel uses no shared memory takes the least of those parts that has this "
          "for each block that its threads have room for"),
    BYTES("sm.idle_most_bytes", idle_most_bytes, 0, 1 << 30, "32768", "likewise, this at most"),
    BYTES(
        "sm.spare_most_bytes", spare_most_bytes, 0, 1 << 30, "0",
        "an idle SM whose next kernel uses shared memory takes the least part that has room for twice a full load of "
        "it, up to this; 0: for one"),

    U32("block.threads", "threads", threads_per_block, 1, 65536, "1024", "threads a block may have"),
    BYTES("block.shared_bytes", shared_bytes_per_block, 0, 1 << 30, "166912",
          "shared memory that a block may ask for (opt-in)"),
    U32("block.registers_per_thread", "registers", registers_per_thread_max, 1, 65536, "255",
        "registers that a thread may have"),

    U32("scheduling.connections", "queues", connections, 1, 32, "8",
        "hardware queues that streams are spread over (CUDA_DEVICE_MAX_CONNECTIONS)"),
    U32("scheduling.resident_grids", "grids", resident_grids, 1, 65536, "128", "grids that run at once"),
    U32("scheduling.launch_queue_depth", "launches", launch_queue_depth, 1, 1 << 24, "1024",
        "launches in flight before the next one blocks the host"),
    { "scheduling.priority_high", "priority", GT_KEY_I32, AT(priority_high), 0, -1000, 0, "-5",
      "the most urgent stream priority; 0 is the least", 1 },
    TEXT("scheduling.placement", placement, "most-room",
         "policy that chooses the SM of a block: most-room, first-fit or round-robin"),
    TEXT("scheduling.arbitration", arbitration, "leftover",
         "policy that chooses the grid whose block is next: leftover or backfill"),
    TIME("scheduling.dispatch_ns", "ns", dispatch_ps, LONGEST_NS, "0.08",
         "between two blocks leaving the distributor"),
    TIME("scheduling.refill_ns", "ns", refill_ps, LONGEST_NS, "220",
         "from a block's end to the start of the next block in its place"),
    TIME("scheduling.retire_ns", "ns", retire_ps, LONGEST_NS, "0",
         "between two blocks leaving an SM: blocks that end together free their places one by one"),
    { "scheduling.error_pct", "%", GT_KEY_RATE, AT(error_pct), 0, 0, 100, "1.6",
      "a third of what 95 of 100 simulated makespans are off by at most where the host's calls are known; only for "
      "ranges "
      "of predictions",
      1 },
    U32("scheduling.cooperative_at_once", "flag", cooperative_at_once, 0, 1, "1",
        "1: the blocks of a cooperative launch start when there is room for all of them; 0: as room comes"),
    U32("scheduling.block_spread_pct", "%", block_spread_pct, 0, 50, "10",
        "standard deviation of the times of a kernel's blocks, where its program says the mean"),

    TIME("host.launch_call_us", "us", launch_call_ps, LONGEST_US, "3.6", "CPU time of a kernel launch"),
    TIME("host.copy_call_us", "us", copy_call_ps, LONGEST_US, "2.8", "CPU time of an asynchronous copy call"),
    TIME("host.copy_within_call_us", "us", copy_within_call_ps, LONGEST_US, "2.8",
         "CPU time of an asynchronous copy call within the device"),
    TIME("host.memset_call_us", "us", memset_call_ps, LONGEST_US, "2.8", "CPU time of a memset call"),
    TIME("host.host_function_call_us", "us", host_function_call_ps, LONGEST_US, "3.6",
         "CPU time of asking for a host function"),
    TIME("host.event_call_us", "us", event_call_ps, LONGEST_US, "1",
         "CPU time of creating, recording, querying an event or making a stream wait for it"),
    TIME("host.sync_call_us", "us", sync_call_ps, LONGEST_US, "1",
         "CPU time of a synchronising call that has nothing to wait for"),
    TIME("host.stream_call_us", "us", stream_call_ps, LONGEST_US, "5", "CPU time of creating a stream"),
    TIME("host.graph_call_us", "us", graph_call_ps, LONGEST_US, "7", "CPU time of a graph launch, before its nodes"),
    TIME("host.graph_group_us", "us", graph_group_ps, LONGEST_US, "0",
         "added to it by each group of nodes that the driver hands to the GPU at a time: gridtide-model(7)"),
    TIME("host.graph_node_us", "us", graph_node_ps, LONGEST_US, "0", "likewise by each kernel or memset"),
    TIME("host.graph_copy_us", "us", graph_copy_ps, LONGEST_US, "0",
         "likewise by each copy, or memset that a copy engine does"),
    TIME("host.other_call_us", "us", other_call_ps, LONGEST_US, "1", "CPU time of any other call"),
    EXTRA("launch", launch_extra, "kernel launch"),
    EXTRA("copy", copy_extra, "copy"),
    EXTRA("memset", memset_extra, "memset"),
    EXTRA("host_function", host_function_extra, "host function"),
    EXTRA("event", event_extra, "record of an event, or wait for one,"),
    TIME("host.attributes_call_us", "us", attributes_call_ps, LONGEST_US, "0.5",
         "added to the CPU time of a cooperative or a programmatic launch"),
    TIME("host.poll_query_us", "us", poll_query_ps, LONGEST_US, "0.4",
         "CPU time of asking whether an event or a stream is done, in a poll"),
    TIME("host.contention_us", "us", submit_lock_ps, LONGEST_US, "0",
         "added to the CPU time of a call that submits work by each other thread that is inside one"),
    U32("host.noise_hosts_pct", "%", noise_hosts_pct, 0, 100, "30",
        "by which all host calls together differ from one host with this GPU to another (standard deviation of the "
        "logarithm); only for ranges of predictions"),
    U32("host.noise_run_pct", "%", noise_run_pct, 0, 100, "20", "likewise from one run to the next on the same host"),
    U32("host.noise_call_pct", "%", noise_call_pct, 0, 100, "20",
        "by which each host call differs by itself, likewise"),
    U32("host.noise_pick_up_pct", "%", noise_pick_up_pct, 0, 100, "60",
        "likewise how soon each host function is picked up"),
    { "host.interrupts_per_ms", "1/ms", GT_KEY_RATE, AT(interrupts_per_ms), 0, 0, 1000, "4",
      "times a millisecond of host calls that the CPU does something else; only for ranges of predictions", 1 },
    TIME("host.interrupt_us", "us", interrupt_ps, LONGEST_US, "6", "that this takes, in the mean"),
    TIME("host.sync_return_us", "us", sync_return_ps, LONGEST_US, "2",
         "from the end of what is waited for to the return of the synchronising call"),

    TIME("latency.launch_us", "us", launch_latency_ps, LONGEST_US, "2.2",
         "from the end of a launch call to the kernel's start on an idle GPU"),
    TIME("latency.copy_submit_us", "us", copy_submit_ps, LONGEST_US, "1.5",
         "from the end of a copy call to the copy's start on an idle engine"),
    TIME("latency.stream_gap_us", "us", stream_gap_ps, LONGEST_US, "1.6",
         "from an operation's end to the start of the next in its stream"),
    TIME("latency.event_gap_us", "us", event_gap_ps, LONGEST_US, "1.8",
         "from an operation's end to the start of one in another stream that waits for it by an event"),
    TIME("latency.engine_gap_us", "us", engine_gap_ps, LONGEST_US, "1.6",
         "from an operation's end to the start of the next in its stream on another engine: "
         "kernels, copies in, copies out"),
    TIME("latency.engine_event_gap_us", "us", engine_event_gap_ps, LONGEST_US, "1.8",
         "the same for one in another stream that waits for it by an event"),
    TIME("latency.crowd_us", "us", busy_queue_gap_ps, LONGEST_US, "0",
         "added to the gap before a kernel while work waits in three connections or more"),
    TIME("latency.busy_connection_us", "us", busy_connection_ps, LONGEST_US, "0",
         "added to the gap before a kernel by each connection, beyond two, in which work waits"),
    TIME("latency.link_read_us", "us", link_read_ps, LONGEST_US, "0",
         "while a copy to the device holds the link, a kernel starts so much later, a small copy or one to the host "
         "twice that"),
    U32("latency.quiet_connections", "queues", quiet_connections, 0, 32, "2",
        "connections in which work may wait before those two add to the gap"),
    TIME("latency.traced_us", "us", traced_ps, LONGEST_US, "0.6",
         "a recorded kernel lasts so much longer than its blocks, and the gaps beside it are shorter"),
    TIME("latency.clock_holds_us", "us", clock_holds_ps, LONGEST_US, "15",
         "of a kernel at full clock, before that falls to what its profile saw"),
    TIME("latency.graph_gap_us", "us", graph_gap_ps, LONGEST_US, "0.8",
         "from an operation's end to the start of the next node of its graph"),
    TIME("latency.graph_wait_us", "us", graph_wait_ps, LONGEST_US, "0",
         "added to that gap where the node comes after nodes of other groups (host.graph_group_us)"),
    TIME("latency.graph_next_us", "us", graph_next_ps, LONGEST_US, "0",
         "added to that gap by each node that the same operation's end has let go before"),
    TIME("latency.graph_turn_us", "us", graph_turn_ps, LONGEST_US, "0",
         "such a node that finds kernels waiting for SMs gets in line so long after the last of them has been handed "
         "out; 0: it gets in line at once"),
    TIME("latency.cooperative_us", "us", cooperative_ps, LONGEST_US, "0",
         "added to the gap, or the latency, before a cooperative launch"),
    TIME("latency.barrier_us", "us", barrier_ps, LONGEST_US, "1",
         "from the last block's coming to a barrier over a small grid to all blocks' going on"),
    TIME("latency.barrier_block_ns", "ns", barrier_block_ps, LONGEST_NS, "2",
         "of a large grid: each block's seeing that it is open"),
    TIME("latency.barrier_arrival_ns", "ns", barrier_arrival_ps, LONGEST_NS, "1.4",
         "likewise between two blocks that come at once: they are counted one after the other"),
    TIME("latency.programmatic_us", "us", programmatic_ps, LONGEST_US, "1",
         "from the last block's letting the next kernel come to that one's first block, of a programmatic launch"),
    TIME("latency.programmatic_exit_us", "us", programmatic_exit_ps, LONGEST_US, "0.6",
         "added to that behind a kernel that was launched so too and lets the next one come only at its end"),
    TIME("latency.programmatic_wait_us", "us", programmatic_wait_ps, LONGEST_US, "0.8",
         "from a kernel's end to when blocks of the next one that wait for it go on"),
    TIME("latency.poll_seen_us", "us", poll_seen_ps, LONGEST_US, "1",
         "from an operation's end to when a thread that polls can see it"),
    TIME("latency.host_function_us", "us", host_function_ps, LONGEST_US, "8",
         "from an operation's end to the start of the host function behind it"),

    TIME("device_launch.call_us", "us", child_call_ps[0], LONGEST_US, "0",
         "a launch by a block takes its thread so long, into the block's NULL stream"),
    TIME("device_launch.stream_call_us", "us", child_call_ps[1], LONGEST_US, "0",
         "the same into a stream made on the device"),
    TIME("device_launch.fire_and_forget_call_us", "us", child_call_ps[2], LONGEST_US, "0",
         "the same of a fire-and-forget launch"),
    TIME("device_launch.tail_call_us", "us", child_call_ps[3], LONGEST_US, "0", "the same of a tail launch"),
    TIME("device_launch.contention_us", "us", child_contention_ps[0], LONGEST_US, "0",
         "added to a call by each that others make at about that time, tail launches aside"),
    TIME("device_launch.tail_contention_us", "us", child_contention_ps[3], LONGEST_US, "0",
         "the same of tail launches"),
    TIME("device_launch.first_us", "us", child_first_ps, LONGEST_US, "0", "added to the first launch of a grid"),
    TIME("device_launch.stream_create_us", "us", child_stream_ps, LONGEST_US, "0",
         "added to the first launch into a stream made on the device, by making it"),
    TIME("device_launch.null_us", "us", child_latency_ps[0], LONGEST_US, "0",
         "from a launch by a block to the child's start where nothing holds it, in the block's NULL stream"),
    TIME("device_launch.stream_us", "us", child_latency_ps[1], LONGEST_US, "0",
         "the same in a stream made on the device"),
    TIME("device_launch.fire_and_forget_us", "us", child_latency_ps[2], LONGEST_US, "0",
         "the same of a fire-and-forget launch"),
    TIME("device_launch.next_us", "us", child_next_ps[0], LONGEST_US, "0",
         "from one child's start to that of another, at least, in streams of the device"),
    TIME("device_launch.fire_and_forget_next_us", "us", child_next_ps[2], LONGEST_US, "0",
         "the same of fire-and-forget launches"),
    TIME("device_launch.gap_us", "us", child_gap_ps, LONGEST_US, "0",
         "from a child's end being seen to the start of the next one of its stream"),
    TIME("device_launch.pass_us", "us", child_pass_ps, LONGEST_US, "0",
         "the GPU sees ends of children of grids that have ended in passes, one after the other: each takes so long"),
    TIME("device_launch.pass_child_us", "us", child_pass_each_ps, LONGEST_US, "0",
         "added to a pass by each child of it"),
    TIME("device_launch.tail_us", "us", child_tail_ps, LONGEST_US, "0",
         "from the end of a grid that the host launched, and its other work, to its first tail launch's start"),
    TIME("device_launch.tail_next_us", "us", child_tail_next_ps, LONGEST_US, "0",
         "the same of a grid that a block launched; and from one tail launch's end to the next one's start"),
    TIME("device_launch.end_us", "us", child_end_ps, LONGEST_US, "0",
         "from the pass that sees the end of a grid's last child to what goes on behind it"),
    TIME("device_launch.host_us", "us", child_host_ps, LONGEST_US, "0",
         "from there, for a grid that the host launched, to where its stream goes on"),
    TIME("device_launch.tail_host_us", "us", child_tail_host_ps, LONGEST_US, "0",
         "the same from the end of its last tail launch"),
    U32("device_launch.pending", "launches", child_pending, 1, 1u << 20, "2048",
        "launches by blocks that wait for their start, at most: CUDA error 69 beyond"),
    U32("device_launch.depth", "grids", child_depth, 1, 1u << 20, "24",
        "how deep grids may launch grids: CUDA error 65 beyond"),

    U32("copy.engines", "engines", copy_engines, 1, 3, "2",
        "1: one for all copies; 2: one a direction; 3: copies within the device have their own"),
    U32("copy.queues", "queues", copy_queues, 1, GT_DEVICE_MAX_COPY_QUEUES, "1",
        "at each engine, streams are spread over so many queues; it empties one before it turns to the next"),
    TIME("copy.gap_us", "us", copy_gap_ps, LONGEST_US, "1.5",
         "from a copy's end to the start of one that waited for the engine"),
    U32("copy.within_alone", "flag", copy_within_alone, 0, 1, "0",
        "1: a copy within the device waits for kernels that run, and kernels wait for it"),
    TIME("copy.h2d_pinned_latency_us", "us", h2d_pinned.latency_ps, LONGEST_US, "4",
         "host to device, pinned memory: time of an empty copy"),
    RATE("copy.h2d_pinned_gbps", h2d_pinned.gbps, "25", "host to device, pinned memory: rate of a large copy"),
    TIME("copy.d2h_pinned_latency_us", "us", d2h_pinned.latency_ps, LONGEST_US, "3",
         "device to host, pinned memory: time of an empty copy"),
    RATE("copy.d2h_pinned_gbps", d2h_pinned.gbps, "25", "device to host, pinned memory: rate of a large copy"),
    TIME("copy.h2d_pageable_latency_us", "us", h2d_pageable.latency_ps, LONGEST_US, "4",
         "host to device, pageable memory: time of an empty copy"),
    RATE("copy.h2d_pageable_gbps", h2d_pageable.gbps, "10", "host to device, pageable memory: rate of a large copy"),
    TIME("copy.d2h_pageable_latency_us", "us", d2h_pageable.latency_ps, LONGEST_US, "8",
         "device to host, pageable memory: time of an empty copy"),
    RATE("copy.d2h_pageable_gbps", d2h_pageable.gbps, "10", "device to host, pageable memory: rate of a large copy"),
    TIME("copy.d2d_latency_us", "us", d2d.latency_ps, LONGEST_US, "5", "within the device: time of an empty copy"),
    RATE("copy.d2d_gbps", d2d.gbps, "600", "within the device: rate of a large copy, bytes copied (not moved)"),
    { "copy.within_rest_bytes", "bytes", GT_KEY_BYTES, AT(within_rest_bytes), 0, 0, 1000000000000, "1048576",
      "within the device: from this size on what is not a multiple of 16 bytes is done behind the rest", 1 },
    TIME("copy.within_rest_us", "us", within_rest_ps, LONGEST_US, "0", "how long that takes"),
    TIME("copy.p2p_latency_us", "us", p2p.latency_ps, LONGEST_US, "5", "to another GPU: time of an empty copy"),
    RATE("copy.p2p_gbps", p2p.gbps, "25", "to another GPU: rate of a large copy"),
    RATE("copy.duplex_gbps", duplex_gbps, "45", "host link with both directions busy: sum of the two rates"),
    { "copy.pageable_stage_bytes", "bytes", GT_KEY_BYTES, AT(pageable_stage_bytes), 0, 0, 1000000000000, "65536",
      "a host-to-device copy of pageable memory up to this size does not wait for the GPU; "
      "with copy.staging_chunk_bytes what its buffers hold counts instead",
      1 },
    U32("copy.duplex_in_pct", "%", duplex_in_pct, 1, 99, "50",
        "host link with both directions busy: part of that rate that copies to the device have for sure"),
    { "copy.inline_pinned_bytes", "bytes", GT_KEY_BYTES, AT(inline_pinned_bytes), 0, 0, 1000000000000, "0",
      "a host-to-device copy of pinned memory up to this size is sent with the commands, as fast as those of "
      "pageable memory",
      1 },
    { "copy.inline_bytes", "bytes", GT_KEY_BYTES, AT(inline_bytes), 0, 0, 1000000000000, "65536",
      "a host-to-device copy of pageable memory up to this size is sent with the commands, without a buffer; "
      "of use with copy.staging_chunk_bytes",
      1 },
    { "copy.staging_chunk_bytes", "bytes", GT_KEY_BYTES, AT(staging_chunk_bytes), 0, 0, 1000000000000, "0",
      "larger pageable copies go chunk by chunk through pinned buffers of this size, at the slower of link "
      "and host; 0: the pageable latencies and rates hold for all sizes",
      1 },
    U32("copy.staging_buffers", "buffers", staging_buffers, 1, GT_STAGING_BUFFERS_MOST, "2",
        "buffers for pageable copies to the device: one that finds none free blocks the host"),
    RATE("copy.staging_in_gbps", staging_in_gbps, "10", "the host's copying of pageable memory into a buffer"),
    RATE("copy.staging_out_gbps", staging_out_gbps, "10", "the host's copying out of a buffer"),
    BYTES("copy.engine_memset_bytes", copied_memset_bytes, 0, 1 << 30, "0",
          "a memset is the copy engine's work up to this size, above a kernel's"),
    TIME("copy.memset_latency_us", "us", memset_latency_ps, LONGEST_US, "2", "time of an empty memset"),
    RATE("copy.memset_gbps", memset_gbps, "1000", "rate of a large memset"),
    U32("copy.within_threads", "threads", within_threads, 0, 1024, "0",
        "copies within the device are kernels with blocks of so many threads; 0: they need no SM"),
    U32("copy.memset_threads", "threads", memset_threads, 0, 1024, "0",
        "the same of memsets too large for the copy engine"),
    U32("copy.kernel_thread_bytes", "bytes", driver_thread_bytes, 1, 1 << 20, "16",
        "what each thread of these does at a time"),
    TIME("copy.kernel_block_us", "us", driver_block_ps, LONGEST_US, "0.74",
         "how long a block takes for that where there is room for few of them"),

    TEXT("warp.policy", warp.policy, "greedy-oldest",
         "which ready warp a sub-partition issues: greedy-oldest, greedy-youngest or round-robin"),
    CYCLES("warp.launch_cycles", launch_cycles, "2600", "of a kernel before its first instruction"),
    CYCLES("warp.drain_cycles", drain_cycles, "300", "of a kernel after its last instruction"),
    CYCLES("warp.block_start_cycles", block_start_cycles, "10",
           "between two blocks that start on an idle SM, beside the distributor's pace"),
    CYCLES("warp.fetch_cycles", fetch_cycles, "500", "of an instruction line that no cache has yet"),
    CYCLES("warp.fetch_next_cycles", fetch_next_cycles, "40", "likewise, of each line that follows it"),
    U32("warp.fetch_line_bytes", "bytes", warp.fetch_line_bytes, 16, 65536, "128", "of a line of instructions"),
    U32("warp.fetch_ahead_lines", "lines", warp.fetch_ahead_lines, 1, 65536, "16",
        "that come with an instruction line that no cache has yet, itself among them"),
    CYCLES("warp.constant_miss_cycles", constant_miss_cycles, "200", "of a line of constants that no cache has yet"),
    U32("warp.constant_line_bytes", "bytes", warp.constant_line_bytes, 4, 65536, "256", "of a line of constants"),
    CYCLES("warp.branch_cycles", branch_cycles, "6", "added after an instruction that jumps"),
    CYCLES("warp.waiting_cycles", waiting_cycles, "6.7",
           "of a warp instruction in a loop that waits for time or for others"),
    CYCLES("warp.barrier_cycles", barrier_cycles, "13",
           "from when a barrier of a block has taken in its last warp to the next instruction"),
    CYCLES("warp.barrier_warp_cycles", barrier_warp_cycles, "2", "that a barrier takes for each warp"),
    CYCLES("warp.mbarrier_cycles", mbarrier_cycles, "20",
           "from an arrival that ends a phase of an mbarrier to the next instruction of who waits for it"),
    CYCLES("warp.cluster_barrier_cycles", cluster_barrier_cycles, "200", "added where the barrier is of a cluster"),
    CYCLES("warp.fence_cycles", fence_cycles, "20", "of a memory fence with nothing to wait for"),
    { "warp.run_instructions", "instructions", GT_KEY_RATE, AT(warp.run_instructions), 0, 1, 1000000, "16",
      "in a row from which on a warp counts as one that hardly ever stalls: others have issue slots after it", 1 },
    PART("warp.least_issue_part", least_issue_part, "0.01",
         "of its pace, what a kernel's blocks keep to which such warps leave no issue slots"),
    PART("warp.busiest_issue_part", busiest_issue_part, "0.8",
         "of its issue slots, what the sub-partition with most work is taken to use where the model's do not use "
         "more"),

    CYCLES("pipe.none_interval_cycles", interval[GT_PIPE_NONE], "1", NEXT_OF "without a pipe (NOP, DEPBAR)"),
    CYCLES("pipe.alu_interval_cycles", interval[GT_PIPE_ALU], "2", NEXT_OF "of the ALU: integers, logic, compare"),
    CYCLES("pipe.fma_interval_cycles", interval[GT_PIPE_FMA], "1", NEXT_OF "in 32-bit floating point"),
    CYCLES("pipe.fmaheavy_interval_cycles", interval[GT_PIPE_FMAHEAVY], "2", NEXT_OF "of integer multiplication"),
    CYCLES("pipe.fp16_interval_cycles", interval[GT_PIPE_FP16], "2", NEXT_OF "in 16-bit floating point"),
    CYCLES("pipe.fp64_interval_cycles", interval[GT_PIPE_FP64], "2", NEXT_OF "in 64-bit floating point"),
    CYCLES("pipe.xu_interval_cycles", interval[GT_PIPE_XU], "8", NEXT_OF "of special functions and conversions"),
    CYCLES("pipe.tensor_interval_cycles", interval[GT_PIPE_TENSOR], "8",
           NEXT_OF "of the tensor cores whose shape is not known"),
    CYCLES("pipe.lsu_interval_cycles", interval[GT_PIPE_LSU], "2", NEXT_OF "for the load/store unit"),
    CYCLES("pipe.tex_interval_cycles", interval[GT_PIPE_TEX], "4", NEXT_OF "for the texture unit"),
    CYCLES("pipe.uniform_interval_cycles", interval[GT_PIPE_UNIFORM], "2", NEXT_OF "of the uniform data path"),
    CYCLES("pipe.cbu_interval_cycles", interval[GT_PIPE_CBU], "2", NEXT_OF "of control flow"),
    CYCLES("pipe.adu_interval_cycles", interval[GT_PIPE_ADU], "2", NEXT_OF "of the address divergence unit"),
    CYCLES("pipe.tma_interval_cycles", interval[GT_PIPE_TMA], "4", NEXT_OF "for bulk copies"),
    CYCLES("pipe.alu_latency_cycles", latency[GT_PIPE_ALU], "12", RESULT_OF "of the ALU"),
    CYCLES("pipe.fma_latency_cycles", latency[GT_PIPE_FMA], "4", RESULT_OF "in 32-bit floating point"),
    CYCLES("pipe.fmaheavy_latency_cycles", latency[GT_PIPE_FMAHEAVY], "5", RESULT_OF "of integer multiplication"),
    CYCLES("pipe.fp16_latency_cycles", latency[GT_PIPE_FP16], "5", RESULT_OF "in 16-bit floating point"),
    CYCLES("pipe.fp64_latency_cycles", latency[GT_PIPE_FP64], "16", RESULT_OF "in 64-bit floating point"),
    CYCLES("pipe.xu_latency_cycles", latency[GT_PIPE_XU], "22", RESULT_OF "of special functions and conversions"),
    CYCLES("pipe.tensor_latency_cycles", latency[GT_PIPE_TENSOR], "33", RESULT_OF "of the tensor cores"),
    CYCLES("pipe.lsu_latency_cycles", latency[GT_PIPE_LSU], "24", RESULT_OF "of the load/store unit, not memory"),
    CYCLES("pipe.tex_latency_cycles", latency[GT_PIPE_TEX], "100", RESULT_OF "of the texture unit, not memory"),
    CYCLES("pipe.uniform_latency_cycles", latency[GT_PIPE_UNIFORM], "12", RESULT_OF "of the uniform data path"),
    CYCLES("pipe.cbu_latency_cycles", latency[GT_PIPE_CBU], "12", RESULT_OF "of control flow"),
    CYCLES("pipe.adu_latency_cycles", latency[GT_PIPE_ADU], "24", RESULT_OF "of the address divergence unit"),
    CYCLES("pipe.tma_latency_cycles", latency[GT_PIPE_TMA], "30", "until the TMA has read its descriptor's place"),
    CYCLES("pipe.read_behind_cycles", read_behind_cycles, "2",
           "that reading of an instruction's registers may be behind before no other one issues"),
    CYCLES("pipe.special_latency_cycles", special_latency, "22", "until a special register is read (S2R)"),
    CYCLES("pipe.shuffle_latency_cycles", shuffle_latency, "24", "of a shuffle"),
    CYCLES("pipe.mma_start_cycles", mma_start_cycles, "0.001",
           "of a warp's matrix product, beside its multiply-adds"),
    PER_CYCLE("pipe.mma_per_cycle", "multiply-adds", mma_per_cycle, "256",
              "of a sub-partition's tensor core in 16 bits, operands in registers"),
    { "pipe.mma_fp64_bits", "bits", GT_KEY_RATE, AT(warp.mma_fp64_bits), 0, 1, 1000000, "448",
      "whose time an element of a 64-bit matrix product takes, of those in 16 bits", 1 },
    PER_CYCLE("pipe.gmma_per_cycle", "multiply-adds", gmma_per_cycle, "512",
              "likewise, operands in shared memory (WGMMA)"),
    CYCLES("pipe.gmma_latency_cycles", gmma_latency, "60", "of a WGMMA, beside its time in the tensor core"),

    CYCLES("memory.lsu_queue_cycles", lsu_queue_cycles, "16",
           "work that the load/store unit takes in before warps wait to issue more"),
    CYCLES("memory.lg_queue_cycles", lg_queue_cycles, "1000",
           "work for L2 and DRAM that an SM takes in before warps wait to issue global accesses"),
    CYCLES("memory.constant_latency_cycles", constant_latency, "28", "of a load from the constant cache"),
    CYCLES("memory.shared_latency_cycles", shared_latency, "29", "of a load from shared memory"),
    CYCLES("memory.l1_latency_cycles", l1_latency, "36", "of a load that hits L1"),
    PER_CYCLE("memory.l1_lines_per_cycle", "lines", l1_lines_per_cycle, "4", "of L1, that an access looks up"),
    PER_CYCLE("memory.l1_bytes_per_cycle", "bytes", l1_bytes_per_cycle, "128", "of L1, that an access moves"),
    CYCLES("memory.load_register_cycles", load_register_cycles, "1",
           "by which each register of a wide load beyond the first comes later"),
    CYCLES("memory.l2_near_latency_cycles", l2_near_latency, "230", "of a load that hits the near half of L2"),
    CYCLES("memory.l2_far_latency_cycles", l2_far_latency, "290", "of a load that hits the far half of L2"),
    CYCLES("memory.dram_latency_cycles", dram_latency, "550", "of a load that goes to DRAM, at least"),
    CYCLES("memory.dram_spread_cycles", dram_spread, "130",
           "of a load that goes to DRAM, mean beyond the least; exponentially distributed"),
    CYCLES("memory.dram_apart_cycles", dram_apart_cycles, "60",
           "added to a load that goes to many places in DRAM: other rows"),
    PART(
        "memory.dram_row_part", dram_row_part, "0.25",
        "of a further line far from the others, what one in a row with them adds to the wait for the last from DRAM"),
    { "memory.dram_burst_bytes", "bytes", GT_KEY_U32, AT(warp.dram_burst_bytes), 0, GT_SECTOR_BYTES, 65536, "64",
      "that DRAM reads and writes at once, however few were asked for", 1 },
    { "memory.l2_bytes", "bytes", GT_KEY_BYTES, AT(warp.l2_bytes), 0, 1, 1000000000000, "41943040", "that L2 holds",
      1 },
    CYCLES("memory.first_access_cycles", first_access_cycles, "500",
           "added to an SM's first reads of global memory: its translation of addresses is cold"),
    CYCLES("memory.shared_atomic_cycles", shared_atomic_cycles, "2", "of an atomic's pass in shared memory"),
    PER_CYCLE("memory.sm_bytes_per_cycle", "bytes", sm_bytes_per_cycle, "64", "of an SM's port to L2, reads"),
    PER_CYCLE("memory.sm_write_bytes_per_cycle", "bytes", sm_write_bytes_per_cycle, "25",
              "of an SM's port to L2, writes"),
    CYCLES("memory.sm_line_cycles", sm_line_cycles, "1",
           "of an SM's port to L2 for a line that it reads: reads wait behind what the SM writes"),
    PER_CYCLE("memory.l2_read_bytes_per_cycle", "bytes", l2_read_bytes_per_cycle, "3400",
              "of L2, all reads together"),
    PER_CYCLE("memory.l2_write_bytes_per_cycle", "bytes", l2_write_bytes_per_cycle, "2800",
              "of L2, all writes together"),
    PER_CYCLE("memory.l2_requests_per_cycle", "requests", l2_requests_per_cycle, "69",
              "of L2, lookups of a line, all together"),
    PER_CYCLE("memory.l2_fabric_bytes_per_cycle", "bytes", l2_fabric_bytes_per_cycle, "1230",
              "between the two halves of L2"),
    CYCLES("memory.l2_crowd_cycles", l2_queueing_cycles, "6",
           "added to L2's latency where it is half busy; where it is nine tenths busy, four times that"),
    CYCLES("memory.dram_crowd_cycles", dram_queueing_cycles, "60", "likewise for DRAM, where it only reads"),
    CYCLES("memory.dram_mixed_crowd_cycles", dram_mixed_queueing_cycles, "205",
           "likewise for DRAM, where it reads and writes, half and half"),
    CYCLES("memory.crowd_window_cycles", crowd_window_cycles, "4000",
           "that count for how busy L2 and DRAM are, the latest"),
    PART("memory.l2_kept_part", l2_kept_part, "0.15",
         "of L2, as much of what was written stays there as makes reads wait as if it had gone to DRAM"),
    PART("memory.dram_least_part", dram_least_part, "0.05",
         "of DRAM, what kernels have for sure, whatever copies take"),
    { "memory.dram_gbps", "GB/s", GT_KEY_RATE, AT(warp.dram_gbps), 0, 0.001, 1000000, "1500", "DRAM at its peak", 1 },
    PART("memory.dram_efficiency", dram_efficiency, "0.93", "of DRAM's peak that reads, or writes, reach"),
    PART("memory.dram_mixed_efficiency", dram_mixed_efficiency, "0.85",
         "of DRAM's peak that reads and writes reach, half and half"),
    PART("memory.dram_scattered_efficiency", dram_scattered_efficiency, "0.4",
         "of DRAM's peak that reads of single sectors in no order reach"),
    CYCLES("memory.atomic_cycles", atomic_cycles, "1.45", "of an L2 slice for an atomic on one sector"),
    PART("memory.atomic_slice_part", atomic_slice_part, "0.016",
         "of all atomics, what the busiest slice of L2 has where a profile does not say"),
    CYCLES("memory.bulk_latency_cycles", bulk_latency, "150", "added to a bulk copy's access to L2 or DRAM"),
    CYCLES("memory.bulk_issue_cycles", bulk_issue_cycles, "8", "between two bulk copies of an SM"),
    { "memory.l2_reuse_bytes", "bytes", GT_KEY_BYTES, AT(warp.l2_reuse_bytes), 0, 0, 1000000000000, "20000000",
      "touched last that L2 keeps for the kernels of a recorded stream that come next", 1 },

    PROFILER("kineto", kineto),
    PROFILER("nsys", nsys),
    TIME("profiler.none_node_us", "us", unprofiled_node_ps, LONGEST_US, "0.005",
         "CPU time that a graph's node adds to its launch when nobody records, in place of host.graph_group_us, "
         "graph_node_us and graph_copy_us, which were measured under a profiler"),
    TIME("profiler.none_graph_gap_us", "us", unprofiled_graph_gap_ps, LONGEST_US, "0.2",
         "the same for latency.graph_gap_us"),

    TIME("tasks.start_us", "us", tasks.start_ps, LONGEST_US, "0.5",
         "task graphs: from a block's start until it asks for its first task"),
    TIME("tasks.end_us", "us", tasks.end_ps, LONGEST_US, "0.3",
         "from a worker's knowing that there is nothing more for it to its block's end"),
    TIME("tasks.overhead_us", "us", tasks.overhead_ps, LONGEST_US, "1",
         "each task: from a worker's knowing its number until it polls its counters or works"),
    TIME("tasks.queue_us", "us", tasks.queue_ps, LONGEST_US, "0.7",
         "round trip of an atomic whose value a worker needs, nobody else asking"),
    TIME("tasks.queue_serial_ns", "ns", tasks.queue_serial_ps, LONGEST_NS, "3",
         "between two atomics on one address: a queue, a counter"),
    TIME("tasks.poll_us", "us", tasks.poll_ps, LONGEST_US, "0.7",
         "from a worker's look at counters, or at a place of a queue, to the next"),
    TIME("tasks.found_us", "us", tasks.found_ps, LONGEST_US, "0.1",
         "from the look that sees what a worker waits for to its going on"),
    TIME("tasks.load_us", "us", tasks.load_ps, LONGEST_US, "0.25",
         "a load whose value a worker needs: the next task of its list, what a task waits for"),
    TIME("tasks.signal_us", "us", tasks.signal_ps, LONGEST_US, "0.4", "what a task's signals hold its worker up"),
    TIME("tasks.flight_us", "us", tasks.flight_ps, LONGEST_US, "0.3",
         "from then on until counters are counted up that nobody waits for an answer of"),
    TIME("tasks.fence_us", "us", tasks.fence_ps, LONGEST_US, "0.2",
         "added by the order of memory to an atomic that hands tasks on: ready and steal"),
    TIME("tasks.steal_us", "us", tasks.steal_ps, LONGEST_US, "1.9",
         "from a thief's look at others' tasks that finds some to having one"),
    { "tasks.operations_per_cycle", "operations/cycle", GT_KEY_RATE, AT(tasks.operations_per_cycle), 0, 0.001,
      1000000, "256", "of an SM, for tasks that say operations and no time", 1 },
};
const size_t gt_device_key_count = sizeof(gt_device_keys) / sizeof(gt_device_keys[0]);
