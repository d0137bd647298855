#!/usr/bin/env python3
"""How far `whatif --change device=NAME` is from kernel times that others published for other GPUs.

    validate/scripts/published.py [FOLDER] [-v] [--gridtide PROGRAM] [--half odd|even]

FOLDER is traces/published, whose README.md says whose numbers they are.  For each published kernel the nearest launch that an H200
recorded (matrix products: the table that sim/devices/h200.ini names; others: recorded.csv) gets the published sizes (shape=) and is asked
for the other GPU.  Of a published time that has the call in it, call_us of sources.csv is taken off.
A line for each source, GPU, operator and type, and for each device file (of cards that the source names): number of kernels, errors in percent
without sign (median, 90th percentile, worst), and mean with sign.
  -v      a line a kernel
  --half  the kernels in odd or even lines of kernels.csv alone: what is fitted to odd ones is judged by even ones
"""
import argparse
import csv
import math
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
TENSOR = {"fp32": "float32", "tf32": "tf32", "fp16": "float16", "bf16": "bfloat16"}
PRECISION = {"fp32": "fp32", "tf32": "tf32", "fp16": "half", "bf16": "half"}  # of the table of products
FORM = {"linear": "TN", "matmul": "NN", "bmm": "NN-batched"}  # as BLAS gets PyTorch's weights, and matrices by rows
AT_ONCE = 60  # kernels a trace: whatif takes 64 changes
NAME = {"softmax": "aten::_softmax", "layer_norm": "aten::native_layer_norm", "gelu": "aten::gelu"}


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def products():
    """Those that an H200 measured, by precision and form."""
    text = subprocess.run(["zstd", "-dc", os.path.join(TOP, "sim", "devices", "h200-products.csv.zst")], capture_output=True, text=True,
                          check=True).stdout
    found = {}
    for row in csv.DictReader(text.splitlines()):
        found.setdefault((row["precision"], row["form"]), []).append(row)
    return found


def sides(row):
    return [float(row[side]) for side in ("batch", "m", "n", "k") if row.get(side)]


def nearest(row, launches):
    return min(launches, key=lambda one: sum(math.log(a / b) ** 2 for a, b in zip(sides(row), sides(one))))


def tensors(row, one):
    """(operator, inputs as recorded, inputs as asked) of a kernel, whose launch was `one`."""
    kind = TENSOR[row["type"]]
    if row["operator"] in FORM:
        many = row["operator"] == "bmm"
        batch, asked = (one["batch"] + ",", row["batch"] + "x") if many else ("", "")
        return ("aten::bmm" if many else "aten::mm",
                "%s[%s%s,%s] %s[%s%s,%s]" % (kind, batch, one["m"], one["k"], kind, batch, one["k"], one["n"]),
                "%s%sx%s,%s%sx%s" % (asked, row["m"], row["k"], asked, row["k"], row["n"]))
    more = " - %s[%s] %s[%s]" % (kind, one["n"], kind, one["n"]) if row["operator"] == "layer_norm" else ""
    asked = ",_,%s,%s" % (row["n"], row["n"]) if more else ""
    return NAME[row["operator"]], "%s[%s,%s]%s" % (kind, one["m"], one["n"], more), "%sx%s%s" % (row["m"], row["n"], asked)


def kernel(row, one):
    if row["operator"] not in FORM:
        return one["kernel"], one["grid"], one["block"], one["registers"]
    form = FORM[row["operator"]][:2]
    if row["type"] == "fp32":
        return "cutlass_80_simt_sgemm_128x256_8x4_%s_align1" % form.lower(), 132, 256, 128
    return "nvjet_hsh_128x256_64x4_1x2_h_bz_" + form + "N", 132, 384, 168


