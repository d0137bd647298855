"""Record programs by protocols as people use them, and time the programs and their changed forms without a profiler.

    python3 protocols.py OUTPUT-FOLDER SET SEED SECONDS [PROTOCOLS-PER-PROGRAM [PROGRAMS]]
    gridtide record --from profiler --keep RECORDS -o all.jsonl.gz -- python3 protocols.py OUTPUT-FOLDER SET SEED SECONDS ...
    python3 protocols.py --import GRIDTIDE RECORDS OUTPUT-FOLDER

SET names a list of programs (protocol_programs.py), of which PROGRAMS, a pattern of the shell, may choose some; SEED draws their sizes and the protocols: how many iterations, with or
without warm-up, marks, a synchronisation after each (of the device, a stream or an event), shapes, Python's stack, memory,
synchronisation events, operators; marked by prof.step(), also behind steps of the profiler's own warm-up.
Each program is timed in a process of its own and recorded in another, so that a recording without warm-up is a cold one.
results.jsonl has a line a timed form and a line a recording; traces are Kineto's own files, compressed by gzip.
Under `gridtide record` its recorder takes the profiler's place, from the first iteration or from the process's start, and
steps are marked by NVTX ranges; --import makes a trace of what each process recorded.
"""
import fnmatch
import gc
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
import traceback

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

import protocol_programs

RECORDER = "GRIDTIDE_RECORD_DIR" in os.environ
CHILD_S = 60
TIMED_S = 0.5  # to spend on each form


def now_us():
    return 1e6 * time.perf_counter()


def draw_protocol(rng, index):
    """The first is the one that most people use; the others are drawn."""
    if index == 0:
        return {"iterations": 3, "warm": 0, "marks": "none", "sync": "each", "shapes": False, "stack": False,
                "memory": False, "events": False, "cpu": True, "from": "profiler"}
    return {"iterations": rng.choice([1, 2, 3, 5, 10, 20]), "warm": rng.choice([0, 0, 1, 3]),
            "marks": rng.choice(["none", "none", "step", "range"]), "sync": rng.choice(["each", "end", "none"]),
            "shapes": rng.random() < 0.3, "stack": rng.random() < 0.2, "memory": rng.random() < 0.15,
            "events": rng.random() < 0.5, "cpu": rng.random() < 0.85,
            "wait_for": rng.choice(["device", "device", "stream", "event"]), "profiler_warmup": rng.choice([0, 0, 1, 2]), "from": rng.choice(["profiler", "start"])}


def wait_for(what):
    if what == "stream":
        torch.cuda.current_stream().synchronize()
    elif what == "event":
        event = torch.cuda.Event()
        event.record()
        event.synchronize()
    else:
        torch.cuda.synchronize()


def iterate(form, count, sync):
    """Run `count` iterations; us in all.  `sync`: wait for the GPU after each."""
    start = now_us()
    if form.start:
        form.start(count)
    for _ in range(count):
        form.step()
        if sync:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    return now_us() - start


def time_forms(family):
    """Medians of us an iteration, forms in turn: with a synchronisation after each, and in groups without."""
    rows, guess = {}, {}
    for name, form in family.forms.items():
        for _ in range(3):
            guess[name] = iterate(form, 4, True) / 4
        rows[name] = {"synced": [], "steady": []}
    deadline = time.time() + TIMED_S * len(family.forms)
    turns = 0
    while turns < 8 or (time.time() < deadline and turns < 60):
        turns += 1
        for name, form in family.forms.items():
            count = max(4, min(20, int(10e3 / guess[name])))
            iterate(form, 1, True)
            rows[name]["synced"].append(iterate(form, count, True) / count)
            rows[name]["steady"].append(iterate(form, count, False) / count)
    table = {}
    for name, row in rows.items():
        table[name] = {kind + "_us": statistics.median(values) for kind, values in row.items()}
        for kind, values in row.items():
            low, _, high = statistics.quantiles(values, n=4)
            table[name].update({kind + "_q1_us": low, kind + "_q3_us": high})
    return table


def time_program(make, path):
    family = make()
    gc.collect()
    gc.disable()
    with open(path, "w") as out:
        json.dump(time_forms(family), out)


def run_iterations(form, protocol, prof):
    count = protocol["iterations"] + (protocol.get("profiler_warmup", 0) if protocol["marks"] == "step" else 0)
    if form.start:
        form.start(count)
    for _ in range(count):
        if protocol["marks"] in ("range", "nvtx"):
            with record_function("iteration") if protocol["marks"] == "range" else torch.cuda.nvtx.range("iteration"):
                form.step()
                if protocol["sync"] == "each":
                    wait_for(protocol.get("wait_for"))
        else:
            form.step()
            if protocol["sync"] == "each":
                wait_for(protocol.get("wait_for"))
        if protocol["marks"] == "step":
            prof.step()


