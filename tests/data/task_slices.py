#!/usr/bin/env python3
"""Write what the workers of a small megakernel did, as a Perfetto or a Chrome trace: task_slices.py mirage|flashinfer|proton FILE [START]

Mirage's and FlashInfer's profilers write theirs through tg4perfetto (github.com/ihavnoid/tg4perfetto, src/tg4perfetto/
_core.py): a descriptor a group and a track, names of slices as numbers that the first packet with one explains. Times are
32 bits of nanoseconds from START (1000) on. Triton's profiler (proton) writes scopes of warps, in cycles / 1000: here at 1,980 MHz,
of two warps, one of which begins and the other ends a task.
"""
import json
import sys

from protobuf import length_delimited, number


class Trace:
    def __init__(self, start):
        self.data, self.names, self.uuid, self.start = b"", {}, 1234567, start

    def packet(self, time, *parts):
        self.data += length_delimited(1, number(8, time) + number(10, 2) + b"".join(parts) + number(13, 2))

    def track(self, name, parent=0, group=False):
        self.uuid += 1
        process = length_delimited(3, number(1, self.uuid) + length_delimited(6, name)) if group else b""
        self.packet(0, length_delimited(60, number(1, self.uuid) + length_delimited(2, name) + process + (
            number(5, parent) if parent else b"")))
        return self.uuid

    def begin(self, track, time, name):
        interned = b""
        if name not in self.names:
            self.names[name] = len(self.names) + 1
            interned = length_delimited(12, length_delimited(2, number(1, self.names[name]) + length_delimited(2, name)))
        self.packet((self.start + time) % 2**32, length_delimited(
            11, number(3, 1) + number(9, 1) + number(10, self.names[name]) + number(11, track)), interned)

    def end(self, track, time):
        self.packet((self.start + time) % 2**32, length_delimited(11, number(9, 2) + number(11, track)))


# Block, kind, start and end in ns after the first. One is the worker's scheduler; the last one has no end.
TASKS = [(0, "SCHD", 10000, 12000), (0, "TILE", 0, 10000), (1, "TILE", 0, 12000), (0, "NORM", 12000, 16000), (1, "NORM", 19000, None)]

kind, path = sys.argv[1:3]


def scopes():
    for block in range(2):
        for warp in range(2):
            for at, name, start, end in TASKS:
                if at == block and end is not None:
                    start, end = (start, end - 1000) if warp == 0 else (start + 1000, end)
                    yield {"args": {"Finalization Time (ns)": 192, "Frequency (MHz)": 1000.0, "call_stack": ["ROOT", "mega"]},
                           "cat": "mega", "cname": "good", "dur": round((end - start) * 1.98) / 1000, "name": name, "ph": "X",
                           "pid": f"mega Core{block + 7} CTA{block}", "tid": f"warp {warp} (line 0)",
                           "ts": round(start * 1.98) / 1000}


if kind == "proton":
    with open(path, "w") as file:
        json.dump({"displayTimeUnit": "ns", "traceEvents": list(scopes())}, file, separators=(",", ":"))
    sys.exit()
trace = Trace(int(sys.argv[3]) if len(sys.argv) > 3 else 1000)
tracks = {}
for block in range(2):
    group = trace.track(f"block_{block}" if kind == "mirage" else f"SM_{block:03}", group=True)
    if kind == "mirage":
        warps = trace.track("group_0", group)
        tracks.update({(block, name): trace.track("group_0", warps) for name in ("TILE", "NORM", "SCHD")})
    else:
        tracks.update({(block, name): trace.track(f"blk{block}_g{n}", group) for n, name in enumerate(("TILE", "NORM", "SCHD"))})
for count, (block, name, start, end) in enumerate(TASKS):
    trace.begin(tracks[block, name], start, f"TASK_{name}_{count}" if kind == "mirage" else name)
    if end is not None:
        trace.end(tracks[block, name], end)
with open(path, "wb") as file:
    file.write(trace.data)
