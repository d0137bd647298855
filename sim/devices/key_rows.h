/* key_rows.h - keys of device files, as tables: the device, its links, its collectives. */
#ifndef GRIDTIDE_SIM_DEVICES_KEY_ROWS_H
#define GRIDTIDE_SIM_DEVICES_KEY_ROWS_H

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
#define PART_OR_NONE(name, field, fallback, help) \
    {name, "part", GT_KEY_RATE, AT(warp.field), 0, 0, 1, fallback, help, 1}
/* How processes share a GPU, and requests that arrive: fourteen keys. */
#define KEYS_OF_SHARING \
    TIME("sharing.slice_us", "us", slice_ps, LONGEST_US, "0", \
         "how long a process runs on the SMs until another one with work gets its turn; 0: all processes run at once, as with MPS"), \
    TIME("sharing.switch_us", "us", switch_ps, LONGEST_US, "0", \
         "from the end of a slice to the next process's blocks, which nothing runs in"), \
    TIME("sharing.preempt_us", "us", preempt_ps, LONGEST_US, "0", \
         "a process that has had its slice is stopped this long after another one's kernel arrives"), \
    TIME("sharing.idle_switch_us", "us", idle_switch_ps, LONGEST_US, "0", \
         "the same after a process that ran out of work"), \
    TIME("sharing.restore_ns", "ns", restore_ps, LONGEST_NS, "0", \
         "until blocks go on, per KiB of shared memory that they hold on the fullest SM; part of the slice"), \
    TIME("sharing.idle_us", "us", idle_ps, LONGEST_US, "0", \
         "a process without work gives its turn away after this time"), \
    U32("sharing.mps_step_sms", "SMs", mps_step_sms, 1, GT_DEVICE_MAX_SMS, "2", \
        "the SMs of an MPS client with a percentage are rounded down to a multiple of this"), \
    U32("sharing.mps_least_sms", "SMs", mps_least_sms, 1, GT_DEVICE_MAX_SMS, "8", \
        "but it has this many at least"), \
    U32("sharing.mps_connections", "queues", mps_connections, 1, 32, "2", \
        "connections (hardware queues) of an MPS client, where a context has more"), \
    U32("sharing.green_step_sms", "SMs", green_step_sms, 1, GT_DEVICE_MAX_SMS, "8", \
        "the SMs of a green context are rounded up to a multiple of this"), \
    LIST("sharing.mig_sms", "SMs", mig_sms, mig_profiles, 1, GT_DEVICE_MAX_SMS, \
         "SMs of MIG instances 1g, 2g, 3g, 4g and 7g"), \
    {"sharing.idle_start_us_per_ms", "us/ms", GT_KEY_RATE, AT(idle_start_us_per_ms), 0, 0, 1000, "0", \
        "a request takes this longer for each millisecond that its thread waited for it", 1}, \
    TIME("sharing.idle_start_most_us", "us", idle_start_most_ps, LONGEST_US, "0", \
         "but not more than this"), \
    {"sharing.products_part", "part", GT_KEY_RATE, AT(products_part), 0, 0, 10, "0", \
        "a matrix product takes longer by this times the part of the SMs that run other products meanwhile, as in green contexts", 1}
