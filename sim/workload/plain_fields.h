/* plain_fields.h - numbers that a trace says of a kernel, a call, an operation or a range, and that go unchanged from a profile
 * to the workload and on into traces and stores.
 *
 * A row is a member of the structs (workload.h, and those that importers fill), a field of JSON traces (traces/jsonl) and, if
 * it is IN_STORE, a row of a store's table plain_value (traces/store): nothing else must be written for it but the importer
 * that fills it and its line in traces/FORMAT.md.  0, or false, is "not given" or "none" for all of them.
 *
 *      ROW(member, C type, type in JSON, "key in JSON, without the unit", store)
 *
 * IN_STORE: plain_value keeps it; IN_TRACE: the store has it in a column of its own, or not at all. */
#ifndef GRIDTIDE_SIM_WORKLOAD_PLAIN_FIELDS_H
#define GRIDTIDE_SIM_WORKLOAD_PLAIN_FIELDS_H

/* clang-format off */
/* recorded_occupancy_pct: the profiler's own estimate, from the launch shape and the GPU.
 * prologue_ps: of a block's time that does not need the kernel before it, where it comes early. */
#define GT_KERNEL_PLAIN(ROW) \
    ROW(registers_per_thread, uint32_t, U32, "registers", IN_TRACE) \
    ROW(static_shared_bytes, uint32_t, U32, "shared_bytes", IN_TRACE) \
    ROW(dynamic_shared_bytes, uint32_t, U32, "dynamic_shared_bytes", IN_TRACE) \
    ROW(recorded_occupancy_pct, uint32_t, U32, "recorded_occupancy_pct", IN_STORE) \
    ROW(prologue_ps, gt_time_ps, TIME, "prologue", IN_TRACE) \
    ROW(cooperative, bool, BOOL, "cooperative", IN_TRACE) /* cudaLaunchCooperativeKernel: all its blocks must fit at once */

/* correlation: CUPTI's of the call, which its operations carry too; counts within a process.
 * external: Kineto's External id, that of the operator that made the call.
 * most_pieces: of a poll: so many, then the thread goes on, done or not; 0: until it is done.
 * held_ps: of the measured duration, in which `gridtide record` held the call up. */
#define GT_CALL_PLAIN(ROW) \
    ROW(held_ps, gt_time_ps, TIME, "held", IN_TRACE) \
    ROW(correlation, uint32_t, U32, "correlation", IN_TRACE) \
    ROW(external, uint32_t, U32, "external_id", IN_TRACE) \
    ROW(most_pieces, uint32_t, U32, "most_pieces", IN_TRACE)

/* programmatic: a kernel whose blocks may come once all of the kernel before it in its stream have let them (the attribute
 * programmaticStreamSerialization).  from_peer: P2P: the data comes from there; else it goes there. */
#define GT_OP_PLAIN(ROW) \
    ROW(programmatic, bool, BOOL, "programmatic", IN_TRACE) \
    ROW(from_peer, bool, BOOL, "from_peer", IN_TRACE)

/* gradient_bytes: of a gradient that it makes ready for the optimiser.  external: as of calls. */
#define GT_RANGE_PLAIN(ROW) \
    ROW(gradient_bytes, uint64_t, U64, "gradient_bytes", IN_TRACE) \
    ROW(external, uint32_t, U32, "external_id", IN_TRACE)

/* As members of a struct; copied from *from to *to. */
#define GT_PLAIN_MEMBER(member, ctype, type, key, store) ctype member;
#define GT_PLAIN_COPY(member, ctype, type, key, store) to->member = from->member;
/* clang-format on */

#endif
