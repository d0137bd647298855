/* collective_rows.h - the keys of collectives, rows of the table of device keys: for device_keys.c. */
#ifndef GRIDTIDE_SIM_DEVICES_COLLECTIVE_ROWS_H
#define GRIDTIDE_SIM_DEVICES_COLLECTIVE_ROWS_H

/* clang-format off */
/* What collectives take, each kind by each protocol: two keys a curve. */
#define CURVE(number, name) \
    LIST("collective." name "_ns", "ns", collective.curves[number].ns, collective.curves[number].sizes, 1, 4294967295u, \
         name ": time of 16 bytes, of 64 and so on, each four times as many; empty: as NCCL reckons"), \
    RATE("collective." name "_channel_gbps", collective.curves[number].channel_gbps, "20", \
         name ": bytes of it that one channel does, a block on each GPU")
#define CURVES(number, name) \
    CURVE(number, name "_ll"), CURVE(number + 1, name "_ll128"), CURVE(number + 2, name "_simple")
#define GT_COLLECTIVE_CURVES \
    CURVES(0, "all_reduce"), CURVES(3, "reduce_scatter"), CURVES(6, "all_gather"), CURVES(9, "broadcast"), \
    CURVES(12, "reduce"), CURVE(15, "all_to_all"), CURVE(16, "send_recv")
#define COLLECTIVE_KEYS \
    GT_COLLECTIVE_CURVES, \
    RATE("collective.ring_gbps", collective.ring_gbps, "360", \
         "what NCCL reckons that all channels of a ring move over a link: it chooses the protocol by that"), \
    U32("collective.channels", "channels", collective.channels, 1, 1024, "24", \
        "channels that NCCL takes for a large collective; each holds a place on an SM of each GPU"), \
    U32("collective.pair_channels", "channels", collective.pair_channels, 1, 1024, "32", \
        "likewise for a large message or all-to-all"), \
    U32("collective.most_channels", "channels", collective.most_channels, 0, 1024, "0", \
        "no collective has more than these, recorded ones too (NCCL_MAX_CTAS); 0: no such limit"), \
    U32("collective.registers", "registers", collective.registers, 0, 255, "96", \
        "of a thread of a collective's kernel"), \
    BYTES("collective.shared_bytes", collective.shared_bytes, 0, 1 << 30, "103808", \
          "shared memory of a block of a collective's kernel"), \
    U32("collective.cluster", "blocks", collective.cluster, 1, 16, "4", \
        "blocks of a thread block cluster of a collective's kernel, where that divides their number " \
        "(NCCL_CGA_CLUSTER_SIZE)"), \
    TIME("collective.call_us", "us", collective.call_ps, LONGEST_US, "5.3", \
         "CPU time that a call of NCCL's takes beyond a kernel launch"), \
    TIME("collective.cold_us", "us", collective.cold_ps, LONGEST_US, "0", \
         "a thread's first call of NCCL's: what it takes beyond"), \
    U32("collective.ahead_kib", "KiB", collective.ahead_kib, 0, 1 << 20, "0", \
        "who only sends (a broadcast's root) is so much ahead of who gets, a channel; 0: all wait for all"), \
    U32("collective.fetch_pct", "%", collective.fetch_pct, 0, 100, "100", \
        "who gets what was all sent before takes this part of what moving it takes beyond 16 bytes"), \
    TIME("collective.lag_us", "us", collective.lag_ps, LONGEST_US, "0", \
         "who gets ends so long after who sends, at least"), \
    TIME("collective.most_lag_us", "us", collective.most_lag_ps, LONGEST_US, "0", \
         "and at most; of what is reduced twice that"), \
    U32("collective.memory_pct", "%", collective.memory_pct, 0, 1000, "0", \
        "bytes that it reads and writes of a GPU's memory, for 100 that the GPU sends"), \
    U32("collective.memory_cycles", "cycles", collective.memory_cycles, 0, 1000000, "0", \
        "it takes twice as long where kernels make memory so many cycles slower to answer; 0: it does not notice"), \
    U32("collective.measured_ranks", "ranks", collective.measured_ranks, 1, 1024, "1", \
        "GPUs that these times are measured with; for more they are extrapolated; 1: all are guesses")
/* clang-format on */

#endif
