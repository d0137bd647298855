"""Record training steps on 1 and 2 GPUs: traces/ranks.

    python3 ddp.py developed|judged OUTPUT-FOLDER [SECONDS [MODEL...]]

A process a GPU: each model on one GPU alone, then with DistributedDataParallel as FORMS says.  Each GPU has the batch that the
one GPU has.  A form runs without the profiler first (times.jsonl has a line a form and rank, us a step), then under it:
NAME.FORM.rankR.json.gz, a Kineto trace of STEPS steps.
Keep NVLink multicast off (NCCL_NVLS_ENABLE=0).
"""
import contextlib
import gzip
import json
import os
import statistics
import sys
import time
import traceback

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule

import ddp_models

GPUS = int(os.environ.get("GPUS", 2))
STEPS = 3
WARM_STEPS = 5   # that nobody times: buckets are made anew after the first, cuDNN and cuBLAS choose
GROUPS, TIMED_STEPS = 7, 12
DELAY_S = 0.003
DELAY_CYCLES = 5_000_000
KEPT = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "cuda_sync", "cuda_event", "cpu_op",
        "user_annotation", "gpu_user_annotation", "overhead"}
OPERATOR_KEPT = {"External id", "Sequence number", "Fwd thread id", "Input Dims", "Input type"}

# name: bucket_cap_mb, steps a synchronisation, how rank 1 is late
FORMS = {"ddp": (None, 1, None),
         "ddp-bucket-5": (5, 1, None),
         "ddp-bucket-100": (100, 1, None),
         "ddp-accumulate-2": (None, 2, None),
         "ddp-accumulate-4": (None, 4, None),
         "ddp-late-host": (None, 1, "host"),
         "ddp-late-gpu": (None, 1, "gpu")}
JUDGED_FORMS = ("ddp", "ddp-bucket-5", "ddp-accumulate-2")


class Training:
    """A step of a case: `parts` times forward and backward, then the optimiser."""

    def __init__(self, case, module, gpu, parts=1, late=None):
        self.case, self.module, self.parts, self.late = case, module, parts, late
        self.optimiser = case.make_optimiser(module.parameters())
        self.inputs, self.targets = case.inputs.cuda(gpu), case.targets.cuda(gpu)

    def part(self):
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.case.autocast):
            loss = self.case.loss(self.module(self.inputs), self.targets)
        if self.late == "host":
            time.sleep(DELAY_S)
        elif self.late == "gpu":
            torch.cuda._sleep(DELAY_CYCLES)
        loss.backward()

    def step(self):
        self.optimiser.zero_grad(set_to_none=True)
        for i in range(self.parts):
            apart = i + 1 < self.parts and hasattr(self.module, "no_sync")
            with self.module.no_sync() if apart else contextlib.nullcontext():
                self.part()
        self.optimiser.step()


def timed(training, together):
    """us a step, free running: the median of GROUPS groups, and by events the median step."""
    groups, steps = [], []
    for _ in range(WARM_STEPS):
        training.step()
    for _ in range(GROUPS):
        torch.cuda.synchronize()
        together()
        events = [torch.cuda.Event(enable_timing=True) for _ in range(TIMED_STEPS + 1)]
        start = time.perf_counter()
        events[0].record()
        for event in events[1:]:
            training.step()
            event.record()
        torch.cuda.synchronize()
        groups.append(1e6 * (time.perf_counter() - start) / TIMED_STEPS)
        steps += [1e3 * a.elapsed_time(b) for a, b in zip(events[2:], events[3:])]
    return {"group_us": statistics.median(groups), "step_us": statistics.median(steps),
            "quartiles_us": statistics.quantiles(steps, n=4)}


def profiled(training, together, **more):
    """A profile of STEPS steps, of `more` than shapes; `together` is called before the first."""
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, **more,
                 experimental_config=torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True),
                 schedule=schedule(wait=0, warmup=3, active=STEPS, repeat=1)) as prof:
        for i in range(3 + STEPS):
            if i == 3:
                torch.cuda.synchronize()
                together()
            training.step()
            if i == 2 + STEPS:
                torch.cuda.synchronize()
            prof.step()
    return prof


