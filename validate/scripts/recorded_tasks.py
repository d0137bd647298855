#!/usr/bin/env python3
"""recorded_tasks.py [--drawn] FOLDER PROGRAM... - how well one recording of a persistent kernel predicts another one of it.

FOLDER has recordings PROGRAM_*.chrome_trace* of traces/record/persistent.py; each gives its tasks' times to the program's task graph
(tests/data/persistent_graphs.py), which is run and compared with every other one. Errors of the makespan (first task's start to
last task's end), in per cent, and of bubbles, in percentage points; "themselves" is one recording in place of another. --drawn:
times are drawn by kind even where the lists are the recorded ones. GRIDTIDE names the program (build/gridtide when unset).
"""
import csv
import glob
import io
import json
import os
import subprocess
import sys
import tempfile

SOURCE = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
GRIDTIDE = os.environ.get("GRIDTIDE", os.path.join(SOURCE, "build/gridtide"))
sys.path.insert(0, os.path.join(SOURCE, "tests/data"))
import persistent_graphs


def gridtide(*arguments):
    return subprocess.run([GRIDTIDE, *arguments], check=True, capture_output=True, text=True).stdout


def workers(store, recording):
    """Simulated and recorded makespan, then for each side the bubbles of all, then of each worker."""
    rows = list(csv.DictReader(io.StringIO(gridtide("stats", store, "--table", "workers", "--recorded-tasks", recording, "-f", "csv"))))
    sides = []
    for side in ("", "recorded_"):
        bubbles = [float(row[side + "bubbles_pct"] or "nan") for row in rows]
        busy = float(rows[-1][side + "busy_us"]) / sum(row[side + "tasks"] not in ("", "0") for row in rows[:-1])
        sides.append((busy / (1 - bubbles[-1] / 100), bubbles[-1], bubbles[:-1]))
    return sides


def summary(name, what, makespans, bubbles, each):
    mean = lambda values: sum(values) / len(values)
    print("%-10s %-11s %3d pairs: makespan mean |error| %4.1f%%, mean %+5.1f%%, worst %+5.1f%%; bubbles mean |error| %4.1f, mean %+5.1f, "
          "worst %+5.1f; of a worker %4.1f" % (name, what, len(makespans), mean([abs(x) for x in makespans]), mean(makespans),
                                               max(makespans, key=abs), mean([abs(x) for x in bubbles]), mean(bubbles),
                                               max(bubbles, key=abs), mean(each)))


def judge(folder, name, drawn):
    recordings = sorted(glob.glob(os.path.join(folder, name + "_*.chrome_trace*")))
    lines = persistent_graphs.lines(name)
    if drawn:  # a task that takes no time makes the lists others than the recorded ones
        lines.insert(3, {"tasks_of": name, "kinds": [{"kind": "nothing", "task_ns": 0}], "tasks": [{"kind": "nothing", "worker": 0}]})
    predicted, themselves = ([], [], []), ([], [], [])
    with tempfile.TemporaryDirectory() as scratch:
        graph, measured = os.path.join(scratch, "graph.jsonl"), {}
        with open(graph, "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        for costs in recordings:
            store = os.path.join(scratch, os.path.basename(costs) + ".db")
            gridtide("run", "-q", graph, "--task-costs", costs, "-o", store)
            for other in recordings:
                simulated, measured[other] = workers(store, other)
                if other != costs:
                    compare(predicted, simulated, measured[other])
        for one in recordings:
            for other in recordings:
                if other != one:
                    compare(themselves, measured[one], measured[other])
    for recording, (makespan, bubbles, _) in measured.items():
        print("%-10s %s: %.2f us, bubbles %.1f%%" % (name, os.path.basename(recording), makespan, bubbles))
    summary(name, "drawn" if drawn else "predicted", *predicted)
    summary(name, "themselves", *themselves)


def compare(errors, predicted, measured):
    errors[0].append(100 * (predicted[0] / measured[0] - 1))
    errors[1].append(predicted[1] - measured[1])
    each = [abs(a - b) for a, b in zip(predicted[2], measured[2]) if a == a and b == b]
    errors[2].append(sum(each) / len(each))


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--drawn"]
    if len(arguments) < 2:
        sys.exit(__doc__)
    for program in arguments[1:]:
        judge(arguments[0], program, "--drawn" in sys.argv)
