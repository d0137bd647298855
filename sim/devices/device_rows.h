/* device_rows.h - how a row of the table of keys is written, by what its value is; for device_keys.c, after device.h. */
#ifndef GRIDTIDE_SIM_DEVICES_DEVICE_ROWS_H
#define GRIDTIDE_SIM_DEVICES_DEVICE_ROWS_H

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

#endif
