#!/usr/bin/env python3
"""How far `gridtide batch` is from an engine that served requests.

    validate/scripts/serving.py FOLDER... [-v] [--gridtide PROGRAM]

Each FOLDER is what traces/record/serving.py left: recorded passes (templates.jsonl), requests-N.csv, and when each request got its
tokens (results.jsonl).  Each run is simulated from the recorded passes and the requests.  A line for the recorded passes (replayed, against
the same passes without a profiler), of passes on a part of the SMs where they were timed (lanes.jsonl), then one a metric: errors in percent of the measured value, without sign, and the mean with it.  Runs that did not end are left out.
  -v  a line a run: measured and simulated values
"""
import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

LANES = ("decode", "prefill")
METRICS = [(name, percent) for name in ("ttft", "tpot", "latency") for percent in (50, 99)]


def percentile(values, percent):
    """Nearest rank, as gridtide has it."""
    return sorted(values)[max(0, math.ceil(percent / 100 * len(values)) - 1)]


def policy_of(run):
    words = {"every": "passes", "chunk": "tokens", "sms": "sms"}
    return " ".join([run["policy"]] + ["%s=%d" % (words[name], value) for name, value in run["parameters"].items()])


def write_engine(path, folder, run):
    with open(os.path.join(folder, "templates.jsonl"), encoding="utf-8") as file:
        templates = [json.loads(line) for line in file]
    with open(path, "w", encoding="utf-8") as out:
        print(json.dumps({"engine": "run", "device": "h200", "policy": policy_of(run), "sequences": run["slots"],
                          "kv_tokens": run["kv_tokens"], "padding": run["padding"]}), file=out)
        for one in templates:
            sizes = ("sequences", "context") if one["template"] == "decode" else ("tokens", "before")
            print(json.dumps({"pass": one["template"], "trace": os.path.abspath(os.path.join(folder, one["trace"])),
                              **dict(zip(sizes, one["size"]))}), file=out)
        print(json.dumps({"requests": "file", "file": os.path.abspath(os.path.join(folder, run["requests"]))}), file=out)


def measured(folder, run):
    """us by metric, of a run all of whose requests were served."""
    with open(os.path.join(folder, run["requests"]), encoding="utf-8") as file:
        requests = list(csv.DictReader(file))
    times = {"ttft": [], "tpot": [], "latency": []}
    for request, first, end in zip(requests, run["first_s"], run["end_s"]):
        arrival, output = float(request["seconds"]), int(request["output_tokens"])
        times["ttft"].append(1e6 * (first - arrival))
        times["latency"].append(1e6 * (end - arrival))
        if output > 1:
            times["tpot"].append(1e6 * (end - first) / (output - 1))
    return {(name, percent): percentile(times[name], percent) for name, percent in METRICS}


def ask(program, folder, run, *options):
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "engine.jsonl")
        write_engine(path, folder, run)
        text = subprocess.run([program, "batch", "-q", "-f", "json", path, *options], capture_output=True, text=True, check=False)
    if text.returncode != 0:
        sys.exit(text.stderr.strip())
    return json.loads(text.stdout)


def judge_passes(program, folder, run):
    """Signed errors of the recorded passes, replayed, against the same passes timed without a profiler."""
    costs = ask(program, folder, run, "--costs")
    nodes = {(kind, *list(row.values())[:2]): row["pass_us"] for kind in ("decode", "prefill") for row in costs[kind]}
    with open(os.path.join(folder, "templates.jsonl"), encoding="utf-8") as file:
        templates = [json.loads(line) for line in file]
    return [100 * (nodes[(one["template"], *one["size"])] / one["step_us"] - 1) for one in templates]


def costs_of(program, folder, run, policy):
    """(us, part of matrix products) by kind and size."""
    costs = ask(program, folder, dict(run, policy=policy, parameters={}), "--costs")
    return {(kind, *list(row.values())[:2]): (row["pass_us"], row["products_pct"] / 100) for kind in ("decode", "prefill") for row in costs[kind]}


def products_part(program):
    text = subprocess.run([program, "devices", "h200", "-f", "csv"], capture_output=True, text=True, check=True).stdout
    return next(float(row[1]) for row in csv.reader(text.splitlines()) if row[0] == "sharing.products_part")


