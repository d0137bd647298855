#!/usr/bin/env python3
"""Which pinned copies to the device go with the commands: validate/scripts/small_copies.py STORE...

STOREs hold measured runs (validate/recordings/random-SEED.db.zst, unpacked).  Of plain calls' copies of more than 1 KiB and up to
24 KiB, prints by size and by whether all operations before it in its stream had ended when its call began: how many took as long as
a copy with the commands (0.64 us and 15.9 GB/s), how many as long as one by the engine (2.4 us and 55 GB/s)."""
import collections
import sqlite3
import sys

KIB = 1024
SIZES = (4 * KIB, 8 * KIB, 16 * KIB, 24 * KIB)
RUNS = "SELECT trace_id, run_id FROM run WHERE kind = 'measured'"
OPS = """SELECT o.op_no, o.call_no, c.kind, o.stream_no, o.kind = 'copy' AND o.direction = 'h2d' AND o.memory = 'pinned', o.bytes,
    r.start_ps, r.end_ps, rc.start_ps
    FROM op o JOIN run_op r ON r.run_id = ? AND r.op_no = o.op_no JOIN call c ON c.trace_id = o.trace_id AND c.call_no = o.call_no
    LEFT JOIN run_call rc ON rc.run_id = r.run_id AND rc.call_no = o.call_no WHERE o.trace_id = ?"""


def nearer_to_commands(nbytes, us):
    return abs(us - (0.644 + nbytes / 15930)) < abs(us - (2.422 + nbytes / 55280))


def main():
    counts = collections.Counter()
    for store in sys.argv[1:]:
        database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
        for trace, run in database.execute(RUNS).fetchall():
            ops = database.execute(OPS, (run, trace)).fetchall()
            for _, call, kind, stream, pinned_in, nbytes, start, end, asked in ops:
                if not pinned_in or kind != "copy" or asked is None or not KIB < nbytes <= SIZES[-1]:
                    continue
                idle = all(other[7] <= asked for other in ops if other[3] == stream and other[1] < call)
                size = next(size for size in SIZES if nbytes <= size)
                counts[size, idle, nearer_to_commands(nbytes, (end - start) / 1e6)] += 1
    for idle in (True, False):
        for size in (*SIZES, None):
            commands, engine = (sum(count for (s, i, c), count in counts.items() if i == idle and c == way and size in (s, None))
                                for way in (True, False))
            name = f"up to {size // KIB} KiB" if size else "all"
            print(f"{'idle' if idle else 'busy'} stream, {name}: {commands} with the commands, {engine} by the engine")


if __name__ == "__main__":
    main()