/* What recording costs, by the profiler: twelve keys. */
#define PROFILER(name, field) \
    TIME("profiler." name "_call_us", "us", field.call_ps, LONGEST_US, "0.45", \
         name ": CPU time that the profiler adds to a CUDA call"), \
    TIME("profiler." name "_submit_us", "us", field.submit_ps, LONGEST_US, "1.2", \
         name ": the same for a call that submits a kernel, a copy or a memset"), \
    TIME("profiler." name "_operator_us", "us", field.operator_ps, LONGEST_US, "1.3", \
         name ": CPU time that the profiler needs per range: an operator, an annotation"), \
    TIME("profiler." name "_step_us", "us", field.step_ps, LONGEST_US, "12", \
         name ": CPU time that the profiler needs at the start of a step, in addition to all work between two steps"), \
    U32("profiler." name "_host_pct", "%", field.host_pct, 1, 100, "59", \
        name ": share of the recorded host time that remains without a profiler, if it recorded ranges, because a " \
        "profiler evicts the host's caches"), \
    U32("profiler." name "_calls_host_pct", "%", field.calls_host_pct, 1, 100, "68", \
        name ": the same if the profiler recorded only CUDA calls"), \
    TIME("profiler." name "_launch_us", "us", field.launch_ps, LONGEST_US, "4.2", \
         name ": recorded time of a kernel launch for which that share applies; for longer recorded launches it is smaller, " \
         "by a power law (pace.* of the framework's file, sim/frameworks); 0: the share is constant"), \
    TIME("profiler." name "_slows_most_us", "us", field.slows_most_ps, LONGEST_US, "30", \
         name ": upper limit of the host time removed in this way, per call and per range"), \
    TIME("profiler." name "_node_us", "us", field.node_ps, LONGEST_US, "1.2", \
         name ": CPU time that the profiler adds to a graph launch per node"), \
    TIME("profiler." name "_gap_us", "us", field.gap_ps, LONGEST_US, "0.3", \
         name ": added to the gap between operations of a stream"), \
    TIME("profiler." name "_graph_gap_us", "us", field.graph_gap_ps, LONGEST_US, "0.55", \
         name ": added to the gap between nodes of a graph"), \
    TIME("profiler." name "_copy_gap_us", "us", field.copy_gap_ps, LONGEST_US, "1.5", \
         name ": added to the gap between two operations if one is a copy")
/* clang-format on */

/* Of an instruction: issue interval, and result latency as scoreboards see it. */
#define NEXT_OF   "issue interval of a sub-partition: instructions "
#define RESULT_OF "result latency, if a scoreboard waits for it: "

/* One second: no latency or call of a working GPU comes near it. */
#define LONGEST_US 1000000
#define LONGEST_NS 1000000000

/* clang-format off */
/* Of kernels beside each other: sim/gpu/progress_limit.c, sim/gpu/ends_apart.c. */
#define KEYS_OF_KERNELS_TOGETHER \
    { "warp.run_instructions", "instructions", GT_KEY_RATE, AT(warp.run_instructions), 0, 1, 1000000, "16", \
      "a warp that issues this many instructions in a row counts as one that rarely stalls: other warps get issue " \
      "slots after it", 1 }, \
    PART("warp.least_issue_part", least_issue_part, "0.01", \
         "minimum share of its rate that a kernel keeps beside such warps"), \
    { "warp.full_pipe_warps", "warps", GT_KEY_RATE, AT(warp.full_pipe_warps), 0, 0.01, 1000, "1", \
      "warps of a sub-partition that wait for a pipe, on average, from which on younger kernels get nothing of it", 1 }, \
    PART_OR_NONE("warp.atomic_row_part", atomic_row_part, "1", "share of the wait behind other kernels' atomics"), \
    TIME("warp.apart_ns", "ns", warp.apart_ps, LONGEST_NS, "200", "spread of the ends of SMs' blocks, of any launch"), \
    PART_OR_NONE("warp.apart_part", apart_part, "0.004", "added to it, as a share of a launch of one wave"), \
    PART_OR_NONE("warp.apart_by_waits_part", apart_by_waits_part, "0.06", \
                 "added to that share if warps always wait for memory, or to send to it"), \
    PART_OR_NONE("warp.apart_in_waves_part", apart_in_waves_part, "0.4", \
                 "spread in the last of several waves, as a share of a block, in place of these two"), \
    PART_OR_NONE("warp.small_cpc_part", small_cpc_part, "0.65", \
                 "share of a block by which SMs of small CPCs end earlier if warps always wait to send to memory; " \
                 "at most 1/3")

/* Of a GPU's memory as a program gets it: sim/shapes/reserved_memory.c. */
#define KEYS_OF_DEVICE_MEMORY \
    { "device_memory.bytes", "bytes", GT_KEY_BYTES, AT(memory_bytes), 0, 0, 1000000000000000, "0", \
      "memory of the GPU: a program that needs more runs out of memory; 0: unknown", 1 }, \
    { "device_memory.context_bytes", "bytes", GT_KEY_BYTES, AT(memory_context_bytes), 0, 0, 1000000000000000, "0", \
      "of it, what no program gets: the driver's part and the CUDA context", 1 }

/* Of products of matrices at any size: sim/shapes/product.c. */
#define PRODUCT_PART(name, field, fallback, help) \
    { "product." name, "part", GT_KEY_RATE, AT(product.field), 0, 0.001, 1, fallback, help, 1 }
