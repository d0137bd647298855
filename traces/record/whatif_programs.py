"""The programs of traces/pairs, each in a few forms that do the same work; whatif.py runs them."""
import ctypes

import torch
from torch import nn
from torch.nn import functional


class Form:
    """One form of a program: `step` runs a step; `start(steps)` comes before the first of so many."""

    def __init__(self, step, start=None):
        self.step, self.start = step, start


class Family:
    """Forms by name, the first the base; `steps` of them are a group, which ends with a synchronisation."""

    def __init__(self, forms, steps=4, modes=("cuda", "cpu"), keep=None):
        self.keep = keep  # what a graph's kernels read must outlive its replays
        self.forms = {name: form if isinstance(form, Form) else Form(form) for name, form in forms.items()}
        self.steps, self.modes = steps, modes


# --- Models, eager and as a graph

class Decoder(nn.Module):
    """A step of a language model's decoding: one token a sequence, over a cache."""

    def __init__(self, layers, width, heads, batch, cached):
        super().__init__()
        self.heads, self.layers = heads, layers
        self.qkv = nn.ModuleList(nn.Linear(width, 3 * width, bias=False) for _ in range(layers))
        self.out = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(layers))
        self.up = nn.ModuleList(nn.Linear(width, 4 * width, bias=False) for _ in range(layers))
        self.down = nn.ModuleList(nn.Linear(4 * width, width, bias=False) for _ in range(layers))
        shape = (layers, 2, batch, heads, cached, width // heads)
        self.register_buffer("cache", torch.randn(shape) * 0.1)
        self.register_buffer("place", torch.tensor([cached - 1]))
        self.scale = nn.ParameterList(nn.Parameter(torch.ones(width)) for _ in range(2 * layers))
        self.head = nn.Linear(width, 8192, bias=False)

    @staticmethod
    def norm(x, scale):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * scale

    def forward(self, x):
        batch, width = x.shape
        for i in range(self.layers):
            q, k, v = self.qkv[i](self.norm(x, self.scale[2 * i])).view(batch, 3, self.heads, 1, -1).unbind(1)
            self.cache[i, 0].index_copy_(2, self.place, k)
            self.cache[i, 1].index_copy_(2, self.place, v)
            y = functional.scaled_dot_product_attention(q, self.cache[i, 0], self.cache[i, 1])
            x = x + self.out[i](y.reshape(batch, width))
            x = x + self.down[i](functional.silu(self.up[i](self.norm(x, self.scale[2 * i + 1]))))
        return self.head(x)


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.one, self.two = (nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(2))
        self.norm_one, self.norm_two = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)

    def forward(self, x):
        y = functional.relu(self.norm_one(self.one(x)))
        return functional.relu(x + self.norm_two(self.two(y)))


def encoder(batch, tokens, layers=4):
    layer = nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True)
    net = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).cuda().half().train()
    data = torch.randn(batch, tokens, 512, device="cuda").half()
    return lambda: net(data)


def perceptron(rows, width=1024, layers=8):
    net = nn.Sequential(*[one for _ in range(layers) for one in (nn.Linear(width, width), nn.GELU())]).cuda().half()
    data = torch.randn(rows, width, device="cuda").half()
    return lambda: net(data)


def convolutions(batch, channels=64, blocks=6):
    net = nn.Sequential(nn.Conv2d(3, channels, 7, stride=4, padding=3), *[Residual(channels) for _ in range(blocks)],
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 100)).cuda().half().eval()
    data = torch.randn(batch, 3, 224, 224, device="cuda").half()
    return lambda: net(data)


def recurrent_cells(batch, tokens=24, width=512):
    cell = nn.GRUCell(width, width).cuda()
    data = torch.randn(tokens, batch, width, device="cuda")

    def run():
        state = torch.zeros(batch, width, device="cuda")
        for token in data.unbind(0):
            state = cell(token, state)
        return state
    return run


def recurrent_library(batch, tokens=48, width=512):
    net = nn.LSTM(width, width, num_layers=2).cuda().half()
    data = torch.randn(tokens, batch, width, device="cuda").half()
    return lambda: net(data)[0]


def decoder(batch, layers=8, width=1024, cached=512):
    net = Decoder(layers, width, 16, batch, cached).cuda().bfloat16()
    data = torch.randn(batch, width, device="cuda").bfloat16()
    return lambda: net(data)


def heat(size, times=20):
    field = torch.rand(size, size, device="cuda")

    def run():
        now = field
        for _ in range(times):
            near = torch.roll(now, 1, 0) + torch.roll(now, -1, 0) + torch.roll(now, 1, 1) + torch.roll(now, -1, 1)
            now = now + 0.1 * (near - 4 * now)
        return now
    return run


