#!/usr/bin/env python3
"""How far `whatif --change batch=N --change seq=N`, `hidden=N` and `dtype=TYPE` are from programs that ran so.

    validate/scripts/shapes.py FOLDER [-v] [--gridtide PROGRAM] [--device FILE.ini] [--only PATTERN] [--worst N] [--memory]

FOLDER holds results.jsonl (or results.jsonl.zst) and the recordings that traces/record/shapes.py left.  The recorded point of each program is asked
for each other one.  Lines of name, value: kernels by family (operators one by one: all kernels of an operator together), the
kernels of a step together, steps (timed without a profiler), steps that the GPU bounds (its kernels take 80% or more of the
step), and how often the size with the most work a second was found, by the kernels' time, among programs with four sizes or more;
peak memory of all programs, of models (all but zoo-*), and of programs in odd and even places of the results (the model of memory
was made on the odd ones), reserved memory where it was measured, and how many answers whether the GPU has enough memory were right.
  -v       a line a program and point: measured and predicted kernels and step
  --device  the device file of the GPU that was recorded, instead of the shipped one
  --memory  memory alone, which is faster
  --worst  the N operators that add most to the error, with their kernels
"""
import argparse
import fnmatch
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

FAMILIES = {}  # of the kernels in the stores of all answers, by name
STEPS = 2  # of a recording
POINT = ("batch", "seq", "hidden", "dtype")


def family_of(kernel):
    return FAMILIES.get(kernel, "other")


def occurrences(kernels):
    """[operator, kernel that takes longest, us] of each operator: its kernels follow one another."""
    rows, last = [], None
    for operator, kernel, us, number in kernels:
        if (operator, number) != last:
            rows.append([operator, kernel, 0.0, 0.0])
            last = (operator, number)
        rows[-1][2] += us
        if us > rows[-1][3]:
            rows[-1][1], rows[-1][3] = kernel, us
    return [row[:3] for row in rows]


def measured(row):
    """Kernels as occurrences() takes them."""
    names = row["names"]
    return [(names[one[0]], names[one[1]], one[2], one[3]) for one in row["kernels"]]


def at(row):
    """Its point: batch, sequence length, and width and type where it has them."""
    return tuple(row[name] for name in POINT if name in row)


def changes(base, point):
    words = []
    for name, before, after in zip(POINT, at(base), at(point)):
        if before != after:
            words += ["--change", "%s=%s" % (name, after) if name == "dtype" else "%s=%d:%d" % (name, before, after)]
    return words


def ask_memory(program, device, trace, base, point):
    """As ask(), without a store: (None, None, the answer)."""
    text = subprocess.run([program, "whatif", "-q", trace, "-f", "json"] + (["--device", device] if device else []) + changes(base, point),
                          capture_output=True, text=True, check=False)
    if text.returncode != 0:
        print("%s %s: %s" % (point["program"], at(point), text.stderr.strip()), file=sys.stderr)
        return None, None, None
    return None, None, json.loads(text.stdout)["changes"][0]


def ask(program, device, trace, base, point):
    """(step us, kernels of the last step, the answer) as predicted."""
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "a.db")
        text = subprocess.run([program, "whatif", "-q", trace, "-o", store, "-f", "json"] + (["--device", device] if device else []) +
                              (changes(base, point) or ["--change", "launch-cost=3"]),
                              capture_output=True, text=True, check=False)
        if text.returncode != 0:
            return None, text.stderr.strip(), None
        answer = json.loads(text.stdout)["changes"][0]
        with sqlite3.connect(store) as db:
            FAMILIES.update(db.execute("select name, family from kernel join kernel_family using (trace_id, kernel_no)"))
            run = db.execute("select max(run_id) from run").fetchone()[0]
            if not changes(base, point):
                run -= 1  # the baseline
            dropped = db.execute("select (select count(*) from run_op where run_id = 1) - (select count(*) from run_op where run_id = ?)", (run,))
            left = len(base["kernels"]) - dropped.fetchone()[0] // STEPS
            rows = db.execute("""
                select coalesce(range.name, '?'), kernel.name, (run_op.end_ps - run_op.start_ps) / 1e6, coalesce(range.external_id, 0) from run_op
                join run using (run_id) join op using (trace_id, op_no) join kernel using (trace_id, kernel_no)
                left join call_range using (trace_id, call_no) left join range using (trace_id, range_no)
                where run_id = ? and op.kind = 'kernel' order by run_op.start_ps""", (run,)).fetchall()
    return answer["step_us"], rows[-left:], answer


