#!/usr/bin/env python3
"""Hold the work that `gridtide explain` counts by operators' inputs against what Nsight Compute counted.

work.py [--gridtide PROGRAM] [PROFILES]: PROFILES is traces/profiles.  Its launches of PyTorch have no operators; CASES says
which operation of traces/record/torch_*.py each is of, with its inputs.  Each becomes a trace of one operator, from which
explain says operations and bytes.  Measured operations: those of tensor-core and FFMA instructions, by how often each was
executed.  Measured bytes: read from DRAM, the caches cold, and written to L2, by all kernels of the case.
"""
import argparse
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile

HALF, BRAIN, SINGLE, WHOLE = "float16", "bfloat16", "float32", "int64"


def t(kind, *sizes):
    return "%s[%s]" % (kind, ",".join(map(str, sizes)))


SQUARE = t(SINGLE, 4096, 1024)
IMAGES = t(HALF, 32, 64, 56, 56)
PLAIN = ["(1)", "(1)", "(1)", "1"]  # of cudnn_convolution, for all sides: padding, stride, dilation, groups
# Profile, launches, operator, inputs.
CASES = (
    ("torch", [0], "add", [t(SINGLE, 4 << 20)] * 2),
    ("torch", [1], "sum", [t(SINGLE, 16 << 20)]),
    ("torch", [2], "_softmax", [SQUARE]),
    ("torch", [3], "native_layer_norm", [t(HALF, 4096, 1024), "-", t(HALF, 1024), t(HALF, 1024)]),
    ("torch", [4], "mm", [t(HALF, 2048, 2048)] * 2),
    ("torch", [5], "mm", [t(SINGLE, 1024, 1024)] * 2),
    ("torch", [6], "copy_", [t(SINGLE, 4096, 4096)] * 2),
    ("torch", [7], "_flash_attention_forward", [t(HALF, 4, 1024, 16, 64)] * 3),
    ("torch", [10], "cudnn_convolution", [IMAGES, t(HALF, 64, 64, 3, 3)] + PLAIN),
    ("torch", [14], "cudnn_convolution", [t(SINGLE, 16, 64, 56, 56), t(SINGLE, 64, 64, 3, 3)] + PLAIN),
    ("torch", [16], "cumsum", [t(SINGLE, 4 << 20)]),
    ("torch2", [1], "gather", [SQUARE, "-", t(WHOLE, 4096, 512)]),
    ("torch2", [2], "cudnn_batch_norm", [t(SINGLE, 32, 64, 56, 56)] + [t(SINGLE, 64)] * 2),
    ("torch2", [3], "gelu", [t(HALF, 8 << 20)]),
    ("torch2", [4], "sum", [t(SINGLE, 4096, 4096)]),
    ("torch2", [5], "mm", [t(BRAIN, 4096, 1024), t(BRAIN, 1024, 4096)]),
    ("torch2", [6], "mm", [t(SINGLE, 2048, 2048)] * 2),
    ("torch2", [7], "_efficient_attention_forward", [t(SINGLE, 2, 1024, 8, 64)] * 3),
    ("torch2", [18], "max_pool2d_with_indices", [t(SINGLE, 32, 64, 56, 56)]),
    ("torch2", [19], "_conv_depthwise2d", [t(SINGLE, 16, 64, 56, 56), t(SINGLE, 64, 1, 3, 3), "(3,3)", "-"] + PLAIN[:3]),
    ("torch2", [24], "add", [t(SINGLE, 32768)] * 2),
    ("torch2", [25], "add", [t(HALF, 64 << 20)] * 2),
    ("torch2", [26], "add", [t(SINGLE, 2048, 4096), t(SINGLE, 4096)]),
    ("torch2", [27], "mul", [t(BRAIN, 16 << 20), t("float64")]),
    ("torch2", [28], "exp", [t(SINGLE, 1 << 20)]),
    ("torch2", [29], "pow", [t("float64", 1 << 20)]),
    ("fresh-sealed", [21], "native_dropout", [t(SINGLE, 4 << 20)]),
    ("fresh-sealed", [22], "_cudnn_attention_forward", [t(HALF, 2, 16, 2048, 128)] * 3),
    ("fresh-sealed", [32], "cudnn_convolution", [t(SINGLE, 4, 16, 16, 32, 32), t(SINGLE, 16, 16, 3, 3, 3)] + PLAIN),
    ("fresh-sealed", [35], "_softmax_backward_data", [SQUARE] * 2),
    ("fresh-sealed", [48, 49], "convolution_backward", [IMAGES, IMAGES, t(HALF, 64, 64, 3, 3)]),
    ("fresh-sealed", [52], "convolution_backward", [IMAGES, IMAGES, t(HALF, 64, 64, 3, 3)]),
    ("fresh-sealed", [58], "_flash_attention_backward",
     [t(HALF, 4, 512, 8, 64)] * 5 + [t(SINGLE, 4, 8, 512)]),
    ("fresh-open", [24], "max_pool2d_with_indices_backward",
     [t(SINGLE, 32, 64, 28, 28), t(SINGLE, 32, 64, 56, 56)] + ["-"] * 5 + [t(WHOLE, 32, 64, 28, 28)]),
    ("fresh-open", [30], "_addmm_activation", [t(BRAIN, 2048), t(BRAIN, 2048, 1024), t(BRAIN, 1024, 2048)]),
    ("fresh-open", [35, 36], "mm", [t(HALF, 16, 4096), t(HALF, 4096, 4096)]),
    ("last", [0], "addcmul", [SQUARE] * 3),
    ("last", [1], "bmm", [t(BRAIN, 24, 321, 200), t(BRAIN, 24, 200, 177)]),
    ("last", [4], "cudnn_convolution_transpose", [t(SINGLE, 8, 64, 28, 28), t(SINGLE, 64, 32, 4, 4), "(0,0)", "(0,0)"] + PLAIN[1:]),
    ("last", [8], "bmm", [t(SINGLE, 16, 256, 96), t(SINGLE, 16, 96, 256)]),
    ("last", [19], "lerp", [t(HALF, 4096, 2048)] * 2),
    ("last", [20], "addmm", [t(HALF, 3072), t(HALF, 777, 1024), t(HALF, 1024, 3072)]),
    ("last", [22], "masked_fill", [t(SINGLE, 2048, 4096), t("bool", 2048, 4096)]),
    ("last", [25], "linalg_vector_norm", [t(SINGLE, 8192, 700)]),
    ("last", [33], "softplus", [t(SINGLE, 1 << 22)]),
)
MULTIPLIES = ("mm", "bmm", "addmm", "_addmm_activation")


