#!/usr/bin/env python3
"""Compare `gridtide import xplane` with JAX's reader and xprof's: compare_xprof.py GRIDTIDE FILE... (pip install jax xprof)

Two readings: the events of each line (jax.profiler.ProfileData), and xprof's trace viewer.  From these alone follows what
must come: a stream's events on a GPU are operations; on the host, what has a correlation_id is a call, allocations of a GPU
are what its allocator did, functions of Python ("$...") and CUPTI's own time are left out, all else is a range.  Two are
equal where name, start and duration (ns) are; an operation also has stream, correlation, and grid, block, registers and
shared memory, or bytes; an allocation has bytes alone.
"""
import collections
import json
import os
import re
import subprocess
import sys

from jax.profiler import ProfileData
from xprof.convert import raw_to_tool_data

HOSTS = ("/host:CPU", "/host:CUPTI", "/host:ROCTRACER", "/host:NVTX-CUPTI")


def read_trace(gridtide, path):
    """(operations, calls, ranges, allocations) as tuples that end in start and duration."""
    out = subprocess.run([gridtide, "import", "-q", "xplane", path, "-o", "-"], capture_output=True, check=True)
    operations, calls, ranges, allocations, launches, kernels = [], [], [], [], set(), {}
    for row in map(json.loads, out.stdout.splitlines()):
        time = row.get("start_ns"), row.get("duration_ns")
        if "allocations" in row:
            allocations += [(size, 0, 0) for size in row["bytes"]]
        elif "range" in row:
            ranges.append((row["range"], row.get("kind", "operator"), row.get("thread", "main")) + time)
        elif "call" in row:
            if not row.get("inferred"):
                calls.append((row.get("correlation", 0), row.get("name", "")) + time)
                launches.add((row.get("thread", "main"),) + time)
            nodes = row.get("nodes") or [dict(row, kind=row["call"], start_ns=row.get("op_start_ns"),
                                              duration_ns=row.get("op_duration_ns"))]
            for node in nodes:
                if node["start_ns"] is not None:
                    name, what = kernels.get(node.get("kernel"), (node["kind"], node.get("bytes", 0)))
                    operations.append((row["stream"], row.get("correlation", 0), name, what, node["start_ns"],
                                       node["duration_ns"]))
        elif "kernel" in row:
            sizes = [tuple((row[key] + [1, 1, 1])[:3]) for key in ("grid", "block")]
            kernels[row.get("id", row["kernel"])] = row["kernel"], (*sizes, row.get("registers", 0), row.get(
                "shared_bytes", 0), row.get("dynamic_shared_bytes", 0))
    # The ranges that Gridtide adds: of XLA's operators, around the calls that launched their kernels.
    ranges = [(r[0],) + r[3:] for r in ranges if r[1] != "operator" or r[2:] not in launches]
    return operations, calls, ranges, allocations


def read_events(path):
    """(plane, line, name, start, duration, stats), as they are in the file."""
    for plane in ProfileData.from_file(path).planes:
        for line in plane.lines:
            for event in line.events:
                start = int(event.start_ns)
                yield (plane.name, line.name, event.name, start, int(event.start_ns + event.duration_ns) - start,
                       dict(event.stats))


def view_events(path):
    """The same of the trace viewer."""
    text, _ = raw_to_tool_data.xspace_to_tool_data([path], "trace_viewer", {"trace_viewer_options": {}})
    events = json.loads(text)["traceEvents"]
    names = {(e["name"], e["pid"], e.get("tid")): e["args"]["name"] for e in events if e.get("ph") == "M" and "name" in e["args"]}
    for e in events:
        # The viewer makes a region of two events; it leaves out the producers of tf.data.
        if e.get("ph") not in ("X", "i") or e["name"] == "ThreadpoolListener::Region":
            continue
        yield (names["process_name", e["pid"], None], names.get(("thread_name", e["pid"], e["tid"]), ""),
               e.get("args", {}).get("long_name", e["name"]), round(e["ts"] * 1000), round(e.get("dur", 0) * 1000), e.get("args", {}))


def details(text):
    return dict(part.split(":", 1) for part in text.split(" ") if ":" in part)


def operation(line, name, stats):
    """What must come of a stream's event."""
    ident = int(re.match(r"Stream #(\d+)", line).group(1)), int(stats.get("correlation_id", 0))
    for key, kind, size in (("memcpy_details", "copy", "size"), ("memset_details", "memset", "num_bytes")):
        if key in stats:
            return ident + (kind, int(details(stats[key])[size]))
    of = details(stats.get("kernel_details", ""))
    if not of:
        return ident + (name, None)
    sizes = tuple(tuple(int(n) for n in of[key].split(",")) for key in ("grid", "block"))
    return ident + (name, sizes + tuple(int(of[key]) for key in ("regs", "static_shared", "dynamic_shared")))


