#!/usr/bin/env python3
"""Random traces of kernels that meet, come early, and of threads that poll: generate.py FOLDER SEED COUNT."""
import json, os, random, sys

SMS = 132

def fits(threads, shared, registers=32):
    warps = (threads + 31) // 32
    blocks = min(32, 64 // warps, 65536 // (warps * 32 * registers))
    if shared: blocks = min(blocks, 233472 // (shared + 1024))
    return max(blocks, 1)

class Trace:
    def __init__(self, name, rng):
        self.lines = [{"gridtide": 1, "name": name, "device": "h200"}]
        self.rng, self.kernels = rng, 0
    def kernel(self, **fields):
        name = f"k{self.kernels}"; self.kernels += 1
        self.lines.append({"kernel": name, "registers": 32, **fields})
        return name
    def launch(self, kernel, stream, **more):
        self.lines.append({"call": "launch", "kernel": kernel, "stream": stream, **more})
    def call(self, call, **fields):
        self.lines.append({"call": call, **fields})
    def times(self, low, high):
        t = round(self.rng.uniform(low, high), 2)
        sort = self.rng.random()
        if sort < 0.6: return {"block_us": t}
        if sort < 0.85: return {"block_us": [round(t * 0.7, 2), round(t * 1.3, 2)]}
        return {"block_list_us": [round(t * self.rng.uniform(0.5, 1.5), 2) for _ in range(self.rng.randint(2, 7))]}

def shape(rng):
    threads = rng.choice([32, 64, 128, 256, 512, 1024])
    shared = rng.choice([0, 0, 0, 8192, 40000, 100000])
    return threads, shared

def meeting(trace, cooperative, most=1.0, low=5, high=120):
    rng = trace.rng
    threads, shared = shape(rng)
    room = fits(threads, shared) * SMS
    grid = max(1, int(room * most * rng.choice([1, 0.5, 0.25, rng.random()])))
    return trace.kernel(grid=grid, block=threads, shared_bytes=shared, cooperative=cooperative,
                        grid_barriers=rng.choice([0, 1, 2, 3, 5, 8, 13, 20, 40]) if cooperative else rng.randint(1, 10),
                        **trace.times(low, high))

def plain(trace, low=5, high=100, waves=2.0):
    rng = trace.rng
    threads, shared = shape(rng)
    room = fits(threads, shared) * SMS
    grid = max(1, int(room * rng.uniform(0.02, 1) * rng.uniform(0.1, waves)))
    return trace.kernel(grid=grid, block=threads, shared_bytes=shared, **trace.times(low, high))

def barriers(trace):
    for _ in range(trace.rng.randint(2, 8)):
        trace.launch(meeting(trace, trace.rng.random() < 0.7), "s")

def together(trace):
    rng = trace.rng
    for _ in range(rng.randint(4, 14)):
        stream = f"s{rng.randrange(4)}"
        trace.launch(meeting(trace, True, high=60) if rng.random() < 0.5 else plain(trace), stream)

def chain(trace, streams=1, wide=1.0):
    rng = trace.rng
    kernels = []
    for _ in range(rng.randint(3, 6)):
        threads, shared = shape(rng)
        room = fits(threads, shared) * SMS
        grid = max(1, int(room * rng.choice([0.1, 0.25, 0.5, wide, rng.random() * wide])))
        t = round(rng.uniform(4, 50), 2)
        more = {}
        if rng.random() < 0.7: more["trigger_pct"] = rng.choice([0, 10, 25, 50, 75, 90, rng.randint(0, 99)])
        if rng.random() < 0.6: more["prologue_us"] = round(t * rng.choice([0.1, 0.25, 0.5, 0.9]), 2)
        kernels.append(trace.kernel(grid=grid, block=threads, shared_bytes=shared, block_us=t, **more))
    for _ in range(rng.randint(5, 16) * streams):
        stream = f"s{rng.randrange(streams)}"
        kind = rng.random()
        if kind < 0.05: trace.call("event_record", event=f"e{rng.randrange(3)}", stream=stream)
        elif kind < 0.08: trace.call("copy", direction="h2d", bytes=rng.choice([65536, 1 << 20]), stream=stream)
        trace.launch(rng.choice(kernels), stream, **({"programmatic": True} if rng.random() < 0.8 else {}))

def chains(trace):
    chain(trace, trace.rng.randint(2, 3))

def waves(trace):
    chain(trace, 1, 2.5)

def polls(trace):
    rng = trace.rng
    for i in range(rng.randint(2, 6)):
        for _ in range(rng.randint(1, 4)): trace.launch(plain(trace, 10, 150), f"s{rng.randrange(2)}")
        if rng.random() < 0.3: trace.call("copy", direction="d2h", bytes=1 << rng.randint(12, 22), stream="s0")
        piece = round(rng.choice([0.5, 2, 5, 10, 25, rng.uniform(0.2, 40)]), 2)
        target = {"stream": f"s{rng.randrange(2)}"}
        if rng.random() < 0.6:
            trace.call("event_record", event=f"e{i}", stream=target["stream"]); target = {"event": f"e{i}"}
        if rng.random() < 0.3: target["most_pieces"] = rng.randint(1, 20)
        trace.call("poll", piece_us=piece, **target)
    trace.call("device_sync")

def everything(trace):
    rng = trace.rng
    for i in range(rng.randint(4, 10)):
        pick = rng.random()
        if pick < 0.3: trace.launch(meeting(trace, True, high=60), f"s{rng.randrange(3)}")
        elif pick < 0.5: trace.launch(plain(trace), f"s{rng.randrange(3)}")
        else:
            k = trace.kernel(grid=rng.randint(1, 400), block=rng.choice([64, 128, 256]), block_us=round(rng.uniform(5, 40), 2),
                             trigger_pct=rng.choice([0, 25, 50, 75]), prologue_us=round(rng.uniform(0, 6), 2))
            for _ in range(rng.randint(2, 4)): trace.launch(k, f"s{rng.randrange(3)}", programmatic=True)
        if rng.random() < 0.25: trace.call("poll", stream=f"s{rng.randrange(3)}", piece_us=round(rng.uniform(1, 20), 1))

FAMILIES = [barriers, together, chain, chains, waves, polls, everything]

def main():
    folder, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    for i in range(count):
        family = FAMILIES[i % len(FAMILIES)]
        rng = random.Random(f"{seed}/{i}")
        trace = Trace(f"{family.__name__}-{i}", rng)
        family(trace)
        with open(f"{folder}/{family.__name__}-{i:03d}.jsonl", "w") as out:
            for line in trace.lines: out.write(json.dumps({k: v for k, v in line.items() if v is not False}) + "\n")
main()
