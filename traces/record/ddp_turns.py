"""Time training steps on 1 and 2 GPUs, all forms of a model in turns, then record them: traces/training.

    python3 ddp_turns.py developed|judged|fresh|SEED OUTPUT-FOLDER [SECONDS [MODEL...]]

SEED: models that are drawn from it (drawn_models.py).  A process a GPU; its threads of Python and of the backward pass are held on
one core, those of DataParallel on as many as there are GPUs (cores.py says why).  For each model all forms (FORMS says which; `one` and `dp` by the process of GPU
0 alone) are first timed in turns, ROUNDS times over, so that all see the host at the same pace; no profiler has run in these
processes then, since CUPTI slows every call from its first use on.  times.jsonl has a line a form and rank: medians, us a step,
by round too; `pace_us`, what a small launch took before each round; `phases_us`, what the host took for each part of a step.
Then come the profiles, as ddp.py makes them.  Each GPU has the batch that the one GPU has.
Keep NVLink multicast off (NCCL_NVLS_ENABLE=0).
"""
import contextlib
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DataParallel, DistributedDataParallel

import cores
import ddp_models
import drawn_models
from ddp import GPUS, all_reduces, attempt, record

WARM_STEPS = 5    # that nobody times: buckets are made anew after the first, cuDNN and cuBLAS choose
ROUNDS, GROUPS, ROUND_WARM_STEPS = 4, 2, 3
TIMED_STEPS, PHASE_STEPS = {"dp": 4}, 8

# name: bucket_cap_mb, forward and backward passes a step
WIDE, CORES = [], []   # of this process: all that it may run on; those that it is held on

FORMS = {"one": (None, 1), "dp": (None, 1), "ddp": (None, 1), "ddp-bucket-5": (5, 1), "ddp-accumulate-2": (None, 2)}
PROFILED = ("one", "ddp", "dp")


class Training:
    """A step of a case: `parts` times forward and backward, then the optimiser."""

    def __init__(self, case, module, gpu, parts=1):
        self.case, self.module, self.parts = case, module, parts
        self.optimiser = case.make_optimiser(module.parameters())
        self.inputs, self.targets = case.inputs.cuda(gpu), case.targets.cuda(gpu)
        self.phases = None

    def phase(self, name, start):
        end = time.perf_counter()
        if self.phases is not None:
            self.phases.setdefault(name, []).append(1e6 * (end - start))
        return end

    def part(self):
        start = time.perf_counter()
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.case.autocast):
            outputs = self.module(self.inputs)
            start = self.phase("forward", start)
            loss = self.case.loss(outputs, self.targets)
        start = self.phase("loss", start)
        loss.backward()
        self.phase("backward", start)

    def step(self):
        start = time.perf_counter()
        self.optimiser.zero_grad(set_to_none=True)
        self.phase("zero_grad", start)
        for i in range(self.parts):
            apart = i + 1 < self.parts and hasattr(self.module, "no_sync")
            with self.module.no_sync() if apart else contextlib.nullcontext():
                self.part()
        start = time.perf_counter()
        self.optimiser.step()
        self.phase("optimiser", start)


def pace(rank):
    """us that a small launch takes the host: the median of a few hundred."""
    value = torch.zeros(1, device=rank)
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(100):
            value.add_(1)
        times.append(1e4 * (time.perf_counter() - start))
    return statistics.median(times)


def timed(training, steps):
    """us a step, free running: of each group, and by events of each step."""
    groups, single = [], []
    for _ in range(ROUND_WARM_STEPS):
        training.step()
    for _ in range(GROUPS):
        torch.cuda.synchronize()
        events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
        start = time.perf_counter()
        events[0].record()
        for event in events[1:]:
            training.step()
            event.record()
        torch.cuda.synchronize()
        groups.append(1e6 * (time.perf_counter() - start) / steps)
        single += [1e3 * a.elapsed_time(b) for a, b in zip(events[2:], events[3:])]
    return groups, single


def watch(training, holder, name):
    """Time what a method of the parallel module takes the host."""
    method = getattr(holder, name)

    def watched(*args, **kwargs):
        start = time.perf_counter()
        result = method(*args, **kwargs)
        training.phase(name, start)
        return result
    object.__setattr__(holder, name, watched)


def phases(training):
    """Host times of a step's parts, us: medians over steps that each begin with an idle GPU."""
    module = training.module
    for name in ("scatter", "replicate", "parallel_apply", "gather", "_pre_forward", "_post_forward"):
        if isinstance(module, (DataParallel, DistributedDataParallel)) and hasattr(module, name):
            watch(training, module, name)
    if isinstance(module, DataParallel):
        starts = {}
        module.module.register_forward_pre_hook(
            lambda replica, _: starts.__setitem__(id(replica), time.perf_counter()))

        def ended(replica, _, __):
            training.phase("replica_forward", starts[id(replica)])
        module.module.register_forward_hook(ended)
    training.phases = {}
    for _ in range(PHASE_STEPS):
        training.step()
        start = time.perf_counter()
        torch.cuda.synchronize()
        training.phase("rest", start)
    found, training.phases = training.phases, None
    return {name: round(statistics.median(times), 1) for name, times in found.items()}