def written(prof, path):
    prof.export_chrome_trace(path + ".raw")
    with open(path + ".raw") as file:
        trace = json.load(file)
    os.unlink(path + ".raw")
    events = [event for event in trace["traceEvents"] if event.get("ph") == "M" or event.get("cat") in KEPT]
    for event in events:
        if event.get("cat") == "cpu_op" and "Collective name" not in event.get("args", {}):
            event["args"] = {key: value for key, value in event.get("args", {}).items() if key in OPERATOR_KEPT}
    trace["traceEvents"] = events
    trace.pop("traceName", None)
    with gzip.GzipFile(path + ".json.gz", "wb", mtime=0) as file:
        file.write(json.dumps(trace, separators=(",", ":")).encode())


def measure(name, form, rank, training, together, folder):
    row = {"model": name, "form": form, "rank": rank, "torch": torch.__version__}
    row.update(timed(training, together))
    row["gradient_bytes"] = sum(p.numel() * p.element_size() for p in training.module.parameters())
    row["gradients"] = sum(1 for _ in training.module.parameters())
    written(profiled(training, together), os.path.join(folder, f"{name}.{form}.rank{rank}"))
    with open(os.path.join(folder, "times.jsonl"), "a") as file:
        file.write(json.dumps(row) + "\n")
    print(f"{time.perf_counter():.1f} {name} {form} rank {rank}: {row['step_us']:.0f} us a step", flush=True)


def attempt(what, action):
    """What the action returns; None where it fails."""
    try:
        return action()
    except Exception:
        print(what, "failed", flush=True)
        traceback.print_exc()
    return None


def made(name, table, rank):
    torch.manual_seed(1)
    case = table[name]()
    case.module.cuda(rank)
    return case


def alone(name, table, which, folder):
    """A model on one GPU, without DistributedDataParallel."""
    case = made(name, table, 0)
    for parts in (1, 2, 4) if which == "developed" else (1, 2):
        form = "one" if parts == 1 else f"one-accumulate-{parts}"
        measure(name, form, 0, Training(case, case.module, 0, parts), lambda: None, folder)


def distributed(name, table, form, rank, together, folder):
    bucket, parts, late = FORMS[form]
    case = made(name, table, rank)
    module = DistributedDataParallel(case.module, device_ids=[rank], bucket_cap_mb=bucket)
    training = Training(case, module, rank, parts, late if rank == 1 else None)
    measure(name, form, rank, training, together, folder)


def all_reduces(rank, folder):
    """How long an all-reduce takes alone, by its bytes: the first step of any model of it."""
    for power in range(3, 30, 2):
        values = torch.ones(max(1, 2 ** power // 4), device=rank)
        times = []
        for _ in range(12):
            events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            torch.cuda._sleep(100_000)
            events[0].record()
            dist.all_reduce(values)
            events[1].record()
            torch.cuda.synchronize()
            times.append(1e3 * events[0].elapsed_time(events[1]))
        with open(os.path.join(folder, "all_reduce.jsonl"), "a") as file:
            file.write(json.dumps({"rank": rank, "bytes": 4 * values.numel(), "us": statistics.median(times[2:])}) + "\n")


def process(rank, which, folder, seconds, names, barrier):
    """What one rank does; every decision about time is rank 0's, so that no rank waits for one that gave up."""
    start = time.perf_counter()
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29513")
    torch.cuda.set_device(rank)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    dist.init_process_group("nccl", rank=rank, world_size=GPUS, device_id=torch.device("cuda", rank))
    together = barrier.wait
    table = getattr(ddp_models, which.upper())
    go_on = torch.zeros(1, device=rank)
    attempt("all_reduces", lambda: all_reduces(rank, folder))
    for name in names or table:
        if rank == 0:
            attempt(name, lambda: alone(name, table, which, folder))
        together()
        for form in FORMS if which == "developed" else JUDGED_FORMS:
            go_on.fill_(time.perf_counter() - start < seconds)
            dist.broadcast(go_on, 0)
            if go_on.item():
                attempt(f"{name} {form}", lambda: distributed(name, table, form, rank, together, folder))
            else:
                print(name, form, "left out", flush=True)
            torch.cuda.empty_cache()
            together()
    dist.destroy_process_group()


def main():
    which, folder = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 1e9
    os.makedirs(folder, exist_ok=True)
    barrier = mp.get_context("spawn").Barrier(GPUS, timeout=60)
    mp.spawn(process, (which, folder, seconds, sys.argv[4:], barrier), nprocs=GPUS)


if __name__ == "__main__":
    main()