def cut_early_starts(operations):
    """A kernel that starts before the one ahead of it in its stream ends, and ends after it, waited for that end."""
    cut, ahead = [], None
    for item in sorted(operations, key=lambda item: (item[0], item[-2])):
        start, end = item[-2], item[-2] + item[-1]
        if ahead and item[0] == ahead[0] and start < ahead[2] < end and ahead[2] - start <= (ahead[2] - ahead[1]) / 2 and \
                isinstance(item[3], tuple) and ahead[3]:
            item = item[:-2] + (ahead[2], end - ahead[2])
        cut.append(item)
        ahead = item[0], start, end, isinstance(item[3], tuple)
    return cut


def expect(events):
    operations, calls, ranges, allocations, left = [], [], [], [], collections.Counter()
    for plane, line, name, start, duration, stats in events:
        stats = {key.lower(): value for key, value in stats.items()}
        if plane.startswith("/device:GPU:") and line.startswith("Stream #"):
            operations.append(operation(line, name, stats) + (start, duration))
        elif plane not in HOSTS or not name or name[0] == "$":
            left["Python" if name[:1] == "$" else plane + ", " + line] += 1
        elif "correlation_id" in stats and not name.startswith("NVTX:"):
            function = re.match(r"(cuda|cu|hip)[A-Z]\w*", name)
            calls.append((int(stats["correlation_id"]), function.group() if function else "", start, duration))
        elif name in ("MemoryAllocation", "MemoryDeallocation"):
            if stats["allocator_name"].startswith("GPU_"):
                allocations.append((int(stats["allocation_bytes"]) * (1 if name == "MemoryAllocation" else -1), 0, 0))
        elif line.startswith("Host Threads/") and name in ("<UNKNOWN>", "BUFFER_FLUSH"):
            left[name] += 1
        else:
            step = str(stats.get("step_num", ""))
            if step:
                name = re.sub(" %s$" % step, "", name) + "#" + step
            ranges.append((name.removeprefix("NVTX:"), start, duration))
    origin = min((item[-2] for item in calls + operations), default=None)
    if origin is None:
        origin = min((item[-2] for item in ranges), default=0)
    # Time begins with the first call; what ended before is left out.
    ranges = [(name, max(start, origin), start + duration - max(start, origin)) for name, start, duration in ranges
              if start + duration >= origin]
    operations = cut_early_starts(operations)
    operations, calls, ranges = ([item[:-2] + (item[-2] - origin, item[-1]) for item in items]
                                 for items in (operations, calls, ranges))
    return (operations, calls, ranges, allocations), left


def match(ours, theirs, slack_ns):
    """(equal, those of ours alone, those of theirs alone)"""
    left, right = collections.Counter(ours), collections.Counter(theirs)
    ours, rest = list((left - right).elements()), collections.defaultdict(list)
    equal = sum((left & right).values())
    for item in (right - left).elements():
        rest[item[:-2]].append(item)
    alone = []
    for item in ours:
        near = [other for other in rest[item[:-2]] if abs(other[-2] - item[-2]) <= slack_ns and abs(other[-1] - item[-1]) <= slack_ns]
        if near:
            rest[item[:-2]].remove(near[0])
            equal += 1
        else:
            alone.append(item)
    return equal, alone, [item for items in rest.values() for item in items]


def main():
    total = collections.Counter()
    for path in sys.argv[2:]:
        trace = read_trace(sys.argv[1], path)
        for reading, events, slack_ns in (("events", read_events, 0), ("viewer", view_events, 1)):
            wanted, left = expect(events(path))
            for what, ours, theirs in zip(("operations", "calls", "ranges", "allocations"), trace, wanted):
                if what == "allocations" and reading == "viewer":  # does not show them
                    continue
                equal, alone, missing = match(ours, theirs, slack_ns)
                total[reading, what, "equal"] += equal
                total[reading, what, "different"] += len(alone) + len(missing)
                if ours or theirs:
                    print("%s: %s, %s: equal %d, Gridtide's alone %d, xprof's alone %d" % (
                        os.path.basename(path), reading, what, equal, len(alone), len(missing)))
                for whose, items in (("Gridtide", alone), ("xprof", missing)):
                    for item in items[:3]:
                        print("    %s alone: %s" % (whose, item))
            if left:
                print("    left out: %s" % dict(left.most_common(6)))
    for (reading, what, how), count in total.items():
        print("all: %s, %s: %s %d" % (reading, what, how, count))


if __name__ == "__main__":
    main()
