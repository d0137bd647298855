"""Time training steps on 1 and 2 GPUs, all forms of a model in turns, then record them: traces/training.

    [GPUS=1] python3 ddp_turns.py developed|judged|fresh|SEED OUTPUT-FOLDER [SECONDS [MODEL...]]

SEED: models that are drawn from it (drawn_models.py).  A process a GPU; its threads of Python and of the backward pass are held on
one core (cores.py says why).  For each model all forms (FORMS says which; `one` by the process of GPU 0 alone) are first timed in turns, a few steps at a time, until enough of these groups had calm
cores before and behind them; only those count, where there are any.  No profiler has run in these processes then, since CUPTI
slows every call from its first use on.  GPUS=1: on one GPU, and by DistributedDataParallel with one rank (`ddp-alone`),
and a profile NAME.stack with Python's stack and memory.  times.jsonl has a line a form and rank: medians, us a step, and how many groups of how
many were calm; `phases_us`, what the host took for each part of a step.  Then come the profiles, each taken again until its cores
were calm.  Each GPU has the batch that the one GPU has.  Keep NVLink multicast off (NCCL_NVLS_ENABLE=0).
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
from torch.nn.parallel import DistributedDataParallel

import ddp_models
import drawn_models
from cores import Cores
from ddp import GPUS, all_reduces, attempt, profiled, written

WARM_STEPS = 5    # that nobody times: buckets are made anew after the first, cuDNN and cuBLAS choose
TURNS, TURN_WARM_STEPS, TURN_STEPS = 16, 2, 6
ENOUGH = 4        # calm groups
PHASE_STEPS, PROFILES = 8, 6

# name: bucket_cap_mb, forward and backward passes a step
FORMS = {"one": (None, 1), "ddp": (None, 1), "ddp-bucket-5": (5, 1), "ddp-accumulate-2": (None, 2)}
if GPUS == 1:
    FORMS = {"one": (None, 1), "one-accumulate-2": (None, 2), "ddp-alone": (None, 1), "ddp-alone-bucket-5": (5, 1),
             "ddp-alone-accumulate-2": (None, 2)}
PROFILED = ("one", "ddp")


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


def timed(training, steps):
    """us of each step, free running."""
    for _ in range(TURN_WARM_STEPS):
        training.step()
    torch.cuda.synchronize()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    events[0].record()
    for event in events[1:]:
        training.step()
        event.record()
    torch.cuda.synchronize()
    return [1e3 * a.elapsed_time(b) for a, b in zip(events[1:], events[2:])]


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
    for name in ("_pre_forward", "_post_forward"):
        if isinstance(module, DistributedDataParallel) and hasattr(module, name):
            watch(training, module, name)
    training.phases = {}
    for _ in range(PHASE_STEPS):
        training.step()
        start = time.perf_counter()
        torch.cuda.synchronize()
        training.phase("rest", start)
    found, training.phases = training.phases, None
    return {name: round(statistics.median(times), 1) for name, times in found.items()}


def made(name, table, form, rank):
    """The training of that form; None where another rank does it alone."""
    bucket, parts = FORMS[form]
    if rank > 0 and not form.startswith("ddp"):
        return None
    torch.manual_seed(1)
    with torch.device("cuda", rank):
        case = table[name]()
    module = case.module
    if form.startswith("ddp"):
        module = DistributedDataParallel(module, device_ids=[rank], bucket_cap_mb=bucket)
    return Training(case, module, rank, parts)


def warmed(name, table, form, rank):
    training = made(name, table, form, rank)
    for _ in range(WARM_STEPS if training else 0):
        training.step()
    torch.cuda.synchronize()
    return training


class Timing:
    """What was timed of a form: its groups, each calm or not."""

    def __init__(self, training, form, cores):
        self.training, self.form, self.cores = training, form, cores
        self.calm, self.rest = [], []

    def group(self):
        """One more, if calm ones are wanting."""
        if len(self.calm) >= ENOUGH:
            return
        self.cores.hold()
        calm = self.cores.calm()
        steps = timed(self.training, TURN_STEPS)
        calm = self.cores.calm() and calm
        if self.form.startswith("ddp"):
            calm = self.cores.all_calm(calm)
        (self.calm if calm else self.rest).append(steps)

    def found(self):
        steps = [step for group in self.calm or self.rest for step in group]
        return {"step_us": statistics.median(steps), "quartiles_us": statistics.quantiles(steps, n=4), "calm": len(self.calm),
                "groups": len(self.calm) + len(self.rest),
                "rest_us": round(statistics.median(step for group in self.rest or self.calm for step in group), 1)}

    def row(self, name, rank):
        module = self.training.module
        sizes = [p.numel() * p.element_size() for p in module.parameters()]
        self.cores.hold()
        return {"model": name, "form": self.form, "rank": rank, "torch": torch.__version__, **self.found(),
                "gradients": len(sizes),
                "gradient_bytes": sum(sizes), "buffers": sum(1 for _ in module.buffers()),
                "modules": sum(1 for _ in module.modules()),
                "phases_us": attempt(f"{name} {self.form} phases", lambda: phases(self.training))}


def take_turns(name, timings, cores):
    for _ in range(TURNS):
        for form, timing in timings.items():
            cores.together()
            if timing is not None:
                attempt(f"{name} {form}", timing.group)


def measure(name, table, rank, cores, folder):
    timings = {}
    cores.choose()
    for form in FORMS:
        cores.hold()
        training = attempt(f"{name} {form} rank {rank}", lambda form=form: warmed(name, table, form, rank))
        timings[form] = Timing(training, form, cores) if training else None
        cores.together()
    take_turns(name, timings, cores)
    for form, timing in timings.items():
        cores.together()
        if timing is None:
            continue
        row = attempt(f"{name} {form} row", lambda timing=timing: timing.row(name, rank))
        if row is None:
            continue
        with open(os.path.join(folder, "times.jsonl"), "a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{time.perf_counter():.1f} {name} {form} rank {rank}: {row['step_us']:.0f} us, {row['calm']} of "
              f"{row['groups']} groups calm, the rest {row['rest_us']}", flush=True)


def recorded(training, form, path, cores, take=profiled, **more):
    """Profiles that `take` takes until one is calm; the profiler's own threads are made while the calling one may run on all cores."""
    calm = [False]

    def begin():
        cores.hold()
        calm[0] = cores.calm()
        if form.startswith("ddp"):
            cores.together()
    for taken in range(1, PROFILES + 1):
        cores.loose()
        prof = take(training, begin, **more)
        calm[0] = cores.calm() and calm[0]
        if cores.all_calm(calm[0]) if form.startswith("ddp") else calm[0]:
            break
    written(prof, path)
    print(f"{time.perf_counter():.1f} {path}: {'calm' if calm[0] else 'not calm'} after {taken}", flush=True)


