#!/usr/bin/env python3
"""Task graphs of the persistent kernels of traces/record/proton.py, without times: persistent_graphs.py PROGRAM > FILE.jsonl

product: 512 tiles of a matrix product on 132 blocks, each a task "tile" and a task "store"; mixed: 600 tasks of three kinds on
132 blocks. Block B does tasks B, B + 132, ... in turn.
"""
import json
import sys

BLOCKS = 132


def product():
    return 256, [(kind, tile % BLOCKS) for tile in range(512) for kind in ("tile", "store")]


def mixed():
    return 128, [(("copy", "softmax", "power")[task % 3], task % BLOCKS) for task in range(600)]


def write(name, threads, tasks):
    kinds = list(dict.fromkeys(kind for kind, _ in tasks))
    print(json.dumps({"gridtide": 1, "name": name, "device": "h200"}))
    print(json.dumps({"task_graph": name, "kinds": [{"kind": kind} for kind in kinds]}))
    print(json.dumps({"tasks_of": name, "columns": {"count": len(tasks), "kind": [kinds.index(kind) for kind, _ in tasks],
                                                    "worker": [worker for _, worker in tasks]}}))
    print(json.dumps({"kernel": name, "grid": BLOCKS, "block": threads, "tasks": name}))
    print(json.dumps({"call": "launch", "kernel": name}))
    print(json.dumps({"call": "device_sync"}))


write(sys.argv[1], *{"product": product, "mixed": mixed}[sys.argv[1]]())
