"""Record programs and their changed forms: traces/pairs.

    nvcc -O2 -arch=sm_90 -shared -Xcompiler -fPIC -cudart static -o libwhatif.so whatif.cu
    [PROGRAMS=whatif_fresh] python3 whatif.py ./libwhatif.so OUTPUT-FOLDER [SECONDS [FAMILY...]]

A family is a few forms of one program that do the same work; families that are alike share a process.  All forms run in
turn without the profiler (`mode` none), then each under it (cuda: CUPTI's activity records alone, cpu: with PyTorch's
operators, shapes: with their shapes too).  results.jsonl has a line a form and mode, and there is a Kineto trace a form.
"""
import gc
import gzip
import importlib
import json
import os
import signal
import statistics
import sys
import time
import traceback

import torch
from torch.profiler import ProfilerActivity, profile, schedule

programs = importlib.import_module(os.environ.get("PROGRAMS", "whatif_programs"))

WARM = 3           # groups of steps that nobody times
TIMED_S = getattr(programs, "TIMED_S", 0.25)   # to spend on each form without the profiler
RESERVE_S = getattr(programs, "RESERVE_S", 0)  # of a process's time, for recording
FEWEST, MOST = 12, 60
CHILD_S = 150
KEPT = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "cuda_sync", "cuda_event", "cpu_op",
        "user_annotation", "gpu_user_annotation", "overhead"}
MODES = {"cuda": ([ProfilerActivity.CUDA], False),
         "cpu": ([ProfilerActivity.CPU, ProfilerActivity.CUDA], False),
         "shapes": ([ProfilerActivity.CPU, ProfilerActivity.CUDA], True)}


def now_us():
    return 1e6 * time.perf_counter()


def group(form, steps):
    """Run a group of steps: until the host had asked for everything, and until all was done, us."""
    start = now_us()
    if form.start:
        form.start(steps)
    for _ in range(steps):
        form.step()
    issued = now_us()
    torch.cuda.synchronize()
    return issued - start, now_us() - start


def quartiles(values):
    if len(values) < 2:
        return [values[0]] * 3
    return statistics.quantiles(values, n=4, method="inclusive")


def spread(pairs, steps):
    """A row's times, us a step."""
    issued, whole = zip(*pairs)
    first, median, third = quartiles([value / steps for value in whole])
    return {"groups": len(whole), "steps": steps, "step_us": median, "q1_us": first, "q3_us": third,
            "fastest_us": min(whole) / steps, "issue_us": statistics.median(issued) / steps}


def without_profiler(family):
    """Times of all forms, in turn, so that what changes from second to second touches all alike."""
    guesses, rows = {}, {name: [] for name in family.forms}
    for name, form in family.forms.items():
        for _ in range(WARM):
            guesses[name] = group(form, family.steps)[1]
    left = {name: max(FEWEST, min(MOST, int(1e6 * TIMED_S / guess))) for name, guess in guesses.items()}
    while any(left.values()):
        for name, form in family.forms.items():
            if left[name] > 0:
                group(form, 1)
                rows[name].append(group(form, family.steps))
                left[name] -= 1
    for name, form in family.forms.items():
        row = spread(rows[name], family.steps)
        steady = int(max(30, min(200, 5e4 / max(row["step_us"], 1))))
        times = [group(form, steady)[1] / steady for _ in range(3)]
        yield name, dict(row, steady_us=statistics.median(times), steady_steps=steady)


def config():
    return torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)


def with_profiler(form, steps, mode):
    activities, shapes = MODES[mode]
    rows = []
    with profile(activities=activities, record_shapes=shapes, experimental_config=config()):
        for _ in range(2):
            group(form, steps)
        spent = now_us()
        while len(rows) < 4 or len(rows) < 20 and now_us() - spent < 1e5:
            rows.append(group(form, steps))
    return spread(rows, steps)


