#!/usr/bin/env python3
"""Programs of several processes at random, and how near Gridtide comes to what they took together on a GPU.

    validate/scripts/sharing.py draw SEED PROCESSES COUNT
    validate/scripts/sharing.py judge ARCHIVE MODE SEED[,SEED...]
    validate/scripts/sharing.py sum FILE...

draw prints COUNT programs for `sharing play` (sharing.cu): kernels of 1 to 1,000 blocks, two of which fill an SM, host work and waits.
judge simulates them as the archive (validate/recordings/sharing-h200.tar.zst) has them played: MODE is sliced, mps or percent (MPS
clients with CUDA_MPS_ACTIVE_THREAD_PERCENTAGE).  Kernels last as long as alone on the whole GPU, a process begins when it did; how
long each process takes from its first kernel's start to its last one's end is held against what was measured.  Prints errors in %, and
what they would be if no process met another.  GRIDTIDE names the program (default: build/gridtide).
sum prints what `sharing` found in its other modes, a line a command; each command's output stands behind "# COMMAND".

The archive, on the GPU, for SEED 1 to 4 and PROCESSES 2 to 4, behind "# play MODE SEED PROCESSES":
    sharing.py draw SEED PROCESSES 30 > FILE; sharing play FILE                    sliced.txt; under nvidia-cuda-mps-control -d: mps.txt
    MPS_PERCENT=50,50,50,50 sharing play FILE; MPS_PERCENT=25,75,40,60 ...         percent.txt, behind "## PERCENTAGES"
17958e11 us are taken off its times; plays alone are left out but in mps.txt.
validate/recordings/sharing.txt: sum of pauses 2|3|4 1|66|264 150, idle 1|264 100, requests 1|264 250 50|300|3000 0|1000|7000 and copies 1|264 200
65536|1048576|67108864, without MPS and with it; of `MPS_PERCENT=N sharing sms 1`; of green COUNT.
"""
import json
import math
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile

BLOCKS = (1, 8, 66, 132, 200, 264, 264, 528, 1000)
SLOTS = 264
SHARED_BYTES = 102400  # sharing.cu
KERNELS_MOST = 100


def draw(seed, processes, count):
    rng = random.Random(f"sharing {seed} {processes}")

    def spread(low, high):
        return math.exp(rng.uniform(math.log(low), math.log(high)))

    for _ in range(count):
        yield f"program {processes}"
        for process in range(processes):
            if rng.random() < 0.7:
                yield f"{process} host {spread(20, 4000):.0f}"
            left_us, pauses, longest_us, kernels = rng.uniform(3000, 25000), rng.choice([0.1, 0.4, 0.9]), rng.choice([60, 400, 4000]), 0
            while left_us > 0 and kernels < KERNELS_MOST:
                blocks, us = rng.choice(BLOCKS), spread(15, longest_us)
                yield f"{process} kernel {blocks} {us:.0f}"
                kernels += 1
                left_us -= us * math.ceil(blocks / SLOTS)
                if rng.random() < pauses:
                    yield f"{process} sync"
                if rng.random() < pauses:
                    host_us = spread(10, 3000)
                    left_us -= host_us
                    yield f"{process} host {host_us:.0f}"


def programs(lines):
    """Of each program, by process, its steps: ("kernel", blocks), ("host", us), ("sync",)."""
    found = []
    for words in map(str.split, lines):
        if words[0] == "program":
            found.append([[] for _ in range(int(words[1]))])
        else:
            found[-1][int(words[0])].append((words[1], *(float(word) for word in words[2:])))
    return found


def plays(path):
    """{(percentages, seed, processes): {(program, process, how): [(start, end, began) by launch]}}"""
    found, percentages, key = {}, "", None
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("## "):
                percentages = line.split()[1]
            elif line.startswith("# play"):
                key = (percentages, *line.split()[-2:])
                found[key] = {}
            else:
                _, program, process, how, _, *times = line.strip().split(",")
                found[key].setdefault((int(program), int(process), how), []).append(tuple(map(float, times)))
    return found


