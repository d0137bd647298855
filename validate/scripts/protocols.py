#!/usr/bin/env python3
"""How far what-ifs are from programs that were changed for real, on recordings of many protocols.

    validate/scripts/protocols.py FOLDER [-v] [--gridtide PROGRAM] [--only PATTERN] [--changes PATTERN] [--without PATTERN]
        [--steady] [--from profiler|start] [--csv FILE]

FOLDER holds results.jsonl and the recordings that traces/record/protocols.py left. Each recording is asked for each change
that leads from the recorded form to another one. Real times are those without a profiler: with a synchronisation after
each iteration where the recording has one, in groups without where it has none.
  --only      recordings whose name matches;  --changes, --without: changes that do, or do not
  --steady    recordings whose steps are marked, or synchronised each
  --from      recordings that begin there
  -v          a line a question: trace change real-base predicted-base real predicted error% low high trust
then lines of name, value: errors of predicted step times in %, and of the change (predicted over predicted base, against real over
real base); signs of gains over 3 % that are more than noise (the middle halves of both forms' times do not meet); answers within
their interval; how far the base's real time is from that of the process that was recorded, without a profiler, behind it.
"""
import argparse
import csv
import fnmatch
import json
import math
import os
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def read(folder):
    programs, traces = {}, []
    with open(os.path.join(folder, "results.jsonl")) as file:
        for line in file:
            row = json.loads(line)
            if "forms" in row:
                programs[row["program"]] = row
            else:
                traces.append(row)
    return programs, traces


def trace_path(folder, name):
    for ending in (".json.gz", ".jsonl.gz"):
        path = os.path.join(folder, name + ending)
        if os.path.exists(path):
            return path
    return None


def questions(folder):
    """One a recording and change: of connections, the change goes from program to program."""
    programs, traces = read(folder)
    for trace in traces:
        program = programs.get(trace["program"])
        path = trace_path(folder, trace["trace"])
        if program is None or path is None:
            continue
        base = next(iter(program["forms"]))
        for form, change in program["changes"].items():
            yield trace, path, change, program["forms"][base], program["forms"][form]
        count = program["environment"].get("CUDA_DEVICE_MAX_CONNECTIONS")
        if count is None:
            continue
        family = trace["program"].rsplit("-", 1)[0]
        for name, other in programs.items():
            if name.rsplit("-", 1)[0] == family and name != trace["program"]:
                yield (trace, path, "connections=" + name.rsplit("-", 1)[1], program["forms"][base],
                       next(iter(other["forms"].values())))


def ask(gridtide, path, change):
    command = [gridtide, "whatif", "-q", "-f", "json", path]
    for spec in change.split():
        command += ["--change", spec]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return None, "timeout"
    if done.returncode != 0:
        return None, done.stderr.strip().split("\n")[0]
    return json.loads(done.stdout), ""


def judge(options, question):
    trace, path, change, base, changed = question
    kind = "synced" if trace["protocol"]["sync"] == "each" else "steady"
    row = {"trace": trace["trace"], "change": change, "real_base": base[kind + "_us"], "real": changed[kind + "_us"],
           "own": trace.get("own_" + kind + "_us"),
           "apart": changed[kind + "_q3_us"] < base[kind + "_q1_us"] or changed[kind + "_q1_us"] > base[kind + "_q3_us"]}
    answer, row["why"] = ask(options.gridtide, path, change)
    if answer is None:
        return row
    one = answer["changes"][0]
    row.update(base=answer["step_us"], predicted=one["step_us"], trust=one["trust"], steps=answer["steps"],
               low=one.get("low_us"), high=one.get("high_us"), measured_step=answer.get("measured_step_us"))
    if row["predicted"] is None:
        row["why"] = "unknown"
        return row
    row["error"] = 100 * (row["predicted"] / row["real"] - 1)
    row["base_error"] = 100 * (row["base"] / row["real_base"] - 1)
    return row


def quantile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))] if values else float("nan")


