"""From what whatif.py left: the recordings that pairs ask about, pairs.csv and costs.csv.

    python3 whatif_table.py [--side=SIDE] RESULTS-FOLDER [RESULTS-FOLDER...] OUTPUT-FOLDER

A later folder's results stand for those of an earlier one.  Half of the programs of each kind, by a hash of their names,
are to learn from, the others to judge by; with a SIDE all are on that one, and what the table has of other programs stays.
"""
import csv
import gzip
import hashlib
import json
import os
import re
import shutil
import sys

ANY = "--independent=*"
ENDINGS = (".json.gz", ".jsonl.gz")  # Kineto's, and those of gridtide record


def branches(base):
    return [(base, "streams-%d" % n, "streams=%d" % n, ANY) for n in (1, 2, 4) if base != "streams-%d" % n]


# program (a pattern): base, changed form, changes, options
PAIRS = [
    ("encoder|mlp|convolutions|cells|lstm|decoder|heat|training|mixer|gpt|unet|speech", [("eager", "graph", "graph", "")]),
    ("batches|feeds", [("pageable", "pinned", "pinned", ""), ("pageable", "async", "pinned async", ""),
                 ("pageable", "prefetch", "pinned async prefetch=1", ""), ("pinned", "async", "async", ""),
                 ("pinned", "prefetch", "async prefetch=1", ""), ("async", "prefetch", "prefetch=1", "")]),
    ("pipeline|stages", [("pageable", "pinned", "pinned", ""), ("pageable", "async", "pinned async", ""),
                  ("pageable", "pageable-async", "async", ""), ("pinned", "async", "async", ""),
                  ("pinned", "prefetch", "async prefetch=2", ""), ("async", "async-end", "no-readback", ""),
                  ("async", "prefetch", "prefetch=2", ""), ("async-end", "prefetch-end", "prefetch", "")]),
    ("readback|reads", [("each", "end", "no-readback", "")]),
    # Without a wait the host has the results at the end: that is to ask for no-readback, of copies that are small.
    ("results-small", [("pageable", "pinned", "pinned", ""), ("pageable", "async", "pinned no-readback", ""),
                       ("pinned", "async", "no-readback", "")]),
    ("results-large", [("pageable", "pinned", "pinned", "")]),
    ("towers|chains|graph|fans|spans|lattice", branches("streams-1") + branches("streams-4")),
    # Nothing says that these links are independent: asked for streams, they stay a chain.
    ("handoff", [("streams-1", "streams-1", "streams=4", "")]),
    ("layers|coats", [("all", "mix-half", "kernel=layer_mix*0.5", ""), ("all", "no-norm", "remove=layer_norm", ""),
                ("all", "load-third", "kernel=layer_load*0.333333", "")]),
    ("no-sigmoid", [("all", "no-sigmoid", "remove=sigmoid", "")]),
    ("priority|rank", [("equal", "urgent", "priority={urgent_link}:-5", ""), ("urgent", "equal", "priority={urgent_link}:0", ""),
                  ("equal", "higher", "priority={urgent_link}:-1", "")]),
]
# One form of one program for each count: the change goes from program to program.
CONNECTIONS = [("8", "1"), ("8", "32"), ("1", "8"), ("32", "1")]
KEPT_BESIDE = ("explain", "explain-connection-1")


def kind(program):
    """What programs are alike: those of one row of PAIRS, of connections, of costs."""
    return next((pattern for pattern, _ in PAIRS if re.match(r"(%s)(-|$)" % pattern, program)), program.split("-")[0])


def known_sides(folder):
    """The sides in the tables that are there: a program that was looked at stays where it is."""
    sides = {}
    for name, column in (("pairs.csv", "trace"), ("costs.csv", "program")):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path) as file:
                sides.update((row[column].split(".")[0], row["side"]) for row in csv.DictReader(file))
    return sides


def sides(programs, known):
    """Of the new programs of a kind, ordered by a hash of their names, every other one is to learn from."""
    families = {re.sub(r"-\d+$", "", program) for program in programs}
    table = {re.sub(r"-\d+$", "", program): side for program, side in known.items()}
    place = {}
    for family in sorted(families - set(table), key=lambda family: (kind(family), hashlib.sha256(family.encode()).digest())):
        place[kind(family)] = place.get(kind(family), -1) + 1
        table[family] = "judge" if place[kind(family)] % 2 else "learn"
    return {program: table[re.sub(r"-\d+$", "", program)] for program in programs}


def read(folders):
    """Rows by (program, form, mode), and where the recording of (program, form) is."""
    rows, traces = {}, {}
    for folder in folders:
        with open(os.path.join(folder, "results.jsonl")) as file:
            for line in file:
                row = json.loads(line)
                rows[row["program"], row["form"], row["mode"]] = row
        for name in os.listdir(folder):
            if name.endswith(ENDINGS):
                program, form = name.split(".")[:2]
                traces[program, form] = os.path.join(folder, name)
    return rows, traces


def events_of(path):
    with gzip.open(path) as file:
        return json.load(file)["traceEvents"]


