#!/usr/bin/env python3
"""The six networks of Rammer's evaluation (Ma et al., OSDI 2020, table 3), batch 1, as operator graphs (../GRAPH.md).

networks.py NAME [times.csv]     print the graph of a network: lstm, seq2seq, resnext, nasnet, alexnet, deepspeech2
networks.py --real NAME [real_times.csv]  of lstm or seq2seq: tasks and launches do not spin when they are played, but work
                                 on the network's own weights and states, which lie in memory
networks.py --shapes             print the shapes of all their tasks, a line each, for task_times.cu

LSTM and Seq2Seq are exact by their topology: a cell is eight products of a matrix by a vector and one element-wise operator.
The other four are their layers, cut into tasks by the layers' shapes; activations and batch norms are in the operator before
them.  What a task of a shape takes on a device is in times.csv, or, where it is not there, a roofline of one SM's share of an
H200; the header of each graph says which.
"""
import csv
import json
import math
import os
import sys

WORKERS_PER_SM = 4  # of 256 threads with 64 registers each: what an SM holds
REGISTERS = 64
SMS = 132
IN_L2, IN_DRAM = 24, 235  # megabytes of data that tasks of a kind go through: these stay in L2; AlexNet's weights do not

# The roofline: an H200's L2 and DRAM, and single-precision multiply-adds, by a worker; and what any task takes at least.
L2_BYTES_US = 5.5e6 / SMS / WORKERS_PER_SM
DRAM_BYTES_US = 4.2e6 / SMS / WORKERS_PER_SM
OPERATIONS_US = 2 * 128 * 1980 / WORKERS_PER_SM * 0.5
LEAST_US = 1.5

REAL_TIMES = "real_times.csv"  # what a task and a block of each shape took when the real networks were played


class Shape(tuple):
    """(what, a, b, megabytes): a task, and how large the data is that tasks of its kind go through."""

    def bytes(self):
        what, a, b, _ = self
        return int({"product": 4 * a * b, "tile": 8 * a * b, "window": 12 * a, "cell": 48 * a}[what])

    def operations(self):
        what, a, b, _ = self
        return int({"product": 2 * a * b, "tile": 2 * a * a * b, "window": 2 * a * b * b, "cell": 40 * a}[what])

    def arguments(self):
        """What is told to who does it for real (kernels/executor/network.h)."""
        return {"rows": self[1], "columns": self[2]} if self[0] == "product" else {"rows": self[1]}

    def estimate_us(self):
        rate = DRAM_BYTES_US if self[3] == IN_DRAM else L2_BYTES_US
        return LEAST_US + max(self.bytes() / rate, self.operations() / OPERATIONS_US)


def product(rows, columns, cuts, megabytes=IN_L2):
    """A matrix by a vector; a task has so many rows."""
    return [(f"{cut} rows", math.ceil(rows / cut), Shape(("product", cut, columns, megabytes))) for cut in cuts]


def convolution(pixels, channels, depth):
    """Output pixels times channels, each a sum of `depth` terms: tiles of a product of matrices."""
    return [(f"{side}x{side}", math.ceil(pixels / side) * math.ceil(channels / side), Shape(("tile", side, depth, IN_L2)))
            for side in (32, 64)]


def window(elements, width):
    """Each element from width x width others: depthwise convolutions, pools; width 1: element-wise."""
    return [(f"{cut} elements", math.ceil(elements / cut), Shape(("window", cut, width, IN_L2))) for cut in (1024, 4096)]


def cell(elements):
    return [(None, 1, Shape(("cell", elements, 8, IN_L2)))]


class Graph:
    def __init__(self, name):
        self.name, self.kinds, self.lines, self.count, self.buffers = name, {}, [], 0, {}

    def buffer(self, name, numbers):
        """One of so many numbers; returns its name."""
        self.buffers[name] = 4 * numbers
        return name

    def add(self, kind, implementations, after=(), name=None, reads=(), writes=()):
        """One operator; returns its name."""
        self.kinds.setdefault(kind, implementations)
        assert self.kinds[kind] == implementations, kind
        name = name or f"{kind}#{self.count}"
        self.count += 1
        line = {"operator": name, "kind": kind}
        if after:
            line["after"] = list(dict.fromkeys(after))
        if reads:
            line.update(reads=reads, writes=writes)
        self.lines.append(line)
        return name

    def shapes(self):
        return [shape for cuts in self.kinds.values() for _, _, shape in cuts]


