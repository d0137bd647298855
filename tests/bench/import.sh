#!/bin/sh
# Import of a Kineto profile: MB of text a second, bytes of memory an operation, and that both stay
# the same as the file grows.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
for operations in 10000 100000 200000; do
    "$GRIDTIDE_BUILD/tests/bench/import_bench" write "$folder/profile.json" "$operations" || exit 1
    "$GRIDTIDE_BUILD/tests/bench/import_bench" read "$folder/profile.json" || exit 1
done