def profiles(name, table, rank, cores, folder):
    cores.choose()
    for form in (form for form in PROFILED if form in FORMS):
        training = attempt(f"{name} {form} rank {rank}", lambda form=form: warmed(name, table, form, rank))
        if training:
            path = os.path.join(folder, f"{name}.{form}.rank{rank}")
            attempt(path, lambda: recorded(training, form, path, cores))
        if training and GPUS == 1:
            path = os.path.join(folder, f"{name}.stack")
            attempt(path, lambda: recorded(training, form, path, cores, with_stack=True, profile_memory=True))
        cores.together()


def begun(rank, barrier, flags):
    """A process of the job: its cores."""
    cores = Cores(rank, GPUS, flags, barrier.wait)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29513")
    torch.cuda.set_device(rank)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    dist.init_process_group("nccl", rank=rank, world_size=GPUS, device_id=torch.device("cuda", rank))
    return cores


def while_there_is_time(rank, cores, seconds, names, actions):
    """`measure` of each name, then `profiles` of those measured; every decision about time is rank 0's, so that no rank waits for
    one that gave up."""
    start, go_on, done = time.perf_counter(), torch.zeros(1, device=rank), []
    for action, share in (("measure", 0.7), ("profiles", 1)):
        for name in names if action == "measure" else done:
            go_on.fill_(time.perf_counter() - start < share * seconds)
            dist.broadcast(go_on, 0)
            if not go_on.item():
                print(action, name, "left out", flush=True)
                continue
            if action == "measure":
                done = done + [name]
            attempt(f"{action} {name}", lambda: actions[action](name))
            torch.cuda.empty_cache()
            cores.together()
    dist.destroy_process_group()


def process(rank, which, folder, seconds, names, barrier, flags):
    """What one rank does."""
    cores = begun(rank, barrier, flags)
    table = drawn_models.drawn(which) if which.isdigit() else getattr(ddp_models, which.upper())
    attempt("all_reduces", lambda: all_reduces(rank, folder))
    while_there_is_time(rank, cores, seconds, names or list(table),
                        {"measure": lambda name: measure(name, table, rank, cores, folder),
                         "profiles": lambda name: profiles(name, table, rank, cores, folder)})


def run_on_all(process_of_rank):
    """By the words of the command line: what is asked for, OUTPUT-FOLDER, SECONDS and names; a process a GPU."""
    which, folder = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 1e9
    os.makedirs(folder, exist_ok=True)
    context = mp.get_context("spawn")
    barrier, flags = context.Barrier(GPUS, timeout=90), context.Array("b", GPUS)
    mp.spawn(process_of_rank, (which, folder, seconds, sys.argv[4:], barrier, flags), nprocs=GPUS)


if __name__ == "__main__":
    run_on_all(process)
