#!/usr/bin/env python3
"""How far apart the SMs of a GPU end a kernel that runs alone: validate/scripts/block_ends.py STORE > block-ends.csv

STORE holds measured runs with their blocks (`gridtide validate TRACE... --repeat 3 -o STORE`).  Prints a line for each kernel that
no other one overlapped in the first run of its trace: blocks, SMs with blocks, ns from the first block's start to the last one's
end, mean ns of a block, ns that SMs ended before the last one (median, 90th percentile, most), and the SMs that ended by more than
a tenth of the kernel and 2.5 times the median before it."""
import collections
import csv
import sqlite3
import sys

BLOCKS = """SELECT t.name, b.op_no, k.name, b.sm, b.blocks, b.start_ps / 1000, b.end_ps / 1000
    FROM run_block b JOIN run r USING (run_id) JOIN trace t USING (trace_id)
    JOIN op o ON o.trace_id = t.trace_id AND o.op_no = b.op_no
    JOIN kernel k ON k.trace_id = t.trace_id AND k.kernel_no = o.kernel_no
    WHERE r.run_id IN (SELECT min(run_id) FROM run WHERE kind = 'measured' GROUP BY trace_id)"""


def ends(blocks):
    """Ns by which each SM ended before the last one, in order of time."""
    last = collections.defaultdict(int)
    for sm, _, _, end in blocks:
        last[sm] = max(last[sm], end)
    over = max(last.values())
    return sorted((over - end, sm) for sm, end in last.items())


def alone(span, spans):
    return sum(begin < span[1] and end > span[0] for begin, end in spans) == 1


def line(key, blocks, span):
    count = sum(block[1] for block in blocks)
    early = ends(blocks)
    median, most = early[len(early) // 2][0], early[-1][0]
    least = max((span[1] - span[0]) / 10, 2.5 * median)
    mean = sum(n * (end - start) for _, n, start, end in blocks) / count
    return [*key, count, len(early), span[1] - span[0], round(mean), median, early[len(early) * 9 // 10][0], most,
            " ".join(str(sm) for sm in sorted(sm for before, sm in early if before > least))]


def main():
    kernels = collections.defaultdict(list)
    for trace, op, kernel, *block in sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute(BLOCKS):
        kernels[trace, op, kernel].append(block)
    spans = {key: (min(b[2] for b in blocks), max(b[3] for b in blocks)) for key, blocks in kernels.items()}
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow("trace op kernel blocks sms duration_ns block_ns early_median_ns early_p90_ns early_most_ns early_sms".split())
    for key, blocks in sorted(kernels.items()):
        if alone(spans[key], [span for other, span in spans.items() if other[0] == key[0]]):
            out.writerow(line(key, blocks, spans[key]))


if __name__ == "__main__":
    main()