def write(path, rows, recorded):
    """A trace of their nearest launches on an H200, one after the other; returns the changes that ask for the published sizes."""
    changes, at = [], 1.0
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"gridtide":1,"device":"h200"}\n{"range":"ProfilerStep#1","kind":"step","calls":%d}\n' % len(rows))
        for i, row in enumerate(rows):
            one = nearest(row, recorded[row["operator"], row["type"]])
            operator, inputs, asked = tensors(row, one)
            name, grid, block, registers = kernel(row, one)
            file.write('{"kernel":"%s","id":%d,"grid":%s,"block":%s,"registers":%s}\n' % (name, i, grid, block, registers) +
                       '{"range":"row%d","calls":1}\n{"range":"%s","inputs":"%s","calls":1}\n' % (i, operator, inputs) +
                       '{"call":"launch","kernel":%d,"start_us":%.3f,"duration_us":4,"op_start_us":%.3f,"op_duration_us":%s}\n' %
                       (i, at, at + 6, one["us"]))
            at += 10 + float(one["us"])
            changes.append("shape=row%d>%s:%s" % (i, operator, asked))
    return changes


def ask(program, rows, source, recorded):
    """Microseconds of each of them on that GPU."""
    if len(rows) > AT_ONCE:
        return ask(program, rows[:AT_ONCE], source, recorded) + ask(program, rows[AT_ONCE:], source, recorded)
    with tempfile.TemporaryDirectory() as folder:
        trace, store = os.path.join(folder, "a.jsonl"), os.path.join(folder, "a.db")
        changes = write(trace, rows, recorded) + ["device=" + source["device"]] + source["changes"].split()
        words = [word for change in changes for word in ("--change", change)]
        answer = subprocess.run([program, "whatif", "-q", trace, "-o", store] + words, capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            sys.exit(answer.stderr.strip())
        with sqlite3.connect(store) as db:
            found = db.execute("select (end_ps - start_ps) / 1e6 from run_op where run_id = (select max(run_id) from run) order by op_no")
            return [us for us, in found]


def line(group, errors):
    sizes = sorted(abs(error) for error in errors)
    print("%-10s %-14s %-10s %-4s %4d %7.1f %6.1f %6.1f %7.1f" % (*group, len(sizes), statistics.median(sizes),
                                                            sizes[math.ceil(0.9 * len(sizes)) - 1], sizes[-1], statistics.mean(errors)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", nargs="?", default=os.path.join(TOP, "traces", "published"))
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--gridtide", default=os.environ.get("GRIDTIDE", os.path.join(TOP, "build", "gridtide")))
    parser.add_argument("--half", choices=("odd", "even"))
    options = parser.parse_args()
    measured = products()
    recorded = {(operator, kind): measured[PRECISION[kind], FORM[operator]] for operator in FORM for kind in TENSOR}
    for row in table(os.path.join(options.folder, "recorded.csv")):
        recorded.setdefault((row["operator"], row["type"]), []).append(row)
    sources = {(row["source"], row["gpu"], row["operator"]): row for row in table(os.path.join(options.folder, "sources.csv"))}
    groups = {}
    for number, row in enumerate(table(os.path.join(options.folder, "kernels.csv"))):
        if options.half in (None, ("odd", "even")[number % 2]):
            groups.setdefault((row["source"], row["gpu"], row["operator"], row["type"]), []).append(row)
    print("%-10s %-14s %-10s %-4s %4s %7s %6s %6s %7s" % ("source", "gpu", "operator", "type", "n", "median", "p90", "worst", "mean"))
    devices = {}
    for group, rows in groups.items():
        source, errors = sources[group[:3]], []
        for row, us in zip(rows, ask(options.gridtide, rows, source, recorded)):
            real = float(row["us"]) - float(source["call_us"])
            errors.append(100 * (us / real - 1))
            if options.verbose:
                print(*group, *(row[side] for side in ("batch", "m", "n", "k")), "measured %.5g predicted %.5g" % (real, us))
        line(group, errors)
        if source["counts"] == "yes":
            devices.setdefault(source["device"], []).extend(errors)
    for device, errors in devices.items():
        line(("all", device, "", ""), errors)


main()
