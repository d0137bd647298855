"""What the profiler costs the host: us an operator, call, node of a graph and so on, from costs.csv.

    python3 whatif_costs.py costs.csv

The least absolute deviations of the time that the host takes longer for a step, of programs to learn from; then how far the
step times of the others are from it.  Only steps count that the host bounds, or of which the host's part ends well before
the GPU's.
"""
import csv
import statistics
import sys

TERMS = {"operator": "operators", "annotation": "annotations", "call": "calls", "node": "nodes",
         "copy": "copies", "kernel": "launches"}
QUEUE = 900  # launches that can be ahead of the GPU


def is_of_the_host(row):
    host_bound = row["gpu_us"] < 0.5 * row["step_us"]
    ahead = row["profiled_issue_us"] < 0.85 * row["profiled_step_us"] and row["launches"] * 4 < QUEUE
    return host_bound or ahead


def solve(matrix, right):
    """By Gauss, with the largest pivot."""
    size = len(right)
    rows = [row[:] + [value] for row, value in zip(matrix, right)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(i + 1, size):
            factor = rows[k][i] / rows[i][i]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i])]
    result = [0.0] * size
    for i in reversed(range(size)):
        result[i] = (rows[i][size] - sum(rows[i][k] * result[k] for k in range(i + 1, size))) / rows[i][i]
    return result


def least_absolute(samples, values, weights):
    """Least absolute deviations, by least squares whose weights follow the deviations; no term below 0."""
    terms = list(range(len(samples[0])))
    while True:
        found = dict.fromkeys(range(len(samples[0])), 0.0)
        scale = [1.0] * len(values)
        for _ in range(200):
            matrix = [[sum(s * x[i] * x[k] for s, x in zip(scale, samples)) + (1e-9 if i == k else 0) for k in terms]
                      for i in terms]
            right = [sum(s * x[i] * y for s, x, y in zip(scale, samples, values)) for i in terms]
            found.update(zip(terms, solve(matrix, right)))
            scale = [w / max(abs(y - sum(found[i] * x[i] for i in terms)), 1e-3 * abs(y) + 1e-3)
                     for w, x, y in zip(weights, samples, values)]
        negative = [i for i in terms if found[i] < 0]
        if not negative:
            return [found[i] for i in range(len(samples[0]))]
        terms.remove(min(negative, key=lambda i: found[i]))


def main():
    with open(sys.argv[1]) as file:
        rows = [{key: value if key in ("program", "form", "mode", "side") else float(value) for key, value in row.items()}
                for row in csv.DictReader(file)]
    for mode in ("cuda", "cpu", "shapes"):
        chosen = [row for row in rows if row["mode"] == mode and is_of_the_host(row)]
        learn = [row for row in chosen if row["side"] == "learn"]
        if not learn:
            continue

        def sample(row):
            return [row[column] for column in TERMS.values()]

        def more(row):
            return row["profiled_issue_us"] - row["issue_us"]
        costs = least_absolute([sample(row) for row in learn], [more(row) for row in learn],
                               [1 / max(row["profiled_issue_us"], 1) for row in learn])
        print(mode, " ".join("%s %.3f" % pair for pair in zip(TERMS, costs)))
        for side in ("learn", "judge"):
            part = [row for row in chosen if row["side"] == side]
            errors = [100 * (row["profiled_issue_us"] - sum(c * x for c, x in zip(costs, sample(row))) - row["issue_us"])
                      / row["issue_us"] for row in part]
            sizes = sorted(map(abs, errors))
            if sizes:
                print("  %s %d programs: median error %.1f %%, p90 %.1f, worst %.1f" % (
                    side, len(sizes), statistics.median(sizes), sizes[int(0.9 * (len(sizes) - 1))], sizes[-1]))
            if "-v" in sys.argv:
                for row, error in zip(part, errors):
                    print("    %-26s %-12s alone %9.1f profiled %9.1f error %6.1f %%" % (
                        row["program"], row["form"], row["issue_us"], row["profiled_issue_us"], error))


if __name__ == "__main__":
    main()
