"""Serve requests with a transformer of random weights, and record its passes: what `gridtide serve` predicts of an engine.

    python3 serving.py OUTPUT-FOLDER MODEL SEED SECONDS [POLICY ...]

MODEL is a row of MODELS.  After a warm-up the engine's passes are profiled one size at a time (the templates, NAME.json.gz) and timed
without a profiler (templates.jsonl); for policies that split the SMs, passes are timed on green contexts, alone and beside another
(lanes.jsonl).  Then each policy serves for SECONDS requests that arrive as drawn from SEED, at each
load of LOADS: requests-N.csv says when which lengths arrive, results.jsonl when each got its first and its last token.
Each pass is one forward call over the tokens of at most one prompt and of all sequences that decode, as in engines with
chunked prefill; keys and values lie in slots as long as the longest sequence of the pass.
"""
import csv
import gc
import gzip
import json
import math
import os
import random
import shutil
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile, schedule

from serving_engine import Engine, Model, PADDING, Request, SLOTS
from serving_split import SPARE_SLOTS, SplitEngine, measure_alone, measure_beside

MODELS = {"wide": (16384, 6, 128), "middle": (12288, 8, 96), "narrow": (2048, 16, 16)}  # width, layers, heads
DECODE_TEMPLATES = [(count, context) for count in (1, 8, 24, 47) for context in (256, 1792)]  # sequences, context
PREFILL_TEMPLATES = [(64, 0), (256, 0), (512, 0), (1024, 0), (256, 768)]  # tokens, before them in the cache
LANE_DECODES, LANE_PREFILLS = [(24, 256), (47, 1792)], [(256, 0), (1024, 0)]  # passes that run beside each other
POLICIES = {"static": ("static", {}), "continuous": ("continuous", {}), "decode-first": ("decode-first", {"every": 8}),
            "chunked": ("chunked", {"chunk": 256}), "split-32": ("split", {"sms": 32}), "split-64": ("split", {"sms": 64}),
            "split-96": ("split", {"sms": 96})}
LOADS = {0.4: 24000, 0.7: 9000}  # tokens of KV memory
PROMPT, OUTPUT = (300, 0.8, 8, 1500), (80, 0.7, 2, 400)  # mean, deviation of the logarithm, least, most


def drawn(randomness, shape):
    mean, deviation, least, most = shape
    return min(most, max(least, round(mean * math.exp(randomness.gauss(-deviation ** 2 / 2, deviation)))))


def draw_requests(randomness, per_s, seconds, bursty):
    """(seconds, prompt, output): Poisson arrivals, or bursts of them of 6 in the mean."""
    requests, now = [], 0.0
    while True:
        if not bursty or not requests or randomness.random() < 1 / 6:
            now += randomness.expovariate(per_s / (6 if bursty else 1))
        if now >= seconds:
            return requests
        requests.append((now, drawn(randomness, PROMPT), drawn(randomness, OUTPUT)))


def template_engine(model, kind, size):
    """An engine whose every step is a pass of that kind and size."""
    if kind == "decode":
        engine = Engine(model, "continuous", {}, kv_tokens=10 ** 9)
        for _ in range(size[0]):
            request = Request(0, size[1] - 40, 10 ** 6)
            request.made = 1
            engine.running.append(request)
        return engine
    engine = Engine(model, "chunked", {"chunk": size[0]}, kv_tokens=10 ** 9)
    engine.waiting = [Request(0, sum(size), 2) for _ in range(60)]
    return engine


def template_step(engine, kind, size):
    if kind == "prefill":  # always the same pass of a prompt, then forget it
        engine.running, engine.prefilling = [], None
        engine.admit()
        engine.prefilling.prefilled = size[1]
    engine.step(time.perf_counter)


def record_template(model, folder, kind, size):
    name = "%s-%dx%d" % ((kind,) + size)
    engine = template_engine(model, kind, size)
    for _ in range(5):
        template_step(engine, kind, size)
    start = time.perf_counter()
    for _ in range(10):
        template_step(engine, kind, size)
    step_us = 1e6 * (time.perf_counter() - start) / 10
    path = os.path.join(folder, name + ".json")
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 schedule=schedule(wait=0, warmup=1, active=3)) as prof:
        for index in range(4):
            if index > 0:
                prof.step()
            template_step(engine, kind, size)
    prof.export_chrome_trace(path)
    with open(path, "rb") as plain, gzip.open(path + ".gz", "wb") as packed:
        shutil.copyfileobj(plain, packed)
    os.remove(path)
    return {"template": kind, "size": size, "trace": name + ".json.gz", "step_us": step_us}


