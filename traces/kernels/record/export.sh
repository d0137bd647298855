#!/bin/bash
# export.sh REPORT.ncu-rep DIR: the folder that `gridtide import ncu` reads, from a Nsight Compute report.
# DIR gets raw.csv (all launches), source.NNNN.csv (instructions of launch NNNN, from 0000) and *.cubin.
set -euo pipefail
report=$1 dir=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$dir"
ncu -i "$report" --page raw --csv --print-kernel-base mangled > "$dir/raw.csv"
python3 "$here/cubins.py" "$report" "$dir/raw.csv" "$dir"

# One process a launch, side by side: each reads the whole report again.
launches=$(python3 -c '
import csv, sys
print(sum(bool(row["ID"].strip()) for row in csv.DictReader(sys.stdin)))' < "$dir/raw.csv")
export report dir
seq 0 $((launches - 1)) | xargs -P "$(nproc)" -I{} sh -c '
    ncu -i "$report" --page source --print-source sass --csv --print-kernel-base mangled \
        --launch-skip {} --launch-count 1 > "$(printf "%s/source.%04d.csv" "$dir" {})"'
echo "$launches launches in $dir"
