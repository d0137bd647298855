"""Record the programs of whatif.py by Kineto, or by `gridtide record`, to hold the what-ifs of both against each other.

    python3 whatif_record.py kineto ./libwhatif.so OUTPUT-FOLDER SECONDS
    gridtide record --from profiler --keep RECORDS -o all.jsonl.gz -- \\
        python3 whatif_record.py record ./libwhatif.so OUTPUT-FOLDER SECONDS

The first also times all forms without a profiler, which is what they are judged by; the second times each program's
recorded forms while recording is off.  whatif_split.py cuts what the second recorded into a file a form, by the ranges
that stand around each group of steps.
"""
import gc
import json
import os
import sys
import time

import torch

import whatif
import whatif_fresh
import whatif_programs

# Groups of each form to time, s to spend on them, and the part of a process's time that is kept for recording.
TIMES = {"kineto": (8, 0.12, 0.5), "record": (5, 0.04, 0.3)}
OF_PYTORCH = ["encoder-small", "mlp-small", "mlp-large", "convolutions-small", "cells-small", "lstm-small", "decoder-small",
              "decoder-large", "heat-small", "training-small", "training-large", "batches-small", "batches-middle",
              "batches-large", "readback-training", "readback-decoder", "results-small", "towers-small", "towers-middle",
              "towers-eager", "towers-eager-small"]
OF_CUDA = ["pipeline-even", "pipeline-small", "pipeline-copies", "chains-narrow", "chains-short", "chains-full",
           "graph-narrow", "graph-tiny", "layers-short", "layers-uneven", "priority-short", "priority-waves"]


def parts(library):
    """Families by process."""
    families = {}
    for part, environment in whatif_programs.groups(library).values():
        if not environment:
            families.update(part)
    table = {"fresh": whatif_fresh.groups(library)["all"][0], "cuda": {name: families[name] for name in OF_CUDA}}
    for i in range(2):
        table["pytorch-%d" % i] = {name: families[name] for name in OF_PYTORCH[i::2]}
    return table


def timed(forms, steps, fewest, timed_s):
    """Times of the forms without a profiler, in turn."""
    guesses, rows = {}, {name: [] for name in forms}
    for name, form in forms.items():
        for _ in range(whatif.WARM):
            guesses[name] = whatif.group(form, steps)[1]
    left = {name: max(fewest, min(whatif.MOST, int(1e6 * timed_s / guess))) for name, guess in guesses.items()}
    while any(left.values()):
        for name, form in forms.items():
            if left[name] > 0:
                whatif.group(form, 1)
                rows[name].append(whatif.group(form, steps))
                left[name] -= 1
    return {name: whatif.spread(pairs, steps) for name, pairs in rows.items()}


def record(name, form, steps):
    """A group of steps, each in a range, with two steps before it that are recorded but not kept."""
    torch.cuda.cudart().cudaProfilerStart()
    for _ in range(2):
        if form.start:
            form.start(1)
        form.step()
        torch.cuda.synchronize()
    torch.cuda.nvtx.range_push(name)
    start = whatif.now_us()
    if form.start:
        form.start(steps)
    for i in range(steps):
        torch.cuda.nvtx.range_push("step")
        form.step()
        if i == steps - 1:
            torch.cuda.synchronize()
            recorded_us = whatif.now_us() - start
        torch.cuda.nvtx.range_pop()
    torch.cuda.nvtx.range_pop()
    torch.cuda.cudart().cudaProfilerStop()
    return {"recorded_us": recorded_us / steps}


def run_group(by, part, folder, deadline):
    output, families = whatif.Output(folder), {}
    fewest, timed_s, reserved = TIMES[by]
    make_until = deadline - reserved * (deadline - time.time())
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    for name, make in part.items():
        began = time.time()
        if began > make_until:
            print(name, "left out: no time", flush=True)
            continue
        torch.manual_seed(1)
        with whatif.grad_mode(make):
            family = whatif.attempt(name, make)
            if family is None:
                continue
            gc.collect()
            gc.disable()
            rows = whatif.attempt(name, lambda: timed(family.forms, family.steps, fewest, timed_s))
            gc.enable()
        families[name] = family
        for form, row in (rows or {}).items():
            output.write(name, form, "none", row)
        print("%s: %.1f s" % (name, time.time() - began), flush=True)
    for name, family in families.items():
        began = time.time()
        if began > deadline:
            print(name, "not recorded: no time", flush=True)
            continue
        with whatif.grad_mode(part[name]):
            for form in family.forms:
                path = os.path.join(folder, "%s.%s" % (name, form))
                row = whatif.attempt(path, lambda: whatif.record(family.forms[form], family.steps, path) if by == "kineto"
                                     else record("%s.%s" % (name, form), family.forms[form], family.steps))
                if row:
                    output.write(name, form, "recorded", row)
        print("%s recorded: %.1f s" % (name, time.time() - began), flush=True)


def main():
    by, library, folder = sys.argv[1:4]
    end = time.time() + float(sys.argv[4])
    os.makedirs(folder, exist_ok=True)
    whatif.run_group = lambda part, folder, deadline: run_group(by, part, folder, deadline)
    table = parts(library)
    sizes = {name: len(part) for name, part in table.items()}
    for name, part in table.items():
        left, now = sum(sizes.values()), time.time()
        deadline = now + (end - now) * sizes.pop(name) / left
        whatif.in_child(name, part, {}, folder, deadline)
    print(json.dumps({"seconds_left": round(end - time.time(), 1)}), flush=True)


if __name__ == "__main__":
    main()