def serve(engine, requests, limit_s):
    """In real time, from the first arrival's clock on."""
    todo, start = list(requests), time.perf_counter()

    def clock():
        return time.perf_counter() - start
    while todo or engine.waiting or engine.running or engine.prefilling:
        now = clock()
        if now > limit_s:
            break
        while todo and todo[0].arrival <= now:
            engine.waiting.append(todo.pop(0))
        if not engine.step(clock) and todo:
            while clock() < todo[0].arrival:
                pass


def run(model, folder, number, policy, load, per_s, randomness, seconds, out):
    bursty = number % 2 == 1
    drawn_requests = draw_requests(randomness, per_s, seconds, bursty)
    file_name = "requests-%d.csv" % number
    with open(os.path.join(folder, file_name), "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("seconds", "prompt_tokens", "output_tokens"))
        writer.writerows(("%.6f" % at, prompt, output) for at, prompt, output in drawn_requests)
    requests = [Request(*one) for one in drawn_requests]
    name, parameters = POLICIES[policy]
    split = name == "split"
    engine = SplitEngine(model, parameters, LOADS[load]) if split else Engine(model, name, parameters, LOADS[load])
    gc.collect()
    gc.disable()
    if split:
        engine.serve(requests, 4 * seconds)
    else:
        serve(engine, requests, 4 * seconds)
    torch.cuda.synchronize()
    gc.enable()
    print(json.dumps({"run": number, "policy": name, "parameters": parameters, "load": load, "bursty": bursty, "requests": file_name,
                      "slots": SLOTS - 1, "kv_tokens": LOADS[load], "padding": PADDING,
                      "first_s": [r.first and round(r.first, 6) for r in requests], "end_s": [r.end and round(r.end, 6) for r in requests],
                      "preempted": sum(r.preempted for r in requests)}), file=out, flush=True)
    with gzip.open(os.path.join(folder, "passes-%d.csv.gz" % number), "wt") as file:
        print("prompt,start,decodes,context,end_s", file=file)
        for one in engine.passes:
            print("%d,%d,%d,%d,%.6f" % one, file=file)


def warm_up(model):
    """Load the kernels of all sizes: prompts of many lengths, alone and beside sequences that decode."""
    for policy in ("continuous", "chunked"):
        engine = Engine(model, *POLICIES[policy], kv_tokens=10 ** 9)
        for index in range(SLOTS - 1):
            engine.waiting += [Request(0, 32 * index + 8 + index, 20)]
        while engine.step(time.perf_counter):
            pass


def main():
    folder, name, seed, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    policies = sys.argv[5:] or list(POLICIES)
    os.makedirs(folder, exist_ok=True)
    torch.manual_seed(0)
    torch.backends.cuda.enable_cudnn_sdp(False)  # it takes 40 ms for each new shape
    split_sms = [POLICIES[policy][1]["sms"] for policy in policies if POLICIES[policy][0] == "split"]
    model = Model(*MODELS[name], slots=SLOTS + (SPARE_SLOTS if split_sms else 0))
    warm_up(model)
    times = {}
    with open(os.path.join(folder, "templates.jsonl"), "w") as out:
        for kind, sizes in (("decode", DECODE_TEMPLATES), ("prefill", PREFILL_TEMPLATES)):
            for size in sizes:
                row = record_template(model, folder, kind, size)
                times[(kind, size)] = row["step_us"]
                print(json.dumps(row), file=out, flush=True)
    request_us = times[("prefill", (256, 0))] * PROMPT[0] / 256 + OUTPUT[0] * times[("decode", (24, 256))] / 24
    with open(os.path.join(folder, "lanes.jsonl"), "w") as out:
        for sms in split_sms:
            rows = [measure_alone(model, sms, kind, size) for kind, size in times]
            rows += [measure_beside(model, sms, decode, prefill) for decode in LANE_DECODES for prefill in LANE_PREFILLS]
            out.writelines(json.dumps(row) + "\n" for row in rows)
    randomness = random.Random(seed)
    with open(os.path.join(folder, "results.jsonl"), "w") as out:
        number = 0
        for load in LOADS:
            for policy in policies:
                run(model, folder, number, policy, load, load * 1e6 / request_us, randomness, seconds, out)
                number += 1


if __name__ == "__main__":
    main()