def training(rows, width=1024, layers=6):
    net = nn.Sequential(*[one for _ in range(layers) for one in (nn.Linear(width, width), nn.ReLU())]).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4, momentum=0.9)
    data, wanted = torch.randn(rows, width, device="cuda"), torch.randn(rows, width, device="cuda")

    def run():
        optimizer.zero_grad(set_to_none=True)
        loss = functional.mse_loss(net(data), wanted)
        loss.backward()
        optimizer.step()
        return loss.detach()
    return run


def capture(body):
    """The body as a graph and what it returns."""
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):  # libraries set themselves up
            body()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        out = body()
    torch.cuda.synchronize()
    return graph, out


def eager_and_graph(build, end, steps=4):
    """`end` of a step: free (no wait), wait (for the device), item (a number read back)."""
    def make():
        body = build()
        whole = (lambda: body().float().mean()) if end == "item" else body
        graph, out = capture(whole)

        def ended(run):
            def step():
                result = run()
                if end == "item":
                    result.item()
                elif end == "wait":
                    torch.cuda.synchronize()
            return step
        return Family({"eager": ended(whole), "graph": ended(lambda: (graph.replay(), out)[1])}, steps)
    return make


def with_gradients(make):
    make.gradients = True
    return make


def models():
    cases = {
        "encoder-small": (lambda: encoder(1, 64), "wait"), "encoder-middle": (lambda: encoder(8, 128), "free"),
        "encoder-large": (lambda: encoder(32, 256), "item"),
        "mlp-small": (lambda: perceptron(32), "free"), "mlp-large": (lambda: perceptron(8192), "wait"),
        "convolutions-small": (lambda: convolutions(1), "item"), "convolutions-large": (lambda: convolutions(128), "free"),
        "cells-small": (lambda: recurrent_cells(8), "wait"), "cells-large": (lambda: recurrent_cells(4096), "free"),
        "lstm-small": (lambda: recurrent_library(4), "item"), "lstm-large": (lambda: recurrent_library(512), "wait"),
        "decoder-small": (lambda: decoder(1), "item"), "decoder-large": (lambda: decoder(128), "wait"),
        "heat-small": (lambda: heat(256), "free"), "heat-large": (lambda: heat(4096), "wait"),
    }
    table = {name: eager_and_graph(*case) for name, case in cases.items()}
    table["training-small"] = with_gradients(eager_and_graph(lambda: training(64), "item"))
    table["training-large"] = with_gradients(eager_and_graph(lambda: training(8192), "free", 3))
    return table


# --- Batches from the host

class Batches:
    """A loop over batches from the host through a network, a number of each read back, or all at the end."""

    def __init__(self, rows, layers, width=1024):
        self.count, self.i = 8, 0
        self.net = nn.Sequential(*[one for _ in range(layers) for one in (nn.Linear(width, width), nn.ReLU())]).cuda()
        self.pageable = [torch.randn(rows, width) for _ in range(self.count)]
        self.pinned = [batch.pin_memory() for batch in self.pageable]
        self.side = torch.cuda.Stream()
        self.results = torch.zeros(256).pin_memory()
        self.ready = None

    def start(self, steps):
        self.i, self.steps, self.ready = 0, steps, None

    def use(self, batch, each):
        loss = self.net(batch).square().mean()
        if each:
            loss.item()
        else:
            self.results[self.i % 256].copy_(loss, non_blocking=True)
        self.i += 1

    def plain(self, pinned, non_blocking, each):
        source = self.pinned if pinned else self.pageable
        return Form(lambda: self.use(source[self.i % self.count].to("cuda", non_blocking=non_blocking), each), self.start)

    def load(self, i):
        with torch.cuda.stream(self.side):
            return self.pinned[i % self.count].to("cuda", non_blocking=True)

    def prefetch_step(self, each):
        current = torch.cuda.current_stream()
        if self.ready is None:
            self.ready = self.load(self.i)
        current.wait_stream(self.side)
        batch = self.ready
        batch.record_stream(current)
        self.ready = self.load(self.i + 1) if self.i + 1 < self.steps else None
        self.use(batch, each)

    def prefetched(self, each):
        return Form(lambda: self.prefetch_step(each), self.start)


def batches(rows, layers, each):
    def make():
        data = Batches(rows, layers)
        return Family({"pageable": data.plain(False, False, each), "pinned": data.plain(True, False, each),
                       "async": data.plain(True, True, each), "prefetch": data.prefetched(each)})
    return make