def stream_of(path, kernel):
    """The stream of the first kernel of that name, as the trace numbers it."""
    if path.endswith(".jsonl.gz"):
        with gzip.open(path, "rt") as file:
            lines = [json.loads(line) for line in file]
        kernels = {line.get("id", line["kernel"]) for line in lines
                   if "kernel" in line and "call" not in line and line["kernel"].startswith(kernel)}
        return next(str(line["stream"]) for line in lines if "call" in line and line.get("kernel") in kernels)
    return next(str(event["args"]["stream"]) for event in events_of(path)
                if event.get("cat") == "kernel" and event["name"].startswith(kernel))


def busy_us(events):
    """How long at least one operation was on the GPU."""
    spans = sorted((event["ts"], event["ts"] + event["dur"]) for event in events
                   if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"))
    busy, until = 0, 0
    for start, end in spans:
        busy += max(0, end - max(start, until))
        until = max(until, end)
    return busy


def work_of(events):
    """How many there are of each sort, and how long the GPU was busy."""
    def count(category, name=""):
        return sum(event.get("cat", "").startswith(category) and name in event["name"] for event in events)

    graphs = {event["args"]["correlation"] for event in events if event["name"] == "cudaGraphLaunch"}
    nodes = sum(event.get("cat") == "kernel" and event["args"]["correlation"] in graphs for event in events)
    calls = [count(where, name) for name in ("", "LaunchKernel", "GraphLaunch") for where in ("cuda_runtime", "cuda_driver")]
    return {"operators": count("cpu_op"), "annotations": count("user_annotation"), "calls": calls[0] + calls[1],
            "launches": calls[2] + calls[3], "graph_launches": calls[4] + calls[5], "kernels": count("kernel") - nodes,
            "nodes": nodes, "copies": count("gpu_memcpy"), "memsets": count("gpu_memset"), "gpu_us": busy_us(events)}


def wanted(rows):
    programs = sorted({program for program, _, _ in rows})
    for pattern, forms in PAIRS:
        for program in programs:
            if re.match(r"(%s)(-|$)" % pattern, program):
                for base, changed, changes, options in forms:
                    yield (program, base), (program, changed), changes, options
    for program in programs:
        for here, there in CONNECTIONS:
            if re.match(r"(many-.*|fleet)-%s$" % here, program):
                other = re.sub(r"\d+$", there, program)
                yield (program, "run"), (other, "run"), "connections=" + there, ""


def kept_rows(path, programs):
    """Rows of the table that is there, of other programs."""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [row for row in list(csv.reader(file))[1:] if row[0].split(".")[0] not in programs]


def write_pairs(rows, traces, side, folder, kept):
    names = ["trace", "changes", "options", "real_form", "steps", "base_us", "base_q1_us", "base_q3_us", "base_steady_us",
             "changed_us", "changed_q1_us", "changed_q3_us", "changed_steady_us", "base_recorded_us", "side"]
    with open(os.path.join(folder, "pairs.csv"), "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(names)
        out.writerows(kept)
        for base, changed, changes, options in wanted(rows):
            before, after = rows.get((*base, "none")), rows.get((*changed, "none"))
            recorded = rows.get((*base, "recorded"))
            if not before or not after or not recorded or base not in traces:
                print("no pair of %s.%s and %s.%s" % (base + changed), file=sys.stderr)
                continue
            changes = re.sub(r"{(\w+)}", lambda found: stream_of(traces[base], found.group(1)), changes)
            name = "%s.%s" % base
            ending = ".jsonl.gz" if traces[base].endswith(".jsonl.gz") else ".json.gz"
            shutil.copyfile(traces[base], os.path.join(folder, name + ending))
            times = [[round(row[key], 2) if key in row else "" for key in ("step_us", "q1_us", "q3_us", "steady_us")]
                     for row in (before, after)]
            out.writerow([name, changes, options, "%s.%s" % changed, before["steps"], *times[0], *times[1],
                          round(recorded["recorded_us"], 2), side[base[0]]])


def write_costs(rows, traces, side, folder):
    """A line a program's form and mode of the profiler: what a step did, and its time without and with."""
    times = ("step_us", "issue_us")
    with open(os.path.join(folder, "costs.csv"), "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        for (program, form, mode), row in sorted(rows.items()):
            plain = rows.get((program, form, "none"))
            if mode in ("none", "recorded") or not plain or (program, form) not in traces:
                continue
            work = work_of(events_of(traces[program, form]))
            if file.tell() == 0:
                out.writerow(["program", "form", "mode", *work, *times, *["profiled_" + time for time in times], "side"])
            out.writerow([program, form, mode, *[round(value / row["steps"], 2) for value in work.values()],
                          *[round(one[time], 2) for one in (plain, row) for time in times], side[program]])


def main():
    one_side = sys.argv[1].split("=")[1] if sys.argv[1].startswith("--side=") else None
    *folders, folder = sys.argv[2 if one_side else 1:]
    os.makedirs(folder, exist_ok=True)
    rows, traces = read(folders)
    programs = {program for program, _ in traces}
    if one_side:
        kept = kept_rows(os.path.join(folder, "pairs.csv"), programs)
        write_pairs(rows, traces, dict.fromkeys(programs, one_side), folder, kept)
        return
    side = sides(programs, known_sides(folder))
    write_pairs(rows, traces, side, folder, [])
    write_costs(rows, traces, side, folder)
    for (program, form), path in traces.items():
        if program in KEPT_BESIDE or form == "eager-cuda":
            shutil.copyfile(path, os.path.join(folder, "%s.%s.json.gz" % (program, form)))


if __name__ == "__main__":
    main()