def trace(program, number, measured, alone, shares):
    lines, calls = [{"gridtide": 1, "name": "sharing", "device": "h200"}], []
    began = [measured[number, process, "together"][0][2] for process in range(len(program))]
    for process, steps in enumerate(program):
        thread, stream = f"t{process}", f"s{process}"
        lines += [{"thread": thread, "process": process + 1, "share": shares[process]}, {"stream": stream, "context": process + 1}]
        if began[process] > min(began):
            calls.append({"call": "host_work", "thread": thread, "duration_us": round(began[process] - min(began), 3)})
        times = iter(alone[number, process, "alone"])
        for step in steps:
            if step[0] == "kernel":
                start, end, _ = next(times)
                name = f"k{len(lines)}"
                lines.append({"kernel": name, "grid": int(step[1]), "block": 32, "registers": 16,
                              "dynamic_shared_bytes": SHARED_BYTES, "duration_us": round(end - start, 3)})
                calls.append({"call": "launch", "thread": thread, "kernel": name, "stream": stream})
            elif step[0] == "host":
                calls.append({"call": "host_work", "thread": thread, "duration_us": step[1]})
            else:
                calls.append({"call": "stream_sync", "thread": thread, "stream": stream})
        calls.append({"call": "device_sync", "thread": thread})
    return "".join(json.dumps(line) + "\n" for line in lines + calls)


def simulate(text, folder):
    """From its first kernel's start to its last one's end, by process."""
    path, store = os.path.join(folder, "trace.jsonl"), os.path.join(folder, "run.db")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    if os.path.exists(store):
        os.remove(store)
    subprocess.run([os.environ.get("GRIDTIDE", "build/gridtide"), "run", "-q", path, "-o", store], check=True)
    database = sqlite3.connect(store)
    spans = database.execute("SELECT (max(r.end_ps) - min(r.start_ps)) / 1e6 FROM run_op r JOIN op o USING (op_no)"
                             " GROUP BY o.stream_no ORDER BY o.stream_no").fetchall()
    database.close()
    return [span for span, in spans]


def span(times):
    return times[-1][1] - times[0][0]


def figure(name, errors, without):
    errors, without = sorted(map(abs, errors)), sorted(map(abs, without))
    print(f"{name}: {len(errors)} median {statistics.median(errors):.2f} mean {statistics.mean(errors):.2f}"
          f" p90 {errors[int(0.9 * (len(errors) - 1))]:.1f} p95 {errors[int(0.95 * (len(errors) - 1))]:.1f} worst {errors[-1]:.1f}; as if alone: median"
          f" {statistics.median(without):.1f}", flush=True)


def judge(archive, mode, seeds):
    all_errors, all_without = [], []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(f"zstd -dcq --long=27 '{archive}' | tar -x -C '{folder}' --strip-components=1", shell=True, check=True)
        whole = plays(os.path.join(folder, "mps.txt"))
        for (percentages, seed, processes), measured in plays(os.path.join(folder, f"{mode}.txt")).items():
            if seed not in seeds:
                continue
            alone = whole["", seed, processes]
            shares = [f"mps:{percent}" for percent in percentages.split(",")] if percentages else [mode] * int(processes)
            errors, without = [], []
            for number, program in enumerate(programs(draw(seed, int(processes), 30))):
                for process, us in enumerate(simulate(trace(program, number, measured, alone, shares), folder)):
                    real_us = span(measured[number, process, "together"])
                    errors.append(100 * (us / real_us - 1))
                    without.append(100 * (span(alone[number, process, "alone"]) / real_us - 1))
            figure(f"{mode} {percentages} seed {seed}, {processes} processes".replace("  ", " "), errors, without)
            all_errors += errors
            all_without += without
    figure(f"figure {mode}", all_errors, all_without)


def about(values):
    return f"n {len(values)} median {statistics.median(values):.0f} least {min(values):.0f} most {max(values):.0f}"


def summary(path):
    """Of each command its pauses and the time between them (of process 0), latencies, SMs."""
    cases = []
    with open(path, encoding="utf-8") as file:
        for words in (line.strip().split(",") for line in file):
            if words[0].startswith("#"):
                cases.append((",".join(words)[2:], {}))
            elif words[0] == "pause" and words[1] == "0":
                cases[-1][1].setdefault("pause", []).append(float(words[4]))
                cases[-1][1].setdefault("run", []).append(float(words[5]))
            elif words[0] in ("request", "copy"):
                cases[-1][1].setdefault("latency", []).append(float(words[3]))
            elif words[0] == "sms":
                cases[-1][1].setdefault("SMs", []).append(float(words[2]))
            elif words[0] == "green":
                cases[-1][1].setdefault("contexts of SMs", []).extend(map(float, words[3:-2]))
                cases[-1][1]["SMs left over"] = [float(words[-1])]
    for case, found in cases:
        print(case + ":", "; ".join(f"{what} {about(values)}" for what, values in found.items()) or "no pause")


def main():
    if sys.argv[1] == "draw":
        print(*draw(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])), sep="\n")
    elif sys.argv[1] == "sum":
        for path in sys.argv[2:]:
            print(f"## {os.path.splitext(os.path.basename(path))[0]}")
            summary(path)
    else:
        judge(sys.argv[2], sys.argv[3], sys.argv[4].split(","))


if __name__ == "__main__":
    main()
