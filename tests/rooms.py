#!/usr/bin/env python3
"""Draw who needs whom among the source files, and hold it against the house's rules. Speaks TAP.

A file is a .c with its .h. It needs another if it includes the other's header, or if its object uses a symbol
(a function, a table of functions, a variable) that the other's object defines: what is only declared in a shared
header counts for the file that defines it. Rules:

  1. an arrow goes from a room to itself or to a room of a lower level;
  2. no ring of files reaches over two rooms;
  3. no ring within a room has more than four files;
  4. every room with code says in a README.md of at most 30 lines what it is for;
  5. files that comments, README.md and manual pages name are there.

rooms.py [--arrows ROOM]: the second form prints a room's arrows instead, for people.
GRIDTIDE_SOURCE and GRIDTIDE_BUILD name the trees; objects that were not built (no CUDA) count by includes alone.
"""
import os
import re
import subprocess
import sys

SOURCE = os.environ.get("GRIDTIDE_SOURCE", ".")
BUILD = os.environ.get("GRIDTIDE_BUILD", "build")
LARGEST_RING = 4
README_LINES = 30

# Room: its level, and the rooms of other top folders it may use (all of its own folder's lower levels it may).
LEVELS = {
    "sim/base": 0, "sim/workload": 1, "sim/devices": 2,
    "sim/collectives": 3, "sim/frameworks": 3, "sim/warp": 3, "sim/replay": 3, "sim/rewrite": 3, "sim/tasks": 3, "sim/schedule": 3, "sim/shapes": 3,
    "sim/machine": 4, "sim/training": 4, "sim/stream": 5, "sim/gpu": 6, "sim/serve": 7, "sim/batching": 8, "sim": 8, "sim/baseline": 9,
    "sim/changes": 10, "sim/check": 10, "sim/whatif": 11,
    "traces/io": 20, "traces/names": 20, "traces/import": 21, "traces/sass": 21, "traces/store": 21,
    "traces/accelsim": 22, "traces/tables": 22, "traces/kineto": 22, "traces/recorded": 22, "traces/xplane": 22, "traces/chakra": 22, "traces/nsys": 24, "traces/rocpd": 24, "traces/ncu": 22, "traces/jsonl": 22, "traces/stats": 22,
    "traces/export": 23, "traces/loads": 24, "traces/explain": 24, "traces/compare": 24, "traces/operators": 24, "traces/tasks": 24,
    "traces": 25, "traces/diff": 26, "traces/ranks": 26,
    "plots/data": 30, "plots/figures": 31, "plots/page": 32,
    "kernels/base": 40, "kernels/micro": 41, "kernels/algorithms": 41, "kernels/deep_learning": 41, "kernels/executor": 41,
    "kernels/calibrate": 41, "kernels/children": 42, "kernels": 43,
    "validate/gpu": 50, "validate/record": 50, "validate": 51, "validate/random": 50, "validate/player": 52, "validate/calibrate": 52,
    "sim/cmd/print": 60, "sim/cmd/input": 61,
    "sim/cmd/trace": 62, "sim/cmd/run": 62, "sim/cmd/serve": 62, "sim/cmd/report": 62, "sim/cmd/gpu": 62, "sim/cmd": 63,
}
# What a whole folder may not use although it lies below: kernels stand on sim/base alone, the validator draws nothing.
FORBIDDEN = [("kernels", "sim/(?!base)"), ("kernels", "traces"), ("kernels", "plots"), ("validate", "plots")]


def sources():
    """Every C and CUDA file of the rooms, by its unit (path without ending)."""
    units = {}
    for room in LEVELS:
        folder = os.path.join(SOURCE, room)
        for name in sorted(os.listdir(folder) if os.path.isdir(folder) else []):
            stem, ending = os.path.splitext(name)
            if ending in (".c", ".h", ".cu", ".cuh"):
                units.setdefault(f"{room}/{stem}", []).append(os.path.join(folder, name))
    return units


def room_of(unit):
    return os.path.dirname(unit)


def symbols(unit, files):
    """What the unit's object defines and what it needs; two empty sets where there is none, or one without a source."""
    defined, needed = set(), set()
    if not any(path.endswith((".c", ".cu")) for path in files):
        return defined, needed
    for name in (f"{unit}.o", f"{os.path.dirname(unit)}/gridtide-{os.path.basename(unit)}.o"):
        path = os.path.join(BUILD, name)
        if not os.path.exists(path):
            continue
        for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
            words = line.split()
            if words[-2] == "U":
                needed.add(words[-1])
            elif words[-2] in "TDBRCVW":
                defined.add(words[-1])
    return defined, needed


