#!/bin/sh
# Two recorded PyTorch programs beside each other, against how they ran on an H200, without a GPU: validate/scripts/shared.sh sliced|mps
#
# Each pair was recorded apart; in validate/recordings/shared-HOW.db.zst processes play both with kernels that spin for as long.  Prints CSV, a line a pair.
# GRIDTIDE names the program (default: build/gridtide).  Recorded so, on the GPU:
#     gridtide validate A B --share HOW --surrogates --repeat 3 --blocks off -o shared-HOW.db
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

zstd -q -d "$root/validate/recordings/shared-$1.db.zst" -o "$work/measured.db"
pair() # HOW TRACE TRACE
{
    "${GRIDTIDE:-$root/build/gridtide}" validate "$root/traces/$2" "$root/traces/$3" --share "$1" --surrogates --repeat 3 --blocks off -q \
        --measured "$work/measured.db" --format csv -o "$work/now.db" | cut -d, -f1,3-7
}
pair "$1" training/bottleneck.one.rank0.json.gz samples/pytorch-decode.json.gz
pair "$1" training/drawn-1001-7.one.rank0.json.gz training/drawn-2002-3.one.rank0.json.gz | tail -n 1
pair "$1" training/unet.one.rank0.json.gz samples/pytorch-transformer-graph.json.gz | tail -n 1
