#!/usr/bin/env python3
"""Task graphs of the persistent kernels of traces/record/persistent.py, without times: persistent_graphs.py PROGRAM > FILE.jsonl

The kinds are the names of the scopes, the workers the blocks; but for `taken`, whose blocks take tasks from a counter, block B does
tasks B, B + BLOCKS, ... in turn.
"""
import json
import sys


def product(tile):
    return "tile", "store"


def mixed(task):
    return (("copy", "softmax", "power")[task % 3],)


def attention(task):
    return "attend", "write"


def taken(task):
    return (("light", "middle", "heavy")[(task * 7919 + task // 3) % 3],)


def pairs(task):
    return (("sum", "root")[task % 2],)


# Name: blocks, threads of each, tasks, the scopes of a task, are the tasks in lists.
PROGRAMS = {
    "product": (132, 256, 512, product, True),
    "mixed": (132, 128, 600, mixed, True),
    "attention": (132, 256, 512, attention, True),
    "taken": (132, 128, 900, taken, False),
    "pairs": (264, 128, 1056, pairs, True),
    "few": (100, 128, 650, pairs, True),
}


def lines(name):
    blocks, threads, count, scopes, lists = PROGRAMS[name]
    tasks = [(scope, task % blocks) for task in range(count) for scope in scopes(task)]
    kinds = list(dict.fromkeys(kind for kind, _ in tasks))
    columns = {"count": len(tasks), "kind": [kinds.index(kind) for kind, _ in tasks]}
    if lists:
        columns["worker"] = [worker for _, worker in tasks]
    return [{"gridtide": 1, "name": name, "device": "h200"}, {"task_graph": name, "kinds": [{"kind": kind} for kind in kinds]},
            {"tasks_of": name, "columns": columns}, {"kernel": name, "grid": blocks, "block": threads, "tasks": name},
            {"call": "launch", "kernel": name}, {"call": "device_sync"}]


if __name__ == "__main__":
    for line in lines(sys.argv[1]):
        print(json.dumps(line))
