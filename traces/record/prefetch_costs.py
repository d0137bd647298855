"""What a prefetcher of batches costs the host in PyTorch, and the GPU's kernels the copies beside them.

    python3 prefetch_costs.py [PROCESSES]

Lines: host PART US, the median of 2000 turns in each process; beside WORK ALONE_US WITH_COPIES_US COPY_US COPY_BESIDE_US, where
copies in from pinned memory follow each other on another stream as long as the work lasts.
"""
import os
import statistics
import sys
import time

import torch
from torch import nn


def host_us(action, turns=2000):
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        action()
        times.append(1e6 * (time.perf_counter() - start))
    torch.cuda.synchronize()
    return statistics.median(times)


def parts():
    side, data = torch.cuda.Stream(), torch.ones(1024, device="cuda")
    current = torch.cuda.current_stream()

    def switch():
        with torch.cuda.stream(side):
            pass
    yield "stream-context", switch
    yield "wait-stream", lambda: current.wait_stream(side)
    yield "record-stream", lambda: data.record_stream(current)
    yield "current-stream", torch.cuda.current_stream


def gpu_us(work, copy):
    """Work's time, and that of a copy, while both are asked for again and again; without a copy where it is None."""
    side = torch.cuda.Stream()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    copies = 40
    torch.cuda.synchronize()
    if copy is not None:
        with torch.cuda.stream(side):
            first.record()
            for _ in range(copies):
                copy()
            last.record()
    begin.record()
    if work is not None:
        work()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3, first.elapsed_time(last) * 1e3 / copies if copy is not None else 0


def works():
    for name, rows, width, dtype in (("gemm-fp32", 3072, 2560, torch.float32), ("gemm-fp16", 8192, 4096, torch.float16)):
        weight = torch.randn(width, width, device="cuda", dtype=dtype) / width
        data = torch.randn(rows, width, device="cuda", dtype=dtype)
        yield name, lambda: [data @ weight for _ in range(6)]
    net = nn.Sequential(*[one for _ in range(4) for one in (nn.Conv2d(64, 64, 3, padding=1), nn.GroupNorm(4, 64), nn.SiLU())]).cuda()
    image = torch.randn(8, 64, 192, 192, device="cuda")
    yield "conv-fp32", lambda: net(image)
    big = torch.randn(1 << 26, device="cuda")
    yield "stream-dram", lambda: [big.mul_(1.0) for _ in range(6)]
    small = torch.randn(1 << 22, device="cuda")
    yield "stream-l2", lambda: [small.mul_(1.0) for _ in range(60)]


def main():
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    for _ in range(processes):
        child = os.fork()
        if child == 0:
            for name, action in parts():
                host_us(action, 100)
                print("host", name, "%.2f" % host_us(action), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
    source = torch.randn(4 << 20).pin_memory()
    target = torch.empty(4 << 20, device="cuda")

    def copy():
        target.copy_(source, non_blocking=True)
    with torch.no_grad():
        for name, work in works():
            for _ in range(3):
                gpu_us(work, copy)
            alone = statistics.median(gpu_us(work, None)[0] for _ in range(15))
            both = [gpu_us(work, copy) for _ in range(15)]
            copy_alone = statistics.median(gpu_us(None, copy)[1] for _ in range(15))
            print("beside", name, "%.1f %.1f" % (alone, statistics.median(one[0] for one in both)),
                  "%.1f %.1f" % (copy_alone, statistics.median(one[1] for one in both)), flush=True)


if __name__ == "__main__":
    main()