def readback(build, gradients=False):
    """A number read back each step, or into pinned memory without a wait until the end."""
    def make():
        body = build()
        results = torch.zeros(256).pin_memory()
        place = [0]

        def start(_):
            place[0] = 0

        def later():
            results[place[0] % 256].copy_(body(), non_blocking=True)
            place[0] += 1
        return Family({"each": lambda: body().item(), "end": Form(later, start)})
    return with_gradients(make) if gradients else make


def results_out(rows, width=1024):
    """Results to the host each step: into pageable memory, pinned, pinned without a wait."""
    def make():
        body = perceptron(rows, width, 4)
        pageable = [torch.empty(rows, width, dtype=torch.float16) for _ in range(8)]
        pinned = [one.pin_memory() for one in pageable]
        place = [0]

        def out(target, non_blocking):
            def step():
                target[place[0] % 8].copy_(body(), non_blocking=non_blocking)
                place[0] += 1
            return step
        return Family({"pageable": out(pageable, False), "pinned": out(pinned, False), "async": out(pinned, True)})
    return make


def torch_batches():
    return {"batches-small": batches(64, 4, True), "batches-middle": batches(1024, 6, False),
            "batches-large": batches(4096, 6, True), "batches-wide": batches(8192, 3, False),
            "readback-training": readback(lambda: training(64), True),
            "readback-training-large": readback(lambda: training(4096), True),
            "readback-decoder": readback(lambda: (lambda body: lambda: body().argmax().float())(decoder(8))),
            "readback-mlp": readback(lambda: (lambda body: lambda: body().float().mean())(perceptron(512, 1024, 3))),
            "results-small": results_out(128), "results-large": results_out(4096)}


# --- Branches

def fork(branches, count):
    """A step of the branches dealt to `count` streams, the first the current one, joined at the end."""
    sides = [torch.cuda.Stream() for _ in range(count - 1)]

    def run():
        current = torch.cuda.current_stream()
        for side in sides:
            side.wait_stream(current)
        for i, branch in enumerate(branches):
            with torch.cuda.stream(([current] + sides)[i % count]):
                branch()
        for side in sides:
            current.wait_stream(side)
    return run


def towers(build, count=4, graph=True):
    def make():
        branches = [build() for _ in range(count)]
        forms = {}
        for streams in (1, 2, 4):
            body = fork(branches, streams)
            forms["streams-%d" % streams] = capture(body)[0].replay if graph else body
        return Family(forms, keep=branches)
    return make


def branches():
    return {"towers-small": towers(lambda: perceptron(64, 512, 6)),
            "towers-middle": towers(lambda: perceptron(512, 1024, 6)),
            "towers-large": towers(lambda: perceptron(8192, 1024, 4)),
            "towers-convolutions": towers(lambda: convolutions(4, 64, 3)),
            "towers-attention": towers(lambda: encoder(2, 128, 2)),
            "towers-eager": towers(lambda: perceptron(2048, 2048, 4), graph=False),
            "towers-eager-small": towers(lambda: perceptron(64, 512, 4), graph=False)}


def without_a_layer():
    """A network with and without its activations: big enough that the GPU is what limits."""
    def make():
        linear = [nn.Linear(2048, 2048, bias=False).cuda().half() for _ in range(6)]
        data = torch.randn(8192, 2048, device="cuda").half()

        def run(act):
            x = data
            for one in linear:
                x = one(x)
                if act:
                    x = torch.sigmoid(x)
            return x
        return Family({"all": lambda: run(True), "no-sigmoid": lambda: run(False)})
    return make


# --- CUDA programs

class Library:
    """whatif.cu's functions; Python's numbers are floats or ints there by their type."""

    def __init__(self, path):
        self.path = path

    def bind(self, forms, steps=4, modes=("cuda", "cpu"), before=None):
        def make():
            library = ctypes.CDLL(self.path)
            library.setup()
            if before:
                before(library)
            return Family({name: self.call(library, *call) for name, call in forms.items()}, steps, modes)
        return make

    @staticmethod
    def call(library, name, *values):
        function = getattr(library, name)
        values = [ctypes.c_float(value) if isinstance(value, float) else ctypes.c_int(value) for value in values]
        return lambda: function(*values)


