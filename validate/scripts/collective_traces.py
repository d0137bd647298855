#!/usr/bin/env python3
"""Draw traces with collectives of two GPUs: collective_traces.py SEED COUNT FOLDER.

Families: sizes (a series of one kind each), late (a rank comes behind a kernel), beside (kernels that want the same SMs),
buckets (a backward pass with all-reduces beside it, as DistributedDataParallel has them), oneway (one rank sends, the other gets,
from the same moment on or one of them later), memory (kernels that read and write DRAM meanwhile), copies (from GPU to GPU
meanwhile), peers (kernels that work in the other GPU's memory). A host thread a rank; every kernel spins, so that it is played as
it is simulated, but for those of `peers`, which last as the device file says, and of `memory`, which are traces/scenarios/pairs'
and whose cost is their programs' (profile1.jsonl.zst and profile2.jsonl.zst there).
collective_traces.py SEED COUNT FOLDER FAMILY... draws these families alone.
"""
import json
import os
import random
import sys

KINDS = ["all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce", "all_to_all"]
INNER = "(anonymous namespace)::"


def stream(number, operation, grid, block, registers, mib):
    name = f"void {INNER}stream<({INNER}operation){number}>({INNER}stream_arguments, gt_block_log*)"
    return {"kernel": name, "grid": grid, "block": block, "registers": registers, "runs": "stream",
            "arguments": {"operation": operation, "bytes": mib << 20}}


# As traces/scenarios/pairs.py has them.
WORKS = {
    "copy_16": stream(0, "copy", 16, 1024, 22, 32),
    "copy_33": stream(0, "copy", 33, 1024, 22, 64),
    "copy_66": stream(0, "copy", 66, 1024, 22, 128),
    "copy_99": stream(0, "copy", 99, 1024, 22, 192),
    "copy_256_threads": stream(0, "copy", 132, 256, 22, 128),
    "read_66": stream(3, "read", 66, 1024, 24, 256),
    "read_some": stream(3, "read", 66, 256, 24, 128),
}


class Trace:
    def __init__(self, name):
        self.lines = [{"gridtide": 1, "name": name, "device": "h200"}, {"group": "world", "gpus": [0, 1]}]
        self.calls = []
        for rank in (0, 1):
            self.lines.append({"thread": f"rank{rank}", "process": 100 + rank})
            for stream in ("compute", "comm"):
                self.lines.append({"stream": f"{stream}{rank}", "gpu": rank, "flags": ["non_blocking"]})

    def kernel(self, **fields):
        if fields not in self.lines:
            self.lines.append(fields)
        return fields["kernel"]

    def collective(self, kind, size):
        fields = {"collective": kind, "group": "world", "bytes": size}
        return self.kernel(kernel=f"{kind}-{size}", **fields)

    def spin(self, grid, block, us, shared=0):
        return self.kernel(kernel=f"spin-{grid}-{block}-{us}-{shared}", grid=grid, block=block, registers=32,
                           dynamic_shared_bytes=shared, block_us=us)

    def call(self, rank, call, **fields):
        self.calls.append({"call": call, "thread": f"rank{rank}", **fields})

    def launch(self, rank, kernel, stream):
        self.call(rank, "launch", kernel=kernel, stream=f"{stream}{rank}")

    def write(self, path):
        for rank in (0, 1):
            self.call(rank, "device_sync", stream=f"compute{rank}")
        with open(path, "w") as file:
            for line in self.lines + self.calls:
                file.write(json.dumps(line, separators=(",", ":")) + "\n")


def size(chance, low=6, high=27):
    return int(2 ** chance.uniform(low, high)) // 64 * 64 or 64


def sizes(chance, trace):
    kind = chance.choice(KINDS)
    for _ in range(chance.randint(3, 8)):
        kernel = trace.collective(kind, size(chance))
        for rank in (0, 1):
            trace.launch(rank, kernel, "comm")


def late(chance, trace):
    for _ in range(chance.randint(2, 4)):
        kernel = trace.collective(chance.choice(KINDS), size(chance))
        spin = trace.spin(1, 64, chance.randint(20, 600))
        behind = chance.randint(0, 1)
        trace.launch(behind, spin, "comm")
        for rank in (0, 1):
            trace.launch(rank, kernel, "comm")


def beside(chance, trace):
    """Blocks of several waves, so that the collective takes SMs from them or has to wait for some."""
    shared = chance.choice([0, 0, 100 * 1024, 200 * 1024])
    spin = trace.spin(chance.randint(132, 1400), chance.choice([128, 256, 512, 1024]), chance.randint(10, 80), shared)
    first = chance.random() < 0.5
    kernel = trace.collective(chance.choice(KINDS[:3]), size(chance, 18, 27))
    for rank in (0, 1):
        for what in ("spin", "collective") if first else ("collective", "spin"):
            trace.launch(rank, spin if what == "spin" else kernel, "compute" if what == "spin" else "comm")