#define PRODUCT_LIST(name, field, length, low, high, fallback, help) \
    { "product." name, "elements", GT_KEY_U32_LIST, AT(product.field), AT(product.length), low, high, fallback, help, GT_DEVICE_MAX_SIZES }
#define KEYS_OF_PRODUCTS \
    TEXT("product.sweep", product.sweep, "none", \
         "file of matrix products measured on this GPU (calibrate --only families), beside the device file or one of Gridtide's; " \
         "none: there is none"), \
    PRODUCT_PART("macs_part", macs_part, "0.75", "matrix products: share of the peak arithmetic rate that a tile gets"), \
    PRODUCT_PART("bytes_part", bytes_part, "0.42", \
                 "share of memory.sm_bytes_per_cycle at which a tile's operands arrive"), \
    PRODUCT_PART("plain_bytes_part", plain_bytes_part, "0.083", "the same without tensor cores"), \
    PRODUCT_PART("dram_part", dram_part, "0.9", "share of the usable DRAM bandwidth"), \
    PRODUCT_PART("hidden_part", hidden_part, "0.2", \
                 "the shorter of arithmetic and DRAM time adds this share of itself to the longer"), \
    TIME("product.start_us", "us", product.start_ps, LONGEST_US, "1.9", "time of a product besides its tiles"), \
    TIME("product.wave_us", "us", product.wave_ps, LONGEST_US, "0.44", "time of a wave of tiles besides arithmetic"), \
    TIME("product.split_us", "us", product.split_ps, LONGEST_US, "3", \
         "added if the sum of a tile is split over several blocks"), \
    PRODUCT_LIST("long_sides", long_sides, long_side_count, 1, 4096, "64,128,192,256", \
                 "a tile on tensor cores has one of these sides"), \
    PRODUCT_LIST("short_sides", short_sides, short_side_count, 1, 4096, "8,16,24,32,48,64,80,96,128,160,192,224,256", \
                 "and one of these, as rows or columns"), \
    U32("product.tile_most", "elements", product.tile_most, 1, 1 << 24, "40960", "up to this size"), \
    PRODUCT_LIST("plain_rows", plain_rows, plain_row_count, 1, 4096, "32,64,128,128,64,128,256,64,32,64,32,256,128", \
                 "rows of each tile without tensor cores"), \
    PRODUCT_LIST("plain_columns", plain_columns, plain_column_count, 1, 4096, "32,64,128,64,128,32,64,256,64,32,128,128,256", \
                 "columns of each, in the same order"), \
    U32("product.tile_depth", "elements", product.tile_depth, 1, 4096, "64", \
        "a tile processes a multiple of this of the products' common side"), \
    PRODUCT_LIST("splits", splits, split_count, 1, 1024, "1-4,6,8,12,16,24,32", \
                 "numbers of blocks over which the sum of a tile is split"), \
    U32("product.split_least", "elements", product.split_least_k, 1, 1 << 20, "128", \
        "a split leaves each block at least this much of the common side"), \
    U32("product.split_waves", "waves", product.split_waves, 1, 1024, "4", "a split makes at most so many waves of blocks"), \
    U32("product.neighbours", "products", product.neighbours, 1, GT_DEVICE_MAX_NEIGHBOURS, "16", \
        "so many of the nearest measured products correct the model"), \
    U32("product.neighbours_least", "products", product.neighbours_least, 1, GT_DEVICE_MAX_NEIGHBOURS, "8", \
        "with fewer of the same layout, those of any layout do; with fewer of any layout, none does"), \
    {"product.neighbour_softening", "doublings", GT_KEY_RATE, AT(product.neighbour_softening), 0, 0.001, 10, "0.1", \
        "added to a neighbour's distance, in doublings of sides; its weight is the sum to the power of minus neighbour_power", 1}, \
    {"product.neighbour_power", "power", GT_KEY_RATE, AT(product.neighbour_power), 0, 0, 10, "3", "how fast that weight falls", 1}

/* Of other kernels at any size: sim/shapes/kernel_time.c. */
#define KERNEL_NUMBER(name, unit, field, low, high, fallback, help) \
    { "kernel." name, unit, GT_KEY_RATE, AT(kernel.field), 0, low, high, fallback, help, 1 }
