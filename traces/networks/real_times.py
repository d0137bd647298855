#!/usr/bin/env python3
"""What a task, and a block of a launch, of each shape in LSTM and Seq2Seq takes for real: real_times.csv.

real_times.py --shapes              "WHAT A B" of each, a line
real_times.py --graph WHAT A B      an operator graph of many such operators that need nothing of each other
real_times.py --read STORE...       what `gridtide validate` measured of these graphs, as CSV

On a GPU: for each shape schedule its graph twice, by --policy round-robin and --as stream, and validate both into one store.
"""
import json
import re
import sqlite3
import statistics
import sys

import networks

WORKERS = networks.WORKERS_PER_SM * networks.SMS
EACH = 12        # tasks a worker
MATRICES = 80    # of different weights, as LSTM's: they stay in L2


def shapes():
    found = {shape[:3] for make in (networks.lstm, networks.seq2seq) for shape in make().shapes()}
    return sorted(found)


def print_graph(what, a, b):
    """Operators of as many rows as the network's: hidden is b of a product, a of a cell."""
    hidden = b if what == "product" else a
    parts = hidden // a
    kind = f"{what} {a} {b}"
    arguments = {"rows": a, "columns": b} if what == "product" else {"rows": a}
    operators = WORKERS * EACH // parts if what == "product" else 200
    lines = [{"operator_graph": 1, "name": kind, "device": "h200", "workers_per_sm": networks.WORKERS_PER_SM, "block": 256},
             {"kind": kind, "implementations": [{"tasks": parts, "task_us": 1, "registers": networks.REGISTERS, "runs": what,
                                                 "arguments": arguments}]}]
    inputs = {f"w{i}": hidden * hidden for i in range(MATRICES)} if what == "product" else {}
    inputs.update({f"x{i}": hidden for i in range(16)})
    outputs = 1 if what == "product" else 2
    inputs.update({f"y{i}.{k}": hidden for i in range(operators) for k in range(outputs)})
    lines += [{"buffer": name, "bytes": 4 * numbers} for name, numbers in inputs.items()]
    for i in range(operators):
        reads = [f"w{i % MATRICES}", f"x{i % 16}"] if what == "product" else [f"x{(i + k) % 16}" for k in range(9)]
        lines.append({"operator": f"o{i}", "kind": kind, "reads": reads, "writes": [f"y{i}.{k}" for k in range(outputs)]})
    print("\n".join(json.dumps(line, separators=(",", ":")) for line in lines))


def column(stores, query):
    """{shape: times} of what the stores measured; a shape is a kind's or kernel's name."""
    times = {}
    for path in stores:
        with sqlite3.connect(path) as store:
            for name, us in store.execute(query):
                if re.fullmatch(r"(product|cell) \d+ \d+", name):
                    times.setdefault(name, []).append(us)
    return times


def print_times(stores):
    tasks = column(stores, "SELECT kind, duration_us FROM task_time WHERE run_kind = 'measured'")
    blocks = column(stores, "SELECT k.name, (b.end_ps - b.start_ps) / 1e6 FROM run r JOIN run_block b USING (run_id) "
                    "JOIN op o ON o.trace_id = r.trace_id AND o.op_no = b.op_no "
                    "JOIN kernel k ON k.trace_id = r.trace_id AND k.kernel_no = o.kernel_no WHERE r.kind = 'measured'")
    print("task,a,b,task_us,block_us")
    for name in sorted(set(tasks) & set(blocks)):
        print(",".join(name.split()), f"{statistics.mean(tasks[name]):.4f}", f"{statistics.mean(blocks[name]):.4f}", sep=",")


def main():
    if sys.argv[1:] == ["--shapes"]:
        for shape in shapes():
            print(*shape)
    elif sys.argv[1:2] == ["--graph"] and len(sys.argv) == 5:
        print_graph(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    elif sys.argv[1:2] == ["--read"] and len(sys.argv) > 2:
        print_times(sys.argv[2:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
