"""Record small PyTorch programs whose streams are in order, and some that are not.

    python3 torch_streams.py OUTPUT-FOLDER          # each with Kineto and the execution trace observer, beside each other
    python3 torch_streams.py OUTPUT-FOLDER sanitize # each under torch.cuda._sanitizer: sanitizer.txt

NAME.kineto.json.gz and NAME.et.json.gz are for `gridtide import kineto NAME.kineto.json.gz --execution-trace
NAME.et.json.gz`.
"""
import gzip
import json
import os
import sys
import traceback

import torch
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile, record_function

KEPT = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "cuda_sync", "cuda_event", "cpu_op",
        "user_annotation", "cpu_instant_event", "ac2g"}
SIZE = 256


def mlp():
    """A training step in the default stream alone."""
    model = torch.nn.Sequential(torch.nn.Linear(SIZE, SIZE), torch.nn.ReLU(), torch.nn.Linear(SIZE, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data = torch.randn(64, SIZE).pin_memory()

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = model(data.to("cuda", non_blocking=True)).square().mean()
        loss.backward()
        optimizer.step()
    return step


def attention():
    """A training step of a transformer layer with AdamW."""
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, dropout=0.1).cuda()
    optimizer = torch.optim.AdamW(layer.parameters(), lr=1e-3)
    data = torch.randn(4, 32, 64, device="cuda")

    def step():
        optimizer.zero_grad()
        layer(data).square().sum().backward()
        optimizer.step()
    return step


def side(before, after):
    """A product in a side stream that needs what the default stream makes, and is needed there."""
    weights = torch.randn(SIZE, SIZE, device="cuda")
    stream = torch.cuda.Stream()

    def run():
        made = weights.mul(2)
        if before:
            stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            product = made @ weights
        if after:
            torch.cuda.current_stream().wait_stream(stream)
        total = product.sum()
        torch.cuda.synchronize()
        return total
    return run


def prefetch(ordered):
    """Copies in a stream of their own, each waited for by an event, or not."""
    batches = [torch.randn(SIZE, SIZE).pin_memory() for _ in range(3)]
    here = [torch.empty(SIZE, SIZE, device="cuda") for _ in range(3)]
    weights = torch.randn(SIZE, SIZE, device="cuda")
    copier = torch.cuda.Stream()

    def run():
        events = []
        copier.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(copier):
            for batch, to in zip(batches, here):
                to.copy_(batch, non_blocking=True)
                events.append(copier.record_event())
        for to, event in zip(here, events):
            if ordered:
                torch.cuda.current_stream().wait_event(event)
            (to @ weights).sum()
        torch.cuda.synchronize()
    return run


def views(apart):
    """Two streams write halves of one tensor, which overlap or not."""
    whole = torch.zeros(2 * SIZE, SIZE, device="cuda")
    first, second = torch.cuda.Stream(), torch.cuda.Stream()

    def run():
        first.wait_stream(torch.cuda.current_stream())
        second.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(first):
            whole[:SIZE].add_(1)
        with torch.cuda.stream(second):
            whole[SIZE if apart else SIZE // 2:].mul_(2)
        torch.cuda.synchronize()
    return run


def reuse(recorded):
    """A tensor that a side stream reads is freed, and its memory given out again in the default stream."""
    stream = torch.cuda.Stream()
    out = torch.zeros(3 * SIZE, 3 * SIZE, device="cuda")

    def run():
        made = torch.full((3 * SIZE, 3 * SIZE), 1.0, device="cuda")
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(20):
                torch.mm(made, made, out=out)
        if recorded:
            made.record_stream(stream)
        del made
        if recorded:
            torch.cuda.synchronize()
        again = torch.full((3 * SIZE, 3 * SIZE), 2.0, device="cuda")
        torch.cuda.synchronize()
        return again
    return run


def backward(pattern):
    """The six patterns of PyTorch's note on backward passes in side streams."""
    weights = torch.randn(SIZE, SIZE, device="cuda", requires_grad=True)
    data = torch.randn(SIZE, SIZE, device="cuda")
    stream = torch.cuda.Stream()

    def forward():
        return (data @ weights).sum()

    def use_in_side():
        with torch.cuda.stream(stream):
            forward().backward()
            weights.grad.mul(2)

    def use_in_default(wait):
        with torch.cuda.stream(stream):
            forward().backward()
        if wait:
            torch.cuda.current_stream().wait_stream(stream)
        weights.grad.mul(2)

    def gradient_in_side():
        with torch.cuda.stream(stream):
            loss = forward()
            loss.backward(torch.ones_like(loss))

    def gradient_in_default(wait):
        with torch.cuda.stream(stream):
            loss = forward()
        initial = torch.ones_like(loss)
        if wait:
            stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            if wait:
                initial.record_stream(stream)
            loss.backward(initial)

    patterns = [use_in_side, lambda: use_in_default(False), lambda: use_in_default(True), gradient_in_side,
                lambda: gradient_in_default(False), lambda: gradient_in_default(True)]

    def run():
        weights.grad = None
        torch.cuda.synchronize()
        patterns[pattern]()
        torch.cuda.synchronize()
    return run


PROGRAMS = {
    "mlp": mlp, "attention": attention,
    "side-safe": lambda: side(True, True), "side-before": lambda: side(False, True),
    "side-after": lambda: side(True, False),
    "prefetch-safe": lambda: prefetch(True), "prefetch-racy": lambda: prefetch(False),
    "views-apart": lambda: views(True), "views-overlap": lambda: views(False),
    "reuse-recorded": lambda: reuse(True), "reuse-racy": lambda: reuse(False),
    **{"backward-%d" % (n + 1): lambda n=n: backward(n) for n in range(6)},
}


def write(path, trace):
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        file.write(json.dumps(trace, separators=(",", ":")).encode())


def record(name, make, folder):
    program = make()
    for _ in range(3):
        program()
    torch.cuda.synchronize()
    config = torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)
    raw = os.path.join(folder, name + ".raw")
    observer = ExecutionTraceObserver()
    observer.register_callback(raw)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True, record_shapes=True,
                 experimental_config=config) as prof:
        program()  # the profiler's own first calls take milliseconds: not kept
        torch.cuda.synchronize()
        observer.start()
        with record_function("kept"):
            program()
            torch.cuda.synchronize()
        observer.stop()
    observer.unregister_callback()
    path = os.path.join(folder, name + ".kineto.json")
    prof.export_chrome_trace(path)
    with open(path) as file:
        trace = json.load(file)
    begin = min(e["ts"] for e in trace["traceEvents"] if e.get("name") == "kept")
    trace["traceEvents"] = [e for e in trace["traceEvents"]
                            if e.get("ph") == "M" or e.get("cat") in KEPT - {"ac2g"} and e["ts"] >= begin]
    write(path + ".gz", trace)
    os.unlink(path)
    with open(raw) as file:
        write(os.path.join(folder, name + ".et.json.gz"), json.load(file))
    os.unlink(raw)


def sanitize(name, make, log):
    """How many errors the sanitizer tells of one run, without stopping at the first."""
    import torch.cuda._sanitizer as sanitizer
    tool = sanitizer.cuda_sanitizer
    handler = tool.dispatch.event_handler
    original = handler._handle_kernel_launch
    told = []

    def collect(*arguments):
        told.extend(original(*arguments))
        return []
    handler._handle_kernel_launch = collect
    tool.enable()
    program = make()
    torch.cuda.synchronize()
    program()
    torch.cuda.synchronize()
    told.clear()
    program()
    torch.cuda.synchronize()
    log.write("%s: %d\n" % (name, len(told)))
    for error in told[:3]:
        log.write("    %s\n" % str(error).replace("\n", "\n    "))


def main():
    folder = sys.argv[1]
    torch.manual_seed(1)
    torch.cuda.init()
    if sys.argv[2:3] == ["sanitize"]:
        with open(os.path.join(folder, "sanitizer.txt"), "a") as log:
            name = sys.argv[3]
            sanitize(name, PROGRAMS[name], log)
        return
    for name, make in PROGRAMS.items():
        try:
            record(name, make, folder)
        except Exception:  # the others are worth having
            traceback.print_exc()


if __name__ == "__main__":
    main()
