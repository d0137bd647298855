"""Record training loops as people write them: traces/training, set `loops`.

    [GPUS=1] python3 loops.py SEED OUTPUT-FOLDER [SECONDS [LOOP...]]

Each of LOOPS trains a model that SEED draws for it (drawn_models.py) in a way of its own: with a scaler, clipped gradients, parts
of a batch, layers computed again, compiled, in parts frozen, and so on; or is profiled in one.  As in ddp_turns.py each loop
runs on one GPU (`one`) and by DistributedDataParallel on all (`ddp`; `ddp-alone` of GPUS=1), in turns and timed while the cores
were calm: times.jsonl, with the bytes of DistributedDataParallel's buckets as it says them itself; then `one` is profiled.
Keep NVLink multicast off (NCCL_NVLS_ENABLE=0).
"""
import contextlib
import copy
import json
import os
import time

import torch
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.checkpoint import checkpoint_sequential

import drawn_models
from ddp import GPUS, STEPS, attempt, profiled
from ddp_models import Block, Case, adam
from ddp_turns import Timing, WARM_STEPS, begun, recorded, run_on_all, take_turns, while_there_is_time

FORMS = ("one", "ddp" if GPUS > 1 else "ddp-alone")


class Loop:
    """A step: forward, loss, backward, optimiser."""

    kinds, parts, synchronised = drawn_models.KINDS, 1, False

    def __init__(self, seed, gpu, wrap):
        self.case = self.drawn(seed)
        self.module = self.wrapped(self.case.module, wrap)
        self.optimiser = self.case.make_optimiser([p for p in self.case.module.parameters() if p.requires_grad])
        self.inputs, self.targets = self.case.inputs.cuda(gpu), self.case.targets.cuda(gpu)

    def drawn(self, seed):
        return drawn_models.drawn_case(seed, self.kinds)(1)

    def wrapped(self, module, wrap):
        return wrap(module)

    def modules(self):
        """What was wrapped."""
        return (self.module,)

    def forward(self):
        return self.module(self.inputs)

    def loss(self):
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.case.autocast):
            return self.case.loss(self.forward(), self.targets)

    def backward(self):
        """All parts of a batch; ranks reduce behind the last one, or behind each (`synchronised`)."""
        for i in range(self.parts):
            apart = i + 1 < self.parts and not self.synchronised and hasattr(self.module, "no_sync")
            with self.module.no_sync() if apart else contextlib.nullcontext():
                loss = self.loss() / self.parts
                loss.backward()
        return loss

    def step(self):
        self.optimiser.zero_grad()
        self.backward()
        self.optimiser.step()

    take = staticmethod(profiled)


class Scaler(Loop):
    """Half precision; the optimiser is asked whether gradients are finite, which waits for the GPU."""

    def __init__(self, *seed):
        super().__init__(*seed)
        self.scaler = torch.amp.GradScaler("cuda")

    def step(self):
        self.optimiser.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = self.case.loss(self.forward(), self.targets)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimiser)
        self.scaler.update()


class Clipped(Loop):
    def step(self):
        self.optimiser.zero_grad()
        self.backward()
        nn.utils.clip_grad_norm_(self.case.module.parameters(), 1.0)
        self.optimiser.step()


class Logged(Loop):
    """The loss is read in every step."""

    def step(self):
        self.optimiser.zero_grad()
        self.last = self.backward().item()
        self.optimiser.step()


class Accumulated(Loop):
    parts = 4


class Synchronised(Loop):
    """As who forgets no_sync()."""

    parts, synchronised = 2, True


class Recomputed(Loop):
    """The activations of most layers are computed again in the backward pass."""

    kinds = (drawn_models.products,)

    def wrapped(self, module, wrap):
        class Checkpointed(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = module

            def forward(self, x):
                return checkpoint_sequential(self.layers, 3, x, use_reentrant=False)
        return wrap(Checkpointed())


class Compiled(Loop):
    kinds = (drawn_models.products, drawn_models.attention)

    def wrapped(self, module, wrap):
        return torch.compile(wrap(module))


class Frozen(Loop):
    """The first half of all parameters stays as it is."""

    kinds = (drawn_models.products, drawn_models.attention, drawn_models.convolutions)

    def wrapped(self, module, wrap):
        parameters = list(module.parameters())
        for parameter in parameters[:len(parameters) // 2]:
            parameter.requires_grad_(False)
        return wrap(module)


class Decoder(nn.Module):
    """Embedding and product with the vocabulary have one weight; each layer has a mask among its buffers."""

    def __init__(self, words, width, layers, length):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width, width // 64) for _ in range(layers))
        for block in self.blocks:
            block.register_buffer("mask", torch.ones(length, length).tril())
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, words):
        x = self.words(words)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))