def alike(operator):
    """Fused attention has an operator a backend, of which one does not take all types."""
    return next(("attention " + way for way in ("forward", "backward") if "attention_" + way in operator), operator)


def pair(predicted, real):
    """(operator, kernel, predicted us, real us) of operators, in order where the two lists are alike; else of all of a name."""
    pairs = []
    for name in dict.fromkeys(alike(row[0]) for row in predicted + real):
        one, other = [r for r in predicted if alike(r[0]) == name], [r for r in real if alike(r[0]) == name]
        if len(one) == len(other):
            pairs += [(name, a[1], a[2], b[2], b[1]) for a, b in zip(one, other)]
        else:
            largest = max(one + other, key=lambda r: r[2])
            pairs.append((name, largest[1], sum(r[2] for r in one), sum(r[2] for r in other), largest[1]))
    return pairs


def kind(base, point):
    """What differs: "size" is the batch, the length or both."""
    return next((name for name, before, after in zip(POINT[2:], at(base)[2:], at(point)[2:]) if before != after), "size")


def read(folder, only):
    programs, path = {}, os.path.join(folder, "results.jsonl")
    if os.path.exists(path):
        with open(path) as file:
            lines = file.read()
    else:
        lines = subprocess.run(["zstd", "-dc", path + ".zst"], capture_output=True, text=True, check=True).stdout
    for line in lines.splitlines():
        row = json.loads(line)
        if fnmatch.fnmatch(row["program"], only):
            programs.setdefault(row["program"], []).append(row)
    return programs


def found_best(rows):
    """Of one program's (batch, seq, predicted us, real us): is the most work a second where it was predicted, to within 2%?"""
    work = [(one[0] * max(one[1], 1) / one[2], one[0] * max(one[1], 1) / one[3]) for one in rows]
    return max(work)[1] > 0.98 * max(one[1] for one in work)


def error(predicted, real):
    return 100 * abs(predicted / real - 1)


def tell(name, errors):
    if errors:
        errors = sorted(errors)
        print("%-28s n %5d  mean %5.1f  median %5.1f  p90 %5.1f  p95 %5.1f  worst %6.1f" % (
            name, len(errors), statistics.mean(errors), statistics.median(errors), errors[int(0.9 * (len(errors) - 1))],
            errors[int(0.95 * (len(errors) - 1))], errors[-1]))


