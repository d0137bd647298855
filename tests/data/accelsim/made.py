#!/usr/bin/env python3
"""Accel-Sim traces that nobody recorded, in the form that its tracer writes.

    made.py loop          a kernel with a loop of ten trips: 4 blocks of 2 warps (.traceg)
    made.py loop-native   the same kernel as a native trace, its program written by hand
    made.py split         a branch that splits a warp (.traceg)
    made.py nested        a branch in a side of another, by a tracer that has no immediates; four threads end before
    made.py trips         a loop of one, two or three trips, by thread
    made.py version6      the loop as tracer version 6 writes it
    made.py pascal        the loop as Pascal's code would have it
    made.py pack IN OUT [DICTIONARY]   a .traceg as Accel-Sim 2.0's .tracez, frames by the program zstd
"""
import json
import struct
import subprocess
import sys

BLOCKS, WARPS, TRIPS = 4, 2, 10
FORMAT = ("#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] "
          "[mem_addresses] immediate")


def header(name, blocks, threads, version=5, shared=0):
    return "\n".join([
        f"-kernel name = {name}", "-kernel id = 1", f"-grid dim = ({blocks},1,1)", f"-block dim = ({threads},1,1)",
        f"-shmem = {shared}", "-nregs = 16", "-binary version = 90", "-cuda stream id = 0",
        "-shmem base_addr = 0x00007f0000000000", "-local mem base_addr = 0x00007f1000000000", "-nvbit version = 1.7.6",
        f"-accelsim tracer version = {version}", "-enable lineinfo = 0", "", FORMAT, "", ""])


def body(blocks, warps, lines):
    out = []
    for block in range(blocks):
        out.append(f"#BEGIN_TB\n\nthread block = {block},0,0\n")
        for warp in range(warps):
            own = lines(block, warp)
            out += [f"warp = {warp}", f"insts = {len(own)}"] + own + [""]
        out.append("#END_TB\n")
    return "\n".join(out)


def loop(block, warp):
    """Each warp loads a line of its own in each trip, four bytes a thread, and stores one at the end."""
    number = block * WARPS + warp
    lines = ["0000 ffffffff 1 R0 S2R 0 0 0 ", "0010 ffffffff 1 R2 IMAD.WIDE 2 R0 R255 0 4 ",
             "0020 ffffffff 1 R5 MOV 1 R255 0 0 "]
    for trip in range(TRIPS):
        address = 0x7f6000000000 + (number * TRIPS + trip) * 128
        taken = "ffffffff" if trip + 1 < TRIPS else "00000000"
        lines += [f"0030 ffffffff 1 R4 LDG.E.SYS 1 R2 4 1 0x{address:x} 4 0 ", "0040 ffffffff 1 R5 FADD 2 R4 R5 0 0 ",
                  "0050 ffffffff 1 R2 IADD3 2 R2 R255 0 128 ", "0060 ffffffff 0 ISETP.NE.AND 1 R2 0 0 ",
                  f"0070 {taken} 0 BRA 0 0 48 "]
    store = 0x7f7000000000 + number * 128
    return lines + [f"0080 ffffffff 0 STG.E.SYS 2 R6 R5 4 1 0x{store:x} 4 0 ", "0090 ffffffff 0 EXIT 0 0 0 "]


def loop_native():
    """The program of loop(), by hand: 8 warps, 10 trips. 320 sectors are read and 32 written, all by warps that have
    them for themselves: nothing is found in L1 or L2; DRAM reads 320 sectors of 32 bytes and has written none yet."""
    warps = BLOCKS * WARPS
    program = {
        "program": "p0", "compute_capability": 90, "warps": warps, "warps_per_block": WARPS, "registers": 16,
        "l1_load_hit": 0, "l2_read_hit": 0, "l2_write_hit": 0, "l2_read_sectors": 4 * TRIPS * warps,
        "l2_write_sectors": 4 * warps, "l2_fabric_sectors": (4 * TRIPS * warps + 4 * warps) // 2,
        "dram_read_bytes": 128 * TRIPS * warps,
        "sass": ["S2R R0", "IMAD.WIDE R2, R0, RZ", "MOV R5, RZ", "LDG.E.SYS R4, [R2.64]", "FADD R5, R4, R5",
                 "IADD3 R2, R2, RZ", "ISETP.NE.AND P0, PT, R2", "@P0 BRA 0x30", "STG.E.SYS [R6.64], R5", "EXIT"],
        "executions": [warps] * 3 + [TRIPS * warps] * 5 + [warps] * 2, "threads": [32] * 10,
        # The branch is taken by 32 threads in nine of ten trips.
        "threads_on": [32] * 7 + [28.8] + [32] * 2,
        "access": [[3, "global", 4, 4, 1], [8, "global", 4, 4, 1]],
    }
    return [{"gridtide": 1, "device": "h100"}, program,
            {"kernel": "loop", "grid": BLOCKS, "block": 32 * WARPS, "registers": 16, "program": "p0"},
            {"call": "launch", "kernel": "loop"}, {"call": "device_sync"}]


def split(_block, _warp):
    """Threads 0 to 15 load, the others compute; then all go on."""
    return ["0000 ffffffff 1 R0 S2R 0 0 0 ", "0010 ffffffff 0 ISETP.GE.AND 1 R0 0 16 ",
            "0020 ffffffff 0 BSSY 0 0 128 ", "0030 ffff0000 0 BRA 0 0 96 ",
            "0040 0000ffff 1 R4 LDG.E.SYS 1 R2 4 1 0x7f6000000000 4 0 ", "0050 0000ffff 0 BRA 0 0 112 ",
            "0070 0000ffff 0 BSYNC 0 0 0 ", "0060 ffff0000 1 R4 FADD 2 R5 R5 0 0 ", "0070 ffff0000 0 BSYNC 0 0 0 ",
            "0080 ffffffff 0 EXIT 0 0 0 "]


