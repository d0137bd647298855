#!/usr/bin/env python3
"""The loads and stores of global memory of two kernels of kernels/algorithms, with the addresses that they have, as a .traceg:
their launches were profiled on an H200 (traces/profiles), so that hit rates of the cache model can be held against measured ones.

    known.py stencil 1024 1024 32 128    stencil.cu on a plane: width, height, grid
    known.py transpose 1024 32           transpose.cu: side, grid's side
    known.py measured PROFILE KERNEL GRID    "l1_load_hit l2_read_hit l2_read_sectors l2_write_sectors dram_read_bytes"
"""
import json
import sys

HEADER = """-kernel name = {}
-grid dim = ({},{},1)
-block dim = (32,8,1)
-shmem = {}
-nregs = 32
-binary version = 90
-cuda stream id = 0
-accelsim tracer version = 5

#traces format
"""
ALL, FROM, BYTES = 0xffffffff, 0x7f0000000000, 4
EXIT = "0f00 ffffffff 0 EXIT 0 0 0"


def load(pc, mask, address):
    return f"{pc:04x} {mask:08x} 1 R8 LDG.E 1 R2 4 1 0x{address:x} {BYTES} 0"


def store(pc, address):
    return f"{pc:04x} ffffffff 0 STG.E 2 R6 R5 4 1 0x{address:x} {BYTES} 0"


def block(number, across, warps):
    print(f"#BEGIN_TB\nthread block = {number % across},{number // across},0")
    for index, lines in enumerate(warps):
        print(f"warp = {index}\ninsts = {len(lines)}", *lines, sep="\n")
    print("#END_TB")


def stencil(width, height, across, down):
    print(HEADER.format("stencil", across, down, 0))
    into = FROM + width * height * BYTES
    for number in range(across * down):
        warps = []
        for row in range(8):
            x, y = number % (width // 32) * 32, number // (width // 32) * 8 + row
            point = FROM + (y * width + x) * BYTES
            inner = ALL if 0 < y < height - 1 else 0
            inner &= ~1 if x == 0 else ALL
            inner &= ALL >> 1 if x + 32 == width else ALL
            lines = [load(0, ALL, point)]
            if inner:
                first = (inner & -inner).bit_length() - 1
                lines += [load(16 + 16 * i, inner, point + (first + away) * BYTES)
                          for i, away in enumerate((1, -1, -width, width))]
            warps.append(lines + [store(0x60, into + (y * width + x) * BYTES), EXIT])
        block(number, across, warps)


def transpose(side, across):
    print(HEADER.format("transpose", across, across, 4224))
    into = FROM + side * side * BYTES
    for number in range(across * across):
        row, column = number // across * 32, number % across * 32
        warps = [[load(16 * k, ALL, FROM + ((row + y + 8 * k) * side + column) * BYTES) for k in range(4)] +
                 [store(0x40 + 16 * k, into + ((column + y + 8 * k) * side + row) * BYTES) for k in range(4)] + [EXIT]
                 for y in range(8)]
        block(number, across, warps)


def measured(path, name, grid):
    kernels = {}
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        if "profile" in row:
            kernel = kernels[row["kernel"]]
            if name in kernel["kernel"] and kernel["grid"] == json.loads(grid):
                print(*(row["profile"].get(key, 0) for key in ("l1_load_hit", "l2_read_hit", "l2_read_sectors",
                                                               "l2_write_sectors", "dram_read_bytes")))
        elif "kernel" in row:
            kernels[row.get("id", row["kernel"])] = row


def main():
    what, numbers = sys.argv[1], sys.argv[2:]
    if what == "measured":
        measured(*numbers)
    else:
        {"stencil": stencil, "transpose": transpose}[what](*map(int, numbers))


main()
