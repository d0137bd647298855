"""Serve requests with a transformer of random weights, and record its passes: what `gridtide serve` predicts of an engine.

    python3 serving.py OUTPUT-FOLDER MODEL SEED SECONDS [POLICY ...]

MODEL is a row of MODELS.  After a warm-up the engine's passes are profiled one size at a time (the templates, NAME.json.gz) and timed
without a profiler (templates.jsonl).  Then each policy serves for SECONDS requests that arrive as drawn from SEED, at each
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
import torch.nn.functional as F
from torch.nn.attention.bias import causal_lower_right
from torch.profiler import ProfilerActivity, profile, schedule

MODELS = {"wide": (16384, 6, 128), "middle": (12288, 8, 96), "narrow": (2048, 16, 16)}  # width, layers, heads
VOCABULARY, SLOTS, LONGEST, PADDING = 32000, 48, 2048, 64
DECODE_TEMPLATES = [(count, context) for count in (1, 8, 24, 47) for context in (256, 1792)]  # sequences, context
PREFILL_TEMPLATES = [(64, 0), (256, 0), (512, 0), (1024, 0), (256, 768)]  # tokens, before them in the cache
POLICIES = {"static": {}, "continuous": {}, "decode-first": {"every": 8}, "chunked": {"chunk": 256}}
LOADS = {0.4: 24000, 0.7: 9000}  # tokens of KV memory
PROMPT, OUTPUT = (300, 0.8, 8, 1500), (80, 0.7, 2, 400)  # mean, deviation of the logarithm, least, most


class Model:
    """Layers of attention and of a feed-forward part, with the cache of keys and values of SLOTS sequences."""

    def __init__(self, width, layers, heads):
        def weight(*sides):
            return torch.randn(*sides, device="cuda", dtype=torch.bfloat16) * 0.02
        self.heads, self.size = heads, width // heads
        self.embedding, self.head = weight(VOCABULARY, width), weight(VOCABULARY, width)
        self.layers = [(weight(3 * width, width), weight(width, width), weight(4 * width, width), weight(width, 4 * width)) for _ in range(layers)]
        self.norm = torch.ones(width, device="cuda", dtype=torch.bfloat16)
        self.cache = [torch.zeros(2, SLOTS, heads, LONGEST, self.size, device="cuda", dtype=torch.bfloat16) for _ in range(layers)]

    def move(self, source, target, length):
        for cache in self.cache:
            cache[:, target, :, :length] = cache[:, source, :, :length].clone()

    def attend_prompt(self, cache, q, k, v, slot, start):
        end = start + q.shape[0]
        cache[0, slot, :, start:end] = k.transpose(0, 1)
        cache[1, slot, :, start:end] = v.transpose(0, 1)
        q = q.transpose(0, 1)[None]
        if start == 0:
            out = F.scaled_dot_product_attention(q, k.transpose(0, 1)[None], v.transpose(0, 1)[None], is_causal=True)
        else:
            out = F.scaled_dot_product_attention(q, cache[0, slot:slot + 1, :, :end], cache[1, slot:slot + 1, :, :end],
                                                 attn_mask=causal_lower_right(q.shape[2], end))
        return out[0].transpose(0, 1)

    def attend_decodes(self, cache, q, k, v, rows, positions, mask):
        count, longest = q.shape[0], mask.shape[-1]
        cache[0, rows, :, positions] = k
        cache[1, rows, :, positions] = v
        out = F.scaled_dot_product_attention(q[:, :, None], cache[0, :count, :, :longest], cache[1, :count, :, :longest],
                                             attn_mask=mask.expand(count, self.heads, 1, longest))
        return out[:, :, 0]

    @torch.no_grad()
    def forward(self, tokens, prompt, slot, start, lengths):
        """The next token of the prompt (meaningless before its end) and of each sequence.  `tokens`: `prompt` of a prompt, for
        the cache's slot `slot` from `start` on, then one of each of the first slots, which hold `lengths` tokens."""
        x = F.embedding(torch.tensor(tokens, device="cuda"), self.embedding)
        if lengths:
            longest = min(LONGEST, PADDING * math.ceil((max(lengths) + 1) / PADDING))
            positions, rows = torch.tensor(lengths, device="cuda"), torch.arange(len(lengths), device="cuda")
            mask = torch.zeros(len(lengths), 1, 1, longest, device="cuda", dtype=torch.bfloat16)
            mask.masked_fill_(torch.arange(longest, device="cuda") > positions[:, None, None, None], float("-inf"))
        for (qkv_weight, out_weight, up, down), cache in zip(self.layers, self.cache):
            qkv = F.linear(F.rms_norm(x, (x.shape[1],), self.norm), qkv_weight).view(-1, 3, self.heads, self.size)
            parts = []
            if prompt:
                parts.append(self.attend_prompt(cache, *qkv[:prompt].unbind(1), slot, start))
            if lengths:
                parts.append(self.attend_decodes(cache, *qkv[prompt:].unbind(1), rows, positions, mask))
            attended = parts[0] if len(parts) == 1 else torch.cat(parts)
            x = x + F.linear(attended.reshape(x.shape[0], -1), out_weight)
            x = x + F.linear(F.gelu(F.linear(F.rms_norm(x, (x.shape[1],), self.norm), up)), down)
        if prompt:
            x = x[prompt - 1:]
        return F.linear(F.rms_norm(x, (x.shape[1],), self.norm), self.head).argmax(-1).tolist()