def nested(_block, _warp):
    """Threads 0 to 3 end; 16 to 31 go one way; of the others 8 to 15 go past the addition."""
    return ["0000 ffffffff 1 R0 S2R 0 0", "0010 0000000f 0 EXIT 0 0", "0020 fffffff0 0 BSSY 0 0", "0030 ffff0000 0 BRA 0 0",
            "0040 0000fff0 0 BSSY 0 0", "0050 0000ff00 0 BRA 0 0", "0060 000000f0 1 R5 FADD 2 R5 R5 0",
            "0070 000000f0 0 BSYNC 0 0", "0070 0000ff00 0 BSYNC 0 0", "0080 0000fff0 0 BRA 0 0", "00a0 0000fff0 0 BSYNC 0 0",
            "0090 ffff0000 1 R4 MUFU.RCP 1 R4 0", "00a0 ffff0000 0 BSYNC 0 0",
            "00b0 fffffff0 0 STG.E 2 R6 R4 4 1 0x7f6000000010 4", "00c0 fffffff0 0 EXIT 0 0"]


def trips(_block, _warp):
    """Thread i makes i % 3 + 1 trips; each group of threads comes to BSYNC by itself."""
    lines, active = ["0000 ffffffff 1 R0 S2R 0 0 0", "0010 ffffffff 0 BSSY 0 0 96"], 0xffffffff
    for trip in range(1, 4):
        more = sum(1 << i for i in range(32) if i % 3 + 1 > trip)
        lines += [f"0020 {active:08x} 1 R4 FADD 2 R4 R4 0 0", f"0030 {active:08x} 0 ISETP.NE.AND 1 R4 0 0",
                  f"0040 {more:08x} 0 BRA 0 0 32"]
        active = more
    lines += [f"0050 {sum(1 << i for i in range(32) if i % 3 + 1 == trip):08x} 0 BSYNC 0 0 0" for trip in (3, 2, 1)]
    return lines + ["0060 ffffffff 0 EXIT 0 0 0"]


def version6(block, warp):
    """The second immediate, and no values."""
    lines = [line + "0 NoVal" for line in loop(block, warp)]
    return [line.replace("0 ISETP.NE.AND 1 R2", "2 P0 P7 ISETP.NE.AND 1 R2") for line in lines]


def pascal(block, warp):
    """Instructions of 8 bytes, three behind each control word of 8: the fourth, to which the branch goes, is at 0x28."""
    lines = [line.replace("BRA 0 0 48", "BRA 0 0 40") for line in loop(block, warp)]
    return [f"{(int(line[:4], 16) // 16 // 3 * 4 + int(line[:4], 16) // 16 % 3 + 1) * 8:04x}{line[4:]}" for line in lines]


def frame(text, dictionary):
    command = ["zstd", "-q", "-c", f"--stream-size={len(text)}"] + (["-D", dictionary] if dictionary else [])
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True).stdout


# `cut`: bytes left out at the end of each frame.
def pack(source, target, dictionary, cut=0):
    text = open(source, encoding="ascii").read()
    at = text.index("#BEGIN_TB")
    words = open(dictionary, "rb").read() if dictionary else b""
    with open(target, "wb") as out:
        out.write(text[:at].encode() + b"\0" + struct.pack("<II", len(words), 16) + words)
        index = b""
        blocks = text[at:].split("#BEGIN_TB")[1:]
        for block in blocks:
            place = [int(word) for word in block.split("thread block = ")[1].split("\n")[0].split(",")]
            warps = block.split("#END_TB")[0].split("warp = ")[1:]
            index += struct.pack("<11I", *place, 0, 0, 0, 0, 0, 0, 0, len(warps))
            for warp in warps:
                lines = [line for line in warp.split("\n")[2:] if line]
                pieces = [lines[i:i + 16] for i in range(0, len(lines), 16)]
                index += struct.pack(f"<IIQ{len(pieces)}I", len(lines), len(pieces), out.tell(), *map(len, pieces))
                out.write(struct.pack("<II", len(lines), len(pieces)))
                for piece in pieces:
                    packed = frame("".join(line + "\n" for line in piece).encode(), dictionary)
                    packed = packed[:len(packed) - cut]
                    out.write(struct.pack("<I", len(packed)) + packed)
        offset = out.tell()
        out.write(struct.pack("<I", len(blocks)) + index + struct.pack("<Q", offset))


def main():
    what = sys.argv[1]
    if what == "pack":
        pack(sys.argv[2], sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else None)
    elif what == "pack-cut":
        pack(sys.argv[2], sys.argv[3], None, cut=1)
    elif what == "loop-native":
        for row in loop_native():
            print(json.dumps(row))
    elif what in ("split", "nested", "trips"):
        lines = {"split": split, "nested": nested, "trips": trips}[what]
        print(header(what, 1, 32, 4 if what == "nested" else 5) + body(1, 1, lines), end="")
    else:
        lines = {"loop": loop, "version6": version6, "pascal": pascal}[what]
        head = header("loop", BLOCKS, 32 * WARPS, 6 if what == "version6" else 5)
        if what == "pascal":
            head = head.replace("binary version = 90", "binary version = 61")
        print(head + body(BLOCKS, WARPS, lines), end="")


main()