def record_program(make, protocol, path):
    """One recording, as the protocol has it; then the same form without a profiler in the same process."""
    family = make()
    form = next(iter(family.forms.values()))
    config = torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True) if protocol["events"] else None
    activities = [ProfilerActivity.CUDA] + ([ProfilerActivity.CPU] if protocol["cpu"] else [])
    if protocol["warm"]:
        iterate(form, protocol["warm"], True)
    steps = None
    if protocol["marks"] == "step":
        steps = schedule(wait=0, warmup=protocol.get("profiler_warmup", 0), active=protocol["iterations"], repeat=1)
    with profile(activities=activities, record_shapes=protocol["shapes"], with_stack=protocol["stack"],
                 profile_memory=protocol["memory"], experimental_config=config, schedule=steps) as prof:
        start = now_us()
        run_iterations(form, protocol, prof)
        if protocol["sync"] == "end":
            torch.cuda.synchronize()
        wall = now_us() - start
    torch.cuda.synchronize()
    prof.export_chrome_trace(path + ".json")
    iterate(form, 4, True)
    own = {"recorded_us": wall / protocol["iterations"], "own_synced_us": iterate(form, 20, True) / 20,
           "own_steady_us": iterate(form, 20, False) / 20}
    with open(path + ".own", "w") as out:
        json.dump(own, out)


def record_by_gridtide(make, protocol, path):
    """The same by `gridtide record`, whose file has this process's number."""
    form = next(iter(make().forms.values()))
    marks = dict(protocol, marks="none") if protocol["marks"] == "none" else dict(protocol, marks="nvtx")
    if protocol["warm"]:
        iterate(form, protocol["warm"], True)
    torch.cuda.cudart().cudaProfilerStart()
    start = now_us()
    run_iterations(form, marks, None)
    if protocol["sync"] == "end":
        torch.cuda.synchronize()
    own = {"recorded_us": (now_us() - start) / protocol["iterations"], "process": os.getpid()}
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()
    if protocol["from"] == "profiler":
        iterate(form, 4, True)
        own.update(own_synced_us=iterate(form, 20, True) / 20, own_steady_us=iterate(form, 20, False) / 20)
    time.sleep(0.5)  # until the recorder has what is left
    with open(path + ".own", "w") as out:
        json.dump(own, out)


def import_records(gridtide, records, folder):
    """A trace of each process that recorded."""
    with open(os.path.join(folder, "results.jsonl")) as file:
        rows = [json.loads(line) for line in file]
    for row in (row for row in rows if "process" in row):
        part = os.path.join(records, row["trace"])
        os.makedirs(part)
        shutil.copy(os.path.join(records, "costs.txt"), part)
        for name in os.listdir(records):
            if name.startswith("%d-" % row["process"]):
                shutil.move(os.path.join(records, name), part)
        subprocess.run([gridtide, "import", "-q", "record", part, "-o", os.path.join(folder, row["trace"] + ".jsonl.gz")], check=False)
        shutil.rmtree(part)


def in_child(what, environment, recorded, action):
    """Run in a fork of this process, which has not touched CUDA."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.environ.update(environment)
            if not recorded:
                os.environ.pop("CUDA_INJECTION64_PATH", None)
            random.seed(1)
            torch.manual_seed(1)
            action()
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
                print(what, "ended with", status, flush=True)
            return status == 0
        time.sleep(0.02)
    print(what, "took too long", flush=True)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def read(path):
    with open(path) as file:
        row = json.load(file)
    os.unlink(path)
    return row


def main():
    if sys.argv[1] == "--import":
        import_records(*sys.argv[2:])
        return
    folder, which, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    deadline = time.time() + float(sys.argv[4])
    per_program = int(sys.argv[5]) if len(sys.argv) > 5 else 4
    os.makedirs(folder, exist_ok=True)
    table = {name: program for name, program in protocol_programs.programs(which, seed).items()
             if fnmatch.fnmatchcase(name, sys.argv[6] if len(sys.argv) > 6 else "*")}
    plans = {name: [draw_protocol(random.Random("%s %s %d" % (seed, name, i)), i) for i in range(per_program)]
             for name in table}
    packing = []
    with open(os.path.join(folder, "results.jsonl"), "w") as results:
        def write(row):
            results.write(json.dumps(row) + "\n")
            results.flush()
        for name, (make, changes, environment) in table.items():
            path = os.path.join(folder, name)
            if in_child(name, environment, False, lambda: time_program(make, path + ".times")):
                write({"program": name, "changes": changes, "forms": read(path + ".times"), "environment": environment})
        for index in range(per_program):
            for name, (make, changes, environment) in table.items():
                protocol, path = plans[name][index], os.path.join(folder, "%s.%d" % (name, index))
                if time.time() > deadline:
                    print(path, "left out: no time", flush=True)
                elif in_child(path, dict(environment, GRIDTIDE_RECORD_FROM=protocol["from"]), True,
                              lambda: (record_by_gridtide if RECORDER else record_program)(make, protocol, path)):
                    write({"program": name, "trace": os.path.basename(path), "protocol": protocol, **read(path + ".own")})
                    if not RECORDER:
                        packing.append(subprocess.Popen(["nice", "gzip", "-f", path + ".json"]))
    for one in packing:
        one.wait()


if __name__ == "__main__":
    main()
