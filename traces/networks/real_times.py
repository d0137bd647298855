#!/usr/bin/env python3
"""What a task, and a block of a launch, of each shape in LSTM and Seq2Seq takes for real: real_times.csv.

real_times.py --variants               "NAME ROWS" of each short network, a line
real_times.py --graph NAME ROWS        a fifth of a network's steps, all products in tasks of so many rows: an operator graph
real_times.py --read STORE...          what `gridtide validate` measured of these graphs, as CSV

On a GPU: schedule each variant's graph with --policy wavefront, and those of the fewest rows also --as graph (launches
take these); validate all into one store, with --blocks on.
"""
import contextlib
import io
import json
import re
import sqlite3
import statistics
import sys

import networks

SHARE = 5
PARTS = 29
ROWS = {"lstm": (8, 16, 64), "seq2seq": (8, 16, 32)}


def print_graph(name, rows):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        networks.print_graph(networks.NETWORKS[name](SHARE), {}, {})
    for line in text.getvalue().splitlines():
        fields = json.loads(line)
        if "operator_graph" in fields:
            fields["name"] = f"{name} {rows} rows"
        if fields.get("kind", "").startswith("product") and "implementations" in fields:
            fields["implementations"] = [one for one in fields["implementations"] if one["arguments"]["rows"] == rows]
        print(json.dumps(fields, separators=(",", ":")))


def shape_of(name):
    """Of a kind of tasks or a kernel."""
    product = re.fullmatch(r"product \d+x(\d+)/(\d+) rows", name)
    cell = re.fullmatch(r"cell (\d+)", name)
    return ("product", int(product[2]), int(product[1])) if product else ("cell", int(cell[1]), 8) if cell else None


def times_of(stores, query):
    """{shape: times} of what the stores measured."""
    times = {}
    for path in stores:
        with sqlite3.connect(path) as store:
            for name, us in store.execute(query):
                times.setdefault(shape_of(name), []).append(us)
    return times


def spread(times):
    """Times from the least to the most, as likely each, in no order: every eleventh of 29."""
    times = sorted(times)
    middles = [times[int((i + 0.5) / PARTS * len(times))] for i in range(PARTS)]
    return " ".join(f"{middles[i * 11 % PARTS]:.3f}" for i in range(PARTS))


def print_times(stores):
    tasks = times_of(stores, "SELECT kind, duration_us FROM task_time WHERE run_kind = 'measured'")
    blocks = times_of(stores, "SELECT k.name, (b.end_ps - b.start_ps) / 1e6 FROM run r JOIN run_block b USING (run_id) "
                      "JOIN op o ON o.trace_id = r.trace_id AND o.op_no = b.op_no "
                      "JOIN kernel k ON k.trace_id = r.trace_id AND k.kernel_no = o.kernel_no "
                      "WHERE r.kind = 'measured' AND o.op_no NOT IN (SELECT op_no FROM run_task t WHERE t.run_id = r.run_id)")
    print("task,a,b,task_us,block_us,task_list_us")
    for shape in sorted(tasks):
        task_us = statistics.mean(tasks[shape])
        print(*shape, f"{task_us:.4f}", f"{statistics.mean(blocks.get(shape, [task_us])):.4f}", spread(tasks[shape]), sep=",")


def main():
    if sys.argv[1:] == ["--variants"]:
        for name, every in ROWS.items():
            for rows in every:
                print(name, rows)
    elif sys.argv[1:2] == ["--graph"] and len(sys.argv) == 4 and sys.argv[2] in ROWS:
        print_graph(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1:2] == ["--read"] and len(sys.argv) > 2:
        print_times(sys.argv[2:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
