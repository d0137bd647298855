#!/usr/bin/env python3
"""What running two or three kernels together gains, measured and simulated: stores of pairs-*.tar.zst (pairs_drawn.sh) and of
`gridtide validate --random N --families pairs,triples`.

    validate/scripts/pair_gains.py [-v] [-g] STORE [PATTERN]

Each trace has its kernels alone, then all at once: in their order, in the other, the later ones behind a part of the first.  The gain is
the time of one after the other over the time together; below 1 together is slower.  Measured values are medians of the repetitions.  Prints, in % of
what was measured, without sign: errors of kernels alone, of makespans together, of gains; then how often it is right that together is
slower, or faster, by more than 2%.  -v: a line a pair and order.  -g: the GPU's part, from simulations that
are given the host's measured times: when a launch comes decides what is still running, and that differs from run to run.  PATTERN of names (SQL's GLOB) chooses traces.
"""
import sqlite3
import statistics
import sys

ORDERS = ("ab", "ba", "late")
CLEAR = 0.02


def spans(database, pattern, gpu_part):
    """{trace: {kind: [{op: (start, end)} a run]}}"""
    found = {}
    rows = database.execute(
        "SELECT t.name, r.kind, r.run_id, p.op_no, p.start_ps / 1e6, p.end_ps / 1e6 FROM run r JOIN trace t USING (trace_id)"
        " JOIN run_op p USING (run_id) WHERE (r.kind = 'measured' OR (r.options LIKE '%host=measured%') = ?) AND t.name GLOB ?"
        " ORDER BY r.run_id", (gpu_part, pattern))
    for name, kind, run, op, start, end in rows:
        found.setdefault(name, {}).setdefault(kind, {}).setdefault(run, {})[op] = (start, end)
    return {name: {kind: list(runs.values()) for kind, runs in kinds.items()} for name, kinds in found.items()}


def span(run, ops):
    return max(run[op][1] for op in ops) - min(run[op][0] for op in ops)


def values(runs):
    """Times alone, and together by order: medians over the runs."""
    count = len(runs[0]) // (1 + len(ORDERS))
    alone = [statistics.median(span(run, [op]) for run in runs) for op in range(count)]
    groups = [range(first, first + count) for first in range(count, len(runs[0]), count)]
    return alone, [statistics.median(span(run, ops) for run in runs) for ops in groups]


def kernels(database):
    return dict(database.execute(
        "SELECT t.name, group_concat(k.name, ' | ') FROM trace t JOIN kernel k USING (trace_id) GROUP BY t.trace_id").fetchall())


def figure(name, errors):
    errors = sorted(abs(error) for error in errors)
    print(f"figure {name} {len(errors)} median {statistics.median(errors):.2f} mean {statistics.mean(errors):.2f}"
          f" p90 {errors[int(0.9 * (len(errors) - 1))]:.1f} worst {errors[-1]:.1f}")


def main():
    words = [word for word in sys.argv[1:] if word not in ("-v", "-g")]
    database = sqlite3.connect(words[0])
    names = kernels(database)
    alone_errors, makespan_errors, gain_errors, right, clear = [], [], [], 0, 0
    for name, kinds in sorted(spans(database, words[1] if len(words) > 1 and words[1] else "*", "-g" in sys.argv).items()):
        if "measured" not in kinds or "simulated" not in kinds:
            continue
        (alone, together), (said_alone, said) = values(kinds["measured"]), values(kinds["simulated"][-1:])
        alone_errors += [100 * (s / m - 1) for m, s in zip(alone, said_alone)]
        for order, (m, s) in enumerate(zip(together, said)):
            gain, said_gain = sum(alone) / m, sum(said_alone) / s
            makespan_errors.append(100 * (s / m - 1))
            if ORDERS[order] == "late":  # no gain is defined
                continue
            gain_errors.append(100 * (said_gain / gain - 1))
            if abs(gain - 1) > CLEAR:
                clear += 1
                right += (gain < 1) == (said_gain < 1)
            if "-v" in sys.argv:
                times, said_times = (" ".join(f"{us:.1f}" for us in these) for these in (alone, said_alone))
                print(f"{name} {ORDERS[order]} alone {times} said {said_times} together {m:.1f} said {s:.1f} gain {gain:.3f} "
                      f"said {said_gain:.3f} error {gain_errors[-1]:+.1f} {names[name]}")
    figure("alone", alone_errors)
    figure("makespan", makespan_errors)
    figure("gain", gain_errors)
    print(f"figure slower-or-faster {right} of {clear}")


if __name__ == "__main__":
    main()