def hold(form):
    cores.hold(CORES[:GPUS if form == "dp" else 1])


def made(name, table, form, rank):
    """The training of that form; None where another rank does it alone."""
    bucket, parts = FORMS[form]
    if rank > 0 and not form.startswith("ddp"):
        return None
    torch.manual_seed(1)
    with torch.device("cuda", rank):
        case = table[name](GPUS if form == "dp" else 1)
    module = case.module
    if form == "dp":
        module = DataParallel(module, device_ids=list(range(GPUS)))
    elif form != "one":
        module = DistributedDataParallel(module, device_ids=[rank], bucket_cap_mb=bucket)
    return Training(case, module, rank, parts)


def warmed(name, table, form, rank):
    training = made(name, table, form, rank)
    for _ in range(WARM_STEPS if training else 0):
        training.step()
    torch.cuda.synchronize()
    return training


class Timing:
    """What was timed of a form."""

    def __init__(self, training):
        self.training, self.groups, self.steps, self.rounds, self.pace = training, [], [], [], []

    def row(self, name, form, rank):
        module = self.training.module
        sizes = [p.numel() * p.element_size() for p in module.parameters()]
        return {"model": name, "form": form, "rank": rank, "torch": torch.__version__,
                "group_us": statistics.median(self.groups), "step_us": statistics.median(self.steps),
                "quartiles_us": statistics.quantiles(self.steps, n=4), "rounds_us": self.rounds,
                "pace_us": [round(value, 3) for value in self.pace], "gradients": len(sizes),
                "gradient_bytes": sum(sizes), "buffers": sum(1 for _ in module.buffers()),
                "modules": sum(1 for _ in module.modules()), "phases_us": attempt(f"{name} {form} phases", lambda: phases(self.training))}


def measure(name, table, rank, together, folder):
    timings = {}
    for form in FORMS:
        training = attempt(f"{name} {form} rank {rank}", lambda form=form: warmed(name, table, form, rank))
        timings[form] = Timing(training) if training else None
        together()
    for _ in range(ROUNDS):
        for form, timing in timings.items():
            together()
            if timing is None:
                continue
            hold(form)
            timing.pace.append(pace(rank))
            if form.startswith("ddp"):
                together()
            groups, steps = attempt(f"{name} {form}", lambda timing=timing, form=form: timed(
                timing.training, TIMED_STEPS.get(form, 8))) or ([], [])
            if not steps:
                continue
            timing.groups += groups
            timing.steps += steps
            timing.rounds.append(round(statistics.median(steps), 1))
    for form, timing in timings.items():
        together()
        if timing is None:
            continue
        hold(form)
        row = attempt(f"{name} {form} row", lambda timing=timing, form=form: timing.row(name, form, rank))
        if row is None:
            continue
        with open(os.path.join(folder, "times.jsonl"), "a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{time.perf_counter():.1f} {name} {form} rank {rank}: {row['step_us']:.0f} us {timing.rounds}", flush=True)


def profiles(name, table, rank, together, folder):
    """The profiler's own threads are made while the calling one may run on all cores."""
    for form in PROFILED:
        def begin(form=form):
            hold(form)
            if form.startswith("ddp"):
                together()
        training = attempt(f"{name} {form} rank {rank}", lambda form=form: warmed(name, table, form, rank))
        if training:
            path = os.path.join(folder, f"{name}.{form}.rank{rank}")
            os.sched_setaffinity(0, WIDE)
            attempt(path, lambda: record(training, path, begin))
        together()


def process(rank, which, folder, seconds, names, barrier):
    """What one rank does; every decision about time is rank 0's, so that no rank waits for one that gave up."""
    start = time.perf_counter()
    WIDE[:] = cores.share(rank, GPUS)
    CORES[:] = cores.fastest(WIDE, GPUS)
    print(f"rank {rank} on cores {CORES}", flush=True)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29513")
    torch.cuda.set_device(rank)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    dist.init_process_group("nccl", rank=rank, world_size=GPUS, device_id=torch.device("cuda", rank))
    together = barrier.wait
    table = drawn_models.drawn(which) if which.isdigit() else getattr(ddp_models, which.upper())
    go_on, done = torch.zeros(1, device=rank), []
    attempt("all_reduces", lambda: all_reduces(rank, folder))
    for action, share in ((measure, 0.7), (profiles, 1)):
        for name in (names or list(table)) if action is measure else done:
            go_on.fill_(time.perf_counter() - start < share * seconds)
            dist.broadcast(go_on, 0)
            if not go_on.item():
                print(action.__name__, name, "left out", flush=True)
                continue
            if action is measure:
                done = done + [name]
            attempt(f"{action.__name__} {name}", lambda: action(name, table, rank, together, folder))
            torch.cuda.empty_cache()
            together()
    dist.destroy_process_group()


def main():
    which, folder = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 1e9
    os.makedirs(folder, exist_ok=True)
    barrier = mp.get_context("spawn").Barrier(GPUS, timeout=25)
    mp.spawn(process, (which, folder, seconds, sys.argv[4:], barrier), nprocs=GPUS)


if __name__ == "__main__":
    main()
