/* link_rows.h - the rows link.* of the table of keys: what lies between GPUs (links.h); for device_keys.c, after device_rows.h. */
#ifndef GRIDTIDE_SIM_DEVICES_LINK_ROWS_H
#define GRIDTIDE_SIM_DEVICES_LINK_ROWS_H

/* clang-format off */
#define LINK_ROWS \
    TEXT("link.pairs", link_pairs, "nvlink", \
         "what lies between two GPUs: nvlink, pcie or host for all pairs, then pairs that differ, as in " \
         "'nvlink 0-2=pcie 1>3=host:12.5' (GB/s)"), \
    U32("link.switched", "flag", link_switched, 0, 1, "1", \
        "1: a GPU's NVLinks lead to a switch, all other GPUs share them; 0: each pair has its own"), \
    RATE("link.gpu_gbps", link_gpu_gbps, "1000000", \
         "what a GPU sends over its NVLinks at once, or receives: all pairs together with a switch, else each"), \
    RATE("link.duplex_gbps", link_duplex_gbps, "1000000", \
         "between two GPUs over NVLink with both directions busy: sum of the two rates"), \
    TIME("link.pcie_latency_us", "us", link_pcie.latency_ps, LONGEST_US, "8", \
         "to another GPU over PCIe: time of an empty copy; over NVLink copy.p2p_latency_us"), \
    RATE("link.pcie_gbps", link_pcie.gbps, "20", \
         "to another GPU over PCIe: rate of a large copy; over NVLink copy.p2p_gbps"), \
    TIME("link.host_latency_us", "us", link_host.latency_ps, LONGEST_US, "20", \
         "to another GPU by way of the host's memory, without peer access: time of an empty copy"), \
    RATE("link.host_gbps", link_host.gbps, "10", "to another GPU by way of the host's memory: rate of a large copy"), \
    RATE("link.host_duplex_gbps", link_host_duplex_gbps, "1000000", \
         "the same with both directions busy: sum of the two rates"), \
    TIME("link.gap_us", "us", link_gap_ps, LONGEST_US, "1.5", \
         "from a copy's end to the start of the next one of its stream, or of one that waited for the engine, " \
         "between GPUs"), \
    TIME("link.busy_us", "us", link_busy_ps, LONGEST_US, "0", \
         "added to a copy to a GPU that is sending one back as it starts, over NVLink; no more than its bytes take"), \
    TIME("link.pull_us", "us", link_pull_ps, LONGEST_US, "0", \
         "added to the gaps before and behind a copy that its stream takes from another GPU"), \
    TIME("link.event_gap_us", "us", link_event_gap_ps, LONGEST_US, "4", \
         "from a kernel's end to the start of one on another GPU that waits for it by an event"), \
    TIME("link.copy_event_gap_us", "us", link_copy_event_gap_ps, LONGEST_US, "4", "the same between two copies"), \
    TIME("link.engine_event_gap_us", "us", link_engine_event_gap_ps, LONGEST_US, "4", \
         "the same from a kernel to a copy, or from a copy to a kernel"), \
    TIME("link.wait_us", "us", link_wait_ps, LONGEST_US, "0", \
         "added to the gap before an operation whose stream passes a wait for another GPU's event, however long that " \
         "is " \
         "recorded"), \
    TIME("link.wait_call_us", "us", link_wait_call_ps, LONGEST_US, "0", \
         "added to the CPU time of making a stream wait for another GPU's event"), \
    TIME("link.pull_call_us", "us", link_pull_call_ps, LONGEST_US, "0", \
         "added to the CPU time of a copy that its stream takes from another GPU"), \
    U32("link.in_line", "flag", link_in_line, 0, 1, "0", \
        "1: copies that streams take from another GPU, or that go by way of the host's memory, are done in the order in " \
        "which they were asked for, each direction between two GPUs by itself; 0: when their streams let them"), \
    TIME("link.line_gap_us", "us", link_line_gap_ps, LONGEST_US, "0", \
         "from the end of one of these that was taken from another GPU to the start of the next one, of another stream"), \
    TIME("link.host_call_us", "us", link_host_call_ps, LONGEST_US, "0", \
         "added to the CPU time of a copy to another GPU that goes by way of the host's memory"), \
    TIME("link.host_piece_call_us", "us", link_host_piece_call_ps, LONGEST_US, "0", \
         "added to that for each piece beyond the first two"), \
    BYTES("link.host_piece_bytes", link_host_piece_bytes, 0, 1 << 30, "0", \
          "by way of the host's memory the driver copies in pieces of that; the first one is out before it goes in; 0: in one"), \
    U32("link.kernel_pct", "%", link_kernel_pct, 1, 1000, "100", \
        "kernels' and collectives' part of a link that copies ask for as well, beside what a copy that asks for as much has"), \
    RATE("link.kernel_gbps", link_kernel_gbps, "370", "that kernels read or write of another GPU's memory over NVLink, at most"), \
    TIME("link.kernel_read_us", "us", link_kernel_read_ps, LONGEST_US, "0.91", \
         "from a kernel's read of another GPU's memory to the answer"), \
    TIME("link.kernel_write_us", "us", link_kernel_write_ps, LONGEST_US, "0.19", \
         "from a kernel's write to another GPU's memory to the thread's next one"), \
    TIME("link.kernel_dram_us", "us", link_kernel_dram_ps, LONGEST_US, "0", \
         "added to these as far as the L2 of the GPU that the data comes from has no room for all that goes from there to " \
         "others"), \
    U32("link.kernel_threads", "threads", link_kernel_threads, 1, 65536, "512", \
        "of an SM: a kernel in another GPU's memory with so many on every SM has link.kernel_pct, with fewer less, in " \
        "proportion"), \
    TIME("link.call_us", "us", link_call_ps, LONGEST_US, "2.8", "CPU time of a call that copies to another GPU")
/* clang-format on */

#endif
