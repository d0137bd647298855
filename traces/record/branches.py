"""Record CUDA graphs of several branches, and several streams without graphs: traces/branches.

    nvcc -cubin -arch=sm_90 -o branches.cubin branches.cu
    python3 branches.py branches.cubin OUTPUT-FOLDER

Leaves one .json.gz a case and times.txt, the wall times without the profiler.  A case that fails costs only itself.
"""
import ctypes
import gzip
import json
import os
import statistics
import sys
import time
import traceback

import torch
from torch.profiler import ProfilerActivity, profile, record_function

CUBIN, FOLDER = sys.argv[1], sys.argv[2]
os.makedirs(FOLDER, exist_ok=True)
KEPT = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "cuda_sync", "cuda_event"}
TIMES = []
ONE_A_SM = 150 * 1024


class Kernel:
    def __init__(self, name):
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.check(self.driver.cuModuleLoad(ctypes.byref(module), CUBIN.encode()))
        self.check(self.driver.cuModuleGetFunction(ctypes.byref(self.function), module, name.encode()))
        self.check(self.driver.cuFuncSetAttribute(self.function, 8, ONE_A_SM))

    @staticmethod
    def check(result):
        if result != 0:
            raise RuntimeError("CUDA driver error %d" % result)

    def __call__(self, grid, block, args, shared_mem):
        values = [ctypes.c_int(arg) for arg in args]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.check(self.driver.cuLaunchKernel(self.function, *grid, *block, shared_mem, stream, pointers, None))


torch.cuda.init()
torch.zeros(1, device="cuda")
SPIN, CLUSTER = Kernel("spin"), Kernel("spin_cluster")


def spin(us, blocks=1, threads=128, spread_us=0, shared=0, seed=1, kernel=None):
    (kernel or SPIN)(grid=(blocks, 1, 1), block=(threads, 1, 1), args=[int(us * 1000), int(spread_us * 1000), seed],
                     shared_mem=shared)


def record(name, program, repeat=1):
    try:
        record_case(name, program, repeat)
    except Exception:
        print(name, "failed", flush=True)
        traceback.print_exc()
        torch.cuda.synchronize()


def record_case(name, program, repeat):
    for _ in range(3):
        program()
        torch.cuda.synchronize()
    walls = []
    for _ in range(12):
        start = time.perf_counter()
        program()
        torch.cuda.synchronize()
        walls.append(1e6 * (time.perf_counter() - start))
    config = torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], experimental_config=config) as prof:
        program()  # the profiler's own first calls take milliseconds: not kept
        torch.cuda.synchronize()
        with record_function("kept"):
            for _ in range(repeat):
                program()
                torch.cuda.synchronize()
    path = os.path.join(FOLDER, name + ".json")
    prof.export_chrome_trace(path)
    with open(path) as file:
        trace = json.load(file)
    begin = min(e["ts"] for e in trace["traceEvents"] if e.get("name") == "kept")
    trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") in KEPT and e["ts"] >= begin]
    trace.pop("traceName", None)
    with gzip.GzipFile(path + ".gz", "wb", mtime=0) as file:
        file.write(json.dumps(trace, separators=(",", ":")).encode())
    os.unlink(path)
    line = "%s: median %.1f us, fastest %.1f us of 12 runs without profiler, recorded %d" % (
        name, statistics.median(walls), min(walls), repeat)
    TIMES.append(line)
    print(line, flush=True)


def capture(body):
    graph = torch.cuda.CUDAGraph()
    side = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(side):
        body()  # libraries set themselves up
    torch.cuda.synchronize()
    with torch.no_grad(), torch.cuda.graph(graph):
        body()
    return graph


def fork(branches):
    """Run each branch on a stream of its own (the first on the current one), joined at the end."""
    current = torch.cuda.current_stream()
    sides = [torch.cuda.Stream() for _ in branches[1:]]
    for side in sides:
        side.wait_stream(current)
    branches[0]()
    for side, branch in zip(sides, branches[1:]):
        with torch.cuda.stream(side):
            branch()
    for side in sides:
        current.wait_stream(side)


def chain(length, node):
    def run():
        for _ in range(length):
            node()
    return run


def small(elements=1 << 14):
    data = torch.ones(elements, device="cuda")
    return lambda: data.mul_(1.0001)


