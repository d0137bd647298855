/* link_rows.h - the rows link.* of the table of keys: what lies between GPUs (links.h); for device_keys.c, after device_rows.h. */
#ifndef GRIDTIDE_SIM_DEVICES_LINK_ROWS_H
#define GRIDTIDE_SIM_DEVICES_LINK_ROWS_H

/* clang-format off */
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

#endif
