#!/usr/bin/env python3
"""lstm.py NETWORKS: what networks.py wires up as layers of LSTM cells computes what LSTM cells compute, reckoned by another hand.

Operators are done in the order of the graph, each on the buffers that it says; the network beside it step by step, from the
same weights by their names.  NETWORKS: the folder of networks.py."""
import math
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import networks

LAYERS, STEPS, HIDDEN = 3, 4, 6
draw = random.Random(5)


def logistic(x):
    return 1 / (1 + math.exp(-x))


def times(matrix, vector):
    return [sum(matrix[row * len(vector) + i] * vector[i] for i in range(len(vector))) for row in range(len(matrix) // len(vector))]


def do(line, memory):
    """One operator, as kernels/executor/network.h describes it."""
    read = [memory[name] for name in line["reads"]]
    if line["kind"].startswith("product"):
        memory[line["writes"][0]] = times(*read)
        return
    gates = [[a + b for a, b in zip(read[2 * g], read[2 * g + 1])] for g in range(4)]
    kept = [logistic(f) * c + logistic(i) * math.tanh(g) for i, f, g, c in zip(*gates[:3], read[8])]
    memory[line["writes"][0]] = kept
    memory[line["writes"][1]] = [logistic(o) * math.tanh(c) for o, c in zip(gates[3], kept)]


def cells(memory, feedback):
    """The outputs of the last step, layer by layer."""
    h = [memory[f"{layer}.0.h0"] for layer in range(LAYERS)]
    c = [memory[f"{layer}.0.c0"] for layer in range(LAYERS)]
    for step in range(STEPS):
        below = h[-1] if feedback and step else memory[f"0.{step}.x0"]
        for layer in range(LAYERS):
            gate = {g: [a + b for a, b in zip(times(memory[f"{layer}.Wx{g}"], below), times(memory[f"{layer}.Wh{g}"], h[layer]))]
                    for g in "ifgo"}
            c[layer] = [logistic(f) * old + logistic(i) * math.tanh(g) for f, old, i, g in
                        zip(gate["f"], c[layer], gate["i"], gate["g"])]
            below = h[layer] = [logistic(o) * math.tanh(now) for o, now in zip(gate["o"], c[layer])]
    return h


for feedback in (False, True):
    graph = networks.Graph("test")
    last = networks.lstm_layers(graph, "", LAYERS, STEPS, HIDDEN, feedback=feedback)
    given = {name: [draw.uniform(-0.5, 0.5) for _ in range(size // 4)] for name, size in graph.buffers.items()}
    memory = dict(given)
    done = set()
    for line in graph.lines:
        assert done.issuperset(line.get("after", ())), line
        assert all(name in done or name.endswith(".c") and name[:-2] in done or name[-2:] in ("x0", "h0", "c0") or ".W" in name
                   for name in line["reads"]), line
        do(line, memory)
        done.add(line["operator"])
    for name, expected in zip(last, cells(given, feedback)):
        assert max(abs(a - b) for a, b in zip(memory[name], expected)) < 1e-12, name
print("right")