def chains(library):
    table = {}
    for name, shape in {"chains-narrow": (6, 0, 8, 256, 40.0), "chains-wide": (6, 0, 200, 512, 40.0),
                        "chains-full": (6, 0, 264, 1024, 30.0), "chains-short": (10, 0, 8, 256, 2.0),
                        "chains-depth": (6, 1, 40, 256, 50.0)}.items():
        length, *rest = shape
        table[name] = library.bind({"streams-%d" % n: ("chains", 4, length, n, *rest) for n in (1, 2, 4)})
    table["handoff"] = library.bind({"streams-%d" % n: ("handoff", 16, n, 16, 25.0) for n in (1, 2, 4)})
    return table


def kernels(library):
    def forms(load, mix, norm, count):
        return {"all": ("layers", count, load, mix, norm), "mix-half": ("layers", count, load, mix / 2, norm),
                "no-norm": ("layers", count, load, mix, 0.0), "load-third": ("layers", count, load / 3, mix, norm)}
    return {"layers-long": library.bind(forms(40.0, 80.0, 15.0, 8)), "layers-short": library.bind(forms(3.0, 6.0, 2.0, 12)),
            "layers-uneven": library.bind(forms(12.0, 150.0, 4.0, 6))}


def priorities(library):
    def forms(*shape):
        return {"equal": ("urgent", 0, *shape), "urgent": ("urgent", 5, *shape), "higher": ("urgent", 1, *shape)}
    return {"priority-waves": library.bind(forms(6, 60.0, 4, 20.0, 250.0)),
            "priority-short": library.bind(forms(12, 25.0, 8, 6.0, 150.0)),
            "priority-late": library.bind(forms(1, 400.0, 3, 20.0, 200.0)),
            "priority-quiet": library.bind(forms(2, 150.0, 6, 15.0, 20.0))}


def connections(library):
    shapes = {"many-deep": ("chains", 16, 5, 16, 1, 4, 128, 60.0), "many-broad": ("chains", 12, 6, 12, 0, 4, 128, 40.0),
              "many-few": ("chains", 3, 8, 3, 1, 8, 256, 30.0)}
    return {count: {"%s-%d" % (name, count): library.bind({"run": call}) for name, call in shapes.items()}
            for count in (1, 8, 32)}


def copies(library):
    """count, KiB in, pinned, wait, ahead, kernels, us, KiB out, pinned, read back 1: each, 2: at the end"""
    table = {}
    for name, (kib, count, us, out) in {"pipeline-even": (4096, 2, 40.0, 4), "pipeline-copies": (16384, 2, 60.0, 1024),
                                        "pipeline-kernels": (1024, 6, 40.0, 256), "pipeline-small": (64, 3, 5.0, 4)}.items():
        out = min(out, 8192)
        table[name] = library.bind({
            "pageable": ("batches", 8, kib, 0, 1, 0, count, us, out, 1, 1),
            "pinned": ("batches", 8, kib, 1, 1, 0, count, us, out, 1, 1),
            "async": ("batches", 8, kib, 1, 0, 0, count, us, out, 1, 1),
            "async-end": ("batches", 8, kib, 1, 0, 0, count, us, out, 1, 2),
            "prefetch": ("batches", 8, kib, 1, 0, 2, count, us, out, 1, 1),
            "prefetch-end": ("batches", 8, kib, 1, 0, 8, count, us, out, 1, 2),
            "pageable-async": ("batches", 8, kib, 0, 0, 0, count, us, out, 1, 1)}, 3)
    return table


def graphs(library):
    table = {}
    shapes = {"graph-narrow": (4, 10, 16, 15.0), "graph-wide": (4, 8, 264, 20.0), "graph-tiny": (4, 24, 4, 1.0)}
    for first, (name, (count, length, blocks, us)) in zip((0, 3, 6), shapes.items()):
        def before(lib, first=first, count=count, length=length, blocks=blocks, us=us):
            for i, streams in enumerate((1, 2, 4)):
                lib.graph_make(first + i, count, length, streams, blocks, ctypes.c_float(us))
        table[name] = library.bind({"streams-%d" % n: ("graph_launch", first + i, 1) for i, n in enumerate((1, 2, 4))},
                                   before=before)
    return table


REASONS = ("default-stream", "event", "connection", "sm-threads", "sm-shared", "sm-blocks", "nothing", "late-priority",
           "copies-one-engine", "copy-pageable", "copy-same-stream", "copy-default-stream", "copies-both-ways",
           "full-queue", "clusters")


def explained(library):
    """Kernels and copies that do not overlap, each for a reason of its own."""
    return ({"explain": library.bind({reason: ("serialised", i) for i, reason in enumerate(REASONS)}, 2)},
            {"explain-connection-1": library.bind({"run": ("serialised", 2)}, 2)})


