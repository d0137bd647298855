#!/usr/bin/env python3
"""What each term of kernels beside each other is worth, without a GPU: validate/scripts/pair_terms.py [ARCHIVE [DEVICE [EVERY]]]

Simulates every EVERY-th (default: 4th) pair of ARCHIVE (see pairs_drawn.sh; default: pairs-h200-271.tar.zst, of an h200), once with
all terms and once without each.  Prints a line a term: pairs and orders, median, mean and worst error of the gain in %, and how often
it is right that together is slower, or faster, than one after the other.  Takes one or two minutes a term.
GRIDTIDE names the program (default: build/gridtide)."""
import csv
import glob
import io
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TERMS = {  # the device's keys without it
    "all terms": {},
    "older warps first (with full pipes)": {"warp.least_issue_part": "1"},
    "full pipes": {"warp.full_pipe_warps": "1000"},
    "queue at DRAM": {"memory.dram_crowd_cycles": "0.001", "memory.dram_mixed_crowd_cycles": "0.001"},
    "queue at L2": {"memory.l2_crowd_cycles": "0.001"},
    "eviction from L2": {"memory.l2_reuse_bytes": "1000000000000"},
    "row of atomics": {"warp.atomic_row_part": "0"},
    "ends apart (but of uneven work)": {"warp.apart_ns": "0", "warp.apart_part": "0", "warp.apart_by_waits_part": "0",
                                        "warp.apart_in_waves_part": "0"},
    "small CPCs": {"warp.small_cpc_part": "0"},
    "shared memory's split": {"sm.shared_carveouts_kib": ""},
    "blocks leave one by one": {"scheduling.retire_ns": "0"},
}


def device_file(gridtide, device, changes, path):
    """The device with other values, as a file."""
    table = subprocess.run([gridtide, "devices", device, "--format", "csv"], check=True, capture_output=True, text=True).stdout
    rows = list(csv.DictReader(io.StringIO(table)))
    section = None
    if not changes.keys() <= {row["key"] for row in rows}:
        sys.exit(f"pair_terms.py: no device key {', '.join(changes.keys() - {row['key'] for row in rows})}")
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            where, name = row["key"].split(".", 1)
            if where != section:
                section = where
                file.write(f"[{section}]\n")
            value = changes.get(row["key"], row["value"]).replace(",", ",\n ")  # lists: no long lines
            file.write(f"{name} = {value}\n")


def figures(gridtide, work, device, traces):
    """The figures of pair_gains.py."""
    store = os.path.join(work, "now.db")
    if os.path.exists(store):
        os.remove(store)
    subprocess.run([gridtide, "validate", "-q", "--measured", f"{work}/measured.db", "--device", device, "--programs",
                    f"{work}/profile.jsonl.zst", "--cost", "program", "--blocks", "off", "--repeat", "3", *traces, "-o", store],
                   check=True, stdout=subprocess.DEVNULL)
    lines = subprocess.run([f"{HERE}/pair_gains.py", store], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[1]: line.split()[2:] for line in lines if line.startswith("figure ")}


def main():
    words = sys.argv[1:] + [f"{HERE}/../recordings/pairs-h200-271.tar.zst", "h200", "4"][len(sys.argv) - 1:]
    gridtide = os.environ.get("GRIDTIDE", f"{HERE}/../../build/gridtide")
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(f"zstd -dcq '{words[0]}' | tar -x -C '{work}' --strip-components=1", shell=True, check=True)
        traces = sorted(glob.glob(f"{work}/pair-*.jsonl"))[::int(words[2])]
        for term, changes in TERMS.items():
            device_file(gridtide, words[1], changes, f"{work}/device.ini")
            found = figures(gridtide, work, f"{work}/device.ini", traces)
            count, _, median, _, mean, _, _, _, worst = found["gain"]
            print(f"{term}: {count}, {median} {mean} {worst}, {' '.join(found['slower-or-faster'])}", flush=True)


if __name__ == "__main__":
    main()
