"""Record training steps on 2 GPUs of which one rank is late: traces/training/late.jsonl.

    python3 late.py OUTPUT-FOLDER SEED SECONDS [MODEL...]

Each model by DistributedDataParallel in the same two processes: on time (`on-1`), rank 1 late before its backward pass by
5,000,000 cycles of the GPU (`gpu`) or 3 ms of its host (`host`), late as SEED draws it (`drawn-1` .. `drawn-3`), and on time
again (`on-2`), which tells how far the host's pace is the same.  times.rankR.jsonl has a line a form, us a step without the
profiler, with how it was late; on-1, gpu and host are recorded, too.  Keep NVLink multicast off (NCCL_NVLS_ENABLE=0).
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

ddp.WARM_STEPS, ddp.GROUPS, ddp.TIMED_STEPS = 4, 5, 10
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

    def __init__(self, case, module, rank):
        self.case, self.module, self.rank, self.late = case, module, rank, None
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


def measure(name, form, late, training, together, folder):
    training.late = late
    row = {"model": name, "form": form, "rank": training.rank}
    if late is not None:
        row["late"] = dict(zip(("kind", "rank", "where", "us"), late))
    row.update(ddp.timed(training, together))
    if form in RECORDED:
        ddp.record(training, os.path.join(folder, f"{name}.{form}.rank{training.rank}"), together)
    with open(os.path.join(folder, f"times.rank{training.rank}.jsonl"), "a") as file:
        file.write(json.dumps(row) + "\n")
    print(f"{time.perf_counter():.1f} {name} {form} rank {training.rank}: {row['step_us']:.0f} us a step", flush=True)


def model(name, rank, seed, together, folder, may_go_on):
    case = ddp.made(name, MODELS, rank)
    training = Training(case, DistributedDataParallel(case.module, device_ids=[rank]), rank)
    for form, late in forms_of(name, seed).items():
        if may_go_on():
            measure(name, form, late, training, together, folder)
        else:
            print(name, form, "left out", flush=True)


def process(rank, folder, seed, seconds, names, barrier):
    """Every decision about time is rank 0's, so that no rank waits for one that gave up."""
    start = time.perf_counter()
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29517")
    torch.cuda.set_device(rank)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    dist.init_process_group("nccl", rank=rank, world_size=ddp.GPUS, device_id=torch.device("cuda", rank))
    go_on = torch.zeros(1, device=rank)

    def may_go_on():
        go_on.fill_(time.perf_counter() - start < seconds)
        dist.broadcast(go_on, 0)
        return bool(go_on.item())

    for name in names or MODELS:
        if not may_go_on():
            print(name, "left out", flush=True)
            continue
        try:
            model(name, rank, seed, barrier.wait, folder, may_go_on)
        except Exception:
            print(name, "failed", flush=True)
            traceback.print_exc()
        torch.cuda.empty_cache()
        barrier.wait()
    dist.destroy_process_group()


def main():
    folder, seed, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    barrier = mp.get_context("spawn").Barrier(ddp.GPUS, timeout=60)
    mp.spawn(process, (folder, seed, seconds, sys.argv[4:], barrier), nprocs=ddp.GPUS)


if __name__ == "__main__":
    main()