#define KEYS_OF_KERNELS \
    TIME("kernel.least_us", "us", kernel.least_ps, LONGEST_US, "0.95", "time of a kernel without work"), \
    TIME("kernel.unsure_us", "us", kernel.unsure_ps, LONGEST_US, "0.3", \
         "differences between two launches of the same kernel that mean nothing"), \
    KERNEL_NUMBER("l2_part", "part", l2_part, 0.01, 1, "0.57", "share of the L2 bandwidth that elementwise kernels get"), \
    KERNEL_NUMBER("dram_part", "part", dram_part, 0.01, 1, "0.94", "the same of the usable DRAM bandwidth"), \
    KERNEL_NUMBER("bound_part", "part", bound_part, 0, 1, "0.75", \
                  "a kernel that moves bytes at less than this share of dram_part is bound by its instructions"), \
    KERNEL_NUMBER("compared_pct", "%", compared_pct, 0, 1000, "0", \
                  "9 of 10 kernel times published for this GPU are within so much of those scaled from another's; 0: unknown"), \
    KERNEL_NUMBER("l2_holds_part", "part", l2_holds_part, 0, 10, "0.64", \
                  "data up to this share of the L2 are found there"), \
    KERNEL_NUMBER("l2_spills_part", "part", l2_spills_part, 0, 100, "1.2", \
                  "data from this share of the L2 on come from DRAM"), \
    KERNEL_NUMBER("thread_bytes", "bytes", thread_bytes, 1, 1e9, "4096", \
                  "a kernel whose operator has more bytes for each of its threads does not touch them all"), \
    KERNEL_NUMBER("busy_thread_bytes", "bytes", busy_thread_bytes, 1, 1e9, "256", \
                  "bytes for each thread from which on a kernel whose grid stays takes longer with more"), \
    TIME("kernel.attention_start_us", "us", kernel.attention_start_ps, LONGEST_US, "2", \
         "attention on tensor cores: time besides its tiles"), \
    KERNEL_NUMBER("attention_extra_keys", "keys", attention_extra_keys, 0, 1e6, "256", \
                  "a tile of it takes as long as this many more keys would"), \
    TIME("kernel.plain_attention_start_us", "us", kernel.plain_attention_start_ps, LONGEST_US, "6", \
         "attention of 32-bit numbers: time besides its tiles"), \
    TIME("kernel.convolution_start_us", "us", kernel.convolution_start_ps, LONGEST_US, "8", \
         "convolutions: time besides their tiles, at most half of it all"), \
    KERNEL_NUMBER("convolution_fading", "power", convolution_fading, 0, 10, "0.5", \
                  "how fast what a recorded convolution says of other sizes fades, where a matrix product's fades by 1"), \
    KERNEL_NUMBER("attention_scores", "scores/cycle", attention_scores, 0.001, 1e6, "9", \
                  "attention on tensor cores: pairs of a query and a key (attention_extra_keys included) for each SM"), \
    KERNEL_NUMBER("plain_attention_scores", "scores/cycle", plain_attention_scores, 0.001, 1e6, "3.06", \
                  "the same of 32-bit numbers, to be divided by the square root of the heads' size")