def judge_lanes(program, folder, run):
    """Signed errors of passes alone on a part of the SMs, and of how much longer they take beside passes on the other part; and how much that is."""
    with open(os.path.join(folder, "lanes.jsonl"), encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    measured_us, alone, beside, longer = {}, [], [], []
    for row in rows:
        measured_us.update({(row["sms"], kind, *row[kind]): row[kind + "_alone_us"] for kind in LANES if kind + "_alone_us" in row})
    costs = {sms: costs_of(program, folder, run, "split sms=%d" % sms) for sms in sorted({row["sms"] for row in rows})}
    for (sms, *one), us in measured_us.items():
        alone.append(100 * (costs[sms][tuple(one)][0] / us - 1))
    part = products_part(program)
    for row in (row for row in rows if "decode_beside_us" in row):
        sms, everything = {"prefill": row["sms"], "decode": row["rest_sms"]}, row["sms"] + row["rest_sms"]
        products = costs[row["sms"]][("decode", *row["decode"])][1] * costs[row["sms"]][("prefill", *row["prefill"])][1]
        for kind in LANES:
            real = row[kind + "_beside_us"] / measured_us[(row["sms"], kind, *row[kind])]
            beside.append(100 * ((1 + part * products * (everything - sms[kind]) / everything) / real - 1))
            longer.append(100 * (1 - 1 / real))
    return alone, beside, longer


def simulated(program, folder, run):
    answer = ask(program, folder, run)
    rows = {row["latency"]: row for row in answer["latency"]}
    return {(name, percent): rows[name]["p%d_us" % percent] for name, percent in METRICS}, answer["engine"]["evictions"]


def judge(program, folder, verbose):
    """Signed errors by metric of the folder's runs, how many were left out, and errors of passes."""
    errors, left_out = [], 0
    with open(os.path.join(folder, "results.jsonl"), encoding="utf-8") as file:
        runs = [json.loads(line) for line in file]
    passes = judge_passes(program, folder, runs[0])
    for run in runs:
        if None in run["end_s"]:
            left_out += 1
            continue
        real, (told, evictions) = measured(folder, run), simulated(program, folder, run)
        errors.append({metric: 100 * (told[metric] / real[metric] - 1) for metric in METRICS})
        if verbose:
            print("%s %d %s load %s, %d requests, evictions %d / %d:" % (os.path.basename(folder), run["run"], policy_of(run), run["load"],
                                                                         len(run["end_s"]), run["preempted"], evictions),
                  ", ".join("%s p%d %.1f / %.1f ms" % (name, percent, real[name, percent] / 1e3, told[name, percent] / 1e3) for name, percent in METRICS))
    return errors, left_out, passes


def tell(what, signed):
    values = sorted(abs(one) for one in signed)
    print("%s: n %d, mean %.1f, median %.1f, p90 %.1f, worst %.1f, mean with sign %+.1f" % (
        what, len(values), sum(values) / len(values), percentile(values, 50), percentile(values, 90), values[-1], sum(signed) / len(signed)))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("-v", dest="verbose", action="store_true")
    parser.add_argument("--gridtide", default=os.environ.get("GRIDTIDE", "build/gridtide"))
    arguments = parser.parse_args()
    errors, left_out, passes, lanes = [], 0, [], ([], [], [])
    for folder in arguments.folders:
        own, out, own_passes = judge(arguments.gridtide, folder.rstrip("/"), arguments.verbose)
        if os.path.exists(os.path.join(folder, "lanes.jsonl")):
            with open(os.path.join(folder, "results.jsonl"), encoding="utf-8") as file:
                for values, more in zip(lanes, judge_lanes(arguments.gridtide, folder, json.loads(file.readline()))):
                    values += more
        errors += own
        left_out += out
        passes += own_passes
    tell("recorded passes", passes)
    for what, values in zip(("on a part of the SMs, alone", "beside others, against alone", "the same, if they did not slow each other"), lanes):
        if values:
            tell(what, values)
    for metric in METRICS:
        tell("%s p%d" % metric, [one[metric] for one in errors])
    print("left out: %d" % left_out)


if __name__ == "__main__":
    main()
