"""Cut the machine code out of a Nsight Compute report: cubins.py REPORT.ncu-rep RAW.csv DIR.

A report holds the cubins of the profiled kernels, and of much that was loaded beside them, as plain ELF
images. Those with a section .text.KERNEL for a kernel named in RAW.csv (`--page raw --csv
--print-kernel-base mangled`) are written to DIR/0000.cubin and so on, each content once.
"""
import csv
import hashlib
import pathlib
import struct
import sys

EM_CUDA = 190
SHT_NOBITS = 8
FILE_HEADER, SECTION_HEADER = "<16sHHIQQQIHHHHHH", "<IIQQQQIIQQ"


def sections(image, header):
    """(name, type, offset, bytes) of each section of the ELF image; raises ValueError if it is none."""
    shoff, shentsize, shnum, shstrndx = header[6], header[11], header[12], header[13]
    if shentsize != struct.calcsize(SECTION_HEADER) or shoff + shnum * shentsize > len(image):
        raise ValueError("no section headers")
    table = [struct.unpack_from(SECTION_HEADER, image, shoff + i * shentsize) for i in range(shnum)]
    names = table[shstrndx][4]
    for entry in table:
        at = names + entry[0]
        yield bytes(image[at:image.find(b"\0", at)]), entry[1], entry[4], entry[5]


def find_cubins(data):
    """(image, names of its kernels) of each cubin in the bytes of a report."""
    at = data.find(b"\x7fELF\x02\x01")
    while at >= 0:
        end = at + 4
        try:
            header = struct.unpack_from(FILE_HEADER, data, at)
            if header[2] == EM_CUDA:
                # A slice of what one image can be: its own headers say where it ends.
                span = header[6] + header[11] * header[12]
                parts = list(sections(data[at:at + span], header))
                ends = [offset + size for _, kind, offset, size in parts if kind != SHT_NOBITS]
                length = max([span, header[5] + header[9] * header[10]] + ends)
                end = at + length
                yield data[at:end], {name[6:].decode() for name, *_ in parts if name.startswith(b".text.")}
        except (struct.error, ValueError, IndexError, UnicodeDecodeError):
            pass  # four bytes that only look like an image
        at = data.find(b"\x7fELF\x02\x01", end)


def main():
    report, raw, folder = (pathlib.Path(argument) for argument in sys.argv[1:])
    with open(raw, newline="") as file:
        wanted = {row["Kernel Name"] for row in csv.DictReader(file) if row["ID"].strip()}
    seen, found = set(), set()
    for image, kernels in find_cubins(report.read_bytes()):
        digest = hashlib.sha256(image).digest()
        if digest in seen or not kernels & wanted:
            continue
        (folder / f"{len(seen):04}.cubin").write_bytes(image)
        seen.add(digest)
        found |= kernels & wanted
    print(f"{len(seen)} cubins with {len(found)} of {len(wanted)} kernels")
    for name in sorted(wanted - found):
        print(f"no code: {name}")


main()