def record(form, steps, path, mode="cpu"):
    """One group as a Kineto trace with a ProfilerStep a step."""
    with profile(activities=MODES[mode][0], experimental_config=config(),
                 schedule=schedule(wait=0, warmup=2, active=steps, repeat=1)) as prof:
        for _ in range(2):
            if form.start:
                form.start(1)
            form.step()
            torch.cuda.synchronize()
            prof.step()
        start = now_us()
        if form.start:
            form.start(steps)
        for i in range(steps):
            form.step()
            if i == steps - 1:
                torch.cuda.synchronize()
                recorded_us = now_us() - start
            prof.step()
    prof.export_chrome_trace(path + ".raw")
    with open(path + ".raw") as file:
        trace = json.load(file)
    os.unlink(path + ".raw")
    events = [event for event in trace["traceEvents"] if event.get("ph") == "M" or event.get("cat") in KEPT]
    for event in events:
        if event.get("cat") == "cpu_op":
            event["args"] = {"External id": event.get("args", {}).get("External id")}
    trace["traceEvents"] = events
    trace.pop("traceName", None)
    with gzip.GzipFile(path + ".json.gz", "wb", mtime=0) as file:
        file.write(json.dumps(trace, separators=(",", ":")).encode())
    return {"recorded_us": recorded_us / steps}


def attempt(what, action):
    try:
        return action()
    except Exception:
        print(what, "failed", flush=True)
        traceback.print_exc()
        torch.cuda.synchronize()
        return None


class Output:
    """results.jsonl, a line as soon as it is known."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "results.jsonl")

    def write(self, program, form, mode, row):
        with open(self.path, "a") as out:
            out.write(json.dumps(dict(row, program=program, form=form, mode=mode)) + "\n")


def grad_mode(make):
    return torch.set_grad_enabled(getattr(make, "gradients", False))


def profile_family(name, family, folder, output, deadline):
    for form in family.forms:
        path = os.path.join(folder, "%s.%s" % (name, form))
        row = attempt(path, lambda: record(family.forms[form], family.steps, path))
        if row:
            output.write(name, form, "recorded", row)
    base = next(iter(family.forms))
    if base == "eager":  # as somebody records who leaves the operators out
        attempt(name, lambda: record(family.forms[base], family.steps, os.path.join(folder, name + ".eager-cuda"), "cuda"))
    for form in family.forms if len(family.modes) > 2 else [base]:
        for mode in getattr(programs, "MODES", family.modes):
            if time.time() < deadline:
                row = attempt(name, lambda: with_profiler(family.forms[form], family.steps, mode))
                if row:
                    output.write(name, form, mode, row)


def run_group(part, folder, deadline):
    """All families of a process without the profiler, then all with it: it leaves something behind."""
    output, families = Output(folder), {}
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    for name, make in part.items():
        began = time.time()
        if began > deadline - RESERVE_S:
            print(name, "left out: no time", flush=True)
            continue
        torch.manual_seed(1)
        with grad_mode(make):
            family = attempt(name, make)
            if family is None:
                continue
            gc.collect()
            gc.disable()
            rows = attempt(name, lambda: list(without_profiler(family)))
            gc.enable()
        if rows is None:
            continue
        families[name] = family
        for form, row in rows:
            output.write(name, form, "none", row)
        print("%s without profiler: %.1f s" % (name, time.time() - began), flush=True)
    for name, family in families.items():
        began = time.time()
        with grad_mode(part[name]):
            profile_family(name, family, folder, output, deadline)
        print("%s with profiler: %.1f s" % (name, time.time() - began), flush=True)


def in_child(name, part, environment, folder, deadline):
    """Run a group in a child of this process, which has PyTorch loaded and has not touched CUDA."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.environ.update(environment)
            run_group(part, folder, deadline)
            status = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    latest = time.time() + CHILD_S
    while time.time() < latest:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if status != 0:
                print(name, "ended with", status, flush=True)
            return status == 0
        time.sleep(0.02)
    print(name, "took too long", flush=True)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def recorded_programs(folder):
    path = os.path.join(folder, "results.jsonl")
    if not os.path.exists(path):
        return set()
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    return {row["program"] for row in rows if row["mode"] == "recorded"}


def main():
    library, folder = sys.argv[1], sys.argv[2]
    deadline = time.time() + float(sys.argv[3] if len(sys.argv) > 3 else 3600)
    os.makedirs(folder, exist_ok=True)
    for name, (part, environment) in programs.groups(library).items():
        part = {family: make for family, make in part.items() if not sys.argv[4:] or family in sys.argv[4:]}
        if not part:
            continue
        if time.time() > deadline:
            print(name, "left out: no time", flush=True)
        elif not in_child(name, part, environment, folder, deadline):
            for family in set(part) - recorded_programs(folder):
                if time.time() < deadline:
                    in_child(family, {family: part[family]}, environment, folder, deadline)


if __name__ == "__main__":
    main()
