"""Share recorded launches out to two traces, whole operations at a time.

split.py SEALED OPEN_DIR SEALED_DIR FOLDER...: SEALED is a text file of operations' names; each FOLDER is one
that record.sh left, with what the profiler and the program printed beside it as FOLDER.txt.
The launches of operations in SEALED go to SEALED_DIR, the others to OPEN_DIR, both in the order of the
folders; DIR/operations.txt names each launch's operation. raw.csv keeps the columns that are read, in units
that are the same for all.
"""
import csv
import pathlib
import re
import shutil
import sys

SCALE = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12,
         "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9,
         "hz": 1, "Khz": 1e3, "Mhz": 1e6, "Ghz": 1e9,
         "cycle/s": 1, "cycle/us": 1e6, "cycle/ns": 1e9}
TEXTS = ["Kernel Name", "Grid Size", "Block Size", "CC", "device__attribute_display_name"]
NUMBERS = re.compile(r"launch__(cluster_dim_.|registers_per_thread.*|shared_mem_.*|occupancy_limit_.*)|"
                     r"gpc__cycles_elapsed.max.*|gpu__time_duration.sum|smsp__inst_executed.(sum|max)|"
                     r"sm__cycles_(active|elapsed).(min|avg|max)|sm__inst_executed.(avg|max)|"
                     r"l1tex__m_.*_tma_(ld|st).sum|l1tex__t_sector_pipe_lsu_mem_.*_hit_rate.pct|"
                     r"lts__t_sector_op_.*_hit_rate.pct|lts__t_sectors(.avg|.sum|_srcunit_.*sum)|"
                     r"lts__d_atomic_input_cycles_active.*elapsed|dram__bytes_(read|write).sum")


def operations(log):
    """The operation of each launch: the program names one after the profiler named its launches."""
    found, waiting = [], 0
    pattern = re.compile(r'Profiling "|^(\w+): (?:[\d.]+ s|done|failed)', re.MULTILINE)
    for what in pattern.finditer(log.read_text(errors="replace")):
        if what[1] is None:
            waiting += 1
        else:
            found += [what[1]] * waiting
            waiting = 0
    return found + ["cut_off"] * waiting    # the last of these may not be in the report


def number(text, unit):
    """In bytes, seconds or hertz, where the unit is a multiple of these; what is behind a slash stays."""
    kind = unit.split("/")[0] if "byte" in unit else unit
    if kind not in SCALE or not re.fullmatch(r"[\d,.]+(e[+-]?\d+)?", text):
        return text
    return repr(float(text.replace(",", "")) * SCALE[kind])


def base(unit):
    kind = unit.split("/")[0] if "byte" in unit else unit
    if kind not in SCALE:
        return unit
    return "byte" if "byte" in kind else "hz" if kind.endswith("hz") or "cycle" in kind else "s"


class Half:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True)
        self.rows, self.units, self.names, self.cubins = [], {}, [], 0

    def add(self, row, units, operation, page):
        kept = {name: number(text, units[name]) for name, text in row.items()
                if name in TEXTS or NUMBERS.fullmatch(name)}
        self.units.update({name: base(units[name]) for name in kept})
        if page.exists():
            shutil.copy(page, self.folder / f"source.{len(self.rows):04}.csv")
        self.rows.append(kept)
        self.names.append(operation)

    def add_cubins(self, folder):
        for cubin in sorted(folder.glob("*.cubin")):
            shutil.copy(cubin, self.folder / f"{self.cubins:04}.cubin")
            self.cubins += 1

    def write(self):
        columns = TEXTS + sorted(set(self.units) - set(TEXTS))
        with open(self.folder / "raw.csv", "w", newline="") as file:
            table = csv.DictWriter(file, columns, restval="", quoting=csv.QUOTE_ALL)
            table.writeheader()
            table.writerow({name: self.units.get(name, "") for name in columns})
            table.writerows(self.rows)
        text = "".join(f"{i} {name}\n" for i, name in enumerate(self.names))
        (self.folder / "operations.txt").write_text(text)


def main():
    sealed = set(pathlib.Path(sys.argv[1]).read_text().split())
    halves = [Half(pathlib.Path(folder)) for folder in sys.argv[2:4]]
    for folder in map(pathlib.Path, sys.argv[4:]):
        names = operations(pathlib.Path(f"{folder}.txt"))
        with open(folder / "raw.csv", newline="") as file:
            units, *rows = csv.DictReader(file)
        if len(names) < len(rows):
            sys.exit(f"{folder}: {len(rows)} launches, {len(names)} of them named in {folder}.txt")
        for i, (row, name) in enumerate(zip(rows, names)):
            halves[name in sealed].add(row, units, name, folder / f"source.{i:04}.csv")
        for half in halves:
            half.add_cubins(folder)
    for half in halves:
        half.write()


main()