def lstm_layers(graph, name, layers, steps, hidden, first=None, first_columns=None, feedback=False):
    """Cells of `layers` x `steps`; returns the names of the last step's.  `first`: what layer 0 comes after at each step.
    `feedback`: layer 0 takes the last layer's output of the step before."""
    rows = (8, 16, 64) if hidden >= 256 else (8, 16, 32)
    before = [None] * layers
    for step in range(steps):
        below = first[step] if isinstance(first, list) else first if step == 0 or not feedback else before[-1]
        for layer in range(layers):
            wide = layer == 0 and first_columns
            columns = first_columns if wide else hidden
            at = f"{name}{layer}.{step}"
            inputs = []
            for gate in "ifgo":
                for of, width, source in ("x", columns, below), ("h", hidden, before[layer]):
                    reads = [graph.buffer(f"{name}{layer}.W{of}{gate}", hidden * width),
                             source or graph.buffer(f"{at}.{of}0", width)]
                    inputs.append(graph.add(f"product {hidden}x{width}", product(hidden, width, rows),
                                            [source] if source else (), f"{at}.{of}{gate}", reads,
                                            [graph.buffer(f"{at}.{of}{gate}", hidden)]))
            kept = f"{name}{layer}.{step - 1}.c" if step else graph.buffer(f"{at}.c0", hidden)
            before[layer] = below = graph.add(f"cell {hidden}", cell(hidden), inputs, at, inputs + [kept],
                                              [graph.buffer(f"{at}.c", hidden), graph.buffer(at, hidden)])
    return before


