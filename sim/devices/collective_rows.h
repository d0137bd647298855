/* collective_rows.h - the keys of collectives, rows of the table of device keys: for device_keys.c. */
#ifndef GRIDTIDE_SIM_DEVICES_COLLECTIVE_ROWS_H
#define GRIDTIDE_SIM_DEVICES_COLLECTIVE_ROWS_H

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