def summary(rows):
    answered = [row for row in rows if "error" in row]
    errors = [abs(row["error"]) for row in answered]
    print("answers", len(answered), "of", len(rows))
    print("error_median %.2f p90 %.1f worst %.1f" % (statistics.median(errors), quantile(errors, 0.9), max(errors)))
    bases = [abs(row["base_error"]) for row in answered]
    changes = [100 * abs(row["predicted"] / row["base"] / (row["real"] / row["real_base"]) - 1) for row in answered]
    print("change_error_median %.2f p90 %.1f worst %.1f" % (statistics.median(changes), quantile(changes, 0.9), max(changes)))
    processes = [100 * abs(row["own"] / row["real_base"] - 1) for row in answered if row["own"]]
    print("real_between_processes_median %.2f p90 %.1f worst %.1f" %
          (statistics.median(processes), quantile(processes, 0.9), max(processes)))
    print("base_error_median %.2f p90 %.1f worst %.1f" % (statistics.median(bases), quantile(bases, 0.9), max(bases)))
    signs = [(row["real"] / row["real_base"] - 1, row["predicted"] / row["base"] - 1) for row in answered if row["apart"]]
    signs = [(real, said) for real, said in signs if abs(real) > 0.03]
    print("signs_right", sum(real * said > 0 for real, said in signs), "of", len(signs))
    ranges = [row for row in answered if row["low"] is not None]
    if ranges:
        inside = sum(row["low"] <= row["real"] <= row["high"] for row in ranges)
        widths = [100 * (row["high"] - row["low"]) / row["predicted"] for row in ranges]
        print("within_interval %d of %d, width_median %.1f" % (inside, len(ranges), statistics.median(widths)))
    by_trust = {}
    for row in answered:
        by_trust.setdefault(row["trust"], []).append(abs(row["error"]))
    for trust, values in sorted(by_trust.items()):
        print("trust_%s n %d median %.2f worst %.1f" % (trust, len(values), statistics.median(values), max(values)))
    spread = {}
    for row in answered:
        spread.setdefault((row["trace"].rsplit(".", 1)[0], row["change"]), []).append(row["predicted"] / row["real"])
    widths = [100 * (max(values) / min(values) - 1) for values in spread.values() if len(values) > 1]
    if widths:
        print("between_protocols_median %.1f worst %.1f" % (statistics.median(widths), max(widths)))


def wanted(options, trace, change):
    protocol = trace["protocol"]
    return (fnmatch.fnmatch(trace["trace"], options.only) and fnmatch.fnmatch(change, options.changes)
            and not fnmatch.fnmatch(change, options.without)
            and (not options.steady or protocol["sync"] == "each" or protocol["marks"] != "none")
            and options.begins in (None, protocol.get("from", "profiler")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--gridtide", default=os.environ.get("GRIDTIDE") or os.path.join(os.path.dirname(__file__), "../../build/gridtide"))
    parser.add_argument("--only", default="*")
    parser.add_argument("--changes", default="*")
    parser.add_argument("--without", default="")
    parser.add_argument("--steady", action="store_true")
    parser.add_argument("--from", dest="begins", choices=["profiler", "start"])
    parser.add_argument("--csv")
    options = parser.parse_args()
    asked = [one for one in questions(options.folder) if wanted(options, one[0], one[2])]
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda one: judge(options, one), asked))
    for row in rows if options.v else []:
        if "error" in row:
            print("%-18s %-26s base %9.1f (own %9.1f, said %9.1f) real %9.1f said %9.1f error %+7.1f steps %d %s [%s, %s]" %
                  (row["trace"], row["change"], row["real_base"], row["own"] or math.nan, row["base"], row["real"], row["predicted"],
                   row["error"], row["steps"], row["trust"], row["low"], row["high"]))
        else:
            print("%-18s %-26s %s" % (row["trace"], row["change"], row["why"]))
    if options.csv:
        fields = ["trace", "change", "real_base", "base", "real", "predicted", "low", "high", "trust", "error", "why"]
        with open(options.csv, "w", newline="") as out:
            writer = csv.DictWriter(out, fields, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
    summary(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
