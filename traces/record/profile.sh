#!/bin/bash
# record.sh OUT PART COMMAND...: profile with Nsight Compute what COMMAND launches between cudaProfilerStart()
# and cudaProfilerStop(). Leaves OUT/PART.txt (what was printed), OUT/PART.ncu-rep, OUT/PART (its pages and
# cubins) and OUT/PART.jsonl.zst. ncu must be in PATH; GRIDTIDE names the program. On the GPU, for example:
#   record.sh out library kernels/profile library.cases
#   record.sh out torch python3 record_torch.py
#   record.sh out fresh-torch python3 record_torch.py 3600 fresh
#   record.sh out last python3 record_torch.py 3600 last
#   record.sh out cupy python3 record_cupy.py
#   record.sh out jax python3 record_jax.py
#   nvcc -arch=sm_90 -O3 -std=c++17 -o classic classic.cu && record.sh out classic ./classic
#   nvcc -arch=sm_90 -O3 -std=c++17 -o cub cub.cu && record.sh out cub ./cub
set -euo pipefail
out=$1 part=$2
shift 2
mkdir -p "$out"

# The clocks are left alone: what is simulated is cycles. What was profiled before a program failed is
# exported all the same.
ncu --set full --clock-control none --import-source no --profile-from-start off --target-processes all \
    -f -o "$out/$part" "$@" > "$out/$part.txt" 2>&1 || echo "see $out/$part.txt"
"${GRIDTIDE:-gridtide}" import ncu "$out/$part.ncu-rep" --keep "$out/$part" -o "$out/$part.jsonl.zst"
