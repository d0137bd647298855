/* device_keys.c - the table of a device's keys: what `gridtide devices --describe` prints. */
#include "sim/device.h"

#define AT(field) offsetof(struct gt_device, field)
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

/* One second: no latency or call of a working GPU comes near it. */
#define LONGEST_US 1000000
#define LONGEST_NS 1000000000

const struct gt_device_key gt_device_keys[] = {
    TEXT("chip.name", name, "generic", "name of the GPU, for people"),
    U32("chip.sms", "SMs", sms, 1, GT_DEVICE_MAX_SMS, "80",
        "streaming multiprocessors; a new number forgets chip.gpc_sms and chip.sm_order"),
    U32("chip.compute_major", "version", compute_major, 1, 99, "8",
        "compute capability, before the dot; says which GPU it is, changes nothing"),
    U32("chip.compute_minor", "version", compute_minor, 0, 99, "0",
        "compute capability, after the dot; says which GPU it is, changes nothing"),
    U32("chip.clock_mhz", "MHz", clock_mhz, 1, 100000, "1500",
        "SM clock when busy; recorded kernel times are scaled by it where it differs"),
    LIST("chip.gpc_sms", "SMs", gpc_sms, gpcs, 1, GT_DEVICE_MAX_SMS,
         "SMs of each GPC, in sum chip.sms; empty: not known; says how the chip is built, changes nothing"),
    LIST("chip.sm_order", "SM", sm_order, sm_order_length, 0, GT_DEVICE_MAX_SMS - 1,
         "order in which equally free SMs are given blocks, each SM once, A-B is a range; "
         "empty: by number"),

    U32("sm.threads", "threads", threads_per_sm, 1, 65536, "2048", "threads resident on an SM"),
    U32("sm.warps", "warps", warps_per_sm, 1, 2048, "64", "warps resident on an SM"),
    U32("sm.blocks", "blocks", blocks_per_sm, 1, GT_DEVICE_MAX_BLOCKS_PER_SM, "32",
        "blocks resident on an SM"),
    U32("sm.warp_threads", "threads", warp_threads, 1, 128, "32", "threads of a warp"),
    U32("sm.registers", "registers", registers_per_sm, 1, 1 << 24, "65536", "32-bit registers of an SM"),
    U32("sm.register_unit_per_warp", "registers", register_unit_per_warp, 1, 65536, "256",
        "registers are allocated to a warp in multiples of this"),
    BYTES("sm.shared_bytes", shared_bytes_per_sm, 0, 1 << 30, "167936", "shared memory of an SM"),
    BYTES("sm.shared_reserved_bytes", shared_reserved_bytes, 0, 1 << 20, "1024",
          "shared memory that the driver keeps for itself in each block"),
    BYTES("sm.shared_unit_bytes", shared_unit_bytes, 1, 1 << 20, "128",
          "shared memory is allocated to a block in multiples of this"),
    LIST("sm.shared_carveouts_kib", "KiB", shared_carveouts_kib, shared_carveouts, 1, 1 << 20,
         "parts of an SM's memory that can be shared memory, ascending; an idle SM takes the least that a "
         "full load of its next kernel needs, a busy one keeps what it has; empty: no such division"),

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
    {"scheduling.priority_high", "priority", GT_KEY_I32, AT(priority_high), 0, -1000, 0, "-5",
     "the most urgent stream priority; 0 is the least", 1},
    TEXT("scheduling.placement", placement, "most-room", "policy that chooses the SM of a block"),
    TEXT("scheduling.arbitration", arbitration, "leftover",
         "policy that chooses the grid whose block is next"),
    TIME("scheduling.dispatch_ns", "ns", dispatch_ps, LONGEST_NS, "0.08",
         "between two blocks leaving the distributor"),
    TIME("scheduling.refill_ns", "ns", refill_ps, LONGEST_NS, "220",
         "from a block's end to the start of the next block in its place"),
    TIME("scheduling.retire_ns", "ns", retire_ps, LONGEST_NS, "0",
         "between two blocks leaving an SM: blocks that end together free their places one by one"),

    TIME("host.launch_call_us", "us", launch_call_ps, LONGEST_US, "3.6", "CPU time of a kernel launch"),
    TIME("host.copy_call_us", "us", copy_call_ps, LONGEST_US, "2.8", "CPU time of an asynchronous copy call"),
    TIME("host.memset_call_us", "us", memset_call_ps, LONGEST_US, "2.8", "CPU time of a memset call"),
    TIME("host.event_call_us", "us", event_call_ps, LONGEST_US, "1",
         "CPU time of creating, recording, querying an event or making a stream wait for it"),
    TIME("host.sync_call_us", "us", sync_call_ps, LONGEST_US, "1",
         "CPU time of a synchronising call that has nothing to wait for"),
    TIME("host.stream_call_us", "us", stream_call_ps, LONGEST_US, "5",
         "CPU time of creating a stream"),
    TIME("host.graph_call_us", "us", graph_call_ps, LONGEST_US, "7", "CPU time of a graph launch"),
    TIME("host.other_call_us", "us", other_call_ps, LONGEST_US, "1", "CPU time of any other call"),
    TIME("host.first_launch_us", "us", first_launch_ps, LONGEST_US, "0",
         "added to the CPU time of the first launch into a stream"),
    TIME("host.contention_us", "us", contention_ps, LONGEST_US, "0",
         "added to the CPU time of a call that submits work by each other thread that is inside one"),
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
    TIME("latency.crowd_us", "us", crowd_ps, LONGEST_US, "0",
         "added to the gap before a kernel while work waits in three connections or more"),
    TIME("latency.busy_connection_us", "us", busy_connection_ps, LONGEST_US, "0",
         "added to the gap before a kernel by each connection, beyond two, in which work waits"),
    TIME("latency.graph_gap_us", "us", graph_gap_ps, LONGEST_US, "0.8",
         "from an operation's end to the start of the next node of its graph"),
    TIME("latency.host_function_us", "us", host_function_ps, LONGEST_US, "8",
         "from an operation's end to the start of the host function behind it"),

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
    RATE("copy.h2d_pinned_gbps", h2d_pinned.gbps, "25",
         "host to device, pinned memory: rate of a large copy"),
    TIME("copy.d2h_pinned_latency_us", "us", d2h_pinned.latency_ps, LONGEST_US, "3",
         "device to host, pinned memory: time of an empty copy"),
    RATE("copy.d2h_pinned_gbps", d2h_pinned.gbps, "25",
         "device to host, pinned memory: rate of a large copy"),
    TIME("copy.h2d_pageable_latency_us", "us", h2d_pageable.latency_ps, LONGEST_US, "4",
         "host to device, pageable memory: time of an empty copy"),
    RATE("copy.h2d_pageable_gbps", h2d_pageable.gbps, "10",
         "host to device, pageable memory: rate of a large copy"),
    TIME("copy.d2h_pageable_latency_us", "us", d2h_pageable.latency_ps, LONGEST_US, "8",
         "device to host, pageable memory: time of an empty copy"),
    RATE("copy.d2h_pageable_gbps", d2h_pageable.gbps, "10",
         "device to host, pageable memory: rate of a large copy"),
    TIME("copy.d2d_latency_us", "us", d2d.latency_ps, LONGEST_US, "5",
         "within the device: time of an empty copy"),
    RATE("copy.d2d_gbps", d2d.gbps, "600",
         "within the device: rate of a large copy, bytes copied (not moved)"),
    TIME("copy.p2p_latency_us", "us", p2p.latency_ps, LONGEST_US, "5",
         "to another GPU: time of an empty copy"),
    RATE("copy.p2p_gbps", p2p.gbps, "25", "to another GPU: rate of a large copy"),
    RATE("copy.duplex_gbps", duplex_gbps, "45", "host link with both directions busy: sum of the two rates"),
    {"copy.pageable_stage_bytes", "bytes", GT_KEY_BYTES, AT(pageable_stage_bytes), 0, 0, 1000000000000,
     "65536",
     "a host-to-device copy of pageable memory up to this size does not wait for the GPU", 1},
    U32("copy.duplex_in_pct", "%", duplex_in_pct, 1, 99, "50",
        "host link with both directions busy: part of that rate that copies to the device have for sure"),
    {"copy.inline_bytes", "bytes", GT_KEY_BYTES, AT(inline_bytes), 0, 0, 1000000000000, "65536",
     "a host-to-device copy of pageable memory up to this size is sent with the commands, without a buffer; "
     "of use with copy.staging_chunk_bytes", 1},
    {"copy.staging_chunk_bytes", "bytes", GT_KEY_BYTES, AT(staging_chunk_bytes), 0, 0, 1000000000000, "0",
     "larger pageable copies go chunk by chunk through pinned buffers of this size, at the slower of link and "
     "host; 0: the pageable latencies and rates hold for all sizes", 1},
    U32("copy.staging_buffers", "buffers", staging_buffers, 1, 1024, "2",
        "buffers for pageable copies to the device: one that finds none free blocks the host"),
    RATE("copy.staging_in_gbps", staging_in_gbps, "10", "the host's copying of pageable memory into a buffer"),
    RATE("copy.staging_out_gbps", staging_out_gbps, "10", "the host's copying out of a buffer"),
    TIME("copy.memset_latency_us", "us", memset_latency_ps, LONGEST_US, "2", "time of an empty memset"),
    RATE("copy.memset_gbps", memset_gbps, "1000", "rate of a large memset"),
};
const size_t gt_device_key_count = sizeof(gt_device_keys) / sizeof(gt_device_keys[0]);
