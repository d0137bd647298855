"""Record programs at one size and measure them at others: what `whatif --change batch=N`, `seq=N`, `hidden=N` and `dtype=TYPE` predict.

    python3 shapes.py OUTPUT-FOLDER SET SEED SECONDS [PROGRAMS]

SET is a list of programs of shapes_programs.py, of which PROGRAMS, a pattern of the shell, may choose some; SEED draws
their sizes.  A program is built at each of its points (batch, sequence length; width and type where it has them) in a process of its own, timed without a
profiler and profiled for two marked steps with shapes and memory.  The profile of the first point stays, as Kineto writes
it; of each point results.jsonl has a line: time of a step, peak memory, and the second step's kernels in the order of
their launches as [operator, kernel, us, number of the operator], the names as numbers of its list of names.
"""
import fnmatch
import gc
import gzip
import json
import os
import random
import shutil
import signal
import statistics
import sys
import time
import traceback

import torch
from torch.profiler import ProfilerActivity, profile, schedule

import shapes_programs

CHILD_S = 100
TIMED_S = 0.3


def time_step(step):
    """Median us of a step, synchronised each, after a warm-up."""
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    times, end = [], time.time() + TIMED_S
    while len(times) < 5 or (time.time() < end and len(times) < 100):
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(1e6 * (time.perf_counter() - start))
    return statistics.median(times)


def time_steady(step, step_us):
    """us of a step where the host runs ahead."""
    count = max(4, min(30, int(3e5 / step_us)))
    start = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return 1e6 * (time.perf_counter() - start) / count


def kernels_of(path):
    """(operator, kernel, us, External id) of the kernels of the last marked step, in the order of their launches."""
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    operators, launches, kernels, steps = {}, {}, [], []
    for event in events:
        category, args = event.get("cat"), event.get("args", {})
        if category == "cpu_op":
            operators[args["External id"]] = event["name"]
        elif category in ("cuda_runtime", "cuda_driver"):
            launches[args.get("correlation")] = event["ts"]
        elif category == "kernel":
            kernels.append((args["correlation"], args.get("External id"), event["name"], event["dur"]))
        elif event["name"].startswith("ProfilerStep") and category == "user_annotation":
            steps.append(event["ts"])
    rows = sorted((launches[c], operators.get(e, "?"), name, us, e or 0) for c, e, name, us in kernels if c in launches)
    return [row[1:] for row in rows if row[0] >= max(steps)]


def measure(build, point, path, keep):
    torch.manual_seed(0)
    step = build(*point)
    row = {"step_us": time_step(step)}
    row["steady_us"] = time_steady(step, row["step_us"])
    torch.cuda.reset_peak_memory_stats()
    step()
    torch.cuda.synchronize()
    row["peak_bytes"] = torch.cuda.max_memory_allocated()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, profile_memory=True,
                 schedule=schedule(wait=0, warmup=1, active=2)) as prof:
        for index in range(3):
            if index > 0:
                prof.step()  # not behind the last one, which would end the cycle and lose it
            step()
            torch.cuda.synchronize()
    prof.export_chrome_trace(path)
    names = {}
    row["kernels"] = [[names.setdefault(operator, len(names)), names.setdefault(kernel, len(names)), us, number]
                      for operator, kernel, us, number in kernels_of(path)]
    row["names"] = list(names)
    if keep:
        with open(path, "rb") as plain, gzip.open(path + ".gz", "wb") as packed:
            shutil.copyfileobj(plain, packed)
    os.remove(path)
    return row


def in_child(action):
    """Run in a fork of this process, which has not touched CUDA; True if it ended well."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(CHILD_S)
            action()
            status = 0
        except BaseException:
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def record_points(program, folder):
    """The first point alone has its memory to itself: the others are measured one after another in its process.  What is left of
    those before is only cuBLAS's workspace; a model that cycles of references hold is collected."""
    with open(os.path.join(folder, program.name + ".rows"), "w") as out:
        for index, point in enumerate(program.points):
            try:
                row = measure(program.build, point, os.path.join(folder, program.name + ".json"), index == 0)
            except torch.cuda.OutOfMemoryError:
                row = {"out_of_memory": True}
            row.update(zip(("batch", "seq", "hidden", "dtype"), point), program=program.name, base=index == 0)
            print(json.dumps(row), file=out, flush=True)
            gc.collect()
            torch.cuda.empty_cache()


def main():
    folder, chosen, seed, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    pattern = sys.argv[5] if len(sys.argv) > 5 else "*"
    os.makedirs(folder, exist_ok=True)
    end = time.time() + seconds
    for program in shapes_programs.draw(chosen, random.Random(seed)):
        if not fnmatch.fnmatch(program.name, pattern):
            continue
        if time.time() > end:
            print("no time for", program.name)
            continue
        began = time.time()
        well = in_child(lambda: record_points(program, folder))
        print(program.name, "recorded" if well else "FAILED", "%.1f s" % (time.time() - began), flush=True)
    with open(os.path.join(folder, "results.jsonl"), "w") as out:
        for name in sorted(os.listdir(folder)):
            if name.endswith(".rows"):
                with open(os.path.join(folder, name)) as rows:
                    shutil.copyfileobj(rows, out)
                os.remove(os.path.join(folder, name))


if __name__ == "__main__":
    main()
