"""Persistent kernels of Triton whose tasks are scopes of its profiler (proton), recorded on a GPU:

    python3 traces/record/persistent.py PROGRAM MODE FOLDER

writes FOLDER/PROGRAM_MODE.chrome_trace, which `gridtide run --task-costs` and `gridtide stats --recorded-tasks` read, and prints how
long the kernel takes without the profiler, by CUPTI: the median of 20 launches. PROGRAM is product, mixed, attention, taken, pairs
or few; MODE one of MODES below with a number, as in default-1. tests/data/persistent_graphs.py has the task graphs. One launch a file,
after one that nobody records.
"""
import os
import sys

import torch
import triton
import triton.language as tl
import triton.profiler as proton
import triton.profiler.language as pl
from torch.profiler import ProfilerActivity, profile
from triton.profiler.mode import Default

pl.enable_semantic("triton")


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BLOCKS: tl.constexpr):
    """C = A B, a tile of C a task."""
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * tiles_n
    for tile in range(pid, tiles, BLOCKS):
        pl.enter_scope("tile")
        om = (tile // tiles_n) * BM + tl.arange(0, BM)
        on = (tile % tiles_n) * BN + tl.arange(0, BN)
        ok = tl.arange(0, BK)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            x = tl.load(a + om[:, None] * K + (k * BK + ok)[None, :])
            y = tl.load(b + (k * BK + ok)[:, None] * N + on[None, :])
            acc = tl.dot(x, y, acc)
        pl.exit_scope("tile")
        pl.enter_scope("store")
        tl.store(c + om[:, None] * N + on[None, :], acc.to(tl.float16))
        pl.exit_scope("store")


@triton.jit
def mixed(x, y, n_tasks, SIZE: tl.constexpr, BLOCKS: tl.constexpr):
    """Three kinds of tasks; each block does one of them."""
    pid = tl.program_id(0)
    for task in range(pid, n_tasks, BLOCKS):
        at = x + task * SIZE + tl.arange(0, SIZE)
        kind = task % 3
        if kind == 0:
            pl.enter_scope("copy")
            tl.store(y + task * SIZE + tl.arange(0, SIZE), tl.load(at))
            pl.exit_scope("copy")
        elif kind == 1:
            pl.enter_scope("softmax")
            v = tl.load(at)
            e = tl.exp(v - tl.max(v, 0))
            tl.store(y + task * SIZE + tl.arange(0, SIZE), e / tl.sum(e, 0))
            pl.exit_scope("softmax")
        else:
            pl.enter_scope("power")
            v = tl.load(at)
            for _ in range(64):
                v = v * 0.999 + 0.001
            tl.store(y + task * SIZE + tl.arange(0, SIZE), v)
            pl.exit_scope("power")


@triton.jit
def attention(q, k, v, o, heads, LENGTH: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
              BLOCKS: tl.constexpr):
    """Causal attention: a task is BM queries of a head, which look at all keys before them: long tasks first."""
    tiles: tl.constexpr = LENGTH // BM
    for task in range(tl.program_id(0), tiles * heads, BLOCKS):
        tile = tiles - 1 - task // heads
        base = (task % heads) * LENGTH * D
        pl.enter_scope("attend")
        om = tile * BM + tl.arange(0, BM)
        od = tl.arange(0, D)
        x = tl.load(q + base + om[:, None] * D + od[None, :])
        most = tl.full((BM,), -1e30, dtype=tl.float32)
        total = tl.zeros((BM,), dtype=tl.float32)
        acc = tl.zeros((BM, D), dtype=tl.float32)
        for start in range(0, (tile + 1) * BM, BN):
            on = start + tl.arange(0, BN)
            y = tl.load(k + base + on[None, :] * D + od[:, None])
            s = tl.dot(x, y) * 0.125
            s = tl.where(om[:, None] >= on[None, :], s, -1e30)
            now = tl.maximum(most, tl.max(s, 1))
            p = tl.exp(s - now[:, None])
            scale = tl.exp(most - now)
            total = total * scale + tl.sum(p, 1)
            z = tl.load(v + base + on[:, None] * D + od[None, :])
            acc = acc * scale[:, None]
            acc = tl.dot(p.to(tl.float16), z, acc)
            most = now
        pl.exit_scope("attend")
        pl.enter_scope("write")
        tl.store(o + base + om[:, None] * D + od[None, :], (acc / total[:, None]).to(tl.float16))
        pl.exit_scope("write")


@triton.jit
def taken(x, y, counter, n_tasks, SIZE: tl.constexpr):
    """Tasks of three lengths in a shuffled order; a block takes the next one that none has."""
    task = tl.atomic_add(counter, 1)
    while task < n_tasks:
        at = x + task * SIZE + tl.arange(0, SIZE)
        kind = (task * 7919 + task // 3) % 3
        if kind == 0:
            pl.enter_scope("light")
            v = tl.load(at)
            for _ in range(16):
                v = v * 0.999 + 0.001
            tl.store(y + task * SIZE + tl.arange(0, SIZE), v)
            pl.exit_scope("light")
        elif kind == 1:
            pl.enter_scope("middle")
            v = tl.load(at)
            for _ in range(128):
                v = v * 0.999 + 0.001
            tl.store(y + task * SIZE + tl.arange(0, SIZE), v)
            pl.exit_scope("middle")
        else:
            pl.enter_scope("heavy")
            v = tl.load(at)
            for _ in range(256):
                v = v * 0.999 + 0.001
            tl.store(y + task * SIZE + tl.arange(0, SIZE), v)
            pl.exit_scope("heavy")
        task = tl.atomic_add(counter, 1)


@triton.jit
def pairs(x, y, n_tasks, SIZE: tl.constexpr, BLOCKS: tl.constexpr):
    """Two blocks an SM; every task is two scopes within one: it sums what it loads many times, then writes."""
    for task in range(tl.program_id(0), n_tasks, BLOCKS):
        if task % 2 == 0:
            pl.enter_scope("sum")
            pl.enter_scope("read")
            v = tl.load(x + task * SIZE + tl.arange(0, SIZE))
            for i in range(1, 6):
                v += tl.load(x + ((task + i * 37) % n_tasks) * SIZE + tl.arange(0, SIZE))
            pl.exit_scope("read")
            tl.store(y + task * SIZE + tl.arange(0, SIZE), v)
            pl.exit_scope("sum")
        else:
            pl.enter_scope("root")
            v = tl.load(x + task * SIZE + tl.arange(0, SIZE))
            for _ in range(24):
                v = tl.sqrt(v * v + 1.0)
            tl.store(y + task * SIZE + tl.arange(0, SIZE), v)
            pl.exit_scope("root")


LENGTH, HEADS, D = 2048, 32, 64
MODES = {"default": {}, "shift": {"optimizations": "time_shift"}, "clock32": {"optimizations": "clock32"},
         "big": {"buffer_size": 65536}, "global": {"buffer_type": "global", "buffer_size": 65536}}
x = torch.randn(1056 * 4096, device="cuda")
y = torch.empty_like(x)
counter = torch.zeros(1, device="cuda", dtype=torch.int32)


def halves(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float16)


def launch_product():
    a, b, c = halves(2048, 1024), halves(1024, 4096), halves(2048, 4096)
    return lambda: product[(132,)](a, b, c, 2048, 4096, 1024, 128, 128, 64, 132, num_warps=8, num_stages=3)


def launch_mixed():
    return lambda: mixed[(132,)](x, y, 600, 4096, 132, num_warps=4)


def launch_attention():
    q, k, v, o = (halves(HEADS * LENGTH * D) for _ in range(4))
    return lambda: attention[(132,)](q, k, v, o, HEADS, LENGTH, D, 128, 64, 132, num_warps=8, num_stages=2)


def launch_taken():
    def launch():
        counter.zero_()
        taken[(132,)](x, y, counter, 900, 4096, num_warps=4)
    return launch


def launch_pairs():
    return lambda: pairs[(264,)](x, y, 1056, 4096, 264, num_warps=4)


def launch_few():
    return lambda: pairs[(100,)](x, y, 650, 4096, 100, num_warps=4)


def unprofiled_us(launch):
    with profile(activities=[ProfilerActivity.CUDA]) as got:
        for _ in range(20):
            launch()
        torch.cuda.synchronize()
    kernels = ("product", "mixed", "attention", "taken", "pairs")
    times = sorted(event.time_range.elapsed_us() for event in got.events() if event.name in kernels)
    return times[len(times) // 2]


def main(program, mode, folder):
    launch = globals()["launch_" + program]()
    launch()
    torch.cuda.synchronize()
    print(program, mode, "unprofiled us %.1f" % unprofiled_us(launch))
    proton.start(os.path.join(folder, program + "_" + mode), data="trace", backend="instrumentation",
                 mode=Default(**MODES[mode.split("-")[0]]))
    launch()
    torch.cuda.synchronize()
    proton.finalize()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
