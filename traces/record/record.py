"""Record the sample traces: PyTorch programs and, through ctypes, the CUDA programs of workloads.cu.

    nvcc -O2 -arch=sm_90 -shared -Xcompiler -fPIC -cudart shared -o libworkloads.so workloads.cu
    python3 record.py ./libworkloads.so OUTPUT-FOLDER

Every program runs three times before it is recorded; the wall time of further runs without the
profiler goes to times.txt.
"""
import ctypes
import gzip
import json
import os
import statistics
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile, record_function

KEPT = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "cuda_sync", "cuda_event"}


def record(name, program, folder, times):
    for _ in range(3):
        program()
    torch.cuda.synchronize()
    walls = []
    for _ in range(15):
        start = time.perf_counter()
        program()
        torch.cuda.synchronize()
        walls.append(1e6 * (time.perf_counter() - start))
    config = torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], experimental_config=config) as prof:
        program()  # the profiler's own first calls take milliseconds: not kept
        torch.cuda.synchronize()
        with record_function("kept"):
            program()
            torch.cuda.synchronize()
    path = os.path.join(folder, name + ".json")
    prof.export_chrome_trace(path)
    with open(path) as file:
        trace = json.load(file)
    # What the CPU did besides calling CUDA is of no use here and several times the size.
    begin = min(e["ts"] for e in trace["traceEvents"] if e.get("name") == "kept")
    trace["traceEvents"] = [e for e in trace["traceEvents"]
                            if e.get("ph") == "M" or e.get("cat") in KEPT and e["ts"] >= begin]
    with gzip.GzipFile(path + ".gz", "wb", mtime=0) as file:
        file.write(json.dumps(trace, separators=(",", ":")).encode())
    os.unlink(path)
    times.write("%s: median %.0f us, fastest %.0f us of 15 runs without profiler\n"
                % (name, statistics.median(walls), min(walls)))


def launch(program):
    """Run a program once for `ncu --profile-from-start off`, after three times unseen."""
    for _ in range(3):
        program()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStart()
    program()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStop()


def training_step():
    layers = [layer for _ in range(4) for layer in (torch.nn.Linear(1024, 1024), torch.nn.GELU())]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = torch.randn(256, 1024).pin_memory()

    def step():
        batch = data.to("cuda", non_blocking=True)
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss.item()
    return step


def prefetch(batch_count=6):
    """Copies on a stream of their own, two batches ahead of the compute stream, joined by events."""
    weights = torch.randn(2048, 2048, device="cuda")
    batches = [torch.randn(2048, 2048).pin_memory() for _ in range(batch_count)]
    copier = torch.cuda.Stream()

    def run():
        ready, arrived = [], []
        for batch in batches:
            with torch.cuda.stream(copier):
                ready.append(batch.to("cuda", non_blocking=True))
                event = torch.cuda.Event()
                event.record(copier)
                arrived.append(event)
        total = torch.zeros((), device="cuda")
        for batch, event in zip(ready, arrived):
            torch.cuda.current_stream().wait_event(event)
            total += (batch @ weights).sum()
        return total.item()
    return run


def transformer_graph():
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, dropout=0.0).cuda().half().eval()
    data = torch.randn(8, 128, 512, device="cuda").half()
    stream = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(stream):
        for _ in range(3):
            layer(data)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        out = data
        for _ in range(4):
            out = layer(out)

    def run():
        graph.replay()
        graph.replay()
    return run


def main():
    library = ctypes.CDLL(sys.argv[1])
    folder = sys.argv[2]
    torch.manual_seed(1)
    torch.cuda.init()
    library.setup()
    programs = {"cuda-overlap-%d" % n: (lambda n=n: library.overlap(n)) for n in (1, 2, 4)}
    programs.update({"cuda-" + name.replace("_", "-"): getattr(library, name)
                     for name in ("default_stream", "priority", "fork_join", "leftover")})
    programs["pytorch-training-step"] = training_step()
    programs["pytorch-prefetch"] = prefetch()
    programs["pytorch-transformer-graph"] = transformer_graph()
    with open(os.path.join(folder, "times.txt"), "w") as times:
        for name, program in programs.items():
            record(name, program, folder, times)


if __name__ == "__main__":
    main()
