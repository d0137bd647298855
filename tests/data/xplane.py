#!/usr/bin/env python3
"""Write a small profile as JAX and TensorFlow write them (NAME.xplane.pb): xplane.py FILE

The messages are those of openxla/xla's third_party/tsl/tsl/profiler/protobuf/xplane.proto. What an importer makes of
them is worked out in tests/unit/xplane.c; tests/fuzz/samples/step.xplane.pb is what this writes.
"""
import sys

from protobuf import length_delimited, number

START_NS = 1000000


class Plane:
    """Names are given numbers as they are met."""

    def __init__(self, name):
        self.name, self.lines, self.stats = name, b"", b""
        self.events, self.stat_names = {}, {}

    def stat(self, name, value):
        """A text that begins with '=' stands itself, others among the names of stats."""
        key = self.stat_names.setdefault(name, len(self.stat_names) + 1)
        out = number(1, key)
        if isinstance(value, int):
            return out + number(3, value)
        if value.startswith("="):
            return out + length_delimited(5, value[1:])
        return out + number(7, self.stat_names.setdefault(value, len(self.stat_names) + 1))

    def describe(self, **stats):
        for name, value in stats.items():
            self.stats += length_delimited(6, self.stat(name, value))

    def line(self, ident, name, *events):
        """Events are (name, start in us, duration in us, {stat: value})."""
        out = number(1, ident) + length_delimited(2, name) + number(3, START_NS)
        for event, start_us, duration_us, stats in events:
            key = self.events.setdefault(event, len(self.events) + 1)
            packed = number(1, key) + number(2, int(start_us * 1000000)) + number(3, int(duration_us * 1000000))
            for stat, value in stats.items():
                packed += length_delimited(4, self.stat(stat, value))
            out += length_delimited(4, packed)
        self.lines += length_delimited(3, out)

    def pack(self):
        out = length_delimited(2, self.name) + self.lines
        for field, names in ((4, self.events), (5, self.stat_names)):
            for name, key in names.items():
                out += length_delimited(field, number(1, key) + length_delimited(
                    2, number(1, key) + length_delimited(2, name)))
        return length_delimited(1, out + self.stats)


def kernel(correlation, grid, operator, regs=32):
    return {"correlation_id": correlation, "context_id": "=$$1", "hlo_op": operator,
            "kernel_details": f"regs:{regs} static_shared:0 dynamic_shared:1024 grid:{grid},1,1 block:256,1,1 occ_pct:100"}


def space():
    host = Plane("/host:CPU")
    host.line(101, "python3",
              ("train", 0, 60, {"step_num": 3}),
              ("$train.py:12 step", 0, 60, {}),
              ("PjitFunction(step)", 1, 19, {}),
              ("cuMemcpyHtoDAsync_v2", 2, 1, {"device_id": 0, "correlation_id": 11}),
              ("cuLaunchKernel", 4, 2, {"device_id": 0, "correlation_id": 12}),
              ("cuLaunchKernel", 8, 2, {"device_id": 0, "correlation_id": 13}),
              ("cuGraphLaunch (CudaGraph:5)", 12, 3, {"device_id": 0, "correlation_id": 14}),
              ("cuStreamSynchronize", 20, 35, {"device_id": 0, "correlation_id": 15}))
    host.line(102, "tf_Compute",
              ("model/dense/MatMul:MatMul", 3, 2, {}),
              ("NVTX:library:copy", 6, 1, {"correlation_id": 0}))
    metadata = Plane("/host:metadata")
    metadata.describe(hlo_proto="=ignored")
    gpu = Plane("/device:GPU:0")
    gpu.describe(device_vendor="=Nvidia", gpu_device_name="=NVIDIA H200", clock_rate=1980000, core_count=132,
                 compute_cap_major=9, compute_cap_minor=0)
    gpu.line(13, "Stream #13(MemcpyH2D)",
             ("MemcpyH2D", 3, 4, {"correlation_id": 11, "context_id": "=$$1",
                                  "memcpy_details": "kind_src:pinned kind_dst:device size:65536 dest:0 async:1"}))
    gpu.line(14, "Stream #14(Kernel,Memset)",
             ("fusion_3", 8, 5, kernel(12, 8, "fusion.3")),
             ("loop_add", 14, 6, kernel(13, 64, "add.7", regs=40)),
             ("gemm", 21, 4, kernel(14, 132, "dot.1")),
             ("gemm", 26, 3, kernel(14, 132, "dot.2")),
             ("Memset", 30, 1, {"correlation_id": 16, "context_id": "=$$1",
                                "Memset_details": "kind:device num_bytes:4096 async:1"}))
    gpu.line(99, "_counters_", ("power_mw", 5, 0, {"power_mw": 700000}))
    return host.pack() + metadata.pack() + gpu.pack() + length_delimited(4, "host")


with open(sys.argv[1], "wb") as file:
    file.write(space())
