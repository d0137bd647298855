"""Record training steps on 2 GPUs of which one rank is late: traces/training/late.jsonl.

    python3 late.py OUTPUT-FOLDER SEED SECONDS [MODEL...]

Each model by DistributedDataParallel in the same two processes: on time (`on-1`), rank 1 late before its backward pass by
5,000,000 cycles of the GPU (`gpu`) or 3 ms of its host (`host`), late as SEED draws it (`drawn-1` .. `drawn-3`), and on time
again (`on-2`), which tells how far the host's pace is the same.  times.rankR.jsonl has a line a form, us a step, with how it was
late; no profiler has run in these processes then, since CUPTI slows every call from its first use on.  Behind all models' times
on-1, gpu and host are recorded, too.  Python's threads are held on one core (cores.py says why).  Keep NVLink multicast off (NCCL_NVLS_ENABLE=0).
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

import cores
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
    with open(os.path.join(folder, f"times.rank{training.rank}.jsonl"), "a") as file:
        file.write(json.dumps(row) + "\n")
    print(f"{time.perf_counter():.1f} {name} {form} rank {training.rank}: {row['step_us']:.0f} us a step", flush=True)


def record(name, form, late, training, core, share, together, folder):
    """The profiler's own threads are made while the calling one may run on all cores."""
    def begin():
        cores.hold([core])
        together()
    training.late = late
    os.sched_setaffinity(0, share)
    ddp.record(training, os.path.join(folder, f"{name}.{form}.rank{training.rank}"), begin)


def training_of(name, rank, core):
    case = ddp.made(name, MODELS, rank)
    training = Training(case, DistributedDataParallel(case.module, device_ids=[rank]), rank)
    for _ in range(ddp.WARM_STEPS):
        training.step()
    torch.cuda.synchronize()
    cores.hold([core])
    return training


def process(rank, folder, seed, seconds, names, barrier):
    """Every decision about time is rank 0's, so that no rank waits for one that gave up."""
    start = time.perf_counter()
    share = cores.share(rank, ddp.GPUS)
    core = cores.fastest(share, 1)[0]
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29517")
    torch.cuda.set_device(rank)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    dist.init_process_group("nccl", rank=rank, world_size=ddp.GPUS, device_id=torch.device("cuda", rank))
    go_on = torch.zeros(1, device=rank)

    def may_go_on():
        go_on.fill_(time.perf_counter() - start < seconds)
        dist.broadcast(go_on, 0)
        return bool(go_on.item())

    def each(name, action, forms):
        """The action with each of these forms of a model."""
        os.sched_setaffinity(0, share)
        try:
            training = training_of(name, rank, core)
            for form, late in forms_of(name, seed).items():
                if form in forms and may_go_on():
                    action(form, late, training)
        except Exception:
            print(name, "failed", flush=True)
            traceback.print_exc()
        torch.cuda.empty_cache()
        barrier.wait()

    for name in names or MODELS:
        each(name, lambda form, late, training: measure(name, form, late, training, barrier.wait, folder),
             forms_of(name, seed))
    for name in names or MODELS:
        each(name, lambda form, late, training: record(name, form, late, training, core, share, barrier.wait, folder),
             RECORDED)
    dist.destroy_process_group()


def main():
    folder, seed, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    os.makedirs(folder, exist_ok=True)
    barrier = mp.get_context("spawn").Barrier(ddp.GPUS, timeout=25)
    mp.spawn(process, (folder, seed, seconds, sys.argv[4:], barrier), nprocs=ddp.GPUS)


if __name__ == "__main__":
    main()
