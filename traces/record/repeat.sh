#!/bin/bash
# repeat.sh PROFILE RUNS [KERNEL...]: how far cycles of the same launches differ from run to run.
# PROFILE is the built kernels/profile; it launches library.cases, of these KERNELs only, RUNS times, each time
# under Nsight Compute with the one metric that errors are stated in and caches emptied as in a whole profile.
# Prints CSV: case, runs, median, least and most cycles.
set -euo pipefail
profile=$1 runs=$2
shift 2
cases=$(dirname "$0")/library.cases
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for run in $(seq "$runs"); do
    ncu --metrics gpc__cycles_elapsed.max --clock-control none --profile-from-start off --csv --page raw \
        --print-kernel-base function "$profile" "$cases" "$@" > "$work/$run"
done
python3 - "$cases" "$work" "$@" <<'END'
import csv, glob, statistics, sys
kernels = sys.argv[3:]
cases = [line.strip() for line in open(sys.argv[1]) if line.strip() and not line.startswith('#')]
cases = [case for case in cases if not kernels or case.split()[0] in kernels]
cycles = [[] for _ in cases]
for path in glob.glob(sys.argv[2] + '/*'):
    header, _, *rows = csv.reader(line for line in open(path) if line.startswith('"'))
    assert len(rows) == len(cases), path
    for launch, row in zip(cycles, rows):
        launch.append(float(row[header.index('gpc__cycles_elapsed.max')].replace(',', '')))
print('case,runs,median_cycles,least_cycles,most_cycles')
for case, launch in zip(cases, cycles):
    print(f'{case},{len(launch)},{statistics.median(launch):.0f},{min(launch):.0f},{max(launch):.0f}')
END