def arrows(units):
    """unit -> {unit: why}."""
    graph = {unit: {} for unit in units}
    definer = {}
    needs = {}
    for unit, files in units.items():
        defined, needs[unit] = symbols(unit, files)
        for symbol in defined:
            definer.setdefault(symbol, unit)
    for unit, files in units.items():
        for path in files:
            with open(path, encoding="utf-8") as file:
                for included in re.findall(r'^\s*#\s*include\s+"([^"]+)"', file.read(), re.M):
                    other = os.path.splitext(included)[0]
                    if other in units and other != unit:
                        graph[unit].setdefault(other, f"includes {included}")
        for symbol in sorted(needs[unit]):
            other = definer.get(symbol, unit)
            if other != unit:
                graph[unit].setdefault(other, f"uses {symbol}")
    return graph


def rings(graph):
    """Strongly connected sets of more than one unit (Tarjan's algorithm, without recursion)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            unit, others = work[-1]
            for other in others:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(graph[other])))
                    break
                if other in on_stack:
                    low[unit] = min(low[unit], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[unit])
                if low[unit] == index[unit]:
                    ring = []
                    while not ring or ring[-1] != unit:
                        ring.append(stack.pop())
                        on_stack.discard(ring[-1])
                    if len(ring) > 1:
                        found.append(sorted(ring))
    return found


def upward(graph):
    for unit, others in graph.items():
        for other, why in others.items():
            mine, its = room_of(unit), room_of(other)
            if mine == its:
                continue
            if LEVELS[mine] <= LEVELS[its] or any(
                    re.match(above + r"\b", mine) and re.match(below, its + "/") for above, below in FORBIDDEN):
                yield f"{unit} -> {other}: {why}"


def unread_rooms():
    for room in LEVELS:
        path = os.path.join(SOURCE, room, "README.md")
        if "/" not in room or not os.path.isdir(os.path.dirname(path)):
            continue
        if not os.path.exists(path):
            yield f"{room} has no README.md"
        else:
            with open(path, encoding="utf-8") as file:
                lines = len(file.readlines())
            if lines > README_LINES:
                yield f"{room}/README.md has {lines} lines"


NAMED = re.compile(r"(?<![\w/.<*-])((?:[a-z_0-9]+/)*[a-z_0-9]+\.(?:c|h|cu|cuh))\b")
# Files that are generated, or that other projects have.
ELSEWHERE = {"paths.h", "schema_sql.h", "sqlite3.h", "driver_types.h", "device.h", "type.h", "runtime_header.h"}


def named_files(path):
    """Names of source files in a document, or in the comments of a source."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            comment = re.search(r"/\*|^ \*|//|\*/", line) and "#include" not in line
            if comment or not path.endswith((".c", ".h", ".cu", ".cuh")):
                for name in NAMED.findall(line):
                    yield number, name


def missing_files(units):
    there = {os.path.basename(path) for files in units.values() for path in files}
    for folder in ("tests", "traces/record", "sim/cmd", "validate/scripts"):
        for _, _, names in os.walk(os.path.join(SOURCE, folder)):
            there.update(names)
    papers = [os.path.join(SOURCE, room, "README.md") for room in LEVELS]
    pages = os.path.join(SOURCE, "sim/man")
    papers += [os.path.join(pages, name) for name in sorted(os.listdir(pages))]
    for path in [path for files in units.values() for path in files] + papers:
        for number, name in named_files(path) if os.path.exists(path) else []:
            base, whole = os.path.basename(name), os.path.join(SOURCE, name)
            ours = name.startswith(("sim/", "traces/", "validate/", "kernels/", "plots/", "tests/"))
            if base not in ELSEWHERE and (base not in there or (ours and not os.path.exists(whole))):
                yield f"{os.path.relpath(path, SOURCE)}:{number}: there is no {name}"


def main():
    units = sources()
    graph = arrows(units)
    if len(sys.argv) == 3 and sys.argv[1] == "--arrows":
        for unit, others in graph.items():
            for other, why in others.items():
                if sys.argv[2] in (room_of(unit), room_of(other)):
                    print(f"{unit} -> {other}: {why}")
        return
    found = rings(graph)
    across = [ring for ring in found if len({room_of(unit) for unit in ring}) > 1]
    large = [ring for ring in found if ring not in across and len(ring) > LARGEST_RING]
    checks = [
        ("every arrow goes down", list(upward(graph))),
        ("no ring of files reaches over two rooms", [f"{len(ring)}: {' '.join(ring)}" for ring in across]),
        (f"no ring has more than {LARGEST_RING} files", [f"{len(ring)}: {' '.join(ring)}" for ring in large]),
        ("every room says what it is for", list(unread_rooms())),
        ("files that are named are there", list(missing_files(units))),
    ]
    print(f"1..{len(checks)}")
    for number, (name, findings) in enumerate(checks, 1):
        print(f"{'not ok' if findings else 'ok'} {number} - {name}")
        for finding in findings:
            print(f"# {finding}")


if __name__ == "__main__":
    main()