def lstm(share=1):
    """`share`: so many times fewer steps, to see what its tasks take."""
    graph = Graph("lstm")
    lstm_layers(graph, "", 10, 100 // share, 256)
    return graph


def seq2seq(share=1):
    graph = Graph("seq2seq")
    encoded = lstm_layers(graph, "encoder", 8, 100 // share, 128)
    lstm_layers(graph, "decoder", 4, 30 // share, 128, first=encoded[-1], feedback=True)
    return graph


def deepspeech2():
    """300 frames of 161 frequencies; convolutions of 41x11 and 21x11 with 32 channels; 7 layers of 256, 150 steps."""
    graph, steps = Graph("deepspeech2"), 150
    last = graph.add("convolution 1", convolution(81 * steps, 32, 41 * 11))
    last = graph.add("convolution 2", convolution(41 * steps, 32, 32 * 21 * 11), [last])
    outputs = lstm_layers(graph, "rnn", 7, steps, 256, first=last, first_columns=32 * 41)
    graph.add("classes", product(29, 256, (8,)), [outputs[-1]])
    return graph


def alexnet():
    graph = Graph("alexnet")
    layers = [("1", convolution(55 * 55, 64, 3 * 11 * 11), 64 * 27 * 27),
              ("2", convolution(27 * 27, 192, 64 * 25), 192 * 13 * 13),
              ("3", convolution(13 * 13, 384, 192 * 9), 0), ("4", convolution(13 * 13, 256, 384 * 9), 0),
              ("5", convolution(13 * 13, 256, 256 * 9), 256 * 6 * 6)]
    last = []
    for name, cuts, pooled in layers:
        last = [graph.add(f"convolution {name}", cuts, last)]
        if pooled:
            last = [graph.add(f"pool {name}", window(pooled, 3), last)]
    for name, rows, columns in (("6", 4096, 9216), ("7", 4096, 4096), ("8", 1000, 4096)):
        last = [graph.add(f"connected {name}", product(rows, columns, (8, 16), IN_DRAM), last)]
    return graph


def resnext():
    """ResNeXt-29, 16 branches of 64 channels, CIFAR-10; the branches are operators of their own, as TensorFlow had them."""
    graph, branches, width, channels = Graph("resnext"), 16, 64, 64
    last = graph.add("stem", convolution(32 * 32, 64, 3 * 9))
    for stage in range(3):
        side, out = 32 >> stage, 64 << stage
        for block in range(3):
            reduced = []
            pixels_in = side * side * (4 if stage > 0 and block == 0 else 1)
            for branch in range(branches):
                at = f"{stage}.{block}.{branch}"
                one = graph.add(f"1x1 {pixels_in}x{channels}", convolution(pixels_in, width, channels), [last], f"{at}.in")
                reduced.append(graph.add(f"3x3 {side}", convolution(side * side, width, width * 9), [one], f"{at}.grouped"))
            joined = graph.add(f"join {side}", window(side * side * width * branches, 1), reduced)
            merged = graph.add(f"merge {side}x{out}", convolution(side * side, out, width * branches), [joined])
            shortcut = last
            if channels != out or pixels_in != side * side:
                shortcut = graph.add(f"shortcut {side}x{out}", window(side * side * out, 3), [last])
            last = graph.add(f"add {side}x{out}", window(side * side * out, 1), [merged, shortcut])
            channels = out
    last = graph.add("pool", window(256, 8), [last])
    graph.add("classes", product(10, 256, (8,)), [last])
    return graph


class Cells:
    """NASNet-A's cells (Zoph et al., CVPR 2018, figure 4)."""

    def __init__(self, graph):
        self.graph = graph

    def separable(self, pixels, filters, width, before):
        """Twice: depthwise, then pointwise."""
        for _ in range(2):
            before = self.graph.add(f"depthwise {width} {pixels}x{filters}", window(pixels * filters, width), [before])
            before = self.graph.add(f"pointwise {pixels}x{filters}", convolution(pixels, filters, filters), [before])
        return before

    def pool(self, pixels, filters, before):
        return self.graph.add(f"pool {pixels}x{filters}", window(pixels * filters, 3), [before])

    def add(self, pixels, filters, a, b):
        return self.graph.add(f"add {pixels}x{filters}", window(pixels * filters, 1), [a, b])

    def fit(self, pixels, filters, channels, before):
        return self.graph.add(f"fit {pixels}x{channels}x{filters}", convolution(pixels, filters, channels), [before])

    def normal(self, pixels, filters, h, p):
        add, sep, pool = self.add, self.separable, self.pool
        parts = [add(pixels, filters, sep(pixels, filters, 3, h), h),
                 add(pixels, filters, sep(pixels, filters, 3, p), sep(pixels, filters, 5, h)),
                 add(pixels, filters, pool(pixels, filters, h), p),
                 add(pixels, filters, pool(pixels, filters, p), pool(pixels, filters, p)),
                 add(pixels, filters, sep(pixels, filters, 5, p), sep(pixels, filters, 3, p))]
        return self.graph.add(f"concat {pixels}x{filters}", window(pixels * filters * 6, 1), parts + [p])

    def reduction(self, pixels, filters, h, p):
        add, sep, pool = self.add, self.separable, self.pool
        first = add(pixels, filters, sep(pixels, filters, 7, p), sep(pixels, filters, 5, h))
        second = add(pixels, filters, pool(pixels, filters, h), sep(pixels, filters, 7, p))
        parts = [second, add(pixels, filters, pool(pixels, filters, h), sep(pixels, filters, 5, p)),
                 add(pixels, filters, pool(pixels, filters, h), sep(pixels, filters, 3, first)),
                 add(pixels, filters, pool(pixels, filters, first), second)]
        return self.graph.add(f"concat reduced {pixels}x{filters}", window(pixels * filters * 4, 1), parts)


def nasnet():
    """NASNet-A (6 @ 768), CIFAR-10: three times six normal cells, of 32, 64 and 128 filters, with reductions between."""
    graph = Graph("nasnet")
    cells, side, filters = Cells(graph), 32, 32
    last = before = graph.add("stem", convolution(side * side, 96, 27))
    channels = channels_before = 96
    for stage in range(3):
        for number in range(6 + (stage > 0)):
            reduces = stage > 0 and number == 0
            if reduces:
                side, filters = side // 2, filters * 2
            h = cells.fit(side * side, filters, channels, last)
            p = cells.fit(side * side, filters, channels_before, before)
            before, channels_before = last, channels
            last = (cells.reduction if reduces else cells.normal)(side * side, filters, h, p)
            channels = filters * (4 if reduces else 6)
    last = graph.add("pool", window(768, 8), [last])
    graph.add("classes", product(10, 768, (8,)), [last])
    return graph


NETWORKS = {"lstm": lstm, "seq2seq": seq2seq, "resnext": resnext, "nasnet": nasnet, "alexnet": alexnet,
            "deepspeech2": deepspeech2}


def read_times(path):
    """{shape: microseconds of a task}, with WORKERS_PER_SM workers an SM."""
    times = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                if int(row["workers_per_sm"]) == WORKERS_PER_SM:
                    times[Shape((row["task"], int(row["a"]), int(row["b"]), int(row["megabytes"])))] = float(row["task_us"])
    return times


def read_real_times(path):
    """{(what, a, b): (microseconds of a task, of a block of a launch, of tasks one after the other)}."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return {(row["task"], int(row["a"]), int(row["b"])): (float(row["task_us"]), float(row["block_us"]),
                                                              [float(us) for us in (row["task_list_us"] or "").split()])
                for row in csv.DictReader(line for line in file if not line.startswith("#"))}


def implementation(name, tasks, shape, times, real):
    fields = {"name": name} if name else {}
    fields.update(tasks=tasks, task_us=round(times.get(shape, shape.estimate_us()), 3), registers=REGISTERS)
    if real is not None:
        if shape[:3] in real:
            fields.update(task_us=real[shape[:3]][0], block_us=real[shape[:3]][1])
            if real[shape[:3]][2]:
                fields.update(task_list_us=real[shape[:3]][2])
        fields.update(runs=shape[0], arguments=shape.arguments())
    return fields


def print_graph(graph, times, real):
    estimated = sum(shape not in times for shape in graph.shapes())
    source = {0: "measured on an NVIDIA H200"}.get(estimated, "measured on an NVIDIA H200, some estimated (roofline)")
    if estimated == len(graph.shapes()):
        source = "estimated: roofline of an NVIDIA H200's SM"
    if real:
        source = "of the same tasks and blocks when they were played on an NVIDIA H200"
    print(json.dumps({"operator_graph": 1, "name": graph.name + ("-real" if real is not None else ""), "device": "h200",
                      "workers_per_sm": WORKERS_PER_SM, "block": 256, "times": source}))
    for kind, cuts in graph.kinds.items():
        print(json.dumps({"kind": kind, "implementations": [implementation(*cut, times, real) for cut in cuts]}))
    if real is not None:
        for name, size in graph.buffers.items():
            print(json.dumps({"buffer": name, "bytes": size}, separators=(",", ":")))
    for line in graph.lines:
        if real is None:
            line = {key: value for key, value in line.items() if key not in ("reads", "writes")}
        print(json.dumps(line, separators=(",", ":")))


def main():
    if sys.argv[1:] == ["--shapes"]:
        for shape in sorted({shape for make in NETWORKS.values() for shape in make().shapes()}):
            print(*shape)
        return
    is_real = sys.argv[1:2] == ["--real"]
    asked = sys.argv[1 + is_real:]
    if len(asked) not in (1, 2) or asked[0] not in (("lstm", "seq2seq") if is_real else NETWORKS):
        sys.exit(__doc__)
    here = os.path.dirname(os.path.abspath(__file__))
    times = asked[1] if len(asked) == 2 and not is_real else os.path.join(here, "times.csv")
    real = asked[1] if len(asked) == 2 and is_real else os.path.join(here, REAL_TIMES)
    print_graph(NETWORKS[asked[0]](), read_times(times), read_real_times(real) if is_real else None)


if __name__ == "__main__":
    main()
