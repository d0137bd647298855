"""A file a program and form out of what whatif_record.py recorded by `gridtide record`.

    python3 whatif_split.py RECORDS-FOLDER OUTPUT-FOLDER

RECORDS-FOLDER is what `gridtide record --keep` left; OUTPUT-FOLDER gets PROGRAM.FORM/ with the part of it within the range of
that name, as if recording had been switched on at its beginning and off at its end: `gridtide import OUTPUT/PROGRAM.FORM`.
"""
import os
import struct
import sys

HEADER, CHUNK = 4096, 65536
(NAME, THREAD, GPU, CONTEXT, STREAM, CALL, FUNCTION, LAUNCH, OP, GRAPH, NODE, EDGE, CLONE, RANGE, SWITCH, DROPPED, COST, PROBLEM,
 END, OVERHEAD) = range(1, 21)
ALWAYS = {NAME, THREAD, GPU, CONTEXT, STREAM, FUNCTION, GRAPH, NODE, EDGE, CLONE, COST, END}
DEFINING = {6, 10, 17, 18, 19, 20}  # what a call made that others mean: gt_recorded_what
PUSH, POP = 0, 1


def records(data):
    for chunk in range(HEADER, len(data), CHUNK):
        at, end = chunk, min(chunk + CHUNK, len(data))
        while at + 8 <= end:
            size, kind = struct.unpack_from("<IH", data, at)
            if size == 0:
                break
            yield kind, data[at:at + size]
            at += size


def forms(items):
    """Ranges PROGRAM.FORM: name, begin, end."""
    names, open_ranges = {}, {}
    for kind, data in items:
        if kind == NAME:
            number, length = struct.unpack_from("<II", data, 8)
            names[number] = data[16:16 + length].decode()
    ranges = sorted(struct.unpack_from("<QQQIII", data, 8) for kind, data in items if kind == RANGE)
    for time, thread, _, name, _, what in ranges:
        stack = open_ranges.setdefault(thread, [])
        if what == PUSH:
            stack.append((names.get(name, ""), time))
        elif what == POP and stack:
            text, begin = stack.pop()
            if "." in text:
                yield text, begin, time


def part(items, name, begin, end):
    """Records of what happened from `begin` to `end`, and of what that may mean."""
    calls = set()
    for kind, data in items:
        if kind == CALL:
            start, _, _, _, _, _, _, correlation = struct.unpack_from("<QQQQQQQI", data, 8)
            if begin <= start <= end:
                calls.add(correlation)
    for kind, data in items:
        if kind in ALWAYS:
            yield data
        elif kind == CALL:
            start, = struct.unpack_from("<Q", data, 8)
            what, = struct.unpack_from("<I", data, 80)
            if begin <= start <= end or start < begin and what in DEFINING:
                yield data
        elif kind == OP and struct.unpack_from("<I", data, 56)[0] in calls:
            yield data
        elif kind == OVERHEAD and struct.unpack_from("<I", data, 28)[0] in calls:
            yield data
        elif kind == LAUNCH:
            node, correlation = struct.unpack_from("<QI", data, 16)
            if node != 0 or correlation in calls:
                yield data
        elif kind == RANGE and begin < struct.unpack_from("<Q", data, 8)[0] < end:
            yield data
    yield struct.pack("<IHHQII", 24, SWITCH, 0, begin, 1, 0)
    yield struct.pack("<IHHQII", 24, SWITCH, 0, end, 0, 0)


def write(path, header, data):
    with open(path, "wb") as out:
        out.write(header)
        chunk = b""
        for one in data:
            if len(chunk) + len(one) > CHUNK:
                out.write(chunk.ljust(CHUNK, b"\0"))
                chunk = b""
            chunk += one
        out.write(chunk.ljust(CHUNK, b"\0"))


def main():
    folder, output = sys.argv[1:3]
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".gtrecord"):
            continue
        with open(os.path.join(folder, file), "rb") as source:
            data = source.read()
        items = list(records(data))
        for name, begin, end in forms(items):
            os.makedirs(os.path.join(output, name), exist_ok=True)
            write(os.path.join(output, name, file), data[:HEADER], part(items, name, begin, end))


if __name__ == "__main__":
    main()
