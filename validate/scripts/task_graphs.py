#!/usr/bin/env python3
# task_graphs.py FOLDER SEED COUNT [PAIRS [PREFIX]]: random task graphs, one trace a file; and pairs: plain launches against one persistent kernel.
import json, os, random, sys

def graph_tasks(shape, rng, n):
    """preds[i]: list of groups; a group is (producers, one counter) - a join; and made[i]: who it makes."""
    preds = [[] for _ in range(n)]
    made = [[] for _ in range(n)]
    if shape == "independent":
        pass
    elif shape == "chains":
        k = rng.choice([1, 2, 3, 8, 20, 64])
        for i in range(k, n):
            preds[i] = [[i - k]]
    elif shape == "layers":
        width = rng.choice([2, 5, 16, 40, 100, 132, 264, 300])
        for i in range(n):
            layer = i // width
            if layer:
                preds[i] = [("layer", layer - 1, list(range((layer - 1) * width, layer * width)))]
    elif shape == "tree":
        fan = rng.choice([2, 2, 4, 8])
        level = list(range(max(2, n * (fan - 1) // fan)))
        nxt = len(level)
        while len(level) > 1 and nxt < n:
            up = []
            for j in range(0, len(level), fan):
                if nxt >= n:
                    break
                group = level[j:j + fan]
                preds[nxt] = [group]
                up.append(nxt)
                nxt += 1
            level = up
    elif shape == "grid":
        columns = rng.choice([3, 10, 25, 60])
        for i in range(n):
            r, c = divmod(i, columns)
            if r:
                preds[i].append([i - columns])
            if c:
                preds[i].append([i - 1])
    elif shape == "fan":
        width = rng.choice([4, 20, 100, 250])
        # head, `width` tasks, head ... : one to many to one
        last = None
        i = 0
        while i < n:
            if last is not None:
                preds[i] = [last]
            head = i
            i += 1
            last = []
            while i < n and len(last) < width:
                preds[i] = [("head", head, [head])]
                last.append(i)
                i += 1
    elif shape == "dag":
        reach = rng.choice([5, 30, 200])
        for i in range(1, n):
            for p in set(rng.randrange(max(0, i - reach), i) for _ in range(rng.choice([0, 1, 1, 2, 3]))):
                preds[i].append([p])
    elif shape == "made":
        fan = rng.choice([1, 2, 3, 4])
        roots = rng.choice([1, 1, 4, 16])
        nxt = min(roots, n)
        for i in range(n):
            nxt = max(nxt, i + 1)
            for _ in range(fan if rng.random() < 0.9 else rng.randrange(fan + 1)):
                if nxt < n:
                    made[i].append(nxt)
                    nxt += 1
    return preds, made

def write(path, name, rng, shape, policy, workers, block, n, cost, kinds=None, extra=None):
    preds, made = graph_tasks(shape, rng, n)
    waits, signals = [[] for _ in range(n)], [[] for _ in range(n)]
    counters, shared = 0, {}
    own = {}
    for i in range(n):
        for group in preds[i]:
            if isinstance(group, tuple):      # one counter for all who wait for it
                key = group[:2]
                members = group[2]
                if key not in shared:
                    shared[key] = counters
                    counters += 1
                    for p in members:
                        signals[p].append(shared[key])
                waits[i] += [shared[key], len(members)]
            elif len(group) == 1:             # a counter of the producer's
                p = group[0]
                if p not in own:
                    own[p] = counters
                    counters += 1
                    signals[p].append(own[p])
                waits[i] += [own[p], 1]
            else:
                for p in group:
                    signals[p].append(counters)
                waits[i] += [counters, len(group)]
                counters += 1
    columns = {"count": n, "kind": 0}
    if policy in ("static", "mixed"):
        how = rng.choice(["turn", "turn", "random", "blocks"])
        each = -(-n // workers)
        worker = [i % workers if how == "turn" else rng.randrange(workers) if how == "random" else i // each for i in range(n)]
        if policy == "mixed":
            part = rng.choice([0.3, 0.5, 0.8])
            worker = [w if i < part * n else None for i, w in enumerate(worker)]
        columns["worker"] = worker
    if any(waits):
        columns["waits"] = [w or None for w in waits]
        columns["signals"] = [(s if len(s) > 1 else s[0]) if s else None for s in signals]
    if any(made):
        columns["makes"] = [(m if len(m) > 1 else m[0]) if m else None for m in made]
    with open(path, "w") as f:
        print(json.dumps({"gridtide": 1, "name": name, "device": "h200"}), file=f)
        print(json.dumps({"task_graph": "g", "kinds": [dict({"kind": "k"}, **cost)], "counters": counters}), file=f)
        print(json.dumps({"tasks_of": "g", "columns": columns}, separators=(",", ":")), file=f)
        print(json.dumps({"kernel": "mega", "grid": workers, "block": block, "registers": 48, "tasks": "g", "policy": policy}), file=f)
        print(json.dumps({"call": "launch", "kernel": "mega", "stream": "s"}), file=f)
        print(json.dumps({"call": "stream_sync", "stream": "s"}), file=f)

def draw_cost(rng):
    kind = rng.choice(["fixed", "fixed", "range", "range", "heavy", "list"])
    a = rng.choice([1, 1.5, 2, 3, 4, 6, 8, 12, 20, 35, 50])
    if kind == "fixed":
        return {"task_us": a}, a
    if kind == "range":
        b = a * rng.choice([1.2, 2, 4])
        return {"task_us": [a, round(b, 2)]}, (a + b) / 2
    if kind == "heavy":
        return {"task_heavy_us": [a, a * 30], "tail": rng.choice([1.2, 1.5, 2.5])}, a * 3
    return {"task_list_us": [round(a * rng.uniform(0.5, 2), 2) for _ in range(rng.choice([2, 3, 7]))]}, a * 1.25

SHAPES = ["independent", "chains", "layers", "tree", "grid", "fan", "dag", "made"]

def draw(rng, number, folder, prefix):
    policy = ["shared", "static", "ready", "steal", "mixed"][number % 5]
    while True:
        shape = rng.choice(SHAPES)
        if shape == "made" and policy not in ("ready", "steal"):
            continue
        workers = rng.choice([1, 2, 4, 8, 16, 32, 64, 100, 132, 132, 200, 264])
        n = int(10 ** rng.uniform(1, 3.7))
        cost, mean = draw_cost(rng)
        if n * mean / workers > 15000:
            continue
        if shape == "chains" and n * mean > 40000:
            continue
        if shape in ("grid", "dag", "fan", "layers", "tree", "made") and n * mean / min(workers, 8) > 15000:
            continue
        break
    block = rng.choice([32, 64, 128, 256] if workers > 132 else [32, 64, 128, 256, 512, 1024])
    name = "%s/%s-%s-%d" % (prefix, policy, shape, number)
    write(os.path.join(folder, name.replace("/", "-") + ".jsonl"), name, rng, shape, policy, workers, block, n, cost)

def pair(rng, number, folder, prefix):
    """The same layers of equal tasks: a launch a layer, a task a block; and one persistent kernel."""
    layers = rng.choice([1, 2, 5, 10, 20, 40])
    width = rng.choice([16, 66, 132, 200, 264, 500, 1000])
    cost, mean = draw_cost(rng)
    if "task_heavy_us" in cost:
        cost, mean = {"task_us": 3}, 3
    block = rng.choice([128, 256, 512])
    per_sm = 2 if block <= 256 else 1
    workers = min(width, rng.choice([132, 132, 132 * per_sm]))
    while layers * -(-width // workers) * mean > 12000:
        layers = max(1, layers // 2)
    stem = os.path.join(folder, "%s-pair-%d" % (prefix, number))
    name = "%s/pair-%d" % (prefix, number)
    key = {"task_us": "block_us", "task_list_us": "block_list_us"}[next(iter(cost))]
    # in every other pair both kernels have as many blocks on an SM, so that the hardware's queue is compared with ours
    shared = {"shared_bytes": 233472 // per_sm // 2 + 1024} if number % 2 == 0 else {}
    if shared and per_sm == 2:
        shared = {"shared_bytes": 100000}
    elif shared:
        shared = {"shared_bytes": 200000}
    with open(stem + "-plain.jsonl", "w") as f:
        print(json.dumps({"gridtide": 1, "name": name + "-plain", "device": "h200"}), file=f)
        print(json.dumps({"kernel": "layer", "grid": width, "block": block, "registers": 48, key: next(iter(cost.values())), **shared}), file=f)
        for _ in range(layers):
            print(json.dumps({"call": "launch", "kernel": "layer", "stream": "s"}), file=f)
        print(json.dumps({"call": "stream_sync", "stream": "s"}), file=f)
    for policy in ("shared", "static") if number % 4 < 2 else ("shared",):
        n = layers * width
        columns = {"count": n, "kind": 0}
        if layers > 1:
            columns["waits"] = [None if i < width else [i // width - 1, width] for i in range(n)]
            columns["signals"] = [i // width if i // width < layers - 1 else None for i in range(n)]
        if policy == "static":
            columns["worker"] = [i % width % workers for i in range(n)]
        with open("%s-%s.jsonl" % (stem, policy), "w") as f:
            print(json.dumps({"gridtide": 1, "name": "%s-%s" % (name, policy), "device": "h200"}), file=f)
            print(json.dumps({"task_graph": "g", "kinds": [dict({"kind": "k"}, **cost)], "counters": layers - 1}), file=f)
            print(json.dumps({"tasks_of": "g", "columns": columns}, separators=(",", ":")), file=f)
            print(json.dumps({"kernel": "mega", "grid": workers, "block": block, "registers": 48, "tasks": "g", "policy": policy, **shared}), file=f)
            print(json.dumps({"call": "launch", "kernel": "mega", "stream": "s"}), file=f)
            print(json.dumps({"call": "stream_sync", "stream": "s"}), file=f)

def main():
    folder, seed, count, pairs, prefix = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    os.makedirs(folder, exist_ok=True)
    for i in range(count):
        draw(random.Random(seed * 100003 + i), i, folder, prefix)
    for i in range(pairs):
        pair(random.Random(seed * 900001 + i), i, folder, prefix)

main()
