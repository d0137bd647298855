#!/usr/bin/env python3
"""chakra_made.py FOLDER: execution traces as ASTRA-sim's generators and Chakra's converters write them, and broken ones.

Made from the published schema by chakra_et.py: the examples of astra-sim/astra-sim and the test data of mlcommons/chakra are
binary files of others'."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from chakra_et import attribute, node, put, put_varint, write

GPU = attribute("is_cpu_op", bool_val=False)
CPU = attribute("is_cpu_op", bool_val=True)


def place(name):
    path = os.path.join(sys.argv[1], name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def collective(number, kind, size, deps=(), more=()):
    return node(number, f"collective {number}", "COMM_COLL_NODE", deps,
                attrs=[GPU, attribute("comm_type", int64_val=kind), attribute("comm_size", int64_val=size), *more])


def work(number, ops, size, deps=()):
    return node(number, f"work {number}", "COMP_NODE", deps,
                attrs=[GPU, attribute("num_ops", int64_val=ops), attribute("tensor_size", uint64_val=size)])


# ASTRA-sim's microbenchmarks: one collective a rank; node ids count on over the ranks.
for rank in range(4):
    write(place(f"all_reduce/all_reduce.{rank}.et"), [collective(rank, 0, 1 << 20)])

# Compute nodes of which only num_ops and tensor_size are known.
for rank in range(2):
    write(place(f"roofline/job.{rank}.et"), [
        work(0, 2 * 4096**3, 3 * 2 * 4096**2), collective(1, 0, 1 << 26, [0]), work(2, 10**6, 4800 * 10**6, [0]),
        node(3, "load", "MEM_LOAD_NODE", attrs=[GPU, attribute("tensor_size", uint64_val=1 << 24)]),
        node(4, "end", "COMP_NODE", [1, 2, 3], duration=100)])

# Chakra's text converter, data parallel: no attribute of compute nodes at all; ids of each rank count on.
for rank in range(2):
    first = 100 * rank
    write(place(f"text/layers.{rank}.et"), [
        node(first + 1, "COMP_NODE_1_FWD", "COMP_NODE", duration=50),
        node(first + 2, "COMP_NODE_2_FWD", "COMP_NODE", [first + 1], duration=60),
        node(first + 3, "COMP_NODE_2_BWD_WG", "COMP_NODE", [first + 2], duration=70),
        node(first + 4, "COMM_COLL_NODE_2_ALLREDUCE", "COMM_COLL_NODE", [first + 3],
             attrs=[attribute("comm_type", int64_val=0), attribute("comm_size", int64_val=1 << 22)]),
        node(first + 5, "COMP_NODE_2_BWD_IG", "COMP_NODE", [first + 3], duration=80)],
        metadata=put(2, attribute("schema", string_val="1.0.2-chakra.1.0.0")))

# Custom collectives: a ring of messages.
for rank in range(4):
    nodes, before = [], ()
    for step in range(3):
        nodes += [node(3 * step, f"send {step}", "COMM_SEND_NODE", before,
                       attrs=[attribute("comm_size", int64_val=1 << 20), attribute("comm_dst", int32_val=(rank + 1) % 4),
                              attribute("comm_tag", int32_val=step)]),
                  node(3 * step + 1, f"receive {step}", "COMM_RECV_NODE", before,
                       attrs=[attribute("comm_size", int64_val=1 << 20), attribute("comm_src", int32_val=(rank - 1) % 4),
                              attribute("comm_tag", int32_val=step)]),
                  node(3 * step + 2, f"add {step}", "COMP_NODE", [3 * step, 3 * step + 1], duration=5)]
        before = [3 * step + 2]
    write(place(f"ring/ring.{rank}.et"), nodes)

# Chakra's PyTorch converter: the host's nodes with their parents (one of them removed), operations by stream; no start times.
write(place("converter.et"), [
    node(2, "[pytorch|profiler|execution_trace|process]", "METADATA_NODE", attrs=[CPU]),
    node(3, "aten::mm", "COMP_NODE", [2], [2], duration=20, attrs=[CPU, attribute("tid", int64_val=1)]),
    node(4, "gemm", "COMP_NODE", [3], [3], duration=100, attrs=[GPU, attribute("stream", int64_val=7)]),
    node(5, "aten::add", "COMP_NODE", [3], [99], duration=10, attrs=[CPU, attribute("tid", int64_val=1)]),
    node(6, "add", "COMP_NODE", [5, 4], [5], duration=30, attrs=[GPU, attribute("stream", int64_val=7)]),
    node(7, "Memcpy DtoH (Device -> Pinned)", "COMP_NODE", [5, 6], [5], duration=8,
         attrs=[GPU, attribute("stream", int64_val=13)]),
    node(8, "cudaStreamSynchronize", "COMP_NODE", [5, 7], [2], duration=3, attrs=[CPU, attribute("tid", int64_val=1)])])

# A graph as Gridtide writes it: the second operation names the first more often than an operation can have edges.
def times(start, *more):
    return [attribute("start_ns", int64_val=1000 * start), attribute("duration_ns", int64_val=1000), *more]


def graph(operations, last):
    kernel = attribute("operation", string_val="kernel")
    return [node(1, "launch", "COMP_NODE", duration=1, attrs=times(1, CPU, attribute("call", string_val="graph_launch"))),
            *(node(2 + i, "k", "COMP_NODE", ctrl=[1], duration=1, attrs=times(2, GPU, kernel)) for i in range(operations)),
            node(2 + operations, "last", "COMP_NODE", last, [1], duration=1, attrs=times(3, GPU, kernel))]


write(place("repeated.et"), graph(1, [2] * 65536))

# Broken ones.
whole = [node(1, "a", "COMP_NODE", duration=1), node(2, "b", "COMP_NODE", [1], duration=1)]
write(place("broken/unknown.et"), [node(1, "a", "COMP_NODE", [77], duration=1)])
write(place("broken/twice.et"), [*whole, node(3, "c", "COMP_NODE"), node(1, "d", "COMP_NODE")])
write(place("broken/circle.et"), [node(1, "a", "COMP_NODE", [3]), node(2, "b", "COMP_NODE", [1]), node(3, "c", "COMP_NODE", [2])])
write(place("broken/itself.et"), [node(5, "a", "COMP_NODE", [5])])
write(place("broken/wide.et"), [*(node(1 + i, "a", "COMP_NODE") for i in range(65536)),
                                node(70000, "b", "COMP_NODE", [1] * 1000000 + [70000])])
write(place("broken/edges.et"), graph(65536, range(2, 2 + 65536)))
write(place("broken/long.et"), [node(1, "a", "COMP_NODE", duration=(1 << 64) - 1)])
write(place("broken/none.et"), [])
write(place("broken/text.et"), [b"this is no node"])
with open(place("broken/metadata.et"), "wb") as file:
    file.write(b"\x04oops")
with open(place("broken/empty.et"), "wb") as file:
    pass
write(place("broken/cut.et"), whole)
with open(place("broken/cut.et"), "r+b") as file:
    file.truncate(os.path.getsize(file.name) - 3)
write(place("broken/length.et"), [])
with open(place("broken/length.et"), "ab") as file:
    file.write(put_varint(1 << 62) + b"x")
write(place("broken/short.et"), [])
with open(place("broken/short.et"), "ab") as file:
    file.write(put_varint((1 << 31) - 1) + b"x")
write(place("broken/number.et"), [])
with open(place("broken/number.et"), "ab") as file:
    file.write(b"\xff" * 12)