def read_profile(path):
    """Launches with their kernel and what was counted, in order."""
    kernels, launches = {}, []
    for line in subprocess.run(["zstdcat", path], capture_output=True, text=True, check=True).stdout.splitlines():
        row = json.loads(line) if line.startswith("{") else {}
        if row.get("call") == "launch":
            launches.append((kernels[row["kernel"]], row["op_duration_ns"], row["profile"]))
        elif "kernel" in row and "id" in row:
            kernels[row["id"]] = kernels[row["kernel"]] = row
        elif "kernel" in row and "call" not in row:
            kernels[row["kernel"]] = row
    return launches


def operations_of(text, executions, threads):
    """Of one instruction; a warpgroup's HGMMA counts once for each of its four warps."""
    tensor = re.search(r"\bHGMMA\.64x(\d+)x(\d+)", text)
    if tensor:
        return executions / 4 * 2 * 64 * int(tensor[1]) * int(tensor[2])
    tensor = re.search(r"\bHMMA\.16(8)(\d+)", text)
    if tensor:
        return executions * 2 * 16 * 8 * int(tensor[2])
    return executions * threads * 2 if re.search(r"\bFFMA\b", text) else 0


def counted_operations(store):
    """By launch."""
    database = sqlite3.connect(store)
    sums = {}
    for op, text, executions, threads in database.execute(
            "SELECT o.op_no, i.text, i.executions, i.threads FROM op o JOIN instruction i USING (trace_id, kernel_no)"
            " WHERE o.trace_id = (SELECT min(trace_id) FROM trace)"):
        sums[op] = sums.get(op, 0) + operations_of(text, executions, threads)
    return sums


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def ask(program, folder, operator, inputs, launches):
    """Operations and bytes that explain says of the operator."""
    path, store = os.path.join(folder, "case.jsonl"), os.path.join(folder, "case.db")
    lines = [{"gridtide": 1, "name": "case", "device": "h200"}, {"gpu": 0}, {"thread": "main"}, {"stream": 0},
             {"range": "aten::" + operator, "kind": "operator", "calls": len(launches), "inputs": " ".join(inputs)}]
    for number, (kernel, took_ns, _) in enumerate(launches):
        lines.insert(4, {"kernel": kernel["kernel"], "id": number, "grid": kernel["grid"], "block": kernel["block"]})
    for number, (kernel, took_ns, _) in enumerate(launches):
        lines.append({"call": "launch", "kernel": number, "op_duration_ns": took_ns})
    lines.append({"call": "device_sync"})
    with open(path, "w") as out:
        out.write("".join(json.dumps(line) + "\n" for line in lines))
    run(program, "run", "-q", "-o", store, path)
    rows = json.loads(run(program, "explain", "--no-predict", "--format", "json", store))["kernels"]
    return sum(row["flops"] or 0 for row in rows), sum(row["bytes"] or 0 for row in rows)


