#!/bin/bash
# record.sh PROFILE OUT [SECONDS]: profile the kernel library and operations of PyTorch with Nsight Compute.
# PROFILE is the built kernels/profile. Leaves OUT/library.ncu-rep and OUT/torch.ncu-rep and, from them, the
# folders OUT/library and OUT/torch for `gridtide import ncu`. SECONDS bound the PyTorch part's profiling.
set -euo pipefail
profile=$1 out=$2 seconds=${3:-3600}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"

# The clocks are left alone: what is simulated is cycles.
look() { ncu --set full --clock-control none --import-source no --profile-from-start off \
    --target-processes all -f -o "$@"; }

# What was profiled before a program failed is exported all the same.
look "$out/library" "$profile" "$here/library.cases" > "$out/library.txt" 2>&1 || echo "see $out/library.txt"
"$here/export.sh" "$out/library.ncu-rep" "$out/library" > "$out/library-export.txt" 2>&1 &
look "$out/torch" python3 "$here/record_torch.py" "$seconds" > "$out/torch.txt" 2>&1 || \
    echo "see $out/torch.txt"
wait
"$here/export.sh" "$out/torch.ncu-rep" "$out/torch" > "$out/torch-export.txt" 2>&1
