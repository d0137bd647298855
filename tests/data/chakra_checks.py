#!/usr/bin/env python3
"""What must hold of exported execution traces; nothing here uses Gridtide's code.

chakra_checks.py makespans FILE...     the list scheduler's makespan against the recorded one: median and worst, per cent
chakra_checks.py streams TRACE FILE    the order of streams, and what events order across them, are data dependences
chakra_checks.py types FILE            attributes have the types that Chakra's feeder and ASTRA-sim read
chakra_checks.py same FILE FILE         equal but for what kernels' operators have to do, which a trace keeps with operators alone
chakra_checks.py play FILE             the list scheduler's makespan of the nodes of the GPU
chakra_checks.py slower FACTOR FILE OUT   the same file, nodes of kernels FACTOR times as long
"""
import json
import os
import statistics
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chakra_et as et


def makespans(files):
    errors = []
    for path in files:
        nodes = et.read(path)[1]
        if not any(et.is_operation(n) for n in nodes):
            continue
        recorded, played = et.makespans(nodes)
        # Two ends are rounded to whole microseconds.
        error = max(abs(played - recorded) - 1, 0) / recorded * 100
        errors.append((error, path))
    worst = max(errors)
    print(f"{len(errors)} files: median {statistics.median(e for e, _ in errors):.3f}%, worst {worst[0]:.3f}% ({worst[1]})")
    return worst[0] <= 2


OPERATIONS = ("launch", "copy", "memset", "host_function")


def orders(trace):
    """By operation: the operations that its stream and the events that it waits for put before it."""
    with open(trace) as file:
        rows = [json.loads(line) for line in file]
    last, pending, events, before, streams = {}, {}, {}, [], {}
    legacy = {row["stream"] for row in rows if "stream" in row and "call" not in row and "legacy_default" in row.get("flags", [])}
    for row in rows:
        stream = row.get("stream")
        if row.get("call") in OPERATIONS and "op_start_ns" in row:
            if stream in legacy and len(streams) > 1:
                raise SystemExit("a trace with a legacy default stream beside others is not for this check")
            streams[stream] = True
            number = len(before)
            before.append(sorted(({last[stream]} if stream in last else set()) | pending.pop(stream, set())))
            last[stream] = number
        elif row.get("call") == "event_record":
            events[row["event"]] = ({last[stream]} if stream in last else set()) | pending.get(stream, set())
        elif row.get("call") == "event_wait":
            pending.setdefault(stream, set()).update(events.get(row["event"], set()))
        elif row.get("call") == "graph_launch":
            raise SystemExit("a trace with graphs is not for this check")
    return before


def streams(trace, path):
    nodes = [n for n in et.read(path)[1] if et.is_operation(n)]
    before, within, across, last = orders(trace), 0, 0, {}
    assert len(nodes) == len(before), (len(nodes), len(before))
    for number, (node, wanted) in enumerate(zip(nodes, before)):
        stream = node["a"]["stream"]
        if stream in last:  # the one before it in its stream, itself
            assert nodes[last[stream]]["id"] in node["data_deps"], f"{node['id']} does not come after {last[stream]}"
            within += 1
        for other in wanted:  # or one that comes after it in its stream
            own = nodes[other]["a"]["stream"]
            named = [n["id"] for n in nodes[other:number] if n["a"]["stream"] == own]
            assert set(named) & set(node["data_deps"]), f"{node['id']} does not come after {nodes[other]['id']}"
            across += own != stream
        last[stream] = number
    print(f"{len(nodes)} operations: {within} dependences within streams, {across} across")
    return across > 0


TYPES = {"is_cpu_op": "bool_val", "num_ops": "int64_val", "tensor_size": "uint64_val", "comm_type": "int64_val",
         "comm_size": "int64_val", "comm_src": "int32_val", "comm_dst": "int32_val", "comm_tag": "int32_val",
         "pg_name": "string_val", "stream": "int64_val"}


def types(path):
    metadata, nodes = et.read(path)
    assert metadata["version"]
    groups = {}
    for node in nodes:
        a, kind = node["a"], et.TYPES[node["type"]]
        for name, field in TYPES.items():
            assert name not in a or a[name, "field"] == field, (name, a[name, "field"])
        assert "is_cpu_op" in a
        if kind == "METADATA_NODE":  # as ASTRA-sim reads it
            groups = {g["pg_name"]: g["ranks"] for g in json.loads(node["inputs"]["values"][2:-2])}
        if kind == "COMP_NODE" and not a["is_cpu_op"]:
            assert "num_ops" in a and "tensor_size" in a and "stream" in a
            assert a["num_ops"] > 0 or a["tensor_size"] == 0  # ASTRA-sim's roofline has no time for bytes without operations
        if kind.startswith("COMM_"):
            assert not a["is_cpu_op"] and "comm_size" in a and int(a["pg_name"]) > 0
        if kind == "COMM_COLL_NODE":
            assert et.COMM[a["comm_type"]] and a["involved_ranks"] == groups[a["pg_name"]]
        if et.is_operation(node):  # the call is there, before it
            assert node["ctrl_deps"][0] in node["data_deps"] and nodes[node["ctrl_deps"][0]]["a"]["call"]
    print(f"{len(nodes)} nodes, groups {sorted(groups.items())}")
    return True


def same(one, other):
    def without_work(path):
        metadata, nodes = et.read(path)
        for node in nodes:
            node["attr"] = [a for a in node["attr"] if a["name"] not in ("num_ops", "tensor_size")]
            del node["a"]
        return metadata["attr"], nodes
    return without_work(one) == without_work(other)


def play(path):
    nodes = et.read(path)[1]
    times = et.play(nodes)
    on_gpu = [times[n.get("id", 0)] for n in nodes if not n["a"].get("is_cpu_op") and n["a"].get("part") != "gap"]
    print(max(e for _, e in on_gpu) - min(s for s, _ in on_gpu))
    return True


def slower(factor, path, out):
    """Bytes are written anew: kernels' durations, all else as it was."""
    with open(path, "rb") as file:
        data = file.read()
    at, messages = 0, []
    while at < len(data):
        length, at = et.varint(data, at)
        messages.append(data[at:at + length])
        at += length
    for i, content in enumerate(messages[1:], 1):
        node = et.message(content, et.NODE)
        if et.attributes(node).get("operation") == "kernel":
            messages[i] = content + et.put(7, round(node.get("duration_micros", 0) * float(factor)))
    et.write(out, messages[1:], messages[0])
    return True


if __name__ == "__main__":
    command, arguments = sys.argv[1], sys.argv[2:]
    run = {"makespans": lambda *files: makespans(files), "streams": streams, "types": types, "same": same, "play": play, "slower": slower}
    sys.exit(0 if run[command](*arguments) else 1)