#define LINK_ROWS \
    TEXT("link.pairs", link_pairs, "nvlink", \
         "connection between two GPUs: nvlink, pcie or host for all pairs, then exceptions, as in 'nvlink 0-2=pcie " \
         "1>3=host:12.5' (GB/s)"), \
    U32("link.switched", "flag", link_switched, 0, 1, "1", \
        "1: a GPU's NVLinks lead to a switch and are shared by all other GPUs; 0: each pair has its own links"), \
    RATE("link.gpu_gbps", link_gpu_gbps, "1000000", \
         "NVLink bandwidth of a GPU in one direction: to all other GPUs together with a switch, else per pair"), \
    RATE("link.duplex_gbps", link_duplex_gbps, "1000000", \
         "between two GPUs over NVLink with both directions busy: sum of both bandwidths"), \
    TIME("link.pcie_latency_us", "us", link_pcie.latency_ps, LONGEST_US, "8", \
         "to another GPU over PCIe: time of an empty copy; over NVLink copy.p2p_latency_us"), \
    RATE("link.pcie_gbps", link_pcie.gbps, "20", \
         "to another GPU over PCIe: bandwidth of a large copy; over NVLink copy.p2p_gbps"), \
    TIME("link.host_latency_us", "us", link_host.latency_ps, LONGEST_US, "20", \
         "to another GPU through host memory, without peer access: time of an empty copy"), \
    RATE("link.host_gbps", link_host.gbps, "10", "to another GPU through host memory: bandwidth of a large copy"), \
    RATE("link.host_duplex_gbps", link_host_duplex_gbps, "1000000", \
         "the same with both directions busy: sum of both bandwidths"), \
    TIME("link.gap_us", "us", link_gap_ps, LONGEST_US, "1.5", \
         "between GPUs: time from a copy's end to the start of the next copy of its stream, or of a copy that " \
         "waited for the engine"), \
    TIME("link.busy_us", "us", link_busy_ps, LONGEST_US, "0", \
         "added to a copy over NVLink to a GPU that is sending a copy back when it starts; at most the time of its " \
         "bytes"), \
    TIME("link.pull_us", "us", link_pull_ps, LONGEST_US, "0", \
         "added to the gaps before and after a copy in a stream of the receiving GPU"), \
    TIME("link.event_gap_us", "us", link_event_gap_ps, LONGEST_US, "4", \
         "time from a kernel's end to the start of a kernel on another GPU that waits for it through an event"), \
    TIME("link.copy_event_gap_us", "us", link_copy_event_gap_ps, LONGEST_US, "4", "the same between two copies"), \
    TIME("link.engine_event_gap_us", "us", link_engine_event_gap_ps, LONGEST_US, "4", \
         "the same from a kernel to a copy, or from a copy to a kernel"), \
    TIME("link.wait_us", "us", link_wait_ps, LONGEST_US, "0", \
         "added to the gap before an operation after a wait for another GPU's event, even if the event was recorded" \
         " long before"), \
    TIME("link.wait_call_us", "us", link_wait_call_ps, LONGEST_US, "0", \
         "added to the CPU time of making a stream wait for another GPU's event"), \
    TIME("link.pull_call_us", "us", link_pull_call_ps, LONGEST_US, "0", \
         "added to the CPU time of a copy in a stream of the receiving GPU"), \
    U32("link.in_line", "flag", link_in_line, 0, 1, "0", \
        "1: copies in a stream of the receiving GPU, and copies through host memory, run in submission order, " \
         "separately per direction between two GPUs; 0: when their streams are ready"), \
    TIME("link.line_gap_us", "us", link_line_gap_ps, LONGEST_US, "0", \
         "time from the end of such a copy in a stream of the receiving GPU to the start of the next one, in " \
         "another stream"), \
    TIME("link.host_call_us", "us", link_host_call_ps, LONGEST_US, "0", \
         "added to the CPU time of a copy to another GPU through host memory"), \
    TIME("link.host_piece_call_us", "us", link_host_piece_call_ps, LONGEST_US, "0", \
         "added to that per piece beyond the first two"), \
    BYTES("link.host_piece_bytes", link_host_piece_bytes, 0, 1 << 30, "0", \
          "size of the pieces of copies through host memory; a piece leaves the first GPU before it enters the " \
         "second; 0: one piece"), \
    U32("link.kernel_pct", "%", link_kernel_pct, 1, 1000, "100", \
        "share of a contended link for kernels and collectives, relative to the share of a copy with the same " \
         "demand"), \
    RATE("link.kernel_gbps", link_kernel_gbps, "370", "maximum bandwidth of kernels that access another GPU's memory over NVLink"), \
    TIME("link.kernel_read_us", "us", link_kernel_read_ps, LONGEST_US, "0.91", \
         "latency of a kernel's read of another GPU's memory"), \
    TIME("link.kernel_write_us", "us", link_kernel_write_ps, LONGEST_US, "0.19", \
         "time from a kernel's write to another GPU's memory to the thread's next write"), \
    TIME("link.kernel_dram_us", "us", link_kernel_dram_ps, LONGEST_US, "0", \
         "added to these if the L2 of the data's GPU cannot hold all data that goes from there to other GPUs"), \
    U32("link.kernel_threads", "threads", link_kernel_threads, 1, 65536, "512", \
        "threads per SM from which a kernel that accesses another GPU's memory gets link.kernel_pct; with fewer " \
         "threads or SMs it gets proportionally less"), \
    TIME("link.call_us", "us", link_call_ps, LONGEST_US, "2.8", "CPU time of a call that copies to another GPU")