# --- What the profiler costs: many of one thing

ALL_MODES = ("cuda", "cpu", "shapes")


def costs(library):
    def graph_chains(lib):
        for i, (nodes, us) in enumerate(((10, 0.0), (50, 0.0), (200, 0.0), (400, 0.0), (100, 5.0))):
            lib.graph_make(i, 1, nodes, 1, 1, ctypes.c_float(us))
        lib.graph_make(5, 4, 50, 4, 1, ctypes.c_float(0.0))

    kinds = ("launch", "record", "wait", "copy-in", "copy-out", "copy-within", "memset", "synchronise", "capturing",
             "query", "copy-pageable", "event-chain")
    table = {"cost-calls": library.bind({kind: ("calls", i, 100) for i, kind in enumerate(kinds)}, 2, ALL_MODES),
             "cost-launches": library.bind({"launch-%d" % n: ("calls", 0, n) for n in (20, 300)}, 2, ALL_MODES),
             "cost-long": library.bind({"long": ("chains", 1, 60, 1, 0, 132, 256, 20.0)}, 2, ALL_MODES),
             "cost-graphs": library.bind({"graph-%d" % i: ("graph_launch", i, 4) for i in range(6)}, 2, ALL_MODES,
                                         graph_chains)}
    turns = ("kernels", "copy-in", "copy-out", "copy-within", "memset", "in-and-out", "copies-in", "copies-out", "events",
             "waits", "readbacks", "two-chains")
    table["cost-gaps"] = library.bind({turn: ("in_turn", i, 40, 20.0) for i, turn in enumerate(turns)}, 2, ALL_MODES)

    def long_graphs(lib):
        for i, (count, length, streams) in enumerate(((1, 40, 1), (4, 20, 4), (4, 20, 1))):
            lib.graph_make(i, count, length, streams, 16, ctypes.c_float(20.0))
    table["cost-nodes"] = library.bind({name: ("graph_launch", i, 1) for i, name in enumerate(("chain", "branches", "dealt"))},
                                       4, ALL_MODES, long_graphs)
    table["cost-operators"] = operators
    table["cost-autograd"] = autograd
    return table


def operators():
    here, there = torch.ones(16), torch.ones(1 << 14, device="cuda")
    weights, rows = torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda")
    pinned = torch.ones(1 << 10).pin_memory()

    def times(count, action):
        def step():
            for _ in range(count):
                action()
        return step

    def ranges():
        with torch.profiler.record_function("a range"):
            pass
    return Family({
        "cpu-add": times(200, lambda: here.add_(1)), "view": times(200, lambda: here.view(4, 4)),
        "empty": times(200, lambda: torch.empty(16)), "cuda-mul": times(100, lambda: there.mul_(1.0)),
        "cuda-add": times(100, lambda: there + 1), "linear": times(60, lambda: functional.linear(rows, weights)),
        "layer-norm": times(60, lambda: functional.layer_norm(rows, (64,))),
        "softmax": times(60, lambda: torch.softmax(rows, -1)), "copy-in": times(40, lambda: pinned.cuda(non_blocking=True)),
        "item": times(20, lambda: there[0].item()), "ranges": times(200, ranges),
    }, 2, ALL_MODES)


def autograd():
    net = nn.Sequential(*[one for _ in range(12) for one in (nn.Linear(128, 128), nn.Tanh())]).cuda()
    data = torch.randn(32, 128, device="cuda")

    def backward():
        net.zero_grad(set_to_none=True)
        net(data).sum().backward()
    return Family({"backward": backward, "forward": lambda: net(data).sum()}, 2, ALL_MODES)


autograd.gradients = True


def groups(path):
    """Families that share a process, by name; and the environment that they want."""
    library = Library(path)
    nets = list(models().items())
    connections_by_count = connections(library)
    explain, alone = explained(library)
    parts = {"models-%d" % i: dict(nets[i::3]) for i in range(3)}
    parts.update({"costs": costs(library), "torch-batches": torch_batches(), "copies": copies(library),
                  "chains": chains(library), "graphs": graphs(library), "kernels": kernels(library),
                  "priorities": priorities(library), "branches": branches(), "explain": explain,
                  "no-sigmoid": {"no-sigmoid": without_a_layer()}})
    table = {name: (part, {}) for name, part in parts.items()}
    for count, part in connections_by_count.items():
        table["connections-%d" % count] = (part, {"CUDA_DEVICE_MAX_CONNECTIONS": str(count)})
    table["connections-1"][0].update(alone)
    return table
