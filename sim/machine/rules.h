/* rules.h - the rules of the scheduler by name: what each says, where it acts, and which keys of a device file switch
 * it off.
 *
 * A rule is what an H200 was seen to do and a simpler machine would not; what something costs when nobody is in its way
 * (a call, a copy's rate) is none.  Where a rule acts, `m->fired[GT_RULE_...]` counts it: once each time that it
 * made something wait, or go elsewhere, so that a run with a count of 0 is the same run without the rule.  Where a
 * stream looks at its head more than once, a rule about its head counts each time.
 *
 * validate/RULES.md says what each is good for.  To add one: its line in GT_RULES_OF, the count where it acts, its record in
 * validate/rules.txt and its effect in validate/recordings/rules.csv (CONTRIBUTING.md). */
#ifndef GRIDTIDE_SIM_MACHINE_RULES_H
#define GRIDTIDE_SIM_MACHINE_RULES_H

/* RULE(number, name, "KEY=VALUE ..." that switch it off on any device, or NULL where no key does; file in sim/; what
 * it says).  Gaps are those that an operation waits for after another has ended.  engine-gap is switched off by the
 * gaps that an H200 has between operations of one engine. */
/* clang-format off */
#define GT_RULES_OF(RULE) \
    RULE(PLACEMENT, "placement", "scheduling.placement=first-fit", "gpu/placement.c", "a block goes to the SM with room for the most blocks of its kernel") \
    RULE(LEFTOVER, "leftover", "scheduling.arbitration=backfill", "gpu/arbitration.c", "a grid that does not fit holds back the grids behind it") \
    RULE(PRIORITY, "priority", "scheduling.priority_high=0", "gpu/work_distributor.c", "blocks of an urgent stream go before blocks that already wait") \
    RULE(CARVEOUT, "carveout", "sm.shared_carveouts_kib=", "gpu/sm.c", "a busy SM keeps its division of memory and refuses blocks that need more shared memory") \
    RULE(IDLE_CARVEOUT, "idle-carveout", "sm.idle_block_bytes=0", "gpu/sm.c", "a kernel without shared memory sets an idle SM to more than it needs") \
    RULE(SPARE_CARVEOUT, "spare-carveout", "sm.spare_most_bytes=0", "gpu/sm.c", "a kernel with shared memory sets an idle SM to twice what it needs") \
    RULE(CLUSTERS, "clusters", NULL, "gpu/clusters.c", "all blocks of a cluster go to one GPC at once") \
    RULE(PARTITIONS, "partitions", "sm.register_partitions=1", "gpu/sm.c", "a warp's registers are in one sub-partition: what is left in several does not add up") \
    RULE(DISPATCH, "dispatch", "scheduling.dispatch_ns=0", "gpu/work_distributor.c", "blocks leave the distributor one after the other") \
    RULE(REFILL, "refill", "scheduling.refill_ns=0", "gpu/batches.c", "a freed place takes a while to be filled again") \
    RULE(TIME_SLICE, "time-slice", "sharing.slice_us=0", "gpu/time_slices.c", "processes without MPS take turns on the SMs") \
    RULE(RETIRE, "retire", "scheduling.retire_ns=0", "gpu/work_distributor.c", "blocks that end together leave their SM one by one") \
    RULE(BLOCK_TURNS, "block-turns", NULL, "gpu/block_progress.c", "an SM works on the oldest blocks of a kernel first, so that they end one after the other") \
    RULE(COOPERATIVE, "cooperative", "scheduling.cooperative_at_once=0", "gpu/work_distributor.c", "blocks of a cooperative launch start when there is room for all") \
    RULE(GRID_BARRIER, "grid-barrier", NULL, "gpu/grid_sync.c", "a barrier over a grid opens when all its blocks have come") \
    RULE(COLLECTIVE, "collective", NULL, "gpu/collective_kernel.c", "a rank's part of a collective holds its SMs until the last rank has come and the data has moved") \
    RULE(COLLECTIVE_MEMORY, "collective-memory", "collective.memory_cycles=0", "gpu/collective_move.c", "a collective is slower while kernels keep memory busy") \
    RULE(SENDS_AHEAD, "sends-ahead", "collective.ahead_kib=0", "gpu/collective_move.c", "a rank that only sends fills buffers before the others come, and ends before them") \
    RULE(PROGRAMMATIC, "programmatic", NULL, "stream/programmatic.c", "a kernel launched programmatically comes before the one ahead of it is over") \
    RULE(RESIDENT_GRIDS, "resident-grids", "scheduling.resident_grids=65536", "gpu/grid.c", "only so many grids run at once") \
    RULE(WITHIN_ALONE, "within-alone", "copy.within_alone=0", "gpu/exclusive_copy.c", "a copy within the device and kernels never run at the same time") \
    RULE(DRIVER_KERNEL, "driver-kernel", "copy.within_threads=0 copy.memset_threads=0", "gpu/driver_kernel.c", "copies within the device and memsets are kernels that need room on SMs") \
    RULE(ENGINES, "engines", "copy.engines=1", "gpu/copy_engine.c", "copies in, out and within the device have an engine each") \
    RULE(COPY_QUEUES, "copy-queues", "copy.queues=1", "gpu/copy_engine.c", "a copy engine empties one of its queues before it turns to the next") \
    RULE(COPY_GAP, "copy-gap", "copy.gap_us=0", "gpu/copy_engine.c", "a copy that waited for its engine starts a gap after the one before") \
    RULE(DUPLEX, "duplex", "copy.duplex_gbps=1000000", "gpu/copy_engine.c", "copies in both directions share the link") \
    RULE(DUPLEX_IN, "duplex-in", "copy.duplex_in_pct=50", "gpu/copy_engine.c", "copies in get more than half of a link that both directions share") \
    RULE(STAGING, "staging", "copy.staging_chunk_bytes=0", "stream/api_call.c", "pageable copies go chunk by chunk through pinned buffers") \
    RULE(STAGING_BUFFERS, "staging-buffers", "copy.staging_buffers=1024", "stream/api_call.c", "a pageable copy that finds no buffer free blocks the host") \
    RULE(INLINE, "inline", "copy.inline_bytes=0", "stream/api_call.c", "a small pageable copy in goes with the commands, without a buffer") \
    RULE(WITH_COMMANDS, "with-commands", "copy.inline_pinned_bytes=0 copy.inline_idle_bytes=0 copy.inline_bytes=0", "gpu/copy_engine.c", "small copies in need no copy engine") \
    RULE(LINK_SHARE, "link-share", "link.duplex_gbps=1000000 link.gpu_gbps=1000000", "gpu/link_share.c", "copies, collectives and kernels that work in another GPU's memory share what lies between GPUs") \
    RULE(LINK_READS, "link-reads", "latency.link_read_us=0", "stream/links.c", "commands reach the GPU later while a copy in holds the link") \
    RULE(CONNECTIONS, "connections", "scheduling.connections=32", "stream/hw_queue.c", "streams and groups of graphs' nodes that share a connection wait for each other") \
    RULE(LAUNCH_QUEUE, "launch-queue", "scheduling.launch_queue_depth=16777216", "stream/host_thread.c", "too many launches in flight block the host") \
    RULE(STREAM_GAP, "stream-gap", "latency.stream_gap_us=0", "stream/stream.c", "an operation starts a gap after the one before it in its stream") \
    RULE(EVENT_GAP, "event-gap", "latency.event_gap_us=0", "stream/stream.c", "an operation starts a gap after the event that it waits for") \
    RULE(ENGINE_GAP, "engine-gap", "latency.engine_gap_us=1.776 latency.engine_event_gap_us=1.84", "stream/stream.c", "gaps are longer where a stream goes from one engine to another") \
    RULE(LINK_EVENT_GAP, "link-event-gap", "link.event_gap_us=1.84 link.copy_event_gap_us=1.84 link.engine_event_gap_us=6.239", "stream/stream.c", "an operation starts later after an event of another GPU") \
    RULE(LINK_WAIT, "link-wait", "link.wait_us=0", "stream/stream.c", "what passes a wait for another GPU's event starts later") \
    RULE(LINK_PULL, "link-pull", "link.pull_us=0", "stream/stream.c", "a copy from another GPU is done by that GPU's engine, and starts later") \
    RULE(LINK_GAP, "link-gap", "link.gap_us=1.322", "stream/stream.c", "copies between GPUs follow each other after a gap of their own") \
    RULE(LINK_LINE, "link-line", "link.in_line=0", "stream/links.c", "copies from another GPU are done in the order in which they were asked for") \
    RULE(LINK_BUSY, "link-busy", "link.busy_us=0", "gpu/link_share.c", "a copy to a GPU that is sending takes longer") \
    RULE(CROWD, "crowd", "latency.crowd_us=0", "stream/stream.c", "gaps before kernels are longer while several connections hold work") \
    RULE(BUSY_CONNECTION, "busy-connection", "latency.busy_connection_us=0", "stream/stream.c", "each further connection that holds work adds to the gaps before kernels") \
    RULE(GRAPH_LAUNCH, "graph-launch", "host.graph_group_us=0 host.graph_node_us=0 host.graph_copy_us=0 copy.engine_memset_bytes=0", "replay/graph_launch.c", "a graph's nodes reach the GPU group after group while it is launched") \
    RULE(GRAPH_GAP, "graph-gap", "latency.graph_gap_us=0", "stream/graph.c", "a graph's node starts a gap after the nodes that it comes after") \
    RULE(GRAPH_WAIT, "graph-wait", "latency.graph_wait_us=0", "stream/graph.c", "a node that comes after other groups of nodes starts later than one that comes after its own") \
    RULE(GRAPH_NEXT, "graph-next", "latency.graph_next_us=0", "stream/graph.c", "nodes that one operation's end lets go start one after the other") \
    RULE(GRAPH_TURN, "graph-turn", "latency.graph_turn_us=0", "stream/graph.c", "a node that several groups let go gets in line for SMs when what stands there has been handed out") \
    RULE(GRAPH_EXECUTABLE, "graph-executable", NULL, "stream/stream_order.c", "a launch of an executable graph waits for its launch before, whatever streams they are in") \
    RULE(HOST_FUNCTION, "host-function", "latency.host_function_us=0", "stream/operation.c", "a host function starts when the driver's thread has woken up") \
    RULE(DEFAULT_STREAM, "default-stream", NULL, "stream/stream_order.c", "the legacy default stream and blocking streams wait for each other") \
    RULE(CODE_LOAD, "code-load", NULL, "stream/stream_order.c", "what is asked for from a launch that loads code on waits for all that was asked for before") \
    RULE(CALL_EXTRA, "call-extra", "host.cold_launch_us=0 host.first_launch_us=0 host.after_launch_us=0 host.cold_copy_us=0 host.first_copy_us=0 host.after_copy_us=0 host.cold_memset_us=0 host.first_memset_us=0 host.after_memset_us=0 host.cold_host_function_us=0 host.first_host_function_us=0 host.after_host_function_us=0 host.cold_event_us=0 host.first_event_us=0 host.after_event_us=0", "stream/call_times.c", "a thread's first call of a kind, the first into a stream and one behind another kind take longer") \
    RULE(CONTENTION, "contention", "host.contention_us=0", "stream/host_thread.c", "threads that submit work at the same time hold each other up") \
    RULE(LOCK, "lock", NULL, "stream/host_thread.c", "threads that share a lock call one after the other") \
    RULE(POLL, "poll", NULL, "stream/api_call.c", "a thread that polls sees the end of what it asks for at its next query") \
    RULE(SYNC_RETURN, "sync-return", "host.sync_return_us=0", "stream/host_thread.c", "a waiting call returns a while after what it waits for")

#define GT_RULE_NUMBER(number, name, off, file, says) GT_RULE_##number,
enum gt_rule_number { GT_RULES_OF(GT_RULE_NUMBER) GT_RULES };
#undef GT_RULE_NUMBER
/* clang-format on */

struct gt_rule {
    const char *name;
    const char *off;  /* settings of a device, "KEY=VALUE", with blanks between; NULL: nothing switches it off */
    const char *file; /* where it acts, in sim/ */
    const char *says;
};
extern const struct gt_rule gt_rules[GT_RULES];

#endif
