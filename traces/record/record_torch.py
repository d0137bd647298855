"""Run operations of torch_ops.py for Nsight Compute: record_torch.py [SECONDS [fresh | last | NAME...]].

Each is warmed up first; only its last call lies between cudaProfilerStart and cudaProfilerStop, so profile
with `ncu --profile-from-start off`. No operation begins once SECONDS have passed; with names, only
they run, with `fresh` those of torch_more.py, with `last` those of torch_last.py. Each operation is named on
standard output once it ran.
"""
import sys
import time

import torch

from torch_last import LAST
from torch_more import FRESH
from torch_ops import OPERATIONS

WARM_UPS = 2


def record(name):
    torch.manual_seed(1)
    operation = OPERATIONS[name]()
    for _ in range(WARM_UPS):
        operation()
    torch.cuda.synchronize()
    torch.cuda.cudart().cudaProfilerStart()
    try:
        operation()
        torch.cuda.synchronize()
    finally:
        torch.cuda.cudart().cudaProfilerStop()
    torch.cuda.empty_cache()


def main():
    start = time.monotonic()
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else float("inf")
    sets = {"fresh": FRESH, "last": LAST}
    names = sets.get(" ".join(sys.argv[2:]), sys.argv[2:] or OPERATIONS)
    for name in names:
        if time.monotonic() - start > seconds:
            print(f"{name} and those after it: left out, {seconds:g} s have passed", flush=True)
            break
        try:
            record(name)
        except Exception as error:  # an operation that this PyTorch lacks must not cost the others
            print(f"{name}: failed: {str(error).splitlines()[0]}", flush=True)
        else:
            print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)


main()