/* clang-format on */

/* clang-format off */
/* Durations of collectives by kind and protocol: two keys per curve. */
#define CURVE(number, name) \
    LIST("collective." name "_ns", "ns", collective.curves[number].ns, collective.curves[number].sizes, 1, 4294967295u, \
         name ": time of 16 bytes, 64 bytes and so on, four times as many each; empty: NCCL's own estimate"), \
    RATE("collective." name "_channel_gbps", collective.curves[number].channel_gbps, "20", \
         name ": bandwidth of one channel (a block on each GPU)")
#define CURVES(number, name) \
    CURVE(number, name "_ll"), CURVE(number + 1, name "_ll128"), CURVE(number + 2, name "_simple")
#define GT_COLLECTIVE_CURVES \
    CURVES(0, "all_reduce"), CURVES(3, "reduce_scatter"), CURVES(6, "all_gather"), CURVES(9, "broadcast"), \
    CURVES(12, "reduce"), CURVE(15, "all_to_all"), CURVE(16, "send_recv")
#define COLLECTIVE_KEYS \
    GT_COLLECTIVE_CURVES, \
    RATE("collective.ring_gbps", collective.ring_gbps, "360", \
         "NCCL's own estimate of the bandwidth of all channels of a ring over a link, which determines its choice " \
         "of protocol"), \
    U32("collective.channels", "channels", collective.channels, 1, 1024, "24", \
        "channels that NCCL uses for a large collective; each occupies a block slot of an SM on each GPU"), \
    U32("collective.pair_channels", "channels", collective.pair_channels, 1, 1024, "32", \
        "the same for a large message or all-to-all"), \
    U32("collective.most_channels", "channels", collective.most_channels, 0, 1024, "0", \
        "maximum channels of a collective, including recorded ones (NCCL_MAX_CTAS); 0: no limit"), \
    U32("collective.registers", "registers", collective.registers, 0, 255, "96", \
        "registers per thread of a collective's kernel"), \
    BYTES("collective.shared_bytes", collective.shared_bytes, 0, 1 << 30, "103808", \
          "shared memory per block of a collective's kernel"), \
    U32("collective.cluster", "blocks", collective.cluster, 1, 16, "4", \
        "blocks per thread block cluster of a collective's kernel, if that divides their number " \
         "(NCCL_CGA_CLUSTER_SIZE)"), \
    TIME("collective.call_us", "us", collective.call_ps, LONGEST_US, "5.3", \
         "CPU time of an NCCL call in addition to a kernel launch"), \
    TIME("collective.cold_us", "us", collective.cold_ps, LONGEST_US, "0", \
         "additional CPU time of a thread's first NCCL call"), \
    U32("collective.ahead_kib", "KiB", collective.ahead_kib, 0, 1 << 20, "0", \
        "per channel, data that a rank that only sends (a broadcast's root) may send ahead of the receivers; 0: " \
         "all ranks wait for all"), \
    U32("collective.fetch_pct", "%", collective.fetch_pct, 0, 100, "100", \
        "a receiver whose data was all sent before takes this share of the transfer time beyond that of 16 bytes"), \
    TIME("collective.lag_us", "us", collective.lag_ps, LONGEST_US, "0", \
         "minimum time from a sender's end to a receiver's end"), \
    TIME("collective.most_lag_us", "us", collective.most_lag_ps, LONGEST_US, "0", \
         "maximum time from a sender's end to a receiver's end; twice that for reductions"), \
    U32("collective.memory_pct", "%", collective.memory_pct, 0, 1000, "0", \
        "bytes that a collective reads and writes in a GPU's memory, per 100 bytes that the GPU sends"), \
    U32("collective.memory_cycles", "cycles", collective.memory_cycles, 0, 1000000, "0", \
        "a collective takes twice as long if kernels increase memory latency by this much; 0: no effect"), \
    U32("collective.measured_ranks", "ranks", collective.measured_ranks, 1, 1024, "1", \
        "number of GPUs with which these times were measured; for more GPUs they are extrapolated; 1: all are " \
         "estimates")
/* clang-format on */

#endif
