#!/usr/bin/env python3
"""How much of a profiled launch is left when it goes through a trace for Accel-Sim.

    traces/profiles/exported.py [MOST]      MOST: warp instructions of a launch at most (300000)

Each launch that was profiled is exported (gridtide export accelsim) and imported again.  Compared are warp instructions,
hit rates and sectors with those of the profile, the cycles that both programs are simulated to take on the device of the
profile, with cold caches, and the cycles of the imported one with those that the profiler measured.  GRIDTIDE names the program (default: build/gridtide).
"""
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
GRIDTIDE = os.environ.get("GRIDTIDE", str(HERE.parent.parent / "build" / "gridtide"))


def run(*arguments):
    return subprocess.run([GRIDTIDE, *arguments], check=True, capture_output=True, text=True).stdout


def read(path):
    command = ["zstd", "-dcq", str(path)] if str(path).endswith(".zst") else ["cat", str(path)]
    return [json.loads(line) for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()]


def launches(path, most):
    """Each launch by itself: head, program, kernel, launch."""
    lines = read(path)
    head = [line for line in lines if "gridtide" in line or "gpu" in line or "thread" in line or set(line) == {"stream"}]
    programs = {line["program"]: line for line in lines if "sass" in line}
    kernels = {line.get("id", line["kernel"]): line for line in lines if "grid" in line}
    for line in lines:
        kernel = kernels.get(line.get("kernel")) if line.get("call") == "launch" else None
        program = programs.get(kernel.get("program")) if kernel else None
        if program is None or "profile" not in line:
            continue
        warps = math.prod(kernel["grid"]) * math.ceil(math.prod(kernel["block"]) / 32)
        if sum(program["executions"]) / program["warps"] * warps <= most:
            yield head, program, kernel, line


def write(path, lines):
    pathlib.Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines))


def cycles(trace, device, work):
    run("run", "-q", trace, "--device", device, "--set", "memory.l2_reuse_bytes=0", "-o", f"{work}/run.db")
    answer = subprocess.run([GRIDTIDE, "compare", f"{work}/run.db", "--format", "json"], capture_output=True, text=True)
    return json.loads(answer.stdout)["kernels"][0]["simulated_cycles"]


def compare(head, program, kernel, launch, work):
    device = head[0]["device"]
    write(f"{work}/profiled.jsonl", [*head, program, kernel, launch])
    write(f"{work}/plain.jsonl", [*head, program, kernel, {k: v for k, v in launch.items() if k != "profile"}])
    subprocess.run(["rm", "-rf", f"{work}/folder"], check=True)
    run("export", "accelsim", f"{work}/profiled.jsonl", "-o", f"{work}/folder")
    run("import", "-q", f"{work}/folder", "-o", f"{work}/again.jsonl")
    again = next(line for line in read(f"{work}/again.jsonl") if "sass" in line)
    use = launch["profile"]
    row = {"instructions": 100 * abs(sum(again["executions"]) / sum(program["executions"]) - 1)}
    for rate, sectors in (("l1_load_hit", None), ("l2_read_hit", "l2_read_sectors")):
        if rate in use and rate in again and (sectors is None or use.get(sectors, 0) >= 1000):
            row[rate] = 100 * abs(use[rate] - again[rate])
    for sectors in ("l2_read_sectors", "l2_write_sectors"):
        if use.get(sectors, 0) >= 1000 and sectors in again:
            row[sectors] = 100 * abs(again[sectors] / use[sectors] - 1)
    plain = cycles(f"{work}/plain.jsonl", device, work)
    simulated = cycles(f"{work}/again.jsonl", device, work)
    row["cycles"] = 100 * abs(simulated / plain - 1)
    row["measured cycles"] = 100 * abs(simulated / use["cycles"] - 1)
    return row


def main():
    most = float(sys.argv[1]) if len(sys.argv) > 1 else 300000
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for path in sorted(HERE.glob("*.jsonl.zst")):
            rows += [compare(*launch, work) for launch in launches(path, most)]
    print(f"{'difference':18} {'n':>4} {'mean':>7} {'median':>7} {'p90':>7} {'worst':>7}")
    for name, unit in (("instructions", "%"), ("l1_load_hit", "points"), ("l2_read_hit", "points"), ("l2_read_sectors", "%"),
                       ("l2_write_sectors", "%"), ("cycles", "%"), ("measured cycles", "%")):
        values = sorted(row[name] for row in rows if name in row)
        print(f"{name:18} {len(values):4} {statistics.mean(values):7.2f} {statistics.median(values):7.2f} {values[int(0.9 * (len(values) - 1))]:7.2f} "
              f"{values[-1]:7.2f} {unit}")


if __name__ == "__main__":
    main()
