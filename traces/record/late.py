"""Record training steps on 2 GPUs of which one rank is late: traces/training/late.jsonl.

    python3 late.py OUTPUT-FOLDER SEED SECONDS [MODEL...]

Each model by DistributedDataParallel in the same two processes: on time (`on-1`), rank 1 late before its backward pass by
5,000,000 cycles of the GPU (`gpu`) or 3 ms of its host (`host`), late as SEED draws it (`drawn-1` .. `drawn-3`), and on time
again (`on-2`), which tells how far the host's pace is the same.  times.rankR.jsonl has a line a form, us a step, with how it was
late, timed in turns as ddp_turns.py does it; behind all models' times on-1, gpu and host are recorded, too.  Keep
NVLink multicast off (NCCL_NVLS_ENABLE=0).
"""
import json
import os
import random
import sys
import time
import traceback

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

import ddp
import ddp_models
from cores import Cores
from ddp_turns import Timing, WARM_STEPS, recorded, take_turns

RECORDED = ("on-1", "gpu", "host")
CYCLES_PER_US = 1980
MODELS = {**ddp_models.DEVELOPED, **ddp_models.JUDGED}


def forms_of(name, seed):
    """By form: kind, rank, where and us; None: on time."""
    draw = random.Random(f"{seed} {name}")
    forms = {"on-1": None, "gpu": ("gpu", 1, "backward", ddp.DELAY_CYCLES / CYCLES_PER_US),
             "host": ("host", 1, "backward", 1e6 * ddp.DELAY_S)}
    for i in range(1, 4):
        forms[f"drawn-{i}"] = (draw.choice(("gpu", "host")), draw.randrange(ddp.GPUS),
                               draw.choice(("forward", "backward", "optimiser")), draw.randrange(300, 8000))
    forms["on-2"] = None
    return forms


class Training:
    """A step that one rank begins, or goes on with, late."""

    def __init__(self, case, module, rank, late):
        self.case, self.module, self.rank, self.late = case, module, rank, late
        self.optimiser = case.make_optimiser(module.parameters())
        self.inputs, self.targets = case.inputs.cuda(rank), case.targets.cuda(rank)

    def wait(self, where):
        if self.late is None or self.late[1] != self.rank or self.late[2] != where:
            return
        if self.late[0] == "gpu":
            torch.cuda._sleep(int(self.late[3] * CYCLES_PER_US))
        else:
            end = time.perf_counter() + self.late[3] / 1e6
            while time.perf_counter() < end:
                pass

    def step(self):
        self.optimiser.zero_grad(set_to_none=True)
        self.wait("forward")
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.case.autocast):
            loss = self.case.loss(self.module(self.inputs), self.targets)
        self.wait("backward")
        loss.backward()
        self.wait("optimiser")
        self.optimiser.step()


def trainings(name, rank, seed, cores):
    """By form; all have one module."""
    cores.choose()
    cores.hold()
    case = ddp.made(name, MODELS, rank)
    module = DistributedDataParallel(case.module, device_ids=[rank])
    found = {form: Training(case, module, rank, late) for form, late in forms_of(name, seed).items()}
    for training in found.values():
        for _ in range(WARM_STEPS):
            training.step()
    torch.cuda.synchronize()
    return found


def measure(name, rank, seed, cores, folder):
    timings = {form: Timing(training, "ddp", cores) for form, training in trainings(name, rank, seed, cores).items()}
    take_turns(name, timings, cores)
    for form, timing in timings.items():
        row = {"model": name, "form": form, "rank": rank}
        if timing.training.late is not None:
            row["late"] = dict(zip(("kind", "rank", "where", "us"), timing.training.late))
        row.update(timing.found())
        with open(os.path.join(folder, f"times.rank{rank}.jsonl"), "a") as file:
            file.write(json.dumps(row) + "\n")
        print(f"{time.perf_counter():.1f} {name} {form} rank {rank}: {row['step_us']:.0f} us, {row['calm']} of "
              f"{row['groups']} groups calm, the rest {row['rest_us']}", flush=True)


def profiles(name, rank, seed, cores, folder):
    for form, training in trainings(name, rank, seed, cores).items():
        if form in RECORDED:
            recorded(training, "ddp", os.path.join(folder, f"{name}.{form}.rank{rank}"), cores)


def process(rank, folder, seed, seconds, names, barrier, flags):
    """Every decision about time is rank 0's, so that no rank waits for one that gave up."""
    start = time.perf_counter()
    cores = Cores(rank, ddp.GPUS, flags, barrier.wait)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29517")
    torch.cuda.set_device(rank)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    dist.init_process_group("nccl", rank=rank, world_size=ddp.GPUS, device_id=torch.device("cuda", rank))
    go_on = torch.zeros(1, device=rank)
    for action in (measure, profiles):
        for name in names or MODELS:
            go_on.fill_(time.perf_counter() - start < seconds)
            dist.broadcast(go_on, 0)
            if not go_on.item():
                print(action.__name__, name, "left out", flush=True)
                continue
            try:
                action(name, rank, seed, cores, folder)
            except Exception:
                print(name, "failed", flush=True)
                traceback.print_exc()
            torch.cuda.empty_cache()
            barrier.wait()
    dist.destroy_process_group()


def main():
    folder, seed, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    context = mp.get_context("spawn")
    barrier, flags = context.Barrier(ddp.GPUS, timeout=25), context.Array("b", ddp.GPUS)
    mp.spawn(process, (folder, seed, seconds, sys.argv[4:], barrier, flags), nprocs=ddp.GPUS)


if __name__ == "__main__":
    main()