class Request:
    def __init__(self, arrival, prompt, output):
        self.arrival, self.prompt, self.output = arrival, prompt, output
        self.prefilled = self.made = 0  # tokens in the cache by prefill since it was admitted; tokens made
        self.to_prefill = prompt  # after it was preempted, what it had made, too
        self.first = self.end = None
        self.preempted = 0

    def length(self):
        """Tokens in the cache while it decodes: the latest token made is not in it yet."""
        return self.prompt + self.made - 1


class Engine:
    """Sequences that decode have the first slots, one that is being prefilled the next."""

    def __init__(self, model, policy, parameters, kv_tokens):
        self.model, self.policy, self.parameters, self.kv_tokens = model, policy, parameters, kv_tokens
        self.waiting, self.running, self.prefilling = [], [], None
        self.since_prefill = 0
        self.passes = []

    def used(self):
        held = sum(request.length() for request in self.running)
        return held + (self.prefilling.to_prefill if self.prefilling else 0)

    def may_admit(self):
        return (self.waiting and len(self.running) < SLOTS - 1 and
                (self.used() + self.waiting[0].to_prefill + len(self.running) + 1 <= self.kv_tokens or not self.running))

    def admit(self):
        self.prefilling = self.waiting.pop(0)
        self.prefilling.prefilled = 0

    def plan(self):
        """Tokens of a prompt to prefill, and whether the running sequences decode; None: nothing to do."""
        policy, decodes = self.policy, bool(self.running)
        if policy == "static":
            if not self.prefilling and self.collecting() and self.may_admit():
                self.admit()
            return self.whole_prompt() if self.prefilling else ((0, True) if decodes else None)
        if policy == "decode-first" and decodes and self.since_prefill < self.parameters["every"]:
            return 0, True
        if not self.prefilling and self.may_admit():
            self.admit()
        if self.prefilling and policy == "chunked":
            room = max(1, self.parameters["chunk"] - len(self.running))
            return min(room, self.prefilling.to_prefill - self.prefilling.prefilled), decodes
        return self.whole_prompt() if self.prefilling else ((0, True) if decodes else None)

    def collecting(self):
        """A static batch takes requests until its first pass of decoding."""
        return all(request.made == 1 for request in self.running) or not self.running

    def whole_prompt(self):
        return self.prefilling.to_prefill, False

    def preempt(self):
        """The request that was admitted last makes room, and is prefilled again with what it has made."""
        while len(self.running) > 1 and self.used() + len(self.running) > self.kv_tokens:
            if self.prefilling:
                self.model.move(len(self.running), len(self.running) - 1, self.prefilling.prefilled)
            request = self.running.pop()
            if request.end:  # padding of a static batch
                continue
            request.to_prefill, request.preempted = request.prompt + request.made, request.preempted + 1
            self.waiting.insert(0, request)

    def step(self, clock):
        planned = self.plan()
        if planned is None:
            return False
        if planned[1]:
            self.preempt()
        prompt, decodes = planned
        rows = self.running if decodes else []
        tokens = [1] * (prompt + len(rows))
        start = self.prefilling.prefilled if prompt else 0
        made = self.model.forward(tokens, prompt, len(self.running), start, [min(r.length(), LONGEST - 1) for r in rows])
        self.passes.append((prompt, start, len(rows), max((r.length() for r in rows), default=0), clock()))
        self.since_prefill = self.since_prefill + 1 if decodes and not prompt else 0 if prompt else self.since_prefill
        self.account(prompt, rows, clock(), len(made))
        return True

    def account(self, prompt, rows, now, count):
        assert count == len(rows) + (1 if prompt else 0)
        static = self.policy == "static"
        for request in rows:
            if request.made < request.output:
                request.made += 1
                if request.made == request.output:
                    request.end = now
        if prompt:
            request = self.prefilling
            request.prefilled += prompt
            if request.prefilled == request.to_prefill:
                request.made += 1
                request.first = request.first or now
                if request.made == request.output:
                    request.end = now
                self.running.append(request)
                self.prefilling = None
        if static and not all(request.end for request in self.running):
            return
        self.remove_done()

    def remove_done(self):
        """The last sequence takes the slot of one that is done; a prompt that is being prefilled keeps to the slot behind all."""
        old = list(self.running)
        kept = [request for request in old if not request.end]
        if len(kept) == len(old):
            return
        slot = {id(request): index for index, request in enumerate(old)}
        for index in range(len(kept)):
            if old[index].end:
                moved = kept.pop()
                kept.insert(index, moved)
                self.model.move(slot[id(moved)], index, moved.length())
        if self.prefilling:
            self.model.move(len(old), len(kept), self.prefilling.prefilled)
        self.running = kept


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
    name = "requests-%d.csv" % number
    with open(os.path.join(folder, name), "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("seconds", "prompt_tokens", "output_tokens"))
        writer.writerows(("%.6f" % at, prompt, output) for at, prompt, output in drawn_requests)
    requests = [Request(*one) for one in drawn_requests]
    engine = Engine(model, policy, POLICIES[policy], LOADS[load])
    gc.collect()
    gc.disable()
    serve(engine, requests, 4 * seconds)
    torch.cuda.synchronize()
    gc.enable()
    print(json.dumps({"run": number, "policy": policy, "parameters": POLICIES[policy], "load": load, "bursty": bursty, "requests": name,
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
        engine = Engine(model, policy, POLICIES[policy], kv_tokens=10 ** 9)
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
    model = Model(*MODELS[name])
    warm_up(model)
    times = {}
    with open(os.path.join(folder, "templates.jsonl"), "w") as out:
        for kind, sizes in (("decode", DECODE_TEMPLATES), ("prefill", PREFILL_TEMPLATES)):
            for size in sizes:
                row = record_template(model, folder, kind, size)
                times[(kind, size)] = row["step_us"]
                print(json.dumps(row), file=out, flush=True)
    request_us = times[("prefill", (256, 0))] * PROMPT[0] / 256 + OUTPUT[0] * times[("decode", (24, 256))] / 24
    randomness = random.Random(seed)
    with open(os.path.join(folder, "results.jsonl"), "w") as out:
        number = 0
        for load in LOADS:
            for policy in policies:
                run(model, folder, number, policy, load, load * 1e6 / request_us, randomness, seconds, out)
                number += 1


if __name__ == "__main__":
    main()