class Tied(Loop):
    def drawn(self, seed):
        draw = drawn_models.random.Random(seed)
        words, width, layers = draw.choice((2000, 8000, 20000)), draw.choice((256, 512, 768)), draw.randint(2, 8)
        length, batch = draw.choice((64, 128, 256)), 2 ** draw.randint(2, 5)
        return Case(Decoder(words, width, layers, length), torch.randint(words, (batch, length)), torch.randint(words, (batch,)),
                    functional.cross_entropy, adam, draw.random() < 0.5)


class ChannelsLast(Loop):
    kinds = (drawn_models.convolutions,)

    def __init__(self, *seed):
        super().__init__(*seed)
        self.inputs = self.inputs.to(memory_format=torch.channels_last)

    def wrapped(self, module, wrap):
        return wrap(module.to(memory_format=torch.channels_last))


class Loaded(Loop):
    """Each step's batch comes from the host's pinned memory."""

    kinds = (drawn_models.convolutions, drawn_models.products)

    def __init__(self, *seed):
        super().__init__(*seed)
        self.pinned = [tensor.cpu().pin_memory() for tensor in (self.inputs, self.targets)]

    def step(self):
        self.inputs, self.targets = (tensor.to(self.inputs.device, non_blocking=True) for tensor in self.pinned)
        super().step()


class Zeroed(Loop):
    """Gradients are set to 0 and not given up, so that each is added to what is there."""

    def step(self):
        self.optimiser.zero_grad(set_to_none=False)
        self.backward()
        self.optimiser.step()


class Adversarial(Loop):
    """Two models in turn, each with an optimiser; the critic's gradients come three times a step."""

    kinds, noise = (drawn_models.products,), 64

    def __init__(self, seed, gpu, wrap):
        super().__init__(seed, gpu, wrap)
        width = self.inputs.shape[1]
        self.generator = wrap(nn.Sequential(nn.Linear(self.noise, width), nn.ReLU(), nn.Linear(width, width)))
        self.generators = adam(self.generator.parameters())

    def modules(self):
        return self.module, self.generator

    def judged(self, samples, sign):
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.case.autocast):
            return functional.softplus(sign * self.module(samples)).mean()

    def step(self):
        self.optimiser.zero_grad()
        self.judged(self.inputs, -1).backward()
        made = self.generator(torch.randn(len(self.inputs), self.noise, device=self.inputs.device))
        self.judged(made.detach(), 1).backward()
        self.optimiser.step()
        self.generators.zero_grad()
        self.judged(made, -1).backward()
        self.generators.step()