def measured_bytes(launches):
    return sum(p.get("dram_read_bytes", 0) + 32 * p.get("l2_write_sectors", 0) for _, _, p in launches)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("profiles", nargs="?", default="traces/profiles")
    parser.add_argument("--gridtide", default="build/gridtide")
    options = parser.parse_args()
    profiles, counted, computing, bytes_of = {}, {}, [], []
    print("%-34s %12s %12s %7s %10s %10s %7s" % ("operator", "MFLOP", "counted", "ratio", "MB", "moved", "ratio"))
    with tempfile.TemporaryDirectory() as folder:
        for name, numbers, operator, inputs in CASES:
            if name not in profiles:
                path, store = os.path.join(options.profiles, name + ".jsonl.zst"), os.path.join(folder, name + ".db")
                profiles[name] = read_profile(path)
                run(options.gridtide, "run", "-q", "-o", store, path)
                counted[name] = counted_operations(store)
            launches = [profiles[name][i] for i in numbers]
            flops, least = ask(options.gridtide, folder, operator, inputs, launches)
            truth, moved = sum(counted[name].get(i, 0) for i in numbers), measured_bytes(launches)
            multiplies = operator in MULTIPLIES or "attention" in operator or "conv" in operator
            if multiplies and flops > 0:
                computing.append(flops / truth)
            if least > 0:
                bytes_of.append(least / moved)
            print("%-34s %12s %12s %7s %10.2f %10.2f %7s" % (
                operator + (" (unknown)" if least == 0 else ""), "%.1f" % (flops / 1e6) if multiplies else "-",
                "%.1f" % (truth / 1e6) if multiplies else "-", "%.3f" % (flops / truth) if multiplies and truth else "-",
                least / 1e6, moved / 1e6, "%.3f" % (least / moved)))
    for what, ratios in (("operations", computing), ("bytes", bytes_of)):
        print("%s: n %d  counted by inputs / measured: median %.3f, %.3f to %.3f" % (
            what, len(ratios), statistics.median(ratios), min(ratios), max(ratios)))


if __name__ == "__main__":
    sys.exit(main())
