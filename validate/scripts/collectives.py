#!/usr/bin/env python3
"""Hold the times of collectives against what 2 H200s took: collectives.py [--by-kind].

Simulates each kind and size of recordings/collectives-sizes.csv, in one trace, and prints a line a set of sizes, "SET N MEDIAN
P95 WORST" of the absolute errors in %, worst with the case: `fitted`, the sizes that the curves of sim/devices/h200.ini were
made from (with each protocol forced, so that these are other launches); the other powers of two; 1.5 times powers of two
(`between`) and 1.25 times (`fresh`); fewer channels than NCCL takes (`channels`). Of broadcasts, reduces and messages it is how
long the rank that sends takes. GRIDTIDE names the program.
"""
import collections
import csv
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SENDER = {"broadcast": 0, "send": 0, "reduce": 1}  # of which the time is meant
GRIDTIDE = os.environ.get("GRIDTIDE", os.path.join(HERE, "../../build/gridtide"))


def cases():
    with open(os.path.join(HERE, "../recordings/collectives-sizes.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            yield row["kind"], int(row["bytes"]), float(row["measured_us"]), row["set"]


def part(kind, rank):
    if kind == "send":
        return {"collective": "send_recv", **({"to": 1} if rank == 0 else {"from": 0})}
    if kind == "exchange":
        return {"collective": "send_recv", "to": 1 - rank, "from": 1 - rank}
    return {"collective": kind}


def took(kind, both):
    if kind in SENDER:
        return (both[SENDER[kind]][1] - both[SENDER[kind]][0]) / 1e6
    return (min(end for _, end in both) - max(start for start, _ in both)) / 1e6


def simulate(all_cases, folder, channels):
    lines = [{"gridtide": 1, "device": "h200"}, {"group": "w", "gpus": [0, 1]}]
    lines += [{"stream": f"s{rank}", "gpu": rank, "flags": ["non_blocking"]} for rank in (0, 1)]
    for number, (kind, size, _, _) in enumerate(all_cases):
        for rank in (0, 1):
            lines.append({"kernel": f"{number}-{rank}", "group": "w", "bytes": size, **part(kind, rank)})
            lines.append({"call": "launch", "kernel": f"{number}-{rank}", "stream": f"s{rank}"})
    trace, store = os.path.join(folder, "sizes.jsonl"), os.path.join(folder, f"sizes{channels}.db")
    with open(trace, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    subprocess.run([GRIDTIDE, "run", trace, "-q", "--set", f"collective.most_channels={channels}", "-o", store],
                   check=True, stdout=subprocess.DEVNULL)
    times = sqlite3.connect(store).execute("SELECT start_ps, end_ps FROM run_op WHERE run_id = (SELECT max(run_id) FROM run) ORDER BY op_no").fetchall()
    return [took(case[0], both) for case, both in zip(all_cases, zip(times[::2], times[1::2]))]


def main():
    by_kind = "--by-kind" in sys.argv[1:]
    sets, errors = collections.defaultdict(list), collections.defaultdict(list)
    for case in cases():
        sets[int(case[3].split("=")[1]) if "=" in case[3] else 0].append(case)
    with tempfile.TemporaryDirectory() as folder:
        for channels, some in sorted(sets.items()):
            for case, simulated in zip(some, simulate(some, folder, channels)):
                error = simulated / case[2] - 1
                name = case[3].split("=")[0]
                errors[f"{name}/{case[0]}" if by_kind else name].append((abs(error), error, case, simulated))
    for name, some in sorted(errors.items()):
        some.sort(key=lambda one: one[0])
        _, error, case, simulated = some[-1]
        print("%s %d %.2f %.2f %+.2f (%s of %d bytes: %.1f us, measured %.1f)" %
              (name, len(some), 100 * some[(len(some) - 1) // 2][0], 100 * some[int(0.95 * (len(some) - 1))][0],
               100 * error, case[0], case[1], simulated, case[2]))


main()
