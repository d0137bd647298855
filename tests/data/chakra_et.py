"""Chakra execution traces without protobuf: a decoder, an encoder and a list scheduler, which know no code of Gridtide's.

Field numbers are those of schema/protobuf/et_def.proto of mlcommons/chakra; a field that stands here and not there, or of
another wire type, is an error."""
import struct
from heapq import heappop, heappush

# field: (name, how it is read)
ATTRIBUTE = {1: ("name", "text"), 2: ("doc_string", "text"), 3: ("double_val", "double"), 5: ("float_val", "float"),
             7: ("int32_val", "int"), 9: ("int64_val", "int"), 10: ("int64_list", "list"), 11: ("uint32_val", "uint"),
             13: ("uint64_val", "uint"), 14: ("uint64_list", "ulist"), 27: ("bool_val", "bool"), 29: ("string_val", "text")}
METADATA = {1: ("version", "text"), 2: ("attr", ATTRIBUTE)}
IO = {1: ("values", "text"), 2: ("shapes", "text"), 3: ("types", "text")}
NODE = {1: ("id", "uint"), 2: ("name", "text"), 3: ("type", "uint"), 4: ("ctrl_deps", "ulists"), 5: ("data_deps", "ulists"),
        6: ("start_time_micros", "uint"), 7: ("duration_micros", "uint"), 8: ("inputs", IO), 9: ("outputs", IO),
        10: ("attr", ATTRIBUTE)}
TYPES = {1: "METADATA_NODE", 2: "MEM_LOAD_NODE", 3: "MEM_STORE_NODE", 4: "COMP_NODE", 5: "COMM_SEND_NODE",
         6: "COMM_RECV_NODE", 7: "COMM_COLL_NODE"}
NUMBERS = {name: number for number, name in TYPES.items()}
COMM = ["ALL_REDUCE", "REDUCE", "ALL_GATHER", "GATHER", "SCATTER", "BROADCAST", "ALL_TO_ALL", "REDUCE_SCATTER",
        "REDUCE_SCATTER_BLOCK", "BARRIER"]
WIRE = {"text": 2, "double": 1, "float": 5, "int": 0, "uint": 0, "bool": 0, "list": 2, "ulist": 2, "ulists": 2}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def varints(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def convert(how, value):
    if isinstance(how, dict):
        return message(value, how)
    if how == "text":
        return value.decode("utf-8")
    if how == "double":
        return struct.unpack("<d", value)[0]
    if how == "float":
        return struct.unpack("<f", value)[0]
    if how == "int":
        return signed(value)
    if how == "bool":
        return bool(value)
    if how == "list":
        return [signed(v) for v in message(value, {1: ("values", "ulists")}).get("values", [])]
    if how == "ulist":
        return message(value, {1: ("values", "ulists")}).get("values", [])
    return value


def message(data, fields):
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if number not in fields:
            raise ValueError(f"no field {number}")
        name, how = fields[number]
        if wire != (2 if isinstance(how, dict) else WIRE[how]):
            raise ValueError(f"field {name} has wire type {wire}")
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            length, at = varint(data, at)
            if at + length > len(data):
                raise ValueError(f"field {name} is longer than its message")
            value, at = data[at:at + length], at + length
        else:
            size = 8 if wire == 1 else 4
            value, at = data[at:at + size], at + size
        if how == "ulists":
            found.setdefault(name, []).extend(varints(value))
        elif name == "attr":
            found.setdefault(name, []).append(convert(how, value))
        else:
            found[name] = convert(how, value)
    return found


def attributes(node):
    """name: value; the value's field as (name, "field"): which type it was written as."""
    found = {}
    for attribute in node.get("attr", []):
        for field, value in attribute.items():
            if field not in ("name", "doc_string"):
                found[attribute["name"]] = value
                found[attribute["name"], "field"] = field
    return found


def read(path):
    """The metadata and the nodes of a file; each node with its attributes under "a"."""
    with open(path, "rb") as file:
        data = file.read()
    at, messages = 0, []
    while at < len(data):
        length, at = varint(data, at)
        if at + length > len(data):
            raise ValueError("a message is cut off")
        messages.append(message(data[at:at + length], METADATA if not messages else NODE))
        at += length
    for node in messages:
        node["a"] = attributes(node)
    return messages[0], messages[1:]


def deps_of(node):
    return set(node.get("data_deps", [])) | set(node.get("ctrl_deps", []))


def play(nodes):
    """A plain list scheduler: a node starts when all that it depends on has ended.  Start and end by id."""
    by_id = {node.get("id", 0): node for node in nodes}
    if len(by_id) != len(nodes):
        raise ValueError("two nodes have one id")
    left = {i: len(deps_of(node)) for i, node in by_id.items()}
    after = {i: [] for i in by_id}
    for i, node in by_id.items():
        for dep in deps_of(node):
            after[dep].append(i)
    times, ready, free = {}, {i: 0 for i in by_id}, [(0, i) for i in by_id if left[i] == 0]
    free.sort()
    while free:
        start, i = heappop(free)
        end = start + by_id[i].get("duration_micros", 0)
        times[i] = start, end
        for follower in after[i]:
            left[follower] -= 1
            ready[follower] = max(ready[follower], end)
            if left[follower] == 0:
                heappush(free, (ready[follower], follower))
    if len(times) != len(nodes):
        raise ValueError("nodes wait in a circle")
    return times


def is_operation(node):
    return "operation" in node["a"]


def makespans(nodes):
    """From the first operation's start to the last one's end, in microseconds: recorded, and by the list scheduler."""
    ops = [node for node in nodes if is_operation(node)]
    times = play(nodes)
    starts = [node["a"]["start_ns"] for node in ops]
    ends = [node["a"]["start_ns"] + node["a"]["duration_ns"] for node in ops]
    played = [times[node.get("id", 0)] for node in ops]
    return (max(ends) - min(starts)) / 1000, max(p[1] for p in played) - min(p[0] for p in played)


def put_varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def put(number, value, how="uint"):
    """A field: a number, a text or bytes."""
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return put_varint(number << 3 | 2) + put_varint(len(value)) + value
    return put_varint(number << 3) + put_varint(int(value))


FIELDS = {name: number for number, (name, _) in ATTRIBUTE.items()}


def attribute(name, **value):
    (field, content), = value.items()
    return put(1, name) + put(FIELDS[field], content)


def node(number, name, kind, deps=(), ctrl=(), start=0, duration=0, attrs=(), inputs=None):
    """A node's message, as ASTRA-sim's generators and Chakra's converter write it: what is 0 or empty is left out."""
    out = put(1, number) if number else b""
    out += put(2, name) + put(3, NUMBERS.get(kind, kind))
    out += put(4, b"".join(map(put_varint, ctrl))) if ctrl else b""
    out += put(5, b"".join(map(put_varint, deps))) if deps else b""
    out += (put(6, start) if start else b"") + (put(7, duration) if duration else b"")
    out += put(8, put(1, inputs)) if inputs else b""
    return out + b"".join(put(10, a) for a in attrs)


def write(path, nodes, metadata=None):
    with open(path, "wb") as file:
        for content in [put(1, "0.0.4") if metadata is None else metadata] + list(nodes):
            file.write(put_varint(len(content)) + content)
