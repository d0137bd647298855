#!/usr/bin/env python3
"""children.py SEED COUNT FOLDER - traces whose blocks launch kernels: one a rule of CUDA's dynamic parallelism, then
COUNT drawn at random, for `gridtide validate FOLDER/*.jsonl`."""
import json
import os
import random
import sys


def kernel(name, grid, block_us, launches=None, block=64, **more):
    line = {"kernel": name, "grid": grid, "block": block, "block_us": block_us, **more}
    if launches:
        line["launches"] = launches
    return line


def launch(name, stream="s"):
    return {"call": "launch", "stream": stream, "kernel": name}


def rules():
    """A few lines a rule: what is launched, then what the host asks for behind it."""
    leaf = kernel("leaf", 4, 20)
    long = kernel("long", 2, 120)
    cases = {
        "null-one-block": [{"kernel": "leaf", "blocks": "first", "count": 3, "at": 0.3}],
        "null-each-block": [{"kernel": "leaf", "count": 2, "at": 0.3}],
        "stream-shared": [{"kernel": "leaf", "stream": 0, "at": 0.3}],
        "streams-apart": [{"kernel": "leaf", "stream": 0, "at": 0.3}, {"kernel": "leaf", "stream": 1, "at": 0.3}],
        "fire-and-forget": [{"kernel": "leaf", "into": "fire_and_forget", "count": 3, "at": 0.3}],
        "tail": [{"kernel": "leaf", "into": "tail", "blocks": "first", "count": 2, "at": 0.3}],
        "tail-behind-all": [{"kernel": "leaf", "into": "tail", "blocks": "first", "at": 0.1},
                            {"kernel": "long", "into": "fire_and_forget", "blocks": "last", "at": 0.6},
                            {"kernel": "leaf", "blocks": "first", "at": 0.5}],
        "null-beside-streams": [{"kernel": "long", "blocks": "first", "at": 0.2},
                                {"kernel": "leaf", "blocks": "first", "stream": 0, "at": 0.4},
                                {"kernel": "leaf", "blocks": "first", "into": "fire_and_forget", "at": 0.6}],
        "late": [{"kernel": "leaf", "count": 2, "at": 1}],
    }
    for name, launches in cases.items():
        yield name, [leaf, long, kernel("parent", 3, 60, launches)], [launch("parent"), launch("leaf")]
    inner = kernel("inner", 1, 15, [{"kernel": "leaf", "into": "tail", "at": 0.5}])
    yield "tail-nested", [leaf, inner, kernel("parent", 1, 40, [
        {"kernel": "inner", "into": "tail", "count": 2, "at": 0.2}])], [launch("parent"), launch("leaf")]
    yield "end-of-children", [leaf, long, kernel("parent", 1, 30, [{"kernel": "long", "at": 0.5}])], [
        launch("parent"), {"call": "event_record", "stream": "s", "event": "e"},
        {"call": "event_wait", "stream": "t", "event": "e"}, launch("leaf", "t"), launch("leaf")]
    for into in ("null", "fire_and_forget", "tail"):
        yield "tree-" + into, [leaf, kernel("node", 1, 20, [
            {"kernel": "node", "count": 2, "at": 0.5, "into": into, "depth": 3}])], [launch("node"), launch("leaf")]


def any_launch(draw, known, own):
    rule = {"kernel": draw.choice(known), "at": draw.choice([0.1, 0.25, 0.5, 0.75, 1])}
    into = draw.choice(["null", "null", "stream", "fire_and_forget", "fire_and_forget", "tail"])
    if into == "stream":
        rule["stream"] = draw.randrange(3)
    elif into != "null":
        rule["into"] = into
    which = draw.choice(["all", "first", "last", "every", "first"])
    if which == "every":
        rule["every"] = draw.choice([2, 3, 5])
    elif which != "all":
        rule["blocks"] = which
    rule["count"] = draw.choice([1, 1, 1, 2, 3])
    if own and draw.random() < 0.3:
        rule.update(kernel=own, depth=draw.choice([1, 2]), blocks="first", count=draw.choice([1, 2]))
        rule.pop("every", None)
    return rule


def children_of(kernels, name, depth=0):
    """How many grids one launch of it leads to."""
    line, total = kernels[name], 0
    for rule in line.get("launches", []):
        if depth >= rule.get("depth", 99):
            continue
        blocks = 1 if "blocks" in rule else -(-line["grid"] // rule.get("every", 1))
        total += blocks * rule["count"] * (1 + children_of(kernels, rule["kernel"], depth + 1))
        if total > 400:
            break
    return total


def random_trace(draw):
    kernels = {}
    for i in range(draw.randint(1, 3)):
        name = "leaf%d" % i
        kernels[name] = kernel(name, draw.choice([1, 2, 8, 33, 132, 200]), draw.choice([5, 10, 20, 50]),
                               block=draw.choice([32, 128, 256, 1024]))
    for i in range(draw.randint(1, 3)):
        name = "parent%d" % i
        while True:
            known = list(kernels)
            kernels[name] = kernel(name, draw.choice([1, 1, 2, 4, 8, 20]), draw.choice([20, 40, 80]),
                                   [any_launch(draw, known, name) for _ in range(draw.randint(1, 3))],
                                   block=draw.choice([32, 128]))
            if 0 < children_of(kernels, name) <= 150:
                break
            del kernels[name]
    calls, streams = [], ["s", "t", "u"][:draw.randint(1, 3)]
    for i in range(draw.randint(2, 5)):
        calls.append(launch(draw.choice(list(kernels)), draw.choice(streams)))
        if len(streams) > 1 and draw.random() < 0.3:
            one, other = draw.sample(streams, 2)
            calls += [{"call": "event_record", "stream": one, "event": "e%d" % i},
                      {"call": "event_wait", "stream": other, "event": "e%d" % i}]
    if not any("parent" in call.get("kernel", "") for call in calls):
        calls.append(launch("parent0", streams[0]))
    return list(kernels.values()), calls


def write(folder, name, kernels, calls):
    header = {"gridtide": 1, "name": name, "source": "gridtide", "device": "h200"}
    with open(os.path.join(folder, name.replace("/", "-") + ".jsonl"), "w") as file:
        for line in [header, *kernels, *calls]:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


def main():
    seed, count, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    os.makedirs(folder, exist_ok=True)
    for name, kernels, calls in rules():
        write(folder, "children/" + name, kernels, calls)
    for i in range(count):
        write(folder, "children/%d-%02d" % (seed, i), *random_trace(random.Random("%d %d" % (seed, i))))


main()