def buckets(chance, trace):
    """Backward kernels, an event behind each bucket's last, its all-reduce in another stream; the optimiser after all."""
    steps = [(chance.randint(64, 800), chance.choice([128, 256]), chance.randint(10, 120)) for _ in range(chance.randint(4, 10))]
    per_bucket = chance.randint(1, 3)
    total = size(chance, 22, 28)
    for rank in (0, 1):
        events = 0
        for number, (grid, block, us) in enumerate(steps):
            trace.launch(rank, trace.spin(grid, block, us), "compute")
            if number % per_bucket == per_bucket - 1 or number == len(steps) - 1:
                ready, done = f"ready{rank}-{events}", f"done{rank}-{events}"
                events += 1
                trace.call(rank, "event_record", event=ready, stream=f"compute{rank}")
                trace.call(rank, "event_wait", event=ready, stream=f"comm{rank}")
                bytes_ = max(64, total // len(steps) * per_bucket // 64 * 64)
                trace.launch(rank, trace.collective("all_reduce", bytes_), "comm")
                trace.call(rank, "event_record", event=done, stream=f"comm{rank}")
        for number in range(events):
            trace.call(rank, "event_wait", event=f"done{rank}-{number}", stream=f"compute{rank}")
        trace.launch(rank, trace.spin(264, 256, 20), "compute")


def oneway(chance, trace):
    """Each behind a tiny all-reduce, after which both ranks set off at once, or one of them behind a kernel."""
    align = trace.collective("all_reduce", 64)
    for _ in range(chance.randint(3, 6)):
        kind, sender, bytes_ = chance.choice(["broadcast", "reduce", "send"]), chance.randint(0, 1), size(chance, 8, 28)
        behind = chance.choice([None, None, 0, 1])
        spin = trace.spin(1, 64, chance.choice([chance.randint(20, 100), chance.randint(100, 1000)]))
        for rank in (0, 1):
            if kind == "send":
                way = {"to": 1 - rank} if rank == sender else {"from": 1 - rank}
                kernel = trace.kernel(kernel=f"send-{bytes_}-{sender}-{rank}", collective="send_recv", group="world",
                                      bytes=bytes_, **way)
            else:
                root = sender if kind == "broadcast" else 1 - sender
                kernel = trace.kernel(kernel=f"{kind}-{bytes_}-{root}", collective=kind, group="world", bytes=bytes_,
                                      root=root)
            trace.launch(rank, align, "comm")
            if rank == behind:
                trace.launch(rank, spin, "comm")
            trace.launch(rank, kernel, "comm")


def memory(chance, trace):
    """Kernels in a row that keep DRAM busy, on one GPU or both, and two collectives that begin with them or before."""
    name = chance.choice(list(WORKS))
    work = trace.kernel(**WORKS[name])
    ranks, first = chance.choice([[0], [1], [0, 1], [0, 1]]), chance.random() < 0.5
    kernel = trace.collective(chance.choice(KINDS), size(chance, 22, 28))
    for rank in (0, 1):
        for what in ("work", "collective") if first else ("collective", "work"):
            for _ in range(2 if what == "collective" else 4):
                if what == "collective":
                    trace.launch(rank, kernel, "comm")
                elif rank in ranks:
                    trace.launch(rank, work, "compute")


def copies(chance, trace):
    """Copies between the two GPUs, one way or both, while a collective moves its data over the same links."""
    kernel = trace.collective(chance.choice(KINDS), size(chance, 22, 28))
    bytes_, ranks, pull = size(chance, 20, 27), chance.choice([[0], [1], [0, 1]]), chance.random() < 0.5
    first = chance.random() < 0.5
    for rank in (0, 1):
        for what in ("copy", "collective") if first else ("collective", "copy"):
            for _ in range(2):
                if what == "collective":
                    trace.launch(rank, kernel, "comm")
                elif rank in ranks:
                    trace.call(rank, "copy", direction="p2p", bytes=bytes_, stream=f"compute{rank}", peer_gpu=1 - rank,
                               from_peer=pull)


def peers(chance, trace):
    """Kernels that read or write the other GPU's memory, one to three at a time, beside copies or a collective or nothing."""
    beside = chance.choice(["nothing", "copies", "collective"])
    ranks = chance.choice([[0], [1], [0, 1]])
    for number in range(chance.randint(1, 2)):
        kernel = trace.kernel(kernel=f"peer{number}", grid=chance.choice([8, 16, 33, 66, 132, 264, chance.randint(1, 600)]),
                              block=chance.choice([128, 256, 512, 1024]), registers=32, runs="peer")
        bytes_, read = size(chance, 18, 27), chance.random() < 0.5
        for rank in ranks:
            trace.lines.append({"stream": f"peer{number}-{rank}", "gpu": rank, "flags": ["non_blocking"]})
            for _ in range(chance.randint(1, 3)):
                trace.call(rank, "launch", kernel=kernel, stream=f"peer{number}-{rank}", peer_gpu=1 - rank, from_peer=read,
                           bytes=bytes_)
    kind, bytes_, pull = chance.choice(KINDS[:3]), size(chance, 22, 27), chance.random() < 0.5
    for rank in (0, 1):
        if beside == "collective":
            trace.launch(rank, trace.collective(kind, bytes_), "comm")
        elif beside == "copies" and chance.random() < 0.7:
            trace.call(rank, "copy", direction="p2p", bytes=bytes_, stream=f"compute{rank}", peer_gpu=1 - rank,
                       from_peer=pull)


def main():
    seed, count, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    families = [sizes, late, beside, buckets]
    if len(sys.argv) > 4:
        families = [globals()[name] for name in sys.argv[4:]]
    os.makedirs(folder, exist_ok=True)
    for number in range(count):
        chance = random.Random(seed * 100003 + number)
        family = families[number % len(families)]
        name = f"{number:03d}-{family.__name__}"
        trace = Trace(name)
        family(chance, trace)
        trace.write(os.path.join(folder, name + ".jsonl"))


main()
