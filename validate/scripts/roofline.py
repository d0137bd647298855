#!/usr/bin/env python3
"""roofline.py FOLDER SEED COUNT - COUNT random traces of tasks that say bytes and operations in place of a time (alone-*), and
half as many where such tasks run beside a kernel that copies (beside-*); then, on a GPU,

gridtide validate FOLDER/alone*.jsonl --repeat 2 --blocks off -o roofline.db
gridtide validate FOLDER/beside*.jsonl --repeat 3 --blocks off --programs traces/scenarios/pairs/profile1.jsonl.zst \\
    --cost program -o beside.db
"""
import json
import os
import random
import sys

SMS = 132
DRAM_BYTES_US, OPERATIONS_US = 4.4e6, 256 * SMS * 1980
COPY = "void (anonymous namespace)::stream<((anonymous namespace)::operation)0>((anonymous namespace)::stream_arguments, gt_block_log*)"


def graph(draw, bytes_most, us):
    """The lines of a kernel whose tasks would take about so long."""
    workers = draw.choice([1, 8, 33, 66, 132, 132, 264, 264, 396, 528])
    block = draw.choice([128, 256, 256])
    size = int(2 ** draw.uniform(15, bytes_most)) // 4096 * 4096
    intensity = draw.choice([0, 0, 0, 1, 4, 8, 15, 30, 100])
    kind = {"kind": "k", "bytes": size, "registers": 64}
    if intensity:
        kind["operations"] = int(size * intensity) // 2048 * 2048
    if draw.random() < 0.15:
        kind.update(bytes=0, operations=int(2 ** draw.uniform(17, 23)) // 2048 * 2048)
    sms = min(workers, SMS)
    task_us = max(kind["bytes"] / min(DRAM_BYTES_US / sms, 120 * 1980), kind.get("operations", 0) / (OPERATIONS_US / SMS)) * workers / sms
    tasks = max(workers, min(20000, int(us / task_us * workers)))
    policy = draw.choice(["shared", "static"])
    task = {"task": "t", "kind": "k", "count": tasks}
    if policy == "static":
        task["worker"] = list(range(workers))
    return [{"task_graph": "g", "kinds": [kind], "tasks": [task]},
            {"kernel": "workers", "grid": workers, "block": block, "registers": 64, "tasks": "g", "policy": policy}]


def copy(draw):
    sms, mib = draw.choice([(16, 32), (33, 64), (66, 128), (99, 192), (116, 224)])
    return [{"kernel": COPY, "id": "copy", "grid": sms, "block": 1024, "registers": 22, "runs": "stream",
             "arguments": {"operation": "copy", "bytes": mib << 20}}]


def write(folder, name, lines):
    with open(os.path.join(folder, name.replace("/", "-") + ".jsonl"), "w", encoding="utf-8") as file:
        for line in [{"gridtide": 1, "name": name, "device": "h200"}] + lines + [{"call": "device_sync"}]:
            print(json.dumps(line, separators=(",", ":")), file=file)


def main():
    folder, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    for i in range(count):
        draw = random.Random(seed * 1000003 + i)
        write(folder, f"alone/{seed}-{i}", graph(draw, 21, draw.uniform(60, 600)) + [{"call": "launch", "kernel": "workers", "stream": "s"}])
    for i in range(count // 2):
        draw = random.Random(seed * 1000033 + i)
        write(folder, f"beside/{seed}-{i}", graph(draw, 19, 150) + copy(draw) + [
            {"call": "launch", "kernel": "copy", "stream": "t"}, {"call": "launch", "kernel": "workers", "stream": "s"}])


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main()