class TwoOptimisers(Loop):
    """Of one model; the first half of all parameters has its own."""

    def __init__(self, *seed):
        super().__init__(*seed)
        parameters = list(self.case.module.parameters())
        self.optimiser = self.case.make_optimiser(parameters[:len(parameters) // 2])
        self.others = self.case.make_optimiser(parameters[len(parameters) // 2:])

    def step(self):
        self.others.zero_grad()
        super().step()
        self.others.step()


class Distilled(Loop):
    """Learns from another model as well, which stays as it is."""

    def wrapped(self, module, wrap):
        self.teacher = copy.deepcopy(module).requires_grad_(False)
        return wrap(module)

    def loss(self):
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.case.autocast):
            outputs = self.forward()
            with torch.no_grad():
                taught = self.teacher(self.inputs)
            return self.case.loss(outputs, self.targets) + functional.mse_loss(outputs, taught)


class Averaged(Loop):
    """Keeps a mean of the weights."""

    def __init__(self, *seed):
        super().__init__(*seed)
        self.mean = [p.detach().clone() for p in self.case.module.parameters()]

    def step(self):
        super().step()
        with torch.no_grad():
            torch._foreach_lerp_(self.mean, list(self.case.module.parameters()), 0.01)


class Prefetched(Loop):
    """The next batch comes in a stream of its own."""

    kinds = (drawn_models.convolutions, drawn_models.products)

    def __init__(self, *seed):
        super().__init__(*seed)
        self.stream = torch.cuda.Stream()
        self.pinned = [tensor.cpu().pin_memory() for tensor in (self.inputs, self.targets)]
        self.fetch()

    def fetch(self):
        with torch.cuda.stream(self.stream):
            self.next = [tensor.to(self.inputs.device, non_blocking=True) for tensor in self.pinned]

    def step(self):
        torch.cuda.current_stream().wait_stream(self.stream)
        for tensor in self.next:
            tensor.record_stream(torch.cuda.current_stream())
        self.inputs, self.targets = self.next
        self.fetch()
        super().step()


def taken(loop, begin, marked=True, activities=(ProfilerActivity.CPU, ProfilerActivity.CUDA), **more):
    """A profile of STEPS steps with these settings alone."""
    steps = schedule(wait=0, warmup=3, active=STEPS, repeat=1) if marked else None
    torch.cuda.synchronize()
    begin()
    with profile(activities=activities, schedule=steps, **more) as prof:
        for _ in range(STEPS + (3 if marked else 0)):
            loop.step()
            if marked:
                prof.step()
        torch.cuda.synchronize()
    return prof


class Unmarked(Loop):
    """The profile has no steps."""

    @staticmethod
    def take(loop, begin):
        return taken(loop, begin, marked=False, record_shapes=True)


class Shapeless(Loop):
    """As the profiler is by default."""

    @staticmethod
    def take(loop, begin):
        return taken(loop, begin)


class WithoutOperators(Loop):
    """A profile of the GPU and CUDA's calls alone."""

    @staticmethod
    def take(loop, begin):
        return taken(loop, begin, activities=(ProfilerActivity.CUDA,))


class Annotated(Loop):
    """Steps have a name of their own."""

    def step(self):
        with record_function("one iteration"):
            super().step()

    @staticmethod
    def take(loop, begin):
        return taken(loop, begin, marked=False, record_shapes=True)


LOOPS = {"plain": Loop, "scaler": Scaler, "clipped": Clipped, "logged": Logged, "accumulated": Accumulated,
         "synchronised": Synchronised, "recomputed": Recomputed, "compiled": Compiled, "frozen": Frozen, "tied": Tied,
         "channels-last": ChannelsLast, "loaded": Loaded, "zeroed": Zeroed, "unmarked": Unmarked, "shapeless": Shapeless,
         "without-operators": WithoutOperators, "adversarial": Adversarial, "two-optimisers": TwoOptimisers,
         "distilled": Distilled, "averaged": Averaged, "prefetched": Prefetched, "annotated": Annotated}


def made(name, seed, form, rank):
    """The loop in that form, warm; None where another rank does it alone."""
    if rank > 0 and form == "one":
        return None
    torch.manual_seed(1)
    with torch.device("cuda", rank):
        loop = LOOPS[name](f"{seed} {name}", rank, (lambda module: module) if form == "one" else
                           lambda module: DistributedDataParallel(module, device_ids=[rank]))
    for _ in range(WARM_STEPS):
        loop.step()
    torch.cuda.synchronize()
    return loop


def bucket_bytes(module):
    says = module._get_ddp_logging_data()
    return [int(n) for n in says.get("rebuilt_bucket_sizes", says.get("bucket_sizes", "")).split(", ") if n]


def row_of(name, form, rank, loop, timing):
    modules = [getattr(module, "_orig_mod", module) for module in loop.modules()]
    trained = [p for module in modules for p in module.parameters() if p.requires_grad]
    row = {"model": name, "form": form, "rank": rank, "torch": torch.__version__, **timing.found(), "gradients": len(trained),
           "gradient_bytes": sum(p.numel() * p.element_size() for p in trained), "set": "loops"}
    if isinstance(modules[0], DistributedDataParallel):
        row["bucket_bytes"] = [size for module in modules for size in bucket_bytes(module)]
    return row


def measure(name, seed, rank, cores, folder):
    loops = {}
    cores.choose()
    for form in FORMS:
        cores.loose()
        loops[form] = attempt(f"{name} {form} rank {rank}", lambda form=form: made(name, seed, form, rank))
        cores.hold()
        cores.together()
    timings = {form: Timing(loop, form, cores) if loop else None for form, loop in loops.items()}
    take_turns(name, timings, cores)
    for form, loop in loops.items():
        cores.together()
        if loop is None:
            continue
        row = attempt(f"{name} {form} row", lambda form=form, loop=loop: row_of(f"{name}-{seed}", form, rank, loop, timings[form]))
        if row:
            with open(os.path.join(folder, "times.jsonl"), "a") as file:
                file.write(json.dumps(row) + "\n")
            print(f"{time.perf_counter():.1f} {name} {form} rank {rank}: {row['step_us']:.0f} us, {row['calm']} of "
                  f"{row['groups']} groups calm", flush=True)


def profiles(name, seed, rank, cores, folder):
    cores.choose()
    cores.loose()
    loop = attempt(f"{name} one rank {rank}", lambda: made(name, seed, "one", rank))
    if loop:
        path = os.path.join(folder, f"{name}-{seed}.one.rank0")
        attempt(path, lambda: recorded(loop, "one", path, cores, take=loop.take))
    cores.together()


def process(rank, seed, folder, seconds, names, barrier, flags):
    """What one rank does."""
    cores = begun(rank, barrier, flags)
    while_there_is_time(rank, cores, seconds, names or list(LOOPS),
                        {"measure": lambda name: measure(name, seed, rank, cores, folder),
                         "profiles": lambda name: profiles(name, seed, rank, cores, folder)})


if __name__ == "__main__":
    run_on_all(process)