def product(n, dtype=torch.float16):
    a, b = torch.randn(n, n, device="cuda", dtype=dtype), torch.randn(n, n, device="cuda", dtype=dtype)
    out = torch.empty(n, n, device="cuda", dtype=dtype)
    return lambda: torch.mm(a, b, out=out)


def mlp_branch(width=512, rows=256, layers=4):
    net = torch.nn.Sequential(*[layer for _ in range(layers)
                                for layer in (torch.nn.Linear(width, width), torch.nn.GELU())]).cuda().half()
    data = torch.randn(rows, width, device="cuda").half()
    return lambda: net(data)


def replays(graph, times):
    def run():
        for _ in range(times):
            graph.replay()
    return run


def graph_case(name, body, times=1, repeat=8):
    try:
        graph = capture(body)
    except Exception:
        print(name, "not captured", flush=True)
        traceback.print_exc()
        torch.cuda.synchronize()
        return
    record(name, replays(graph, times), repeat)
    KEEP.append(graph)


KEEP = []  # what a graph's kernels read must outlive its replays


def graph_cases():
    for kind, make in (("small", small), ("product", lambda: product(512)), ("spin", lambda: lambda: spin(8, 4))):
        for count in (1, 2, 4):
            branches = [chain(48 // (2 if kind == "product" else 1), make()) for _ in range(count)]
            graph_case("graph-%s-%d" % (kind, count), lambda: fork(branches))
    graph_case("graph-small-8x12", lambda: fork([chain(12, small()) for _ in range(8)]))
    graph_case("graph-spin-3-long", lambda: fork([chain(20, lambda: spin(30, 16)) for _ in range(3)]))
    uneven = [chain(5, small()), chain(40, small()), chain(15, lambda: spin(12, 2))]
    graph_case("graph-uneven-3", lambda: fork(uneven))
    wide = [chain(1, lambda: spin(20, 2)) for _ in range(16)]
    graph_case("graph-wide-16", lambda: (spin(5), fork(wide), spin(5)))
    stages = [[chain(2, small()) for _ in range(3)] for _ in range(8)]
    graph_case("graph-stages-8x3", lambda: [fork(stage) for stage in stages])
    experts = [mlp_branch() for _ in range(4)]
    graph_case("graph-experts-4", lambda: fork(experts))
    graph_case("graph-experts-4-twice", lambda: fork(experts), times=2, repeat=4)
    wider = [mlp_branch(1024, 1024, 3) for _ in range(2)]
    graph_case("graph-experts-2-large", lambda: fork(wider))
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, dropout=0.0).cuda().half().eval()
    tokens = [torch.randn(4, 128, 512, device="cuda").half() for _ in range(3)]
    for count in (2, 3):
        graph_case("graph-transformers-%d" % count,
                   lambda: fork([(lambda t=t: layer(layer(t))) for t in tokens[:count]]))
    source, target = torch.ones(1 << 22, device="cuda"), torch.empty(1 << 22, device="cuda")
    host = torch.empty(1 << 18).pin_memory()
    graph_case("graph-copies-3", lambda: fork([chain(10, lambda: spin(15, 8)), chain(8, lambda: target.copy_(source)),
                                               chain(4, lambda: host.copy_(source[:1 << 18], non_blocking=True))]))
    first, second = (capture(lambda: [spin(20, 24) for _ in range(12)]) for _ in range(2))
    one, two = torch.cuda.Stream(), torch.cuda.Stream()

    def both():
        with torch.cuda.stream(one):
            first.replay()
        with torch.cuda.stream(two):
            second.replay()
    record("graph-two-at-once", both, 6)
    KEEP.extend((first, second))


def on(streams, works, rounds):
    def run():
        for _ in range(rounds):
            for stream, work in zip(streams, works):
                with torch.cuda.stream(stream):
                    work()
    return run


def eager_streams():
    streams = [torch.cuda.Stream() for _ in range(4)]
    for n, count in ((1024, 2), (2048, 2), (2048, 3), (1536, 4)):
        works = [product(n, torch.bfloat16) for _ in range(count)]
        record("streams-products-%d-%d" % (n, count), on(streams, works, 16), 2)
    works = [product(1024, torch.float32) for _ in range(3)]
    record("streams-products-float-3", on(streams, works, 10), 2)
    for spread in (0, 20, 60):
        works = [lambda i=i: spin(60, 132, 256, spread, ONE_A_SM, 3 + i) for i in range(2)]
        record("streams-one-a-sm-spread-%d" % spread, on(streams, works, 10), 2)
    works = [lambda: spin(80, 132, 512, 40, ONE_A_SM, 5), lambda: spin(40, 100, 256, 10, ONE_A_SM, 6),
             lambda: spin(30, 264, 256, 10, 0, 7)]
    record("streams-one-a-sm-mixed-3", on(streams, works, 8), 2)
    works = [lambda: spin(60, 128, 256, 20, 0, 1, CLUSTER), lambda: spin(40, 528, 512, 10, 0, 2)]
    record("streams-clusters-2", on(streams, works, 8), 2)
    works = [mlp_branch(1024, 512, 2) for _ in range(4)]
    record("streams-experts-4", on(streams, works, 4), 2)


def eager_events():
    current = torch.cuda.current_stream()
    sides = [torch.cuda.Stream() for _ in range(3)]
    nodes = [product(1024, torch.bfloat16) for _ in range(4)]

    def diamond():
        for _ in range(6):
            spin(40, 64)
            for side, node in zip(sides, nodes):
                side.wait_stream(current)
                with torch.cuda.stream(side):
                    node()
                    node()
            for side in sides:
                current.wait_stream(side)
    record("events-diamond-4", diamond, 2)
    host = [torch.randn(1 << 20).pin_memory() for _ in range(8)]
    device = [torch.empty(1 << 20, device="cuda") for _ in range(8)]
    copier, taker, back = sides
    out = torch.empty(1 << 20).pin_memory()

    def pipeline():
        for from_host, there in zip(host, device):
            with torch.cuda.stream(copier):
                there.copy_(from_host, non_blocking=True)
            taker.wait_stream(copier)
            with torch.cuda.stream(taker):
                there.mul_(2)
                spin(60, 132, 256, 10)
            back.wait_stream(taker)
            with torch.cuda.stream(back):
                out.copy_(there, non_blocking=True)
    record("events-pipeline-3", pipeline, 2)
    nets = [mlp_branch(2048, 512, 2) for _ in range(2)]

    def ping_pong():
        for _ in range(4):
            for side, net in zip(sides, nets):
                side.wait_stream(sides[0] if side is sides[1] else sides[1])
                with torch.cuda.stream(side):
                    net()
    record("events-ping-pong-2", ping_pong, 2)


def copies_within():
    one, two = torch.cuda.Stream(), torch.cuda.Stream()
    source, target = torch.ones(1 << 25, device="cuda"), torch.empty(1 << 25, device="cuda")
    for blocks, threads, elements in ((1, 128, 1 << 20), (24, 512, 1 << 23), (24, 512, 1 << 18), (64, 1024, 1 << 23),
                                      (132, 256, 1 << 22), (264, 1024, 1 << 22), (1056, 256, 1 << 20)):
        def beside():
            with torch.cuda.stream(one):
                spin(900, blocks, threads)
                spin(300, blocks, threads)
            with torch.cuda.stream(two):
                for _ in range(12):
                    target[:elements].copy_(source[:elements])
                    spin(10, 8)
            with torch.cuda.stream(one):
                spin(50, blocks, threads)
        record("within-%d-%d-%d" % (blocks, threads, elements), beside, 2)

    def copy_first():
        with torch.cuda.stream(two):
            spin(100, 4)
            for _ in range(6):
                target.copy_(source)
        with torch.cuda.stream(one):
            for _ in range(20):
                spin(60, 24, 512)
    record("within-copies-first", copy_first, 2)


def main():
    torch.manual_seed(1)
    torch.cuda.init()
    spin(1)
    torch.cuda.synchronize()
    for group in (graph_cases, eager_streams, copies_within, eager_events):
        group()
    with open(os.path.join(FOLDER, "times.txt"), "w") as file:
        file.write("torch %s, CUDA %s, %s\n" % (torch.__version__, torch.version.cuda, torch.cuda.get_device_name()))
        file.write("\n".join(TIMES) + "\n")


if __name__ == "__main__":
    main()
