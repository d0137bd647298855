#!/usr/bin/env python3
"""What-ifs from recordings of the same programs by Kineto and by gridtide record, against the programs changed for real.

    whatif_recorded.py [-v] [SIDE|PROGRAM...]
    whatif_recorded.py --alone

traces/recorded_pairs has a folder each, kineto and record, with a pairs.csv as traces/pairs has it; asked of are all, those of
a side (learn, fresh) or programs (patterns of the shell).  Times are of as many steps as were recorded, from the first call
to the last end.  Lines of each recorder, of changes that both answer:
  RECORDER baseline|changed COUNT MEDIAN P90 WORST   errors in %, without sign, of the time without a profiler: of the recorded
                                                     form, of the changed one
  RECORDER signs RIGHT OF                            gains, or losses, of more than 3 % predicted as such
  RECORDER refused COUNT
With -v also a line a pair: TRACE CHANGES, then of Kineto and of gridtide record the errors of baseline and change in %.
With --alone a line a trace of the folder alone: TRACE RECORDED ALONE PREDICTED ERROR, what the program took recorded, what it took
alone and what is left of the recording without what that cost, us, and by how many % that is off.
GRIDTIDE names the program (default: build/gridtide), PAIRS another folder.
"""
import concurrent.futures
import csv
import fnmatch
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
GRIDTIDE = os.environ.get("GRIDTIDE", os.path.join(HERE, "../../build/gridtide"))
ENDINGS = {"kineto": ".json.gz", "record": ".jsonl.gz"}


def ask(path, changes, options):
    """Its baseline and its prediction, us; None: refused."""
    command = [GRIDTIDE, "whatif", "-q", "-f", "json", path]
    for change in changes.split():
        command += ["--change", change]
    done = subprocess.run(command + options.split(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    answer = json.loads(done.stdout)
    return answer["baseline_us"], answer["changes"][0]["predicted_us"]


def is_asked(row, words):
    program = row["trace"].split(".")[0]
    return not words or any(row["side"] == word or fnmatch.fnmatchcase(program, word) for word in words)


def read(folder, recorder, words):
    """Rows by trace and real form, so that both recorders' are the same."""
    with open(os.path.join(folder, recorder, "pairs.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {(row["trace"], row["real_form"]): row for row in rows if is_asked(row, words)}


def percent(time, real):
    return 100 * (time - real) / real


def judge(row, answer):
    """Errors of baseline and prediction, and whether the sign is right (None: there is no gain to speak of)."""
    steps = int(row["steps"])
    base, changed = float(row["base_us"]) * steps, float(row["changed_us"]) * steps
    gain = percent(changed, base)
    sign = None if abs(gain) <= 3 else gain * percent(answer[1], answer[0]) > 0
    return percent(answer[0], base), percent(answer[1], changed), sign


def print_sizes(recorder, what, errors):
    sizes = sorted(map(abs, errors))
    if sizes:
        print("%s %s %d %.2f %.2f %.2f" % (recorder, what, len(sizes), statistics.median(sizes),
                                           sizes[int(0.9 * len(sizes) + 0.999) - 1], sizes[-1]))


def summarise(recorder, results):
    bases = {trace: result[0] for (trace, _), result in results.items()}
    print_sizes(recorder, "baseline", bases.values())
    print_sizes(recorder, "changed", [result[1] for result in results.values()])
    signs = [result[2] for result in results.values() if result[2] is not None]
    print("%s signs %d %d" % (recorder, sum(signs), len(signs)))


def alone(folder):
    with open(os.path.join(folder, "alone/times.csv"), encoding="utf-8") as file:
        for row in csv.DictReader(file):
            path = os.path.join(folder, "alone", row["trace"] + ENDINGS["record"])
            command = [GRIDTIDE, "whatif", "-q", "-f", "json", path, "--change", "connections=8"]
            answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            print("%-16s %9.1f %9.1f %9.1f %6.1f" % (row["trace"], answer["measured_us"], float(row["alone_us"]),
                                                      answer["baseline_us"],
                                                      percent(answer["baseline_us"], float(row["alone_us"]))))


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    folder = os.environ.get("PAIRS", os.path.join(HERE, "../../traces/recorded_pairs"))
    if "--alone" in sys.argv:
        alone(folder)
        return
    rows = {recorder: read(folder, recorder, words) for recorder in ENDINGS}
    results = {recorder: {} for recorder in ENDINGS}
    both = [key for key in rows["kineto"] if key in rows["record"]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        asked = {(recorder, key): pool.submit(ask, os.path.join(folder, recorder, key[0] + ENDINGS[recorder]),
                                              rows[recorder][key]["changes"], rows[recorder][key]["options"])
                 for recorder in ENDINGS for key in both}
    for (recorder, key), answer in asked.items():
        if answer.result() is not None:
            results[recorder][key] = judge(rows[recorder][key], answer.result())
    shared = [key for key in both if all(key in results[recorder] for recorder in ENDINGS)]
    if "-v" in sys.argv:
        for key in shared:
            errors = [error for recorder in ENDINGS for error in results[recorder][key][:2]]
            print("%-32s %-34s %8.1f %8.1f %8.1f %8.1f" % (key[0], rows["kineto"][key]["changes"], *errors))
    for recorder in ENDINGS:
        summarise(recorder, {key: results[recorder][key] for key in shared})
        print("%s refused %d" % (recorder, len(both) - len(results[recorder])))


if __name__ == "__main__":
    main()
