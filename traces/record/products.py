"""Measure matrix products of PyTorch (cuBLAS) at sizes drawn at random: the table that a device file names in product.sweep.

    python3 products.py TABLE.csv SECONDS SEED [MOST]

A line a product: precision (half: 16 bits; tf32, fp32), form (how BLAS gets the two matrices; +bias: with a bias added), batch, M, N, K and
us, the median of three launches of all its kernels as the profiler has them, after one that does not count.  Weights come from DRAM,
what is multiplied by them from L2 if it fits.  At most MOST (1000) products of each precision and form are kept, half of
that of matrices whose rows are no multiple of 16 bytes.  Zstandard compresses the table to a third.
"""
import csv
import json
import os
import random
import sys
import tempfile
import time

import torch
from torch.profiler import ProfilerActivity, profile, record_function

LAUNCHES = 4  # the first one loads code
AT_ONCE = 300  # products a profile
ELEMENTS = 1 << 28  # of each pool
TYPES = {"half": (torch.bfloat16, torch.float16), "tf32": (torch.float32,), "fp32": (torch.float32,)}
FORMS = ("TN", "TN+bias", "NN", "NT", "TN-batched", "NN-batched")
HEADS, SIZES = (1, 2, 4, 8, 12, 16, 32), (32, 64, 64, 80, 96, 128)
BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
LENGTHS = (1, 1, 32, 48, 64, 100, 128, 196, 256, 384, 512, 1000, 1024, 2048)


class Pool:
    """Random numbers on the GPU; each matrix is another part of it, so that none is in L2 already."""

    def __init__(self, dtype):
        self.data, self.at = torch.randn(ELEMENTS, device="cuda").to(dtype), 0

    def take(self, *shape, moving=True):
        count = 1
        for side in shape:
            count *= side
        start = self.at if moving and self.at + count <= ELEMENTS else 0
        if moving:
            self.at = start + (count + 127) // 128 * 128
        return self.data[start:start + count].view(shape)


def features(rng, odd):
    number = int(64 * 256 ** rng.random())
    return max(1, number) if odd else max(8, number // 8 * 8) if rng.random() < 0.25 else max(64, number // 64 * 64)


def rows(rng):
    return rng.choice(BATCHES) * rng.choice(LENGTHS) if rng.random() < 0.5 else int(2 ** (15.5 * rng.random()))


def draw(rng):
    """(precision, dtype, form, batch, m, n, k), or None where it is too large."""
    precision = rng.choice(("half", "half", "half", "tf32", "fp32"))
    dtype, form, odd = rng.choice(TYPES[precision]), rng.choice(FORMS), rng.random() < 0.2
    if form.endswith("batched"):
        batch, size = rng.choice(BATCHES) * rng.choice(HEADS), rng.choice(SIZES)
        length = int(16 * 128 ** rng.random()) if odd else rng.choice((16, 32, 48, 64, 128, 192, 256, 384, 512, 1000, 1024, 2048))
        m = 1 if rng.random() < 0.15 else length
        n, k = (length, size) if form == "TN-batched" else (size, length)
    elif form == "NT":
        batch, m, n, k = 1, features(rng, odd), features(rng, odd), rows(rng)
    else:
        batch, m, n, k = 1, rows(rng), features(rng, odd), features(rng, odd)
    work, largest = batch * m * n * k, batch * max(m * n, m * k, n * k)
    return (precision, dtype, form, batch, m, n, k) if work < 6e11 and largest < ELEMENTS else None


def multiply(pools, case):
    precision, dtype, form, batch, m, n, k = case
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    weights, data = pools[dtype]
    if form == "TN":
        return torch.nn.functional.linear(data.take(m, k, moving=False), weights.take(n, k))
    if form == "TN+bias":
        return torch.nn.functional.linear(data.take(m, k, moving=False), weights.take(n, k), data.take(n, moving=False))
    if form == "NN":
        return data.take(m, k, moving=False) @ weights.take(k, n)
    if form == "NT":
        return data.take(k, m, moving=False).t() @ weights.take(k, n)
    if form == "TN-batched":
        return torch.bmm(data.take(batch, m, k, moving=False), weights.take(batch, n, k, moving=False).transpose(1, 2))
    return torch.bmm(data.take(batch, m, k, moving=False), weights.take(batch, k, n, moving=False))


def measure(pools, cases):
    """us of each case, None where the profile does not say."""
    with torch.no_grad(), profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        for index, case in enumerate(cases):
            with record_function("case%d" % index):
                for _ in range(LAUNCHES):
                    multiply(pools, case)
            if index % 40 == 39:
                torch.cuda.synchronize()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile.json")
        prof.export_chrome_trace(path)
        with open(path) as file:
            events = json.load(file)["traceEvents"]
    marks = sorted((e["ts"], e["ts"] + e["dur"], int(e["name"][4:])) for e in events
                   if e.get("cat") == "user_annotation" and e["name"].startswith("case"))
    calls = {e["args"]["correlation"]: e["ts"] for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}
    launches = sorted((calls.get(e["args"]["correlation"], 0), index, e["dur"]) for index, e in enumerate(events) if e.get("cat") == "kernel")
    durations, place = [[] for _ in cases], 0
    for call, _, us in launches:
        while place < len(marks) and marks[place][1] < call:
            place += 1
        if place < len(marks) and marks[place][0] <= call:
            durations[marks[place][2]].append(us)
    return [sorted(sum(one[r * len(one) // LAUNCHES:(r + 1) * len(one) // LAUNCHES]) for r in range(1, LAUNCHES))[1]
            if one and len(one) % LAUNCHES == 0 else None for one in durations]


def is_odd(case):
    precision, _, form, _, m, n, k = case
    unit = 8 if precision == "half" else 4
    return n % unit != 0 or (m if form == "NT" else k) % unit != 0


def main():
    path, seconds, rng = sys.argv[1], float(sys.argv[2]), random.Random(int(sys.argv[3]))
    most = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
    pools = {dtype: (Pool(dtype), Pool(dtype)) for dtype in (torch.bfloat16, torch.float16, torch.float32)}
    kept, table, end = {}, {}, time.time() + seconds
    while time.time() < end:
        cases = []
        while len(cases) < AT_ONCE:
            case = draw(rng)
            key = case and (case[0], case[2], is_odd(case))
            if case is not None and kept.get(key, 0) < (most // 2 if key[2] else most):
                kept[key] = kept.get(key, 0) + 1
                cases.append(case)
            elif sum(kept.values()) >= sum(most // 2 if odd else most for _ in TYPES for _ in FORMS for odd in (False, True)):
                end = 0
                break
        for case, us in zip(cases, measure(pools, cases) if cases else []):
            if us is not None:
                table[(case[0],) + case[2:]] = us
    with open(path, "w") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow("precision form batch m n k us".split())
        writer.writerows(key + ("%.4g" % us,) for key, us in sorted(table.items()))
    print(len(table), "products", sorted(kept.items()))


if __name__ == "__main__":
    main()
