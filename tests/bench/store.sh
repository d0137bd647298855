#!/bin/sh
# Rows a second into the store: definitions of a trace, then a run's calls, operations and blocks.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
for operations in 10000 100000 1000000; do
    "$GRIDTIDE_BUILD/tests/bench/store_bench" "$folder/run.db" "$operations" || exit 1
done