def tell_memory(jobs, answers, programs, every):
    errors, reserved, right, judged = [], [], 0, 0
    for (name, _, _, row), (_, _, answer) in zip(jobs, answers):
        if answer is None or answer["out_of_memory"] is None:
            continue
        judged += 1
        peak = answer["peak_memory_bytes"]
        right += answer["out_of_memory"] == ("out_of_memory" in row)
        if every and answer["out_of_memory"] != ("out_of_memory" in row):
            print("%-16s %4d %5d  wrong: out of memory %s" % (name, row["batch"], row["seq"], answer["out_of_memory"]))
        if "reserved_bytes" in row:
            reserved.append(error(answer["reserved_memory_bytes"], row["reserved_bytes"]))
            if every:
                print("%-16s %4d %5d  reserved %9.1f MB %9.1f %+6.1f%%" % (name, row["batch"], row["seq"], row["reserved_bytes"] / 1e6, answer["reserved_memory_bytes"] / 1e6,
                                                                        100 * (answer["reserved_memory_bytes"] / row["reserved_bytes"] - 1)))
        if "peak_bytes" in row:
            errors.append((name, error(peak, row["peak_bytes"])))
            if every:
                print("%-16s %4d %5d  peak %9.1f MB %9.1f %+6.1f%%" % (name, row["batch"], row["seq"], row["peak_bytes"] / 1e6, peak / 1e6,
                                                                    100 * (peak / row["peak_bytes"] - 1)))
    tell("peak memory", [one for _, one in errors])
    tell("peak memory, models", [one for name, one in errors if not name.startswith("zoo-")])
    for place, word in enumerate(("even", "odd")):
        tell("peak memory, %s programs" % word, [one for name, one in errors if programs.index(name) % 2 == place])
        tell("peak memory, %s models" % word, [one for name, one in errors if programs.index(name) % 2 == place and not name.startswith("zoo-")])
    tell("reserved memory", reserved)
    full = sum("out_of_memory" in row for _, _, _, row in jobs)
    if judged:
        print("%-28s %d of %d (%d ran out of memory)" % ("enough memory told rightly", right, judged, full))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--gridtide", default=os.environ.get("GRIDTIDE", "build/gridtide"))
    parser.add_argument("--device")
    parser.add_argument("--only", default="*")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--worst", type=int, default=0)
    arguments = parser.parse_args()
    jobs = []
    for name, rows in read(arguments.folder, arguments.only).items():
        base = next((row for row in rows if row["base"]), None)
        trace = os.path.join(arguments.folder, name + ".json.gz")
        if base is not None and "kernels" in base and base["kernels"] and os.path.exists(trace):
            jobs += [(name, trace, base, row) for row in rows if row is not base]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda job: (ask_memory if arguments.memory else ask)(arguments.gridtide, arguments.device, job[1], job[2], job[3]), jobs))
    cases, kernels, steps, bound, failed, sizes = [], {}, [], [], 0, {}
    tell_memory(jobs, answers, list(read(arguments.folder, "*")), arguments.v)
    if arguments.memory:
        return
    for (name, _, base, row), (step, rows, _) in zip(jobs, answers):
        if step is None:
            failed += 1
            print("%s %s: %s" % (name, at(row), rows), file=sys.stderr)
            continue
        if "kernels" not in row:
            continue
        real = measured(row)
        point = " ".join("%5s" % one for one in at(row))
        pairs = pair(occurrences(rows), occurrences(real))
        cases += [(name, point) + one for one in pairs if one[2] > 0 and one[3] > 0]
        all_real, all_ours = sum(r[2] for r in real), sum(r[2] for r in rows)
        kernels.setdefault(kind(base, row), []).append(error(all_ours, all_real))
        if kind(base, row) == "size":
            sizes.setdefault(name, []).append((row["batch"], row["seq"], all_ours, all_real))
        wall = min(row["step_us"], row["steady_us"])
        steps.append(error(step, wall))
        if all_real > 0.8 * wall:
            bound.append(steps[-1])
        if arguments.v:
            print("%-16s %s  kernels %9.0f %9.0f %+6.1f%%  step %9.0f %9.0f %+6.1f%%" % (
                name, point, all_real, all_ours, 100 * (all_ours / all_real - 1), wall, step, 100 * (step / wall - 1)))
    for family in sorted({family_of(c[3]) for c in cases}):
        tell("kernels: " + family, [error(c[4], c[5]) for c in cases if family_of(c[3]) == family])
    tell("kernels: all", [error(c[4], c[5]) for c in cases])
    tell("kernels of a step", [one for errors in kernels.values() for one in errors])
    for name in kernels if len(kernels) > 1 else ():
        tell("kernels of a step: " + name, kernels[name])
    tell("steps", steps)
    tell("steps bound by the GPU", bound)
    several = [rows for rows in sizes.values() if len(rows) > 3]
    if several:
        print("%-28s %d of %d" % ("best size found", sum(found_best(rows) for rows in several), len(several)))
    print("%-28s %d of %d" % ("failed", failed, len(jobs)))
    for c in sorted(cases, key=lambda c: -abs(c[4] - c[5]))[:arguments.worst]:
        print("%-14s %s %-30s predicted %9.1f real %9.1f %+6.0f%%  %.60s | %.60s" % (c[:3] + (c[4], c[5], 100 * (c[4] / c[5] - 1), c[3], c[6])))


if __name__ == "__main__":
    main()
